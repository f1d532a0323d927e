"""Injected faults that break the loop itself: a result under a wrong id, and the three switches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent import (
    CapabilityPolicy,
    FakeModel,
    Limits,
    Loop,
    Message,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
)
from agent.faults import FAULTS, Fault
from agent.interventions import Intervention
from agent.limits import HARD_CAP
from agent.protocol import violations
from agent.request import request_of
from agent.scripts import load_script
from tests.agent.struck import call, hit, results, strike_of

Started = Callable[..., Loop]
MakeTool = Callable[..., Tool]


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
