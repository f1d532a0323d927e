"""FakeModel: a model that says what a script tells it to, so that everything works without a key and a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.errors import ScriptExhausted
from agent.faults import Fault
from agent.messages import Message, ToolCall
from agent.models.base import CallControl, ModelReply
from agent.models.quotes import Quote, quoting
from agent.models.rules import Condition, Facts

_DELTAS = 12
"""Pieces in which a slow turn tells its text, as a streaming model would."""


@dataclass(frozen=True, slots=True)
class FakeTurn:
    """One turn of a script, with everything that a real reply has."""

    reply: ModelReply | Exception
    """What is answered; an exception is raised instead."""
    latency_ms: float = 0
    """How long the model takes, in milliseconds; the text streams in meanwhile."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong on purpose after this reply."""
    quotes: tuple[Quote, ...] = ()
    """What of its text follows what the request says."""

    def to(self, messages: Sequence[Message]) -> FakeTurn:
        """The turn as it is said to a request."""
        if not self.quotes or isinstance(self.reply, Exception):
            return self
        message = self.reply.message
        said = replace(message, content=quoting(message.text, self.quotes, messages))
        return replace(self, reply=replace(self.reply, message=said))


@dataclass(frozen=True, slots=True)
class FakeChoice:
    """A turn that depends on what the request really holds."""

    rules: tuple[tuple[Condition, FakeTurn], ...]
    """The first whose condition holds is said."""
    default: FakeTurn
    """What is said where none holds."""
    place: str = ""
    """Where it stands in its script, so that no two choices draw the same chances."""

    def which(self, facts: Facts) -> int | None:
        """The position of the rule that speaks to this request, from 0; None: none does, and the default is said."""
        holding = (at for at, (condition, _) in enumerate(self.rules) if condition.holds(facts, f"{self.place}{at}"))
        return next(holding, None)

    def pick(self, facts: Facts) -> FakeTurn:
        """What is said to this request."""
        at = self.which(facts)
        return self.default if at is None else self.rules[at][1]


Turn = str | Sequence[ToolCall] | ModelReply | Exception | FakeTurn | FakeChoice


class FakeModel:
    """Answers the n-th model call of a run with the n-th turn of its script.

    Args:
        turns: a turn is a text (a final answer), a list of :class:`ToolCall`, a whole :class:`ModelReply`, an exception
            to raise, a :class:`FakeTurn` with a latency, or a :class:`FakeChoice`. A choice in place of the list
            answers every call.
        seed: for the chances of rules.
        options: how the model is asked, as far as requests show it: ``{"model", "temperature", ...}``.

    Within a run the turn is given by the number of the call, so one FakeModel serves any number of runs and a resumed
    run goes on at its right turn. Called directly it counts its own calls. A script that has run out raises
    :class:`ScriptExhausted`; it never starts over.
    """

    provider = "fake"
    name = "script"

    def __init__(
        self, turns: Sequence[Turn] | FakeChoice, *, seed: int = 0, options: Mapping[str, Any] | None = None
    ) -> None:
        self.always = turns if isinstance(turns, FakeChoice) else None
        self.turns = [] if isinstance(turns, FakeChoice) else [_as_turn(turn) for turn in turns]
        self.seed = seed
        asked: dict[str, Any] = {"model": self.name, **(options or {})}
        self.name = str(asked["model"])
        self.asked_with = {"options": {**asked, "seed": seed} if seed else asked}
        """The form in which its requests are shown."""
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
        if self.always is not None:
            self._next = number + 1
            return self._answer(self.always, messages, tool_schemas, number, control)
        if number >= len(self.turns):
            last = messages[-1].role if messages else "nothing"
            count = f"{len(self.turns)} turn" + ("" if len(self.turns) == 1 else "s")
            raise ScriptExhausted(
                f"the script has run out: turn {number + 1} was asked for, it holds {count}; "
                f"the last message was {last}"
            )
        self._next = number + 1
        self._used = max(self._used, number + 1)
        return self._answer(self.turns[number], messages, tool_schemas, number, control)

    def _answer(
        self,
        turn: FakeTurn | FakeChoice,
        messages: Sequence[Message],
        tool_schemas: Sequence[dict[str, Any]],
        number: int,
        control: CallControl | None,
    ) -> ModelReply:
        if control is not None and control.canonical is not None:
            messages, tool_schemas = control.canonical, control.offered
        if isinstance(turn, FakeChoice):
            turn = turn.pick(Facts(messages, tool_schemas, number, self.seed))
        turn = turn.to(messages)
        reply = _slowly(turn, control) if control is not None and turn.latency_ms else _say(turn)
        return replace(reply, faults=turn.faults) if turn.faults else reply


def _as_turn(turn: Turn) -> FakeTurn | FakeChoice:
    if isinstance(turn, (FakeTurn, FakeChoice)):
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
