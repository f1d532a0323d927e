"""FakeModel: a model that says what a script tells it to, so that everything works without a key and a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from agent.errors import ScriptExhausted
from agent.messages import Message, ToolCall
from agent.models.base import CallControl, ModelReply

_DELTAS = 12
"""Pieces in which a slow turn tells its text, as a streaming model would."""


@dataclass(frozen=True, slots=True)
class FakeTurn:
    """One turn of a script, with everything that a real reply has."""

    reply: ModelReply | Exception
    """What is answered; an exception is raised instead."""
    latency_ms: float = 0
    """How long the model takes, in milliseconds; the text streams in meanwhile."""


Turn = str | Sequence[ToolCall] | ModelReply | Exception | FakeTurn


class FakeModel:
    """Answers the n-th model call of a run with the n-th turn of its script.

    Args:
        turns: a turn is a text (a final answer), a list of :class:`ToolCall`, a whole :class:`ModelReply`, an exception
            to raise, or a :class:`FakeTurn` with a latency.

    Within a run the turn is given by the number of the call, so one FakeModel serves any number of runs and a resumed
    run goes on at its right turn. Called directly it counts its own calls. A script that has run out raises
    :class:`ScriptExhausted`; it never starts over.
    """

    provider = "fake"
    name = "script"
    asked_with: ClassVar[dict[str, Any]] = {"options": {"model": "script"}}
    """The form in which its requests are shown."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = [_as_turn(turn) for turn in turns]
        self._next = 0
        self._used = 0

    @property
    def unused(self) -> int:
        """Turns at the end of the script that no call has reached yet: for a test that wants all of them said."""
        return len(self.turns) - self._used

    def body(self, messages: Sequence[Message], tool_schemas: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        """The request in the form in which a server would be sent it."""
        from agent.models.body import RequestForm  # a script runs without it

        return RequestForm.from_dict(self.asked_with).body(messages, tool_schemas)

    def complete(
        self,
        messages: Sequence[Message],
        tool_schemas: Sequence[dict[str, Any]],
        *,
        control: CallControl | None = None,
    ) -> ModelReply:
        """The next turn.

        Raises:
            ScriptExhausted: the script holds no such turn; the text names it.
        """
        number = self._next if control is None else control.number
        if number >= len(self.turns):
            last = messages[-1].role if messages else "nothing"
            count = f"{len(self.turns)} turn" + ("" if len(self.turns) == 1 else "s")
            raise ScriptExhausted(
                f"the script has run out: turn {number + 1} was asked for, it holds {count}; "
                f"the last message was {last}"
            )
        self._next = number + 1
        self._used = max(self._used, number + 1)
        turn = self.turns[number]
        if turn.latency_ms and control is not None:
            return _slowly(turn, control)
        return _say(turn)


def _as_turn(turn: Turn) -> FakeTurn:
    if isinstance(turn, FakeTurn):
        return turn
    if isinstance(turn, (ModelReply, Exception)):
        return FakeTurn(turn)
    if isinstance(turn, str):
        return FakeTurn(ModelReply(Message("assistant", turn), finish_reason="stop"))
    return FakeTurn(ModelReply(Message("assistant", None, tuple(turn)), finish_reason="tool_calls"))


def _say(turn: FakeTurn) -> ModelReply:
    if isinstance(turn.reply, Exception):
        raise turn.reply
    return turn.reply


def _slowly(turn: FakeTurn, control: CallControl) -> ModelReply:
    """Wait as a real model would, telling the text in pieces; a stop or the deadline ends the wait at once."""
    text = turn.reply.message.text if isinstance(turn.reply, ModelReply) else ""
    size = -(-len(text) // _DELTAS)
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if text else [""]
    pause = turn.latency_ms / 1000 / len(pieces)
    for piece in pieces:
        control.wait_or_fail(pause)
        if piece:
            control.emit("model.delta", {"text": piece})
    reply = _say(turn)
    return replace(reply, first_token_ms=round(pause * 1000, 3)) if text else reply
