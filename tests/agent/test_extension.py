"""Going on after a stop: more of what ran out, the same question again, or no way on."""

from __future__ import annotations

import pytest

from agent import FakeModel, Limits, Loop, ToolCall, tool
from agent.extension import MORE_STEPS, extension
from agent.limits import HARD_CAP
from agent.settings import Settings
from agent.stops import StopReason


@tool
def count(n: int) -> int:
    """Give the number back."""
    return n


def stopped(turns: int, **options: object) -> Loop:
    loop = Loop(
        FakeModel([[ToolCall(f"c{n}", "count", {"n": n})] for n in range(turns)] + ["done"]), [count], **options
    )
    go(loop, "count")
    return loop


def go(loop: Loop, text: str | None = None) -> None:
    if text:
        loop.start(text)
    while loop.phase:
        loop.advance()


def test_a_run_at_its_step_limit_gets_some_more_steps() -> None:
    loop = stopped(4, max_steps=2)
    assert loop.stop_reason == "max_iterations"
    loop.extend(**extension(loop.stop_reason, loop.settings, loop.run.iteration) or {})
    assert loop.settings.max_steps == 2 + MORE_STEPS
    go(loop)
    assert loop.trace.outcome.final == "done"


def test_a_used_up_budget_is_doubled_and_no_other_limit_changes() -> None:
    loop = stopped(3, max_steps=20, limits=Limits(total_tokens=30, failing_steps=3))
    assert loop.stop_reason == "token_budget"
    changes = extension(loop.stop_reason, loop.settings, loop.run.iteration)
    assert changes == {"max_steps": 20, "limits": Limits(total_tokens=60, failing_steps=3)}


def test_a_failed_model_call_is_only_asked_again() -> None:
    loop = Loop(FakeModel([RuntimeError("down"), "done"]))
    go(loop, "a task")
    assert loop.stop_reason == "model_error"
    changes = extension(loop.stop_reason, loop.settings, loop.run.iteration)
    assert changes == {}
    loop.extend(**changes)
    go(loop)
    assert loop.trace.outcome.final == "done"


@pytest.mark.parametrize("reason", ["final", "refused", "empty_answer", "script_exhausted", "context_overflow"])
def test_what_would_end_the_same_way_again_has_no_way_on(reason: str) -> None:
    assert extension(StopReason(reason), Settings(), 1) is None


def test_a_run_that_still_moves_and_one_at_the_hard_cap_have_none_either() -> None:
    assert extension(None, Settings(), 1) is None
    assert extension(StopReason.MAX_ITERATIONS, Settings(), HARD_CAP) is None


def test_a_run_without_a_step_limit_gets_none() -> None:
    assert extension(StopReason.REPEATED_CALL, Settings(max_steps=None), 3) == {}
