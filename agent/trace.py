"""Trace: what one run leaves behind, and its native file ``agent-trace/1``.

The message list is stored once, in OpenAI Chat form; steps point into it by position. The file is plain JSON that can
be read without this project. Not reported is ``null``, never 0. Keys that we do not know survive reading and writing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Self

from agent import clock
from agent.errors import InputError
from agent.events import Maker
from agent.ids import new_trace_id
from agent.messages import Message
from agent.usage import Usage

SCHEMA = "agent-trace/1"


@dataclass(slots=True, kw_only=True)
class Record:
    """A part of a trace: fields that we know, and ``extra`` for those that we do not."""

    extra: dict[str, Any] = field(default_factory=dict)
    nested: ClassVar[dict[str, type]] = {}
    """Fields that hold records, or lists of records, and of which class."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data; ``extra`` is spread beside the known keys."""
        kind: Any = self.__class__
        return _reader(kind)(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read JSON data. A known key that is missing or null takes its default; an unknown one goes to ``extra``.

        Raises:
            InputError: a value has the wrong shape; the text names the field.
        """
        kind: Any = cls
        make, count = _maker(kind)
        if len(data) == count:
            try:
                made: Self = make(data)
                return made
            except KeyError:
                pass  # as many fields, but others
        known, nested = _required(kind), cls.nested
        values: dict[str, Any] = {}
        for name, required in known.items():
            value = data.get(name)
            if value is not None:
                values[name] = _read(cls, name, value) if name in nested else value
            elif required:
                raise InputError(f"{cls.__name__}: the field {name!r} is missing")
        if unknown := {key: value for key, value in data.items() if key not in known}:
            values["extra"] = unknown
        return cls(**values)


@cache
def _reader(kind: Any) -> Callable[[Any], dict[str, Any]]:
    """How to take all fields of a class of records at once.

    Written out and compiled, as dataclasses do with ``__init__``: a saved step is made of five records.
    """
    names = [f.name for f in fields(kind) if f.name != "extra"]
    parts = [f"{name!r}: {'_plain' if name in kind.nested else ''}(r.{name})" for name in names]
    reader: Callable[[Any], dict[str, Any]] = eval(f"lambda r: {{{', '.join(parts)}, **r.extra}}")
    return reader


@cache
def _maker(kind: Any) -> tuple[Callable[[Mapping[str, Any]], Any], int]:
    """How to make a record of data that has all of its fields and nothing else, as in every file of ours; their number.

    A field that is missing is a KeyError. Written out and compiled for the same reason as in :func:`_reader`.
    """
    names: dict[str, Any] = {"kind": kind, "_read": _read, "_default": _default}
    parts = []
    for f in fields(kind):
        name, nested = f.name, f.name in kind.nested
        if name == "extra":
            continue
        value, default = f"d[{name!r}]", "None"
        if f.default is not None:
            default = f"_default(kind, {name!r})"
        if nested or f.default is not None:
            value = f"{default} if (v := {value}) is None else {f'_read(kind, {name!r}, v)' if nested else 'v'}"
        parts.append(f"{name}={value}")
    maker: Callable[[Mapping[str, Any]], Any] = eval(f"lambda d: kind({', '.join(parts)})", names)
    return maker, len(parts)


def _default(kind: Any, name: str) -> Any:
    """What a field holds whose value is null."""
    found = next(f for f in fields(kind) if f.name == name)
    if found.default is not MISSING:
        return found.default
    if found.default_factory is not MISSING:
        return found.default_factory()
    raise InputError(f"{kind.__name__}: the field {name!r} is missing")


@cache
def _required(kind: Any) -> dict[str, bool]:
    """The known fields, and whether each must be there."""
    known = [f for f in fields(kind) if f.name != "extra"]
    return {f.name: f.default is MISSING and f.default_factory is MISSING for f in known}


def _plain(value: Any) -> Any:
    """JSON data of a record, of a list of records or of nothing."""
    return [item.to_dict() for item in value] if isinstance(value, list) else value and value.to_dict()


def _is_object(value: Any) -> bool:
    return isinstance(value, (dict, Mapping))  # a dict is told by the first, in a tenth of the time


def _read(owner: type[Record], name: str, value: Any) -> Any:
    kind = owner.nested[name]
    many = isinstance(value, list)
    items = value if many else [value]
    if not all(map(_is_object, items)):
        raise InputError(f"{owner.__name__}: the field {name!r} should hold objects")
    read: list[Any] = [kind.from_dict(item) for item in items]  # type: ignore[attr-defined]
    return read if many else read[0]


@dataclass(slots=True, kw_only=True)
class Entry(Record):
    """Beside each message: where it comes from. ``entries`` runs parallel to ``messages``."""

    maker: str
    """user, model, code or environment."""
    at: str | None = None
    """Wall-clock time, ISO 8601."""
    step: int | None = None
    """The step that made it, from 1; None for the system text and the user's message."""
    agent: str | None = None
    """The name of the agent, in traces of several agents."""
    raw: Any = None
    """The message as it came, where reading or capping it changed something."""
    line: int | None = None
    """Line of the source file, from 1, for imported traces of one record a line."""


@dataclass(slots=True, kw_only=True)
class Edit(Record):
    """One difference between the message list and what a model call was given."""

    op: str
    """drop, replace or insert."""
    message: int
    """Position in the message list; an inserted message stands before that position."""
    by: str
    """``context``, ``protocol`` (a list that was mended before sending), or the kind of the intervention."""
    with_: dict[str, Any] | None = None
    """The message sent instead (replace) or besides (insert); ``with`` in the file."""
    count: int = 1
    """How many messages in a row a drop takes away; in the file only where it is not 1."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data, with the key ``with`` as in the file."""
        data: dict[str, Any] = {"op": self.op, "message": self.message, "by": self.by, **self.extra}
        if self.with_ is not None:
            data["with"] = self.with_
        if self.count != 1:
            data["count"] = self.count
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of the file."""
        return super(Edit, cls).from_dict({"with_" if key == "with" else key: value for key, value in data.items()})


@dataclass(slots=True, kw_only=True)
class Request(Record):
    """What one model call was given: the first ``upto`` messages, changed by ``edits``."""

    upto: int
    edits: list[Edit] = field(default_factory=list)
    nested: ClassVar[dict[str, type]] = {"edits": Edit}


@dataclass(slots=True, kw_only=True)
class ToolRun(Record):
    """One tool call of a step and what was really done about it."""

    tool_call_id: str
    name: str
    """The registered name that ran; the model's own spelling where no tool matched."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The arguments that were used; what the model sent stands in its message."""
    message: int | None = None
    """Position of the tool message; None while there is none (in flight, or an unanswered call of an import)."""
    started: str | None = None
    latency_ms: float | None = None
    ok: bool | None = None
    """False: the result is an error. None: unknown."""
    decision: str | None = None
    """run, edited, mocked, skipped, rejected, denied, timed_out or unknown. None: nothing was done yet."""


@dataclass(slots=True, kw_only=True)
class TraceStep(Record):
    """One trip round the loop: one model call and the tools that it asked for."""

    index: int
    """From 1."""
    started: str | None = None
    reply: int | None = None
    """Position of the assistant message; None when the call gave none."""
    request: Request | None = None
    finish_reason: str | None = None
    latency_ms: float | None = None
    """Milliseconds of the model call, its retries included."""
    first_token_ms: float | None = None
    usage: Usage | None = None
    cost: float | None = None
    """US dollars."""
    model: str | None = None
    """The model that answered, where it is not the one asked."""
    tools: list[ToolRun] = field(default_factory=list)
    retries: list[dict[str, Any]] = field(default_factory=list)
    """Failed attempts before the answer: ``{"attempt", "error", "wait_s", "status"}``."""
    warnings: list[str] = field(default_factory=list)
    nested: ClassVar[dict[str, type]] = {"request": Request, "usage": Usage, "tools": ToolRun}

    @property
    def message(self) -> int | None:
        """Position of the message to look at for this step: the reply, else the first result; None without either."""
        if self.reply is not None:
            return self.reply
        return next((run.message for run in self.tools if run.message is not None), None)


@dataclass(slots=True, kw_only=True)
class Evidence(Record):
    """The answer of one outside check: is the task done?"""

    check: str
    ok: bool | None = None
    detail: str = ""


@dataclass(slots=True, kw_only=True)
class Outcome(Record):
    """How the run ended. That the model asks for nothing more and that the task is done are two things."""

    reason: str | None = None
    """The stop reason; None while the run goes on, or where an import does not say."""
    final: str = ""
    """The final answer; empty where there is none."""
    detail: str = ""
    """One sentence about the reason: which call was repeated, what the provider said."""
    fallback: str = ""
    """The last text that the model wrote, where there is no final answer."""
    active_s: float | None = None
    """Seconds of work; pauses do not count. None where a file does not say."""
    verified: bool | None = None
    """True when all evidence holds, False when some fails, None when nothing was checked."""
    evidence: list[Evidence] = field(default_factory=list)
    nested: ClassVar[dict[str, type]] = {"evidence": Evidence}


@dataclass(slots=True, kw_only=True)
class Source(Record):
    """Where the trace comes from."""

    kind: str = "run"
    """run, import or fork."""
    format: str | None = None
    parent: str | None = None
    at: dict[str, Any] | None = None
    """The point of a fork: ``{"step", "phase"}``."""


@dataclass(slots=True, kw_only=True)
class ModelInfo(Record):
    """Which model was asked."""

    provider: str | None = None
    name: str | None = None


@dataclass(slots=True, kw_only=True)
class Trace(Record):
    """One run, as it goes on, as saved or as imported."""

    trace_id: str = field(default_factory=new_trace_id)
    created: str | None = None
    title: str = ""
    task: str = ""
    source: Source = field(default_factory=Source)
    model: ModelInfo = field(default_factory=ModelInfo)
    tools: list[dict[str, Any]] = field(default_factory=list)
    """The tools on offer, as schemas in OpenAI form."""
    config: dict[str, Any] = field(default_factory=dict)
    """Limits, policy, context budget and protocol of the run."""
    interventions: list[dict[str, Any]] = field(default_factory=list)
    """Changes that are not the model's: ``{"kind", "params", "step", "phase", "by"}``."""
    messages: list[Message] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    steps: list[TraceStep] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)
    notes: list[dict[str, Any]] = field(default_factory=list)
    """Remarks of the program or a person: ``{"kind", "text", "step", "message"}``."""
    nested: ClassVar[dict[str, type]] = {
        "source": Source,
        "model": ModelInfo,
        "messages": Message,
        "entries": Entry,
        "steps": TraceStep,
        "outcome": Outcome,
    }

    def add(
        self, message: Message, maker: str, step: int | None = None, *, at: str | None = None, raw: Any = None
    ) -> int:
        """Append a message of this run with its entry, now or ``at`` a time, and give its position."""
        self.messages.append(message)
        self.entries.append(Entry(maker=maker, at=at or clock.now(), step=step, raw=raw))
        return len(self.messages) - 1

    @property
    def usage(self) -> Usage:
        """The tokens of all steps, added up."""
        return Usage.sum(step.usage for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """The native form, its schema first."""
        return {"schema": SCHEMA, **super(Trace, self).to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the native form.

        Raises:
            InputError: it is not ``agent-trace/1``, or a field has the wrong shape.
        """
        if data.get("schema") != SCHEMA:
            raise InputError(f'this is not a native trace: "schema" should be "{SCHEMA}", found {data.get("schema")!r}')
        trace = super(Trace, cls).from_dict({key: value for key, value in data.items() if key != "schema"})
        missing = len(trace.messages) - len(trace.entries)
        trace.entries.extend(Entry(maker=maker_of(m.role)) for m in trace.messages[len(trace.messages) - missing :])
        return trace


def maker_of(role: str) -> str:
    """Who makes a message of this role, where a file does not say."""
    makers = {"system": Maker.CODE, "developer": Maker.CODE, "assistant": Maker.MODEL, "ai": Maker.MODEL}
    makers |= {"tool": Maker.ENVIRONMENT, "function": Maker.ENVIRONMENT}
    return str(makers.get(role, Maker.USER))
