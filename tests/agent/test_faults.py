"""Injected faults: each strikes once, by real means, and the ordinary checks are what meets it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from agent import (
    AgentError,
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
from agent.faults import Fault
from agent.protocol import violations
from agent.striking import struck
from tests.agent.struck import call, hit, results, strike_of

Started = Callable[..., Loop]
MakeTool = Callable[..., Tool]


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


def test_a_script_that_fails_says_the_same_of_every_run() -> None:
    own = Retry(1, "reset", 0.0)
    turns = [ModelError("no", retries=[own])]
    for _ in range(2):
        loop = Loop(FakeModel(turns))
        loop.start("go")
        hit(loop, "provider_429", wait_s=0)
        assert [retry["attempt"] for retry in loop.trace.steps[0].retries] == [1, 2]
