"""What a script holds turn by turn: what the model says, what is said to it before, and what the tools answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from agent.messages import Message, ToolCall
from agent.models.fake import FakeChoice, FakeTurn
from agent.models.rules import Condition
from agent.tool_result import ToolResult


@dataclass(frozen=True, slots=True)
class Canned:
    """What a tool answers, written down in a script."""

    result: ToolResult
    took_ms: float = 0
    """How long it takes, in milliseconds."""
    arguments: dict[str, Any] | None = None
    """The arguments that it answers; None: any."""


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """One turn of the fake model and what belongs to it."""

    said: FakeTurn
    results: tuple[Canned | None, ...] = ()
    """Beside each of its calls: what the tool answers. None: the tool itself is asked."""
    before: tuple[Message, ...] | None = None
    """What is said to the model from outside before this turn, also after the end of the user's turn before; perhaps
    nothing. None: nothing is said, and after an end the run is over."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """What it asks for."""
        reply = self.said.reply
        return () if isinstance(reply, Exception) else reply.message.tool_calls

    def at_pace(self, pace: float) -> FakeTurn:
        """What the fake model says, its latency multiplied."""
        return replace(self.said, latency_ms=self.said.latency_ms * pace)


@dataclass(frozen=True, slots=True)
class ScriptChoice:
    """A turn that depends on what the request really holds."""

    rules: tuple[tuple[Condition, ScriptTurn], ...]
    default: ScriptTurn
    before: tuple[Message, ...] | None = None
    """As for a plain turn."""
    place: str = ""

    def turns(self) -> Iterator[ScriptTurn]:
        """All turns that it may become."""
        for _, turn in self.rules:
            yield turn
        yield self.default

    def at_pace(self, pace: float) -> FakeChoice:
        """What the fake model says."""
        rules = tuple((condition, turn.at_pace(pace)) for condition, turn in self.rules)
        return FakeChoice(rules, self.default.at_pace(pace), self.place)


AnyTurn = ScriptTurn | ScriptChoice


def branches(turn: AnyTurn) -> Iterator[ScriptTurn]:
    """The turns that this one may become."""
    return turn.turns() if isinstance(turn, ScriptChoice) else iter((turn,))
