"""After a crash at a bad moment: nothing is done twice unasked, nothing that was decided is forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent import (
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    Limits,
    Loop,
    Message,
    ModelError,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
    Trace,
)
from agent.acting import SECRET_LOST
from agent.fork import fork
from agent.moments import moments
from agent.recovery import recover
from agent.rewind import rewind


def left_behind(folder: Path) -> dict[str, Any]:
    """What would be left of the only run of this folder, if the process ended now."""
    (journal,) = folder.glob("*.jsonl")
    return recover(journal)


def call(number: int = 1, /, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", "act", arguments)]


def test_edited_arguments_survive_a_crash_in_the_tool(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path
) -> None:
    left: list[dict[str, Any]] = []
    crashing = make_tool(lambda path: left.append(left_behind(tmp_path)))
    policy = CapabilityPolicy(ask=["act"])
    loop = started(call(path="/everything"), "done", tools=[crashing], policy=policy, journal=tmp_path)
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.edit({"path": "/tmp/one"}))
    loop.finish()

    ran: list[Any] = []
    (snapshot,) = left
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
    left: list[dict[str, Any]] = []
    crashing = make_tool(lambda: left.append(left_behind(tmp_path)))
    started(call(), "done", tools=[crashing], journal=tmp_path).finish()
    ran: list[Any] = []
    (snapshot,) = left
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


def test_a_model_call_that_was_interrupted_is_the_same_step_when_it_is_made_again(
    tmp_path: Path,
) -> None:
    class Interrupted(FakeModel):
        def complete(self, *_: Any, **__: Any) -> ModelReply:
            raise KeyboardInterrupt

    loop = Loop(Interrupted([]), journal=tmp_path)
    loop.start("go")
    loop.advance()
    with pytest.raises(KeyboardInterrupt):
        loop.advance()
    recovered = left_behind(tmp_path)
    again = Loop.resume(recovered, model=FakeModel(["done"]))
    again.finish()
    loop = Loop.resume(loop.snapshot(), model=FakeModel(["done"]))
    loop.finish()
    for run in (loop, again):
        assert [(step.index, step.reply) for step in run.trace.steps] == [(1, 1)]
        assert (run.run.iteration, run.stop_reason) == (1, "final")


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
    snapshot = left_behind(tmp_path)
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
    snapshot = left_behind(tmp_path)
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
    snapshot = left_behind(tmp_path)
    again = Loop.resume(snapshot, model=FakeModel(turns), tools=[make_tool()])
    assert again.run.counters.nudges == 1
    again.finish()
    assert (again.stop_reason, [m.role for m in again.messages].count("user")) == ("final", 3)


def test_a_summary_that_did_not_help_is_kept_with_the_failed_prepare(
    make_tool: Callable[..., Tool], tmp_path: Path
) -> None:
    script = [*(call(n, n=n) for n in range(3)), "done " + "long " * 60, "summary " + "blah " * 400, "after"]
    loop = Loop(
        FakeModel(script), [make_tool("word " * 90)], context=ContextBudget(300, max_result_tokens=90), journal=tmp_path
    )
    loop.start("go " + "x " * 20)
    loop.finish()
    loop.start("second " + "y " * 900)
    loop.advance()
    assert (loop.phase, loop.run.failure and loop.run.failure.reason) == (Phase.DECIDE, "context_overflow")
    assert "summary" in [note["kind"] for note in loop.trace.notes]
    assert left_behind(tmp_path) == loop.snapshot() | {"counters": left_behind(tmp_path)["counters"]}
    counters = left_behind(tmp_path)["counters"] | {"active_s": loop.run.counters.active_s}
    assert counters == loop.snapshot()["counters"], "all but the time that prepare took"


# ---- secrets, which are not kept on disk ----

KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
SECRET = [ToolCall("c1", "act", {"api_key": KEY})]


def asks_about_the_secret(loop: Loop, ran: list[Any]) -> None:
    """The call waits for a person; nobody is there, so nothing runs."""
    assert (loop.waiting, loop.run.pending[0].question) == (True, SECRET_LOST)
    assert loop.foreseen()[0].question == SECRET_LOST
    loop.finish()
    assert "held a secret" in loop.messages[2].text
    assert ran == []


@pytest.mark.parametrize("phase", [Phase.APPROVE, Phase.EXECUTE])
def test_a_call_whose_secret_is_lost_waits_for_a_person(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path, phase: Phase
) -> None:
    ran: list[Any] = []
    tools = [make_tool(ran=ran)]
    started(SECRET, "done", tools=tools, journal=tmp_path, to=phase)
    snapshot = left_behind(tmp_path)
    assert (snapshot["phase"], snapshot["pending"][0]["question"]) == (Phase.APPROVE, SECRET_LOST)
    again = Loop.resume(snapshot, model=FakeModel([SECRET, "done"]), tools=tools)
    asks_about_the_secret(again, ran)


@pytest.mark.parametrize("phase", [Phase.APPROVE, Phase.EXECUTE])
def test_it_waits_in_a_fork_of_a_file_and_in_a_run_that_went_back_as_well(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path, phase: Phase
) -> None:
    ran: list[Any] = []
    tools = [make_tool(ran=ran)]
    started(SECRET, "done", tools=tools, journal=tmp_path).finish()
    assert ran == [("act", {"api_key": KEY})]
    ran.clear()
    (path,) = tmp_path.iterdir()
    trace = Trace.from_dict(json.loads(path.read_bytes()))
    moment = next(moment for moment in moments(trace) if moment.phase is phase)
    for snapshot in (fork(trace, moment), rewind(trace, moment).to_dict()):
        asks_about_the_secret(Loop.resume(snapshot, model=FakeModel([SECRET, "done"]), tools=tools), ran)


@pytest.mark.parametrize("setting", ["ask", "run", "skip"])
@pytest.mark.parametrize("dies", [False, True])
def test_changed_arguments_whose_secret_is_lost_wait_for_a_person(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path, dies: bool, setting: Any
) -> None:
    left: list[dict[str, Any]] = []
    dying = make_tool(lambda **_: left.append(left_behind(tmp_path)))
    loop = started(call(), "done", tools=[dying], journal=tmp_path, to=Phase.APPROVE, unknown=setting)
    loop.decide(0, Decision.edit({"api_key": KEY}))
    loop.advance()
    snapshot = left_behind(tmp_path)
    loop.advance()
    ran: list[Any] = []
    again = Loop.resume(
        left[0] if dies else snapshot, model=FakeModel([call(), "done"]), tools=[make_tool(ran=ran)], journal=tmp_path
    )
    assert again.waiting
    twice = Loop.resume(left_behind(tmp_path), model=FakeModel([call(), "done"]), tools=[make_tool(ran=ran)])
    asks_about_the_secret(twice, ran)


@pytest.mark.parametrize(
    "said", [Decision.edit({"n": 1}), Decision.mock("given"), Decision.skip("no need"), Decision.reject("never")]
)
def test_what_was_decided_without_letting_the_secret_run_still_holds(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path, said: Decision
) -> None:
    ran: list[Any] = []
    loop = started(SECRET, "done", tools=[make_tool(ran=ran)], journal=tmp_path, to=Phase.APPROVE)
    loop.decide(0, said)
    loop.advance()
    again = Loop.resume(left_behind(tmp_path), model=FakeModel([SECRET, "done"]), tools=[make_tool(ran=ran)])
    assert not again.waiting
    loop.finish()
    again.finish()
    assert again.messages[2] == loop.messages[2]
    assert ran == ([("act", {"n": 1})] * 2 if said.runs else [])
