"""Intervention: one change by its name and parameters, plain data; and what several of them make of a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.errors import InputError
from agent.interventions.draft import Draft
from agent.interventions.kinds import KINDS, Kind, Param
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
        InputError: there is no such kind, or it takes no such parameter.
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
        return self.about.change is not None and self.about.group != "switch"

    def edits(self, messages: Sequence[Message]) -> list[Edit]:
        """What this intervention alone changes in a request over these messages."""
        return changed_request([self], messages)

    def apply(self, draft: Draft) -> None:
        """Change a request that is being made. A switch changes nothing in it."""
        change, about = self.about.change, self.about
        if change is None or not self.changes_requests:
            return
        own = {name: value for name, value in self.params.items() if name in about.takes}
        if about.selects:
            change(draft, Selection(**{k: v for k, v in self.params.items() if k in about.selects}), **own)
        else:
            change(draft, **own)

    def switches(self, settings: Settings) -> dict[str, Any]:
        """The settings that it sets, by their names; empty for everything but a switch."""
        change, about = self.about.change, self.about
        if about.group != "switch" or change is None:
            return {}
        switched: dict[str, Any] = change(settings)
        return switched

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


def _check(kind: str, name: str, value: Any, param: Param) -> None:
    what = f"{name} of the intervention {kind}"
    if value is None and param.usual is None:
        return
    if isinstance(value, bool) or not isinstance(value, param.type):
        raise InputError(f"{what} must be {param.type.__name__}, not {value!r}")
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        raise InputError(f"{what} must be a list of names, not {value!r}")
    if param.least is not None and value < param.least:
        raise InputError(f"{what} must be a whole number from {param.least}, not {value!r}")
    if param.choices and value not in param.choices:
        raise InputError(f"{what} must be one of {', '.join(param.choices)}, not {value!r}")
    if param.needed and not value:
        raise InputError(f"{what} must not be empty")
