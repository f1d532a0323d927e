"""Intervention: one change by its name and parameters, plain data; and what several of them make of a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.errors import InputError
from agent.interventions.draft import Draft
from agent.interventions.kinds import KINDS, MOST_WHOLE, Kind, Param
from agent.interventions.rounds import Selection
from agent.messages import Message
from agent.named import check_kind, check_params
from agent.trace import Edit

if TYPE_CHECKING:
    from agent.settings import Settings


@dataclass(frozen=True, slots=True)
class Intervention:
    """One change, by the name of its kind and its parameters: plain data that a trace can hold.

    Raises:
        InputError: there is no such kind, it takes no such parameter or no such value, or one that it needs is missing.
    """

    kind: str
    """A name in :data:`KINDS`."""
    params: dict[str, Any] = field(default_factory=dict)
    """Parameters that differ from the usual ones of its kind (:attr:`Kind.params`)."""

    def __post_init__(self) -> None:
        check_kind("intervention", self.kind, sorted(KINDS))
        takes = self.about.params
        check_params("intervention", self.kind, self.params, takes)
        for name, param in takes.items():
            if name in self.params:
                _check(self.kind, name, self.params[name], param)
            elif param.needed:
                raise InputError(f"the intervention {self.kind} needs {name}")
        for least, most in (("from_step", "to_step"), ("min_age", "max_age")):
            if (end := self.params.get(most)) is not None and end < self.params.get(least, takes[least].usual):
                raise InputError(f"{most} of the intervention {self.kind} must not be below {least}")

    @property
    def about(self) -> Kind:
        """What its kind is."""
        return KINDS[self.kind]

    @property
    def breaks_protocol(self) -> bool:
        """True when the request is broken on purpose and must be sent as it is; strict servers refuse it."""
        return self.about.breaks_protocol

    @property
    def changes_requests(self) -> bool:
        """Whether it changes the messages of requests; else it is a switch, or hides a tool."""
        return self.about.change is not None

    def edits(self, messages: Sequence[Message]) -> list[Edit]:
        """What this intervention alone changes in a request over these messages."""
        return changed_request([self], messages)

    def apply(self, draft: Draft) -> None:
        """Change a request that is being made. Nothing for one that changes no requests."""
        about = self.about
        if about.change is None:
            return
        own = {name: self.params.get(name, param.usual) for name, param in about.takes.items()}
        if about.selects:
            chosen = Selection(**{name: self.params[name] for name in about.selects if name in self.params})
            about.change(draft, chosen, **own)
        else:
            about.change(draft, **own)

    def switches(self, settings: Settings) -> dict[str, Any]:
        """The settings that it sets, by their names; empty for everything but a switch."""
        return self.about.switch(settings) if self.about.switch is not None else {}

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a trace's ``interventions``."""
        return {"kind": self.kind, "params": self.params, "step": None, "phase": "prepare", "by": "user"}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Intervention:
        """Read what :meth:`to_dict` wrote."""
        params = data.get("params") or {}
        return cls(str(data.get("kind")), dict(params) if isinstance(params, Mapping) else params)


def changed_request(
    interventions: Iterable[Intervention], messages: Sequence[Message], edits: Sequence[Edit] = ()
) -> list[Edit]:
    """The edits of a request after all interventions, each of which sees it as the ones before it left it.

    Args:
        interventions: in their order.
        messages: the message list; all positions speak of it.
        edits: what was changed before them, by the context budget.
    """
    draft = Draft(messages, edits)
    for intervention in interventions:
        intervention.apply(draft)
    return draft.edits


def hidden_tools(interventions: Iterable[Intervention]) -> frozenset[str]:
    """The tools that are not on offer."""
    return frozenset(str(item.params["tool"]) for item in interventions if item.kind == "hide_tool")


_TYPES = {str: "text", int: "a whole number", list: "a list of names"}
"""What a value must be, in words."""


def _check(kind: str, name: str, value: Any, param: Param) -> None:
    what = f"{name} of the intervention {kind}"
    if value is None and param.usual is None:
        return
    if isinstance(value, bool) or not isinstance(value, param.type):
        raise InputError(f"{what} must be {_TYPES[param.type]}, not {value!r}")
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        raise InputError(f"{what} must be {_TYPES[list]}, not {value!r}")
    if param.least is not None and value < param.least:
        raise InputError(f"{what} must be {_TYPES[int]} from {param.least}, not {value!r}")
    if param.least is not None and value > MOST_WHOLE:
        raise InputError(f"{what} must be at most {MOST_WHOLE:,}")
    if param.choices and value not in param.choices:
        raise InputError(f"{what} must be one of {', '.join(param.choices)}, not {value!r}")
    if param.needed and not value:
        raise InputError(f"{what} must not be empty")
