"""What a run writes down about itself: who made what, what was changed from outside, and its log."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from agent import (
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    Intervention,
    Limits,
    Loop,
    Phase,
    Tool,
    ToolCall,
    run,
)
from agent.protocol import violations


def call(number: int = 1, /, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", "act", arguments)]


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


def test_without_written_back_results_the_request_lacks_them_and_the_trace_shows_it(
    make_tool: Callable[..., Tool],
) -> None:
    seen: list[list[str]] = []

    class Watch(FakeModel):
        def complete(self, messages, tool_schemas, *, control=None):  # type: ignore[no-untyped-def]
            seen.append([message.role for message in messages])
            return super().complete(messages, tool_schemas, control=control)

    broken = Intervention("omit_results")
    result = run(Watch([call(), call(), "?"]), [make_tool("42")], "go", interventions=[broken], limits=Limits.guarded())
    assert seen[2] == ["user", "assistant", "assistant"]
    assert [message.role for message in result.messages].count("tool") == 2
    assert result.trace.steps[1].request.edits[0].by == "omit_results"  # type: ignore[union-attr]
    assert result.trace.interventions[0]["kind"] == "omit_results"


def test_only_what_the_environment_answered_is_said_to_be_its_work(started: Callable[..., Loop]) -> None:
    loop = started(call(), "done", to=Phase.EXECUTE)
    loop.stop()
    loop.finish()
    assert loop.trace.entries[-1].maker == "code"
    assert violations(loop.messages) == []


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
