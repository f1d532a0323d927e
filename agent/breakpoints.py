"""Breakpoints: places where a run that moves stands still, so that a person can look before the next phase is done.

Plain data and pure functions. A breakpoint fires once per arrival: an advance led to another step or phase. So going on
from it never fires it again at the same place, and coming back with the next step does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

from agent.cutting import head
from agent.errors import InputError
from agent.events import Phase
from agent.messages import Message
from agent.state import PendingCall, RunState
from agent.stops import StopReason

if TYPE_CHECKING:
    from agent.control import RunControl

BreakpointKind = Literal["tool", "phase", "error", "stop", "text", "tokens"]
KINDS: tuple[BreakpointKind, ...] = get_args(BreakpointKind)
KEPT_AS = "breakpoints"
"""The key under which a trace keeps the list of its run."""
_ERROR_SHOWN = 100
"""Characters of a tool's error that the sentence repeats."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One place to stand still at. Two of the same kind and value are the same one.

    Raises:
        InputError: there is no such kind, or its value makes no sense; the text is for a person.
    """

    kind: BreakpointKind
    """``tool``: a call of that tool, before approve. ``phase``: before that phase. ``error``: a tool that ran gave an
    error, before append. ``stop``: a stop rule is about to fire, before decide. ``text``: that text came into a
    message; not the text with which a person begins a turn and has just written. ``tokens``: the request about to be
    sent has more prompt tokens, before call."""
    value: str | int = ""
    """The tool's name; the phase; nothing; a stop reason, or nothing for any but ``final``; the text, in capitals or
    not; the number of tokens."""
    enabled: bool = True

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"there is no breakpoint of the kind {self.kind!r}; known are {', '.join(KINDS)}")
        if (need := _need(self.kind, self.value)) is not None:
            raise InputError(f"{need}, not {self.value!r}")
        if not isinstance(self.enabled, bool):
            raise InputError(f"a breakpoint is enabled or not: true or false, not {self.enabled!r}")

    @property
    def id(self) -> str:
        """What tells it from the others of a list."""
        return f"{self.kind}:{self.value}"

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote; unknown keys are left out.

        Raises:
            InputError: it is no breakpoint.
        """
        if not isinstance(data, Mapping):
            raise InputError(f"a breakpoint must be an object with a kind and a value, not {data!r}")
        return cls(**{"kind": "", **{key: data[key] for key in cls.__slots__ if key in data}})


class Hit(NamedTuple):
    """A breakpoint that fired."""

    breakpoint: Breakpoint
    text: str
    """One plain sentence: what was seen. It may quote a tool or a model, so it is data and no markup."""


HIT_KEPT_AS = "breakpoint_hit"
"""The key under which a trace keeps the last breakpoint that fired, and where."""


class Place(NamedTuple):
    """Where a run stands, and how much of it there is."""

    step: int
    phase: Phase | None
    messages: int

    @classmethod
    def of(cls, run: RunState) -> Self:
        """The place of a run now."""
        return cls(len(run.trace.steps), run.phase, len(run.trace.messages))


def kept_hit(hit: Hit, run: RunState) -> dict[str, Any]:
    """JSON data of a breakpoint that fired where the run stands now, so that it is told after a restart as well."""
    return {"breakpoint": hit.breakpoint.to_dict(), "text": hit.text, "at": list(Place.of(run))}


def read_hit(data: Any, run: RunState) -> Hit | None:
    """What :func:`kept_hit` wrote, if the run still stands there; None for anything else."""
    if not isinstance(data, dict) or data.get("at") != list(Place.of(run)):
        return None
    read = read_breakpoints([data.get("breakpoint")])
    return Hit(read[0], str(data.get("text"))) if read else None


def first_hit(breakpoints: Iterable[Breakpoint], loop: RunControl, before: Place) -> Hit | None:
    """The first of these breakpoints that fires where the run has arrived. Changes nothing.

    Args:
        breakpoints: all of them; none switches another one off.
        loop: the run, after a phase.
        before: where it stood before that phase.
    """
    now = Place.of(loop.run)
    if now.phase is None or now[:2] == before[:2]:
        return None
    for each in breakpoints:
        if each.enabled and (text := _LOOKS[each.kind](each.value, loop, before)):
            return Hit(each, text)
    return None


def with_breakpoint(breakpoints: Iterable[Breakpoint], new: Breakpoint) -> tuple[Breakpoint, ...]:
    """The list with this one: in the place of the same one where there is one, else at the end."""
    return tuple({**{each.id: each for each in breakpoints}, new.id: new}.values())


def without_breakpoint(breakpoints: Iterable[Breakpoint], gone: str) -> tuple[Breakpoint, ...]:
    """The list without the breakpoint of this id."""
    return tuple(each for each in breakpoints if each.id != gone)


def read_breakpoints(data: Any) -> tuple[Breakpoint, ...]:
    """A list that was kept as JSON data. What cannot be read is left out: a run can be opened all the same."""
    read: tuple[Breakpoint, ...] = ()
    for item in data if isinstance(data, list) else ():
        try:
            read = with_breakpoint(read, Breakpoint.from_dict(item))
        except InputError:
            continue
    return read


def _need(kind: BreakpointKind, value: object) -> str | None:
    """What a breakpoint of this kind needs, where the value is not that."""
    if kind == "tokens":
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        return None if fits else "a breakpoint on prompt tokens needs a whole number from 1"
    if not isinstance(value, str):
        return f"a breakpoint on {kind} needs words"
    needs = {
        "tool": (bool(value.strip()), "a breakpoint on a tool needs the name of a tool"),
        "phase": (value in [*Phase], f"a breakpoint on a phase needs one of {', '.join(Phase)}"),
        "error": (value == "", "a breakpoint on an error result needs no value"),
        "stop": (value in ["", *StopReason], "a breakpoint on a stop rule needs a stop reason, or nothing for any"),
        "text": (bool(value.strip()), "a breakpoint on a text needs a text"),
    }
    fits, need = needs[kind]
    return None if fits else need


def _asked_for_tool(name: str, loop: RunControl, before: Place) -> str:
    if loop.phase is not Phase.APPROVE:
        return ""
    resolve = loop.tools.resolve
    meant = tool.name if (tool := resolve(name)) else name
    for pending in loop.run.pending:
        found = resolve(pending.call.name)
        if pending.result is None and (found.name if found else pending.call.name) == meant:
            return f"the model asked for {meant}, and it has not run yet"
    return ""


def _before_phase(phase: str, loop: RunControl, before: Place) -> str:
    return f"the run stands before {phase}" if loop.phase == phase else ""


def _tool_failed(value: str, loop: RunControl, before: Place) -> str:
    if loop.phase is not Phase.APPEND:
        return ""
    failed = (each for each in loop.run.pending if each.begun and each.result is not None and not each.result.ok)
    return next((f"{each.name or each.call.name} gave an error: {_error_of(each)}" for each in failed), "")


def _error_of(pending: PendingCall) -> str:
    value = pending.result and pending.result.value
    words = value.get("error", value) if isinstance(value, Mapping) else value
    return head(" ".join(str(words).split()), _ERROR_SHOWN)


def _about_to_stop(reason: str, loop: RunControl, before: Place) -> str:
    stop = loop.about_to_stop()
    if stop is None or (stop.reason != reason if reason else stop.reason is StopReason.FINAL):
        return ""
    if stop.reason is StopReason.FINAL:
        return "the run is about to end with its final answer"
    return f"the run is about to stop by {stop.reason}: {stop.detail}"


def _text_came(text: str, loop: RunControl, before: Place) -> str:
    wanted, messages = text.casefold(), loop.run.trace.messages
    for position in range(before.messages, len(messages)):
        if any(wanted in part.casefold() for part in _said(messages[position])):
            return f"message {position + 1} ({messages[position].role}) holds {text}"
    return ""


def _said(message: Message) -> Iterator[str]:
    """The content of a message, and the arguments of its calls: as they were sent, and each text in them."""
    yield message.text
    for call in message.tool_calls:
        yield call.arguments_text()
        inside: list[Any] = [call.arguments]
        while inside:
            item = inside.pop()
            if isinstance(item, Mapping):
                inside += item.values()
            elif isinstance(item, list):
                inside += item
            elif isinstance(item, str):
                yield item


def _long_request(limit: int, loop: RunControl, before: Place) -> str:
    if loop.phase is not Phase.CALL or (size := loop.prompt_tokens()) <= limit:
        return ""
    return f"the request takes about {size} tokens, more than {limit}"


_LOOKS: dict[BreakpointKind, Callable[[Any, RunControl, Place], str]] = {
    "tool": _asked_for_tool,
    "phase": _before_phase,
    "error": _tool_failed,
    "stop": _about_to_stop,
    "text": _text_came,
    "tokens": _long_request,
}
"""For each kind what it looks for; the sentence of what it saw, or nothing."""
