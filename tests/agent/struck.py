"""Runs with one fault armed, for the tests of what comes of it."""

from __future__ import annotations

from typing import Any

from agent import (
    Loop,
    ToolCall,
)
from agent.faults import Fault
from agent.striking import struck


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
