"""Budgets of tokens, money and time: each ends a run, and none counts what it must not."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import pytest

from agent import (
    FakeModel,
    FakeTurn,
    Limits,
    Loop,
    Message,
    ModelReply,
    RunResult,
    Tool,
    ToolCall,
    Usage,
    run,
)


def call(**arguments: object) -> list[ToolCall]:
    return [ToolCall("c1", "act", arguments)]


def spend(*turns: object, usage: Usage | None, cost: float | None = None) -> list[ModelReply]:
    return [
        ModelReply(Message("assistant", turn if isinstance(turn, str) else None, () if isinstance(turn, str) else turn),
                   usage=usage, cost=cost)
        for turn in turns
    ]  # fmt: skip


def test_the_token_budget_counts_all_calls(go: Callable[..., RunResult]) -> None:
    turns = spend(*[call(n=n) for n in range(9)], "done", usage=Usage(30, 10))
    result = go(turns, limits=Limits(total_tokens=100), max_steps=20)
    assert (result.reason, len(result.trace.steps)) == ("token_budget", 3)
    assert "120 of 100" in result.steps[-1].detail


def test_unknown_usage_is_estimated_and_said_so(go: Callable[..., RunResult]) -> None:
    long = [call(text="word " * 30, n=n) for n in range(20)]
    for usage in (None, Usage(10, None)):
        result = go(spend(*long, "done", usage=usage), limits=Limits(total_tokens=300), max_steps=30)
        assert result.reason == "token_budget"
        assert "about" in result.steps[-1].detail
        assert all(step.usage and step.usage.estimated for step in result.trace.steps)


def test_without_a_budget_unknown_stays_unknown(go: Callable[..., RunResult]) -> None:
    assert all(step.usage is None for step in go([call(), "done"]).trace.steps)


def test_an_answer_inside_the_token_budget_is_final(go: Callable[..., RunResult]) -> None:
    assert go(spend(call(), "done", usage=Usage(30, 10)), limits=Limits(total_tokens=100)).reason == "final"


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


def test_the_cost_budget_counts_what_the_provider_reports(go: Callable[..., RunResult]) -> None:
    turns = spend(*[call(n=n) for n in range(9)], "done", usage=None, cost=0.01)
    result = go(turns, limits=Limits(cost=0.025), max_steps=20)
    assert (result.reason, len(result.trace.steps)) == ("cost_budget", 3)
    unpriced = spend(call(), call(n=2), "done", usage=None)
    assert go(unpriced, limits=Limits(cost=0.001)).reason == "final"


def test_the_deadline_counts_active_time_only(started: Callable[..., Loop]) -> None:
    loop = started(call(), call(n=2), "done", limits=Limits(deadline_s=0.2))
    loop.advance()
    time.sleep(0.3)
    loop.finish()
    assert loop.stop_reason == "final"


def test_the_deadline_stops_a_slow_run(make_tool: Callable[..., Tool], go: Callable[..., RunResult]) -> None:
    result = go(
        [call(n=n) for n in range(50)],
        make_tool(lambda n: time.sleep(0.05)),
        limits=Limits(deadline_s=0.12),
        max_steps=50,
    )
    assert result.reason == "deadline"
    assert len(result.trace.steps) < 10


def test_a_deadline_in_a_model_call_is_a_deadline(make_tool: Callable[..., Tool]) -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "late")), latency_ms=3000)
    for turns in ([slow], [call(), slow]):
        begun = time.monotonic()
        result = run(FakeModel(turns), [make_tool()], "go", limits=Limits(deadline_s=0.2))
        assert result.reason == "deadline"
        assert time.monotonic() - begun < 2


def test_a_wall_clock_that_jumps_back_changes_no_duration(
    go: Callable[..., RunResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, offset = time.time_ns, itertools.count(0, -240_000_000_000)
    monkeypatch.setattr(time, "time_ns", lambda: real() + next(offset))
    monkeypatch.setattr(time, "time", lambda: time.time_ns() / 1e9)
    result = go([call(n=n) for n in range(5)] + ["done"], limits=Limits(deadline_s=5))
    assert result.reason == "final"
    assert all(step.latency_ms is not None and 0 <= step.latency_ms < 1000 for step in result.trace.steps)
