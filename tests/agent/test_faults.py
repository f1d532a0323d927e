"""Injected faults: each strikes once, by real means, and the ordinary checks are what meets it."""

from __future__ import annotations

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
    Decision,
    FakeModel,
    FakeTurn,
    InputError,
    JsonActionModel,
    Limits,
    Loop,
    Message,
    ModelError,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
)
from agent.errors import Retry
from agent.faults import FAULTS, Fault
from agent.interventions import Intervention
from agent.limits import HARD_CAP
from agent.protocol import violations
from agent.recovery import recover
from agent.request import request_of
from agent.scripts import load_script
from agent.striking import struck

Started = Callable[..., Loop]
MakeTool = Callable[..., Tool]


BROKEN = "the tool broke down (an injected fault)"


def call(name: str = "act", /, number: int = 1, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", name, arguments)]


def hit(loop: Loop, kind: str, **params: Any) -> Loop:
    """Play a run to its end with one fault armed; it must strike, once."""
    loop.arm(Fault(kind, params))
    loop.finish()
    assert loop.run.faults == []
    assert [strike["kind"] for strike in struck(loop.trace.interventions)] == [kind]
    return loop


def strike_of(loop: Loop) -> dict[str, Any]:
    (strike,) = struck(loop.trace.interventions)
    return strike


def results(loop: Loop) -> list[str]:
    return [message.text for message in loop.messages if message.role == "tool"]


# ---- arming ----


def test_a_fault_that_cannot_be_is_refused_with_what_could_be() -> None:
    with pytest.raises(InputError, match="unknown fault 'nonsense'; known are tool_raises"):
        Fault("nonsense")
    with pytest.raises(InputError, match="unknown parameter 'n' of the fault tool_times_out; known are timeout_s"):
        Fault("tool_times_out", {"n": 1})
    with pytest.raises(InputError, match="it takes none"):
        Fault("tool_raises", {"n": 1})
    for wrong in (0, -1, "1", True, float("nan"), 1e9):
        with pytest.raises(InputError, match=r"timeout_s of the fault \w+ must be a number from 0\.01 to 60"):
            Fault("tool_times_out", {"timeout_s": wrong})


def test_an_armed_fault_is_replaced_by_another_of_its_kind_and_can_be_taken_back(started: Started) -> None:
    loop = started("done")
    loop.arm(Fault("repeated_calls"))
    loop.arm(Fault("unknown_tool"))
    loop.arm(Fault("repeated_calls", {"times": 5}))
    assert loop.run.faults == [Fault("unknown_tool"), Fault("repeated_calls", {"times": 5})]
    loop.disarm("unknown_tool")
    loop.disarm("unknown_tool")
    assert loop.run.faults == [Fault("repeated_calls", {"times": 5})]
    loop.disarm("repeated_calls")
    loop.finish()
    assert struck(loop.trace.interventions) == []


def test_armed_faults_are_part_of_a_snapshot(started: Started) -> None:
    loop = started(call(), "done", to=Phase.CALL)
    loop.arm(Fault("provider_429", {"wait_s": 0}))
    again = Loop.resume(loop.snapshot(), model=FakeModel([call(), "done"]), tools=loop.tools)
    assert again.run.faults == [Fault("provider_429", {"wait_s": 0})]


def test_a_run_that_is_moving_cannot_be_changed(make_tool: MakeTool) -> None:
    entered, leave = threading.Event(), threading.Event()

    def wait() -> str:
        entered.set()
        leave.wait(10)
        return "ok"

    loop = Loop(FakeModel([call(), "done"]), [make_tool(wait)])
    loop.start("go")
    moving = threading.Thread(target=loop.finish)
    moving.start()
    entered.wait(10)
    with pytest.raises(AgentError, match="pause it first"):
        loop.arm(Fault("unknown_tool"))
    leave.set()
    moving.join(10)
    loop.arm(Fault("unknown_tool"))


def test_a_fault_waits_for_a_phase_in_which_it_can_strike(started: Started) -> None:
    loop = started(call(), "let me think", to=Phase.APPEND)
    loop.arm(Fault("unknown_tool"))
    loop.finish()
    assert loop.run.faults == [Fault("unknown_tool")], "the last reply asks for no tool"
    assert (loop.stop_reason, struck(loop.trace.interventions)) == ("final", [])


# ---- tools ----


@pytest.mark.parametrize(
    ("kind", "params", "ok", "text"),
    [
        (
            "tool_raises",
            {},
            False,
            '{"error": "RuntimeError: the tool broke down (an injected fault)", "retryable": true}',
        ),
        ("tool_returns_nothing", {}, True, "null"),
        ("tool_returns_too_much", {"characters": 12}, True, "A line of a "),
        (
            "tool_times_out",
            {"timeout_s": 0.05},
            False,
            '{"error": "timed out after 0.05 s; its outcome is unknown", "retryable": true}',
        ),
    ],
)
def test_a_tool_goes_wrong_once_and_is_itself_again(
    make_tool: MakeTool, kind: str, params: dict[str, Any], ok: bool, text: str
) -> None:
    ran: list[Any] = []
    loop = Loop(FakeModel([call(), call(), "done"]), [make_tool("fine", ran=ran)])
    loop.start("go")
    hit(loop, kind, **params)
    assert results(loop) == [text, "fine"]
    assert [run.ok for step in loop.trace.steps for run in step.tools] == [ok, True]
    assert len(ran) == 1, "where a fault stood in its place, the tool itself did not run"
    strike = strike_of(loop)
    assert (strike["step"], strike["phase"], strike["by"]) == (1, "execute", "user")
    assert (strike["params"]["call"], strike["params"]["tool"]) == ("c1", "act")


def test_a_tool_returns_fifty_thousand_characters(started: Started) -> None:
    (text,) = results(hit(started(call(), "done"), "tool_returns_too_much"))
    assert len(text) == 50_000


def test_a_fault_of_a_tool_takes_one_call_of_a_batch(make_tool: MakeTool) -> None:
    ran: list[Any] = []
    batch = [*call(number=1, n=1), *call(number=2, n=2)]
    loop = Loop(FakeModel([batch, "done"]), [make_tool("fine", ran=ran)])
    loop.start("go")
    loop.arm(Fault("tool_returns_nothing"))
    loop.finish()
    assert (results(loop), len(ran)) == (["null", "fine"], 1)


def test_two_faults_take_two_calls_of_a_batch(make_tool: MakeTool) -> None:
    batch = [*call(number=1, n=1), *call(number=2, n=2), *call(number=3, n=3)]
    loop = Loop(FakeModel([batch, "done"]), [make_tool("fine")])
    loop.start("go")
    loop.arm(Fault("tool_returns_nothing"))
    loop.arm(Fault("tool_times_out", {"timeout_s": 0.05}))
    loop.finish()
    first, second, third = results(loop)
    assert (first, third) == ("null", "fine")
    assert "timed out" in second


def test_wrong_arguments_are_met_by_their_own_check_and_leave_the_fault_armed() -> None:
    def double(n: int) -> int:
        return n * 2

    loop = Loop(FakeModel([call("double", n="two"), call("double", n=2), "done"]), [double])
    loop.start("go")
    hit(loop, "tool_returns_nothing")
    assert "wrong arguments" in results(loop)[0]
    assert results(loop)[1] == "null"
    assert strike_of(loop)["step"] == 2


def test_a_hanging_tool_lets_go_of_its_thread_when_nobody_waits_for_it(started: Started) -> None:
    before = set(threading.enumerate())
    hit(started(call(), "done"), "tool_times_out", timeout_s=0.05)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
    assert set(threading.enumerate()) <= before


def test_a_stop_ends_the_wait_for_a_hanging_tool(started: Started) -> None:
    loop = started(call(), "done", to=Phase.EXECUTE)
    loop.arm(Fault("tool_times_out", {"timeout_s": 60}))
    threading.Timer(0.1, loop.stop).start()
    begun = time.monotonic()
    loop.finish()
    assert time.monotonic() - begun < 10
    assert loop.stop_reason == "stopped_by_user"
    assert strike_of(loop)["kind"] == "tool_times_out"


# ---- the model's reply ----


def raw_of_reply(loop: Loop) -> Any:
    position = loop.trace.steps[0].reply
    assert position is not None
    return loop.trace.entries[position].raw


def test_malformed_arguments_are_answered_and_the_real_reply_is_kept(make_tool: MakeTool, started: Started) -> None:
    ran: list[Any] = []
    loop = hit(started(call(n=1), "done", tools=[make_tool(ran=ran)]), "malformed_arguments")
    assert "wrong arguments: the arguments are not valid JSON" in results(loop)[0]
    assert ran == []
    assert raw_of_reply(loop) == Message("assistant", None, tuple(call(n=1))).to_dict()
    assert strike_of(loop)["params"] == {"call": "c1", "before": '{"n": 1}', "after": '{"n": 1'}
    assert loop.stop_reason == "final"


def test_an_unknown_tool_is_answered_with_the_known_ones(make_tool: MakeTool, started: Started) -> None:
    tools = [make_tool(), make_tool(name="no_such_tool")]
    loop = hit(started(call(n=1), "done", tools=tools), "unknown_tool")
    assert "unknown tool 'no_such_tool_'; available: act, no_such_tool" in results(loop)[0]
    assert strike_of(loop)["params"]["before"] == "act"


@pytest.mark.parametrize(("limits", "reason", "runs"), [(Limits.guarded(), "repeated_call", 3), (Limits(), "final", 3)])
def test_a_repeated_call_is_what_the_guard_is_for(
    make_tool: MakeTool, started: Started, limits: Limits, reason: str, runs: int
) -> None:
    ran: list[Any] = []
    loop = hit(started(call(n=1), "done", tools=[make_tool(ran=ran)], limits=limits), "repeated_calls")
    assert (loop.stop_reason, len(ran)) == (reason, runs)
    assert [c.id for c in loop.messages[1].tool_calls] == ["c1", "c12", "c13"]


def test_copies_of_a_call_get_ids_that_are_not_taken(started: Started) -> None:
    loop = hit(started([*call(), ToolCall("c12", "act", {"n": 2})], "done"), "repeated_calls", times=2)
    ids = [c.id for c in loop.messages[1].tool_calls]
    assert len(set(ids)) == len(ids) == 3
    assert violations(loop.messages) == []


def test_a_reply_that_is_cut_off_in_its_text_is_no_answer(started: Started) -> None:
    loop = hit(started("the answer is 42"), "cut_off_reply")
    assert (loop.stop_reason, loop.trace.outcome.final) == ("truncated", "")
    assert loop.messages[-1].text == "the answ"
    assert raw_of_reply(loop)["content"] == "the answer is 42"


def test_a_reply_that_is_cut_off_in_its_last_call_keeps_the_first(make_tool: MakeTool) -> None:
    ran: list[Any] = []
    batch = [*call(number=1, n=1), *call(number=2, n=2)]
    loop = Loop(FakeModel([batch, "done"]), [make_tool("fine", ran=ran)])
    loop.start("go")
    hit(loop, "cut_off_reply")
    assert ran == [("act", {"n": 1})]
    assert "cut off" in results(loop)[1] or "not valid JSON" in results(loop)[1]
    assert loop.stop_reason == "final"


def test_a_claimed_call_does_not_pass_for_a_finished_task(make_tool: MakeTool, started: Started) -> None:
    ran: list[Any] = []
    loop = hit(started(call(), "done", tools=[make_tool(ran=ran)]), "claimed_tool_call")
    assert loop.messages[-1].text == "I have called act and have its result."
    assert (loop.stop_reason, loop.trace.outcome.verified, ran) == ("final", False, [])


def test_faults_of_one_reply_strike_one_after_the_other_where_they_still_can(started: Started) -> None:
    loop = started(call(n=1), "done")
    loop.arm(Fault("claimed_tool_call"))
    loop.arm(Fault("malformed_arguments"))
    loop.finish()
    assert strike_of(loop)["kind"] == "claimed_tool_call"
    assert loop.run.faults == [Fault("malformed_arguments")]


def test_the_other_protocol_meets_the_same_faults(make_tool: MakeTool) -> None:
    turns = ['{"action": "tool", "tool": "act", "params": {"n": 1}}', '{"action": "final", "response": "done"}']
    loop = Loop(JsonActionModel(FakeModel(turns)), [make_tool()])
    loop.start("go")
    hit(loop, "unknown_tool")
    assert "unknown tool" in results(loop)[0]
    assert loop.stop_reason == "final"


# ---- the provider ----


def test_status_429_is_waited_out_and_tried_again(started: Started) -> None:
    told: list[Any] = []
    loop = started(call(), "done", on_event=lambda event: told.append((event.type, event.payload)))
    begun = time.monotonic()
    hit(loop, "provider_429", wait_s=0.05)
    assert time.monotonic() - begun >= 0.05
    words = "The model server answered 429: Too many requests (an injected fault)."
    retry = {"attempt": 1, "error": words, "wait_s": 0.05, "status": 429}
    assert ("model.retry", retry) in told
    step = loop.trace.steps[0]
    assert step.retries == [retry]
    assert step.latency_ms is not None and step.latency_ms >= 50
    assert (loop.stop_reason, loop.run.counters.model_calls) == ("final", 2)


def test_status_500_ends_the_run_and_trying_again_makes_the_same_call(started: Started) -> None:
    loop = hit(started(call(), "done"), "provider_500")
    assert loop.stop_reason == "model_error"
    assert loop.trace.outcome.detail == "The model server answered 500: Internal error (an injected fault)."
    assert loop.run.counters.model_calls == 0, "no turn of the script is used up by a call that was never made"
    loop.extend()
    loop.finish()
    assert (loop.stop_reason, results(loop)) == ("final", ["ok"])


def test_both_failures_of_the_provider_come_in_the_order_of_arming(started: Started) -> None:
    loop = started("done")
    loop.arm(Fault("provider_429", {"wait_s": 0}))
    loop.arm(Fault("provider_500"))
    loop.finish()
    assert loop.stop_reason == "model_error"
    assert [retry["status"] for retry in loop.trace.steps[0].retries] == [429]
    assert loop.run.faults == []


def test_a_stop_ends_the_wait_for_another_attempt(started: Started) -> None:
    loop = started("done", to=Phase.CALL)
    loop.arm(Fault("provider_429", {"wait_s": 60}))
    threading.Timer(0.1, loop.stop).start()
    begun = time.monotonic()
    loop.finish()
    assert time.monotonic() - begun < 10
    assert loop.stop_reason == "stopped_by_user"
    assert loop.trace.steps[0].retries[0]["status"] == 429


def test_the_wait_is_no_longer_than_the_time_of_the_run(started: Started) -> None:
    loop = started("done", to=Phase.CALL, limits=Limits(deadline_s=0.1))
    hit(loop, "provider_429", wait_s=60)
    assert loop.stop_reason == "deadline"


def test_a_script_that_has_run_out_keeps_no_fault_armed(started: Started) -> None:
    assert hit(started(), "provider_429", wait_s=0).stop_reason == "script_exhausted"


def test_the_retries_of_the_model_itself_are_counted_on() -> None:
    own = Retry(1, "reset", 0.0)
    turns = [FakeTurn(ModelReply(Message("assistant", "done"), retries=(own,)))]
    loop = Loop(FakeModel(turns))
    loop.start("go")
    hit(loop, "provider_429", wait_s=0)
    assert [retry["attempt"] for retry in loop.trace.steps[0].retries] == [1, 2]
    loop = Loop(FakeModel([ModelError("no", retries=[own])]))
    loop.start("go")
    hit(loop, "provider_429", wait_s=0)
    assert [retry["attempt"] for retry in loop.trace.steps[0].retries] == [1, 2]


# ---- a crash while a fault strikes ----


@pytest.mark.parametrize(
    ("kind", "event", "asks"), [("tool_returns_nothing", "tool.started", True), ("provider_429", "model.retry", False)]
)
def test_a_fault_whose_effect_was_not_written_yet_is_still_armed_after_a_crash(
    make_tool: MakeTool, tmp_path: Path, kind: str, event: str, asks: bool
) -> None:
    left: list[dict[str, Any]] = []

    def note(happened: AgentEvent) -> None:
        if happened.type == event:
            left.append(recover(next(tmp_path.glob("*.jsonl"))))

    turns = [call(), "done"]
    loop = Loop(FakeModel(turns), [make_tool()], journal=tmp_path, on_event=note)
    loop.start("go")
    hit(loop, kind, **({"wait_s": 0} if kind == "provider_429" else {}))
    (snapshot,) = left
    assert snapshot["faults"][0]["kind"] == kind
    assert struck(snapshot["trace"]["interventions"]) == []
    again = Loop.resume(snapshot, model=FakeModel(turns), tools=[make_tool()])
    assert again.waiting is asks, "nobody knows whether the tool ran, so a person is asked"
    if asks:
        again.decide(0, Decision.run())
    again.finish()
    assert (again.run.faults, results(again)) == ([], results(loop))
    assert strike_of(again) == strike_of(loop)


def test_a_strike_that_is_written_does_not_come_again_after_a_crash(make_tool: MakeTool, tmp_path: Path) -> None:
    batch = [*call(number=1, n=1), *call(number=2, n=2)]
    left: list[dict[str, Any]] = []

    def second(n: int) -> str:
        if n == 2:
            left.append(recover(next(tmp_path.glob("*.jsonl"))))
        return "fine"

    loop = Loop(FakeModel([batch, "done"]), [make_tool(second)], journal=tmp_path, parallel=False)
    loop.start("go")
    hit(loop, "tool_returns_nothing")
    (snapshot,) = left
    assert snapshot["faults"] == []
    again = Loop.resume(snapshot, model=FakeModel([batch, "done"]), tools=[make_tool("fine")])
    again.decide(1, Decision.run())
    again.finish()
    assert results(again) == ["null", "fine"]
    assert strike_of(again)["params"]["call"] == "c1"


# ---- a tool message ----


def test_a_wrong_id_stands_in_the_message_list_and_goes_over_no_wire(started: Started) -> None:
    loop = hit(started(call(), call(), "done"), "wrong_call_id")
    assert [message.tool_call_id for message in loop.messages if message.role == "tool"] == ["wrong_c1", "c1"]
    for step in loop.trace.steps[1:]:
        assert violations(request_of(loop.trace, step)) == []
        assert {edit.by for edit in step.request.edits} == {"protocol"} if step.request else False
    assert strike_of(loop)["params"] == {"before": "c1", "after": "wrong_c1"}


def test_a_wrong_id_is_one_that_no_call_has(started: Started) -> None:
    loop = hit(started([*call(), ToolCall("wrong_c1", "act", {})], "done"), "wrong_call_id")
    assert [m.tool_call_id for m in loop.messages if m.role == "tool"] == ["wrong_c1_", "wrong_c1"]


# ---- the three ways to break a loop ----


def test_results_that_are_not_written_back_never_reach_the_model() -> None:
    script = load_script("calc")
    loop = script.loop(pace=0)
    loop.start(script.task)
    hit(loop, "results_not_written_back")
    for step in loop.trace.steps[1:]:
        roles = [message.role for message in request_of(loop.trace, step)]
        assert "tool" not in roles
        assert violations(request_of(loop.trace, step)), "the request is broken, and is sent as it is"
    assert loop.settings.interventions == (Intervention("omit_results"),)
    assert results(loop) == ["5", "20"], "the message list itself has them"


def test_a_model_that_reads_its_requests_repeats_itself_for_ever_without_results(make_tool: MakeTool) -> None:
    class Reads:
        """Asks until it sees a result."""

        def complete(self, messages: Any, tool_schemas: Any) -> ModelReply:
            if messages[-1].role == "tool":
                return ModelReply(Message("assistant", "it is 5"))
            return ModelReply(Message("assistant", None, tuple(call())))

    for kind, reason, steps in ((None, "final", 2), ("results_not_written_back", "repeated_call", 3)):
        loop = Loop(Reads(), [make_tool()], limits=Limits.guarded())
        loop.start("go")
        if kind:
            loop.arm(Fault(kind))
        loop.finish()
        assert (loop.stop_reason, len(loop.trace.steps)) == (reason, steps)


def test_without_a_limit_only_the_hard_cap_ends_an_endless_loop() -> None:
    script = load_script("noop")
    loop = script.loop(pace=0, limits=Limits.guarded())
    loop.start(script.task)
    hit(loop, "limit_removed")
    assert (loop.stop_reason, len(loop.trace.steps)) == ("max_iterations", HARD_CAP)
    assert strike_of(loop)["params"] == {"before": {"max_steps": 2, "repeated_calls": 3, "failing_steps": 3}}
    assert loop.trace.config["max_steps"] is None


def test_a_limit_that_was_reached_can_be_removed_and_the_run_goes_on() -> None:
    script = load_script("noop")
    loop = script.loop(pace=0)
    loop.start(script.task)
    loop.finish()
    assert len(loop.trace.steps) == 2
    loop.arm(Fault("limit_removed"))
    loop.extend()
    loop.finish()
    assert len(loop.trace.steps) == HARD_CAP


def test_other_budgets_stay_when_the_limit_is_removed(started: Started) -> None:
    turns = [call(n=n) for n in range(50)]
    loop = hit(started(*turns, max_steps=3, limits=Limits.guarded(total_tokens=400)), "limit_removed")
    assert loop.stop_reason == "token_budget"


@pytest.mark.parametrize(("kind", "status"), [(None, "paid"), ("permission_check_removed", "cancelled")])
def test_without_the_permission_check_the_denied_tool_runs(kind: str | None, status: str) -> None:
    script = load_script("denied")
    loop = script.loop(pace=0)
    loop.start(script.task)
    if kind:
        loop.arm(Fault(kind))
    loop.finish()
    order = loop.tools.run(ToolCall("x", "get_order", {"order_id": "A1002"})).value
    assert order["status"] == status
    assert loop.trace.steps[0].tools[0].decision == ("run" if kind else "denied")


def test_a_call_that_was_denied_before_the_check_was_removed_stays_denied(make_tool: MakeTool) -> None:
    ran: list[Any] = []
    policy = CapabilityPolicy(deny=["act"])
    loop = Loop(FakeModel([call(), call(), "done"]), [make_tool(ran=ran)], policy=policy)
    loop.start("go")
    while loop.phase is not Phase.EXECUTE:
        loop.advance()
    hit(loop, "permission_check_removed")
    assert [run.decision for step in loop.trace.steps for run in step.tools] == ["denied", "run"]
    assert strike_of(loop)["step"] == 2


def test_every_fault_is_told_in_plain_words() -> None:
    for about in FAULTS.values():
        assert about.sentence.endswith(".") and about.sentence.count(".") == 1
        assert about.name and about.phases
