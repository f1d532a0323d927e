"""Faults: what can be made to go wrong in a run on purpose, to see which check notices it and what the loop does.

A fault is plain data. It is armed (:meth:`~agent.control.RunControl.arm`), strikes at the next phase in which it can
and is then used up; :mod:`agent.striking` says how. Nothing pretends: a tool really raises or really takes too long, a
reply really is changed before anything looks at it, so whatever notices would notice the same thing in earnest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from agent.errors import InputError
from agent.events import Phase
from agent.named import check_kind, check_params

Group = Literal["tool", "reply", "provider", "message", "switch"]

TOOL_RAISES = "tool_raises"
TOOL_TIMES_OUT = "tool_times_out"
TOOL_RETURNS_NOTHING = "tool_returns_nothing"
TOOL_RETURNS_TOO_MUCH = "tool_returns_too_much"
MALFORMED_ARGUMENTS = "malformed_arguments"
UNKNOWN_TOOL = "unknown_tool"
REPEATED_CALLS = "repeated_calls"
CUT_OFF_REPLY = "cut_off_reply"
CLAIMED_CALL = "claimed_tool_call"
PROVIDER_429 = "provider_429"
PROVIDER_500 = "provider_500"
WRONG_CALL_ID = "wrong_call_id"
RESULTS_NOT_WRITTEN_BACK = "results_not_written_back"
LIMIT_REMOVED = "limit_removed"
PERMISSION_CHECK_REMOVED = "permission_check_removed"


class Range(NamedTuple):
    """What a parameter may be: a number from ``least`` to ``most``."""

    usual: float
    """What it is where nothing else is said."""
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class FaultKind:
    """What one kind of fault is, in words and in numbers."""

    group: Group
    """What it concerns: a tool, the model's reply, the provider, a message, or a switch of the whole run."""
    name: str
    """A few words for a list."""
    sentence: str
    """What happens, in one plain sentence."""
    phases: tuple[Phase, ...]
    """The phases in which it can strike."""
    takes: Mapping[str, Range] = field(default_factory=dict)
    """Its parameters: seconds (``_s``), or how many."""


_EXECUTE, _CALL = (Phase.EXECUTE,), (Phase.CALL,)
FAULTS: dict[str, FaultKind] = {
    TOOL_RAISES: FaultKind("tool", "raises an error", "The next tool that runs raises an exception.", _EXECUTE),
    TOOL_TIMES_OUT: FaultKind(
        "tool",
        "times out",
        "The next tool that runs takes longer than its time limit.",
        _EXECUTE,
        {"timeout_s": Range(0.2, 0.01, 60)},
    ),
    TOOL_RETURNS_NOTHING: FaultKind(
        "tool", "returns nothing", "The next tool that runs returns nothing at all.", _EXECUTE
    ),
    TOOL_RETURNS_TOO_MUCH: FaultKind(
        "tool",
        "returns 50,000 characters",
        "The next tool that runs returns a text of 50,000 characters.",
        _EXECUTE,
        {"characters": Range(50_000, 1, 10_000_000)},
    ),
    MALFORMED_ARGUMENTS: FaultKind(
        "reply", "malformed arguments", "The arguments of the next call are no valid JSON.", _CALL
    ),
    UNKNOWN_TOOL: FaultKind("reply", "unknown tool", "The next call names a tool that does not exist.", _CALL),
    REPEATED_CALLS: FaultKind(
        "reply",
        "repeated call",
        "The next reply with a call asks for the same call three times.",
        _CALL,
        {"times": Range(3, 2, 100)},
    ),
    CUT_OFF_REPLY: FaultKind("reply", "cut off", "The next reply breaks off in the middle, at a length limit.", _CALL),
    CLAIMED_CALL: FaultKind(
        "reply",
        "claimed tool call",
        "The next reply with a call claims in words that the tool was used, and makes no call.",
        _CALL,
    ),
    PROVIDER_429: FaultKind(
        "provider",
        "status 429, once",
        "The provider answers the next model call with status 429 once: too many requests.",
        _CALL,
        {"wait_s": Range(0.5, 0, 60)},
    ),
    PROVIDER_500: FaultKind(
        "provider",
        "status 500, every time",
        "The provider answers every attempt at the next model call with status 500.",
        _CALL,
    ),
    WRONG_CALL_ID: FaultKind(
        "message", "wrong call id", "The next tool message carries the id of no call.", (Phase.APPEND,)
    ),
    RESULTS_NOT_WRITTEN_BACK: FaultKind(
        "switch",
        "results not written back",
        "From the next request on, the model is sent no tool results.",
        (Phase.PREPARE,),
    ),
    LIMIT_REMOVED: FaultKind(
        "switch",
        "limit removed",
        "The step limit and the guards are off from now on; only the hard cap stays.",
        (Phase.PREPARE, Phase.DECIDE),
    ),
    PERMISSION_CHECK_REMOVED: FaultKind(
        "switch",
        "permission check removed",
        "From the next approval on, no policy is asked: every tool runs.",
        (Phase.APPROVE,),
    ),
}
"""Every kind of fault by its name in data, in the order of a menu."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, by the name of its kind and its parameters.

    Raises:
        InputError: there is no such kind, or it takes no such parameter.
    """

    kind: str
    """A name in :data:`FAULTS`."""
    params: dict[str, Any] = field(default_factory=dict)
    """Numbers that differ from the usual ones of its kind (:attr:`FaultKind.takes`)."""

    def __post_init__(self) -> None:
        check_kind("fault", self.kind, FAULTS)
        takes = self.about.takes
        check_params("fault", self.kind, self.params, takes)
        for name, value in self.params.items():
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            _, least, most = takes[name]
            if not (number and least <= value <= most):
                text = f"{name} of the fault {self.kind} must be a number from {least:,} to {most:,}, not {value!r}"
                raise InputError(text)

    @property
    def about(self) -> FaultKind:
        """What its kind is."""
        return FAULTS[self.kind]

    def number(self, name: str) -> float:
        """One of its parameters, the usual one where it has none of its own."""
        value: float = self.params.get(name, self.about.takes[name].usual)
        return value

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return {"kind": self.kind, "params": self.params}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Fault:
        """Read what :meth:`to_dict` wrote.

        Raises:
            InputError: it is no fault.
        """
        params = data.get("params") or {}
        return cls(str(data.get("kind")), dict(params) if isinstance(params, Mapping) else params)
