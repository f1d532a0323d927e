"""Going on after a stop: more of what ran out, the same question again, or no way on."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from agent import (
    ContextBudget,
    FakeModel,
    FakeTurn,
    Limits,
    Loop,
    Message,
    ModelError,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
    tool,
)
from agent.extension import MORE_STEPS, extension
from agent.limits import HARD_CAP
from agent.settings import Settings
from agent.stops import StopReason


@tool
def count(n: int) -> int:
    """Give the number back."""
    return n


def call(**arguments: object) -> list[ToolCall]:
    return [ToolCall("c1", "act", arguments)]


def stopped(turns: int, **options: object) -> Loop:
    loop = Loop(
        FakeModel([[ToolCall(f"c{n}", "count", {"n": n})] for n in range(turns)] + ["done"]), [count], **options
    )
    loop.start("count")
    loop.finish()
    return loop


def test_a_run_at_its_step_limit_gets_some_more_steps() -> None:
    loop = stopped(4, max_steps=2)
    assert loop.stop_reason == "max_iterations"
    loop.extend(**extension(loop.stop_reason, loop.settings, loop.run.iteration) or {})
    assert loop.settings.max_steps == 2 + MORE_STEPS
    loop.finish()
    assert loop.trace.outcome.final == "done"


def test_a_used_up_budget_is_doubled_and_no_other_limit_changes() -> None:
    loop = stopped(3, max_steps=20, limits=Limits(total_tokens=30, failing_steps=3))
    assert loop.stop_reason == "token_budget"
    changes = extension(loop.stop_reason, loop.settings, loop.run.iteration)
    assert changes == {"max_steps": 20, "limits": Limits(total_tokens=60, failing_steps=3)}


def test_a_failed_model_call_is_only_asked_again(started: Callable[..., Loop]) -> None:
    loop = started(call(), ModelError("503"), "done")
    loop.finish()
    assert loop.stop_reason == "model_error"
    changes = extension(loop.stop_reason, loop.settings, loop.run.iteration)
    assert changes == {}
    loop.extend(**changes)
    loop.finish()
    assert loop.trace.outcome.final == "done"


@pytest.mark.parametrize("reason", ["final", "refused", "empty_answer", "script_exhausted", "context_overflow"])
def test_what_would_end_the_same_way_again_has_no_way_on(reason: str) -> None:
    assert extension(StopReason(reason), Settings(), 1) is None


def test_a_run_that_still_moves_and_one_at_the_hard_cap_have_none_either() -> None:
    assert extension(None, Settings(), 1) is None
    assert extension(StopReason.MAX_ITERATIONS, Settings(), HARD_CAP) is None


def test_a_run_without_a_step_limit_gets_none() -> None:
    assert extension(StopReason.REPEATED_CALL, Settings(max_steps=None), 3) == {}


def test_a_limit_can_be_extended_and_the_same_run_goes_on(started: Callable[..., Loop]) -> None:
    loop = started(*[call(n=n) for n in range(6)], "done", max_steps=3)
    loop.finish()
    assert loop.stop_reason == "max_iterations"
    loop.extend(max_steps=6)
    loop.finish()
    assert (loop.stop_reason, len(loop.trace.steps)) == ("max_iterations", 6)
    loop.extend(max_steps=2)
    loop.finish()
    assert (loop.stop_reason, len(loop.trace.steps)) == ("max_iterations", 6)
    loop.extend(max_steps=9)
    loop.finish()
    assert (loop.stop_reason, loop.trace.outcome.final) == ("final", "done")


def test_a_stopped_slow_turn_is_asked_again_not_skipped(started: Callable[..., Loop]) -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "first")), latency_ms=300)
    loop = started(slow, "second", to=Phase.CALL)
    threading.Timer(0.05, loop.stop).start()
    loop.finish()
    assert loop.stop_reason == "stopped_by_user"
    loop.extend()
    loop.finish()
    assert loop.trace.outcome.final == "first"


def test_the_guards_begin_anew_after_an_extension(started: Callable[..., Loop]) -> None:
    loop = started(*[call()] * 5, "done", limits=Limits.guarded())
    loop.finish()
    assert (loop.stop_reason, len(loop.trace.steps)) == ("repeated_call", 3)
    loop.extend()
    loop.finish()
    assert loop.stop_reason == "final"


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
