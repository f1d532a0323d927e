"""What a run tells while it goes on: states, phases and events. A page draws from these and from nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class AgentState(StrEnum):
    """Where a run stands, in the four states of the state machine."""

    THINK = "THINK"
    TOOL_CALL = "TOOL_CALL"
    OBSERVE = "OBSERVE"
    DONE = "DONE"


class Phase(StrEnum):
    """The smallest thing that the loop does. A run is always just before one of these, or done."""

    PREPARE = "prepare"
    CALL = "call"
    APPROVE = "approve"
    EXECUTE = "execute"
    APPEND = "append"
    DECIDE = "decide"

    __hash__ = str.__hash__  # an Enum's own is written in Python, and the loop looks phases up all the time


PREPARE, CALL, APPROVE, EXECUTE, APPEND, DECIDE = Phase
"""The phases for code that runs several times a step: a member of a class is looked up slowly, a name is not."""


STATE_OF: dict[Phase | None, AgentState] = {
    Phase.PREPARE: AgentState.THINK,
    Phase.CALL: AgentState.THINK,
    Phase.APPROVE: AgentState.TOOL_CALL,
    Phase.EXECUTE: AgentState.TOOL_CALL,
    Phase.APPEND: AgentState.OBSERVE,
    Phase.DECIDE: AgentState.OBSERVE,
    None: AgentState.DONE,
}
"""The state that a run is in while this phase is the next one; no next phase means DONE."""


class Maker(StrEnum):
    """Who made an entry or an event."""

    USER = "user"
    MODEL = "model"
    CODE = "code"
    ENVIRONMENT = "environment"


_MAKER_OF = {
    "turn.started": Maker.USER,
    "model.completed": Maker.MODEL,
    "model.delta": Maker.MODEL,
    "tool.completed": Maker.ENVIRONMENT,
    "tool.mocked": Maker.USER,
}


@dataclass(slots=True)
class AgentEvent:
    """Something that happened at the edge between two states.

    Types and the fields they carry: ``turn.started``; ``model.completed {iteration, tool_calls}``;
    ``tool.started {id, name}``; ``tool.completed {id, name, result}``; ``turn.completed {answer, iterations}``;
    ``turn.failed {reason}``. Only when it happens: ``model.delta {text | reasoning}``,
    ``model.retry {attempt, error, wait_s, status}``, ``tool.denied {id, name, reason}``,
    ``tool.mocked {id, name, result}``, ``context.compacted {before, tokens}``.
    """

    type: str
    payload: dict[str, Any]

    @property
    def maker(self) -> Maker:
        """Who caused the event: model, code, environment or user."""
        return _MAKER_OF.get(self.type, Maker.CODE)


Emit = Callable[[str, dict[str, Any]], None]
"""Takes the type and the payload of an event."""


def ignore(type: str, payload: dict[str, Any]) -> None:
    """An :data:`Emit` for when nobody listens."""
