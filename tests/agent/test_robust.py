"""What a run must stand: listeners that fail, full disks, crashes, changed policies, impatient code."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent import (
    AgentError,
    AgentEvent,
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    FakeTurn,
    InputError,
    Limits,
    Loop,
    Message,
    ModelError,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
    Trace,
    Usage,
    run,
)
from agent.protocol import violations
from agent.recovery import recover
from agent.tape import Tape

ANY = {"type": "object"}


def call(number: int = 1, /, **arguments: Any) -> list[ToolCall]:
    return [ToolCall(f"c{number}", "act", arguments)]


# ---- a listener that fails ----


@pytest.mark.parametrize("at", ["turn.started", "model.completed", "tool.started", "tool.completed", "turn.completed"])
def test_a_listener_that_fails_once_changes_nothing_of_the_run(
    make_tool: Callable[..., Tool], at: str, tmp_path: Path
) -> None:
    failed: list[str] = []

    def listen(event: AgentEvent) -> None:
        if event.type == at and not failed:
            failed.append(at)
            raise RuntimeError("the page is gone")

    ran: list[Any] = []
    loop = Loop(FakeModel([call(), "done"]), [make_tool(ran=ran)], on_event=listen, journal=tmp_path)
    errors = 0
    for attempt in range(30):
        try:
            if attempt == 0:
                loop.start("go")
            loop.advance()
        except RuntimeError:
            errors += 1
    assert errors == 1
    assert [message.role for message in loop.messages] == ["user", "assistant", "tool", "assistant"]
    assert (len(ran), loop.stop_reason) == (1, "final")
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


# ---- a disk that is full for a while ----


def test_a_full_disk_is_told_and_the_journal_is_whole_again_after_it(
    started: Callable[..., Loop], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, full = Tape.append, [False]

    def append(self: Tape, data: bytes) -> None:
        if full[0]:
            raise OSError(28, "No space left on device")
        real(self, data)

    monkeypatch.setattr(Tape, "append", append)
    loop = started(call(), "done", journal=tmp_path, to=Phase.CALL)
    full[0] = True
    with pytest.raises(OSError, match="No space"):
        loop.advance()
    assert loop.phase is Phase.APPROVE, "the reply is there and will not be asked for again"
    full[0] = False
    loop.advance()
    recovered = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    assert recovered["phase"] == Phase.EXECUTE
    assert len(recovered["trace"]["messages"]) == 2
    loop.finish()
    assert loop.stop_reason == "final"


# ---- crashes ----


def test_edited_arguments_survive_a_crash_in_the_tool(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path
) -> None:
    ran: list[Any] = []
    policy = CapabilityPolicy(ask=["act"])
    loop = started(call(path="/everything"), "done", tools=[make_tool(ran=ran)], policy=policy, journal=tmp_path)
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.edit({"path": "/tmp/one"}))
    while loop.phase is not Phase.EXECUTE:
        loop.advance()
    loop._journal.begin_tool(0)

    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    again = Loop.resume(snapshot, model=FakeModel([[], "done"]), tools=[make_tool(ran=ran)])
    assert again.waiting
    again.decide(0, Decision.run())
    again.finish()
    assert ran == [("act", {"path": "/tmp/one"})]
    assert again.trace.steps[0].tools[0].decision == "edited"


@pytest.mark.parametrize(("setting", "ran_again"), [("run", 1), ("skip", 0)])
def test_a_setting_decides_about_unknown_outcomes(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], setting: Any, ran_again: int, tmp_path: Path
) -> None:
    ran: list[Any] = []
    loop = started(call(), "done", tools=[make_tool(ran=ran)], journal=tmp_path, to=Phase.EXECUTE)
    loop._journal.begin_tool(0)
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    again = Loop.resume(snapshot, model=FakeModel([[], "done"]), tools=[make_tool(ran=ran)], unknown=setting)
    assert not again.waiting
    again.finish()
    assert (len(ran), again.stop_reason) == (ran_again, "final")


def test_a_tool_that_was_interrupted_does_not_run_again_unasked(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    ran: list[Any] = []

    def interrupt() -> str:
        raise KeyboardInterrupt

    loop = started(call(), "done", tools=[make_tool(interrupt, ran=ran)], to=Phase.EXECUTE)
    with pytest.raises(KeyboardInterrupt):
        loop.advance()
    loop.advance()
    assert loop.waiting
    assert len(ran) == 1
    loop.decide(0, Decision.skip())
    loop.finish()
    assert loop.stop_reason == "final"


def overflowing() -> list[Any]:
    return [call(1, n=1), call(2, n=2), ModelError("too long", kind="context_overflow"), "done"]


def test_a_retry_with_a_shorter_request_survives_a_crash(make_tool: Callable[..., Tool], tmp_path: Path) -> None:
    made: list[int] = []

    class Counting(FakeModel):
        def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
            made.append(control.number)
            return super().complete(messages, tool_schemas, control=control)

    big = make_tool("lorem ipsum " * 150)
    loop = Loop(Counting(overflowing()), [big], context=ContextBudget(5000), journal=tmp_path)
    loop.start("go")
    while len(made) < 3:
        loop.advance()
    assert loop.phase is Phase.PREPARE
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    assert snapshot["phase"] == Phase.PREPARE
    again = Loop.resume(snapshot, model=Counting(overflowing()), tools=[big])
    again.finish()
    assert made == [0, 1, 2, 3]
    assert (again.stop_reason, len(again.trace.steps)) == ("final", 3)


def test_a_failed_call_is_not_made_again_after_a_crash(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path
) -> None:
    loop = started(call(), ModelError("503"), "never", journal=tmp_path, to=Phase.CALL)
    for _ in range(7):
        loop.advance()
    assert loop.phase is Phase.DECIDE
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    again = Loop.resume(snapshot, model=FakeModel([call(), ModelError("503"), "never"]), tools=[make_tool()])
    again.finish()
    assert (again.stop_reason, len(again.trace.steps)) == ("model_error", 2)


def test_a_nudge_is_counted_once_whenever_the_process_ends(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path
) -> None:
    empty = ModelReply(Message("assistant", ""))
    turns = [empty, empty, "done"]
    loop = started(*turns, limits=Limits(nudges=2), journal=tmp_path, to=Phase.DECIDE)
    loop.advance()
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    again = Loop.resume(snapshot, model=FakeModel(turns), tools=[make_tool()])
    assert again.run.counters.nudges == 1
    again.finish()
    assert (again.stop_reason, [m.role for m in again.messages].count("user")) == ("final", 3)


def test_broken_arguments_are_explained_alike_before_and_after_a_resume(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    broken = ToolCall.from_dict({"id": "c1", "function": {"name": "act", "arguments": '{"a": 1, "b"'}})
    first = started([broken], "done", to=Phase.APPROVE)
    second = Loop.resume(json.loads(json.dumps(first.snapshot())), model=FakeModel([[], "done"]), tools=[make_tool()])
    first.finish()
    second.finish()
    assert first.messages == second.messages


# ---- policy at execution ----


def test_the_policy_that_holds_is_that_of_the_moment_of_execution(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    ran: list[Any] = []
    loop = started(call(), "done", tools=[make_tool(ran=ran)], to=Phase.EXECUTE)
    strict = Loop.resume(
        loop.snapshot(),
        model=FakeModel([[], "done"]),
        tools=[make_tool(ran=ran)],
        policy=CapabilityPolicy(deny=["act"]),
    )
    strict.finish()
    assert not ran
    assert strict.trace.steps[0].tools[0].decision == "denied"
    loop.extend(policy=CapabilityPolicy(ask=["act"]))
    loop.finish()
    assert not ran, "what now needs a person was approved by none"


def test_a_person_cannot_overrule_a_denial(make_tool: Callable[..., Tool], started: Callable[..., Loop]) -> None:
    ran: list[Any] = []
    loop = started(call(), "done", tools=[make_tool(ran=ran)], policy=CapabilityPolicy(deny=["act"]), to=Phase.APPROVE)
    loop.decide(0, Decision.run())
    loop.finish()
    assert not ran


def test_there_must_be_a_call_to_decide_about(started: Callable[..., Loop]) -> None:
    loop = started(call(), "done")
    with pytest.raises(InputError, match="no call"):
        loop.decide(0, Decision.run())
    while loop.phase is not Phase.APPROVE:
        loop.advance()
    with pytest.raises(InputError, match="no call 6"):
        loop.decide(5, Decision.run())


@pytest.mark.parametrize(
    ("decision", "event"),
    [(Decision.reject("no"), "tool.denied"), (Decision.skip(), "tool.denied"), (Decision.mock(5), "tool.mocked")],
)
def test_every_call_that_did_not_run_has_its_event(
    started: Callable[..., Loop], decision: Decision, event: str
) -> None:
    seen: list[AgentEvent] = []
    loop = started(call(), "done", policy=CapabilityPolicy(ask=["act"]), on_event=seen.append)
    while not loop.waiting:
        loop.advance()
    loop.decide(0, decision)
    loop.finish()
    types = [item.type for item in seen]
    assert event in types
    assert "tool.started" not in types


def test_nobody_to_ask_is_a_denial_with_its_event(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel([call(), "done"]), [make_tool()], policy=CapabilityPolicy(ask=["act"]))
    assert "tool.denied" in [event.type for event in loop.events("go")]


# ---- snapshots ----


def test_a_snapshot_shares_nothing_with_the_run(make_tool: Callable[..., Tool], started: Callable[..., Loop]) -> None:
    loop = started(call(), call(2), "done", context=ContextBudget(5000))
    early = loop.snapshot()
    kept = json.dumps(early)
    loop.finish()
    assert json.dumps(early) == kept
    one, two = (Loop.resume(early, model=FakeModel([call(), call(2), "done"]), tools=[make_tool()]) for _ in range(2))
    one.finish()
    assert json.dumps(early) == kept
    assert two.messages == [Message("user", "go")]
    two.finish()
    assert one.messages == two.messages == loop.messages


def test_looking_at_a_finished_run_leaves_its_file_alone(started: Callable[..., Loop], tmp_path: Path) -> None:
    loop = started("done", journal=tmp_path)
    loop.finish()
    Loop.resume(loop.snapshot(), model=FakeModel(["done"]), journal=tmp_path)
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


def test_a_resumed_run_says_which_options_it_cannot_take(started: Callable[..., Loop]) -> None:
    loop = started("done")
    with pytest.raises(InputError, match="system"):
        Loop.resume(loop.snapshot(), model=FakeModel(["done"]), system="other")
    with pytest.raises(InputError, match="snapshot"):
        Loop.resume(None, model=FakeModel(["done"]))  # type: ignore[arg-type]


def test_a_resumed_run_names_the_model_and_tools_that_it_has_now(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    class Other(FakeModel):
        name = "other"

    loop = started(call(), "done")
    again = Loop.resume(loop.snapshot(), model=Other(["done"]), tools=[make_tool(name="another")])
    assert again.trace.model.name == "other"
    assert again.trace.tools[0]["function"]["name"] == "another"


# ---- limits at the edges ----


def test_a_deadline_in_a_model_call_is_a_deadline(make_tool: Callable[..., Tool]) -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "late")), latency_ms=3000)
    for turns in ([slow], [call(), slow]):
        begun = time.monotonic()
        result = run(FakeModel(turns), [make_tool()], "go", limits=Limits(deadline_s=0.2))
        assert result.reason == "deadline"
        assert time.monotonic() - begun < 2


def test_nudges_keep_every_limit() -> None:
    empty = ModelReply(Message("assistant", ""), usage=Usage(10, 1, 11))
    for options in ({"max_steps": 1}, {"limits": Limits(nudges=2, total_tokens=10)}):
        limits = options.get("limits", Limits(nudges=2))
        result = run(FakeModel([empty] * 5), [], "go", max_steps=options.get("max_steps", 8), limits=limits)
        assert (result.reason, len(result.trace.steps)) == ("empty_answer", 1)


def test_a_second_turn_does_not_begin_on_a_spent_budget(started: Callable[..., Loop]) -> None:
    reply = ModelReply(Message("assistant", "one"), usage=Usage(100, 10, 110))
    loop = started(reply, "two", limits=Limits(total_tokens=100))
    loop.finish()
    assert loop.stop_reason == "final"
    loop.start("again")
    loop.finish()
    assert (loop.stop_reason, len(loop.trace.steps)) == ("token_budget", 1)
    loop.extend(limits=Limits(total_tokens=1000))
    loop.finish()
    assert (loop.stop_reason, loop.trace.outcome.final) == ("final", "two")


@pytest.mark.parametrize("steps", [0, -1, 1.5, "8", True])
def test_a_senseless_step_limit_is_refused(steps: Any) -> None:
    with pytest.raises(InputError, match="max_steps"):
        Loop(FakeModel(["x"]), max_steps=steps)


def test_an_overflow_before_the_first_call_can_be_extended(started: Callable[..., Loop]) -> None:
    heavy = Tool(
        name="heavy",
        description="",
        parameters={"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(100)}},
        func=lambda **_: "",
    )
    loop = started("done", tools=[heavy], context=ContextBudget(100))
    loop.finish()
    assert loop.stop_reason == "context_overflow"
    loop.extend(context=ContextBudget(100_000))
    loop.finish()
    assert loop.stop_reason == "final"


def test_a_turn_that_was_stopped_before_its_call_is_not_answered_by_the_turn_before(
    started: Callable[..., Loop],
) -> None:
    loop = started("one", "two")
    loop.finish()
    loop.start("second")
    loop.stop()
    loop.finish()
    assert loop.stop_reason == "stopped_by_user"
    loop.extend()
    loop.finish()
    assert loop.trace.outcome.final == "two"


def test_a_stopped_slow_turn_is_asked_again_not_skipped(started: Callable[..., Loop]) -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "first")), latency_ms=300)
    loop = started(slow, "second", to=Phase.CALL)
    threading.Timer(0.05, loop.stop).start()
    loop.finish()
    assert loop.stop_reason == "stopped_by_user"
    loop.extend()
    loop.finish()
    assert loop.trace.outcome.final == "first"


def test_a_longer_script_goes_on_where_the_short_one_ended(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    loop = started(call())
    loop.finish()
    assert loop.stop_reason == "script_exhausted"
    again = Loop.resume(loop.snapshot(), model=FakeModel([call(), "two"]), tools=[make_tool()])
    again.extend()
    again.finish()
    assert again.trace.outcome.final == "two"


# ---- threads and tasks ----


def test_two_threads_never_make_two_calls_at_once(make_tool: Callable[..., Tool]) -> None:
    now, most = [0], [0]

    class Slow(FakeModel):
        def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
            now[0] += 1
            most[0] = max(most[0], now[0])
            time.sleep(0.02)
            now[0] -= 1
            return super().complete(messages, tool_schemas, control=control)

    loop = Loop(Slow([call(n) for n in range(5)] + ["done"]), [make_tool()])
    loop.start("go")
    threads = [threading.Thread(target=loop.finish) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1
    assert (loop.stop_reason, len(loop.trace.steps)) == ("final", 6)


def test_a_turn_cannot_begin_while_another_thread_moves_the_run(started: Callable[..., Loop]) -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "late")), latency_ms=300)
    loop = started(slow, to=Phase.CALL)
    mover = threading.Thread(target=loop.finish)
    mover.start()
    time.sleep(0.05)
    with pytest.raises(AgentError, match="another thread"):
        loop.start("second")
    mover.join()
    assert loop.trace.outcome.final == "late"


def test_a_cancelled_task_stops_the_run_and_the_next_turn_is_clean() -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "answer to first")), latency_ms=2000)
    loop = Loop(FakeModel([slow, "answer to second"]))

    async def impatient() -> None:
        async def drive() -> None:
            async for _ in loop.aevents("first"):
                pass

        task = asyncio.create_task(drive())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begun = time.monotonic()
    asyncio.run(impatient())
    assert time.monotonic() - begun < 1.5
    loop.start("second")
    loop.finish()
    assert [message.role for message in loop.messages] == ["user", "user", "assistant"]


# ---- what is kept ----


def test_the_outcome_of_an_earlier_turn_stays_in_the_notes(started: Callable[..., Loop]) -> None:
    loop = started("one", "two")
    loop.finish()
    loop.start("second")
    loop.finish()
    (note,) = [note for note in loop.trace.notes if note["kind"] == "turn"]
    assert note["outcome"]["final"] == "one"
    assert note["step"] == 1


def test_what_people_did_stands_among_the_interventions(started: Callable[..., Loop]) -> None:
    loop = started(call(), call(2), "done", policy=CapabilityPolicy(ask=["act"]), max_steps=1)
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.edit({"n": 2}))
    loop.finish()
    loop.extend(max_steps=4)
    kinds = [(item["kind"], item["step"], item["by"]) for item in loop.trace.interventions]
    assert kinds == [("edited", 1, "user"), ("extended", 1, "user")]
    assert loop.trace.interventions[0]["params"]["arguments"] == {"n": 2}
    assert loop.trace.interventions[1]["params"] == {"max_steps": 4}


def test_summaries_and_active_time_stand_in_the_file(tmp_path: Path) -> None:
    def say(text: str) -> ModelReply:
        return ModelReply(Message("assistant", text), usage=Usage(100, 10, 110))

    loop = Loop(
        FakeModel([say("word " * 300), say("in short"), say("done")]), context=ContextBudget(200), journal=tmp_path
    )
    for text in ("first", "second"):
        loop.start(text)
        loop.finish()
    trace = Trace.from_dict(json.loads(next(tmp_path.iterdir()).read_bytes()))
    (note,) = [note for note in trace.notes if note["kind"] == "summary"]
    assert (note["text"], note["usage"]["total_tokens"]) == ("in short", 110)
    assert trace.outcome.active_s is not None
    assert trace.outcome.active_s >= 0


def test_each_step_is_logged_once_with_the_state_it_led_to(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="agent"):
        loop = started(call(), call(2, n=2), "done", max_steps=2)
        loop.finish()
        loop.extend(max_steps=5)
        loop.finish()
        empty = started("x", tools=[make_tool()], context=ContextBudget(1))
        empty.finish()
    steps = [(vars(r)["step"], vars(r)["state"]) for r in caplog.records if r.message == "agent.step"]
    assert steps == [(1, "OBSERVE"), (2, "DONE"), (3, "DONE")]


def test_only_what_the_environment_answered_is_said_to_be_its_work(started: Callable[..., Loop]) -> None:
    loop = started(call(), "done", to=Phase.EXECUTE)
    loop.stop()
    loop.finish()
    assert loop.trace.entries[-1].maker == "code"
    assert violations(loop.messages) == []


def test_repeats_are_seen_through_spelling_and_order_of_keys(make_tool: Callable[..., Tool]) -> None:
    def turn(n: int) -> list[ToolCall]:
        arguments = {"filter": {"a": 1, "b": 2}} if n % 2 else {"filter": {"b": 2, "a": 1}}
        return [ToolCall("c1", ("act", "functions.act")[n % 2], arguments)]

    result = run(FakeModel([turn(n) for n in range(9)]), [make_tool()], "go", max_steps=20, limits=Limits.guarded())
    assert (result.reason, len(result.trace.steps)) == ("repeated_call", 3)


def test_a_tool_whose_only_argument_is_a_thought_is_not_repeating(make_tool: Callable[..., Tool]) -> None:
    turns = [[ToolCall("c1", "act", {"thought": f"idea {n}"})] for n in range(6)]
    result = run(FakeModel([*turns, "done"]), [make_tool()], "go", max_steps=20, limits=Limits.guarded())
    assert result.reason == "final"


def test_a_rejection_holds_for_its_turn(make_tool: Callable[..., Tool], started: Callable[..., Loop]) -> None:
    ran: list[Any] = []
    loop = started(call(), "ok", call(2), "done", tools=[make_tool(ran=ran)], policy=CapabilityPolicy(ask=["act"]))
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.reject("not now"))
    loop.finish()
    loop.start("please do it now")
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.run())
    loop.finish()
    assert len(ran) == 1
