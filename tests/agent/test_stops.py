"""The stop reasons that are no matter of guards, budgets or answers: each provoked, and beside it what must go on."""

from __future__ import annotations

import json
from collections.abc import Callable

from agent import (
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    JsonActionModel,
    Loop,
    ModelError,
    Phase,
    RunResult,
    StopReason,
    Tool,
    ToolCall,
    run,
)
from agent.limits import HARD_CAP
from agent.protocol import violations


def call(**arguments: object) -> list[ToolCall]:
    return [ToolCall("c1", "act", arguments)]


def test_the_list_of_reasons_is_closed() -> None:
    assert {str(reason) for reason in StopReason} == {
        *("final", "max_iterations", "repeated_call", "consecutive_errors", "truncated", "empty_answer", "refused"),
        *("deadline", "token_budget", "cost_budget", "context_overflow", "model_error", "script_exhausted"),
        *("unknown_action", "stopped_by_user", "rejected_by_user"),
    }


def test_max_iterations_makes_exactly_that_many_calls(go: Callable[..., RunResult]) -> None:
    result = go([call()] * 9, max_steps=3)
    assert result.reason == "max_iterations"
    assert len(result.trace.steps) == 3
    assert "3 steps" in result.steps[-1].detail


def test_an_answer_within_the_limit_is_final(go: Callable[..., RunResult]) -> None:
    assert go([call(), call(), "done"], max_steps=3).reason == "final"


def test_parallel_calls_are_one_step(go: Callable[..., RunResult]) -> None:
    six = [ToolCall(f"c{n}", "act", {"n": n}) for n in range(6)]
    assert go([six, "done"], max_steps=2).reason == "final"


def test_without_a_limit_a_hard_cap_holds(go: Callable[..., RunResult]) -> None:
    result = go([call()] * (HARD_CAP + 5), max_steps=None)
    assert result.reason == "max_iterations"
    assert len(result.trace.steps) == HARD_CAP
    assert "hard cap" in result.steps[-1].detail


def test_a_model_error_ends_the_run_with_the_providers_words(go: Callable[..., RunResult]) -> None:
    result = go([call(), ModelError("503: the model is overloaded", status=503)])
    assert result.reason == "model_error"
    assert "overloaded" in result.steps[-1].detail


def test_any_exception_of_a_model_ends_the_run_and_hides_secrets(go: Callable[..., RunResult]) -> None:
    result = go([RuntimeError("bad key sk-abcdefghijklmnop1234567890")])
    assert result.reason == "model_error"
    assert "sk-abcdefghijklmnop1234567890" not in json.dumps(result.trace.to_dict())


def test_context_overflow_without_a_budget_ends_the_run(go: Callable[..., RunResult]) -> None:
    result = go([ModelError("prompt has 9000 tokens, the window 4096", kind="context_overflow")])
    assert result.reason == "context_overflow"
    assert "9000" in result.steps[-1].detail


def test_context_overflow_with_a_budget_is_tried_once_more_with_less(
    make_tool: Callable[..., Tool], go: Callable[..., RunResult]
) -> None:
    turns = [call(n=1), call(n=2), ModelError("too long", kind="context_overflow"), "done"]
    big = make_tool(lambda n: f"{n} " * 300)
    result = go(turns, big, context=ContextBudget(5000))
    assert result.reason == "final"
    assert len(result.trace.steps) == 3, "the refused attempt is not a step of its own"
    again = [*turns[:3], ModelError("too long", kind="context_overflow")]
    assert go(again, big, context=ContextBudget(5000)).reason == "context_overflow"


def test_a_user_can_stop_between_two_phases(started: Callable[..., Loop]) -> None:
    loop = started(call(), "done", to=Phase.EXECUTE)
    loop.stop()
    loop.advance()
    assert (loop.stop_reason, loop.phase) == ("stopped_by_user", None)
    assert violations(loop.messages) == []


def test_rejecting_with_stop_ends_the_run(started: Callable[..., Loop]) -> None:
    loop = started(call(), "done", policy=CapabilityPolicy(ask=["act"]))
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.reject("too dangerous", stop=True))
    loop.finish()
    assert loop.stop_reason == "rejected_by_user"
    assert "too dangerous" in loop.messages[-1].text


def test_a_rejection_alone_goes_back_to_the_model(started: Callable[..., Loop]) -> None:
    loop = started(call(), "done", policy=CapabilityPolicy(ask=["act"]))
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.reject("not now"))
    loop.finish()
    assert loop.stop_reason == "final"


def test_an_unknown_action_is_only_a_matter_of_the_json_protocol(
    make_tool: Callable[..., Tool], go: Callable[..., RunResult]
) -> None:
    said = '{"action": "dance"}'
    assert run(JsonActionModel(FakeModel([said])), [make_tool()], "go").reason == "unknown_action"
    assert go([said]).reason == "final"
