"""Several user turns of one conversation: what holds for one of them and what goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent import (
    CapabilityPolicy,
    Decision,
    FakeModel,
    Loop,
    Tool,
    ToolCall,
)


def call(number: int = 1, /, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", "act", arguments)]


def test_a_second_turn_goes_on_with_the_same_conversation_and_script(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel(["one", call(), "two"]), [make_tool()], max_steps=2)
    loop.start("first")
    loop.finish()
    loop.start("second")
    loop.finish()
    assert loop.trace.outcome.final == "two"
    assert [m.role for m in loop.messages] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert [step.index for step in loop.trace.steps] == [1, 2, 3]


def test_the_outcome_of_an_earlier_turn_stays_in_the_notes(started: Callable[..., Loop]) -> None:
    loop = started("one", "two")
    loop.finish()
    loop.start("second")
    loop.finish()
    (note,) = [note for note in loop.trace.notes if note["kind"] == "turn"]
    assert note["outcome"]["final"] == "one"
    assert note["step"] == 1


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
