"""Interventions: changes to a run that are not the model's. Pure functions from a message list to edits of a request.

They change what a model call is given, never the message list itself, and the trace records every one of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.errors import InputError
from agent.messages import Message
from agent.named import check_kind, check_params
from agent.trace import Edit


@dataclass(frozen=True, slots=True)
class Intervention:
    """One change, by the name of its kind and its parameters: plain data that a trace can hold.

    Raises:
        InputError: there is no such kind, or it takes no such parameter.
    """

    kind: str
    """A name in :data:`KINDS`."""
    params: dict[str, Any] = field(default_factory=dict)
    """What the function of that name takes beside the messages."""

    def __post_init__(self) -> None:
        check_kind("intervention", self.kind, sorted(KINDS))
        _, *known = inspect.signature(KINDS[self.kind]).parameters.values()
        takes = {parameter.name: type(parameter.default) for parameter in known}
        check_params("intervention", self.kind, self.params, takes)
        for name, value in self.params.items():
            if not isinstance(value, takes[name]):
                raise InputError(
                    f"{name} of the intervention {self.kind} must be {takes[name].__name__}, not {value!r}"
                )

    @property
    def breaks_protocol(self) -> bool:
        """True when the request is broken on purpose and must be sent as it is; strict servers refuse it."""
        return self.kind == "omit_results"

    def edits(self, messages: Sequence[Message]) -> list[Edit]:
        """What this intervention changes in a request over these messages."""
        return KINDS[self.kind](messages, **self.params)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a trace's ``interventions``."""
        return {"kind": self.kind, "params": self.params, "step": None, "phase": "prepare", "by": "user"}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Intervention:
        """Read what :meth:`to_dict` wrote."""
        params = data.get("params") or {}
        return cls(str(data.get("kind")), dict(params) if isinstance(params, Mapping) else params)


def omit_results(messages: Sequence[Message]) -> list[Edit]:
    """The results are not written back: the calls stay, their tool messages are missing."""
    return [_drop(at, "omit_results") for at, message in enumerate(messages) if message.role == "tool"]


def blank_results(messages: Sequence[Message], text: str = "") -> list[Edit]:
    """Every tool message stays with its id, its content is replaced by ``text``."""
    return [
        Edit(op="replace", message=at, by="blank_results", with_=replace(message, content=text).to_dict())
        for at, message in enumerate(messages)
        if message.role == "tool"
    ]


def drop_pairs(messages: Sequence[Message]) -> list[Edit]:
    """Calls go together with their results, as if no tool had ever been asked for."""
    return [
        _drop(at, "drop_pairs") for at, message in enumerate(messages) if message.role == "tool" or message.tool_calls
    ]


def _drop(at: int, kind: str) -> Edit:
    return Edit(op="drop", message=at, by=kind)


KINDS: dict[str, Callable[..., list[Edit]]] = {
    "omit_results": omit_results,
    "blank_results": blank_results,
    "drop_pairs": drop_pairs,
}
"""Every intervention by its name. A parameter takes what its default is."""
