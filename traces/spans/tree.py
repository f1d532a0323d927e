"""Span: one record of an observability tool, whatever the tool: a model call, a tool run or plumbing.

Readers of span formats make these; :mod:`traces.spans.conversations` makes conversations of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from traces.reply import NO_NUMBERS, Reply
from traces.times import elapsed_ms, time_of, timestamp, unix_seconds

MODEL, TOOL, AGENT, OTHER = "model", "tool", "agent", "other"
"""What a span is: one model call, one tool run, the work of one agent, or anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What went into a span and what came out, in OpenAI Chat form, and the numbers beside it."""

    messages: Sequence[Mapping[str, Any]] = ()
    """What the model was given; empty where it was not recorded."""
    answer: Sequence[Mapping[str, Any]] = ()
    """What came out. More than one message where a whole agent is one span."""
    reply: Reply = NO_NUMBERS
    """The numbers; its message is not used."""
    tools: list[dict[str, Any]] = field(default_factory=list)
    model: str | None = None
    """The model that was asked."""
    provider: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    plain: bool = False
    """What went in is text rather than messages, as plumbing has it."""
    numbers: Sequence[Reply] = ()
    """Of each message of the answer, where they carry numbers themselves: of a whole agent's span."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One tool run as a span tells it."""

    name: str = ""
    call_id: str = ""
    arguments: Any = None
    result: str | None = None
    """None: it was not recorded."""
    ok: bool | None = None


@dataclass(slots=True, kw_only=True)
class Span:
    """One span. Its words are read only when they are needed: plumbing repeats the same long texts again and again."""

    id: str
    trace: str = ""
    """Spans of one trace belong together."""
    parent: str | None = None
    name: str = ""
    kind: str = OTHER
    agent: str = ""
    """The agent's name, where the span says it."""
    started: float | None = None
    """Unix seconds."""
    ended: float | None = None
    """Unix seconds; None: it was not finished when the file was written."""
    error: str | None = None
    read: Callable[[], Words] = Words
    """What :meth:`words` gives, read from the file's own form."""
    use: Callable[[], ToolUse] = ToolUse
    """What a tool run says."""
    line: int | None = None
    place: int = 0
    """Its place in a file that gives no times."""
    children: list[Span] = field(default_factory=list, repr=False)
    above: Span | None = field(default=None, repr=False)
    _words: Words | None = field(default=None, init=False, repr=False)

    def words(self) -> Words:
        """What went in and what came out; read at the first asking."""
        if self._words is None:
            self._words = self.read()
        return self._words

    @property
    def latency_ms(self) -> float | None:
        """Milliseconds from start to end; None where one of them is unknown."""
        return elapsed_ms(self.started, self.ended)

    @property
    def order(self) -> tuple[bool, float, int]:
        """Sorts spans by start, those without one last and in the order of the file."""
        return self.started is None, self.started or 0.0, self.place


# -- trees ---------------------------------------------------------------------------------------------------------


def merged(spans: Iterable[Span]) -> list[Span]:
    """Each span once. Exporters that write a span at its start and again at its end give it twice; the end counts."""
    found: dict[tuple[str, str], Span] = {}
    for number, span in enumerate(spans):
        key = (span.trace, span.id or f"\0{number}")
        known = found.get(key)
        if known is None or span.ended is not None or known.ended is None:
            found[key] = span
    return list(found.values())


def forest(spans: Sequence[Span]) -> tuple[list[Span], int]:
    """``(roots, cut)``: the spans with their children in place, all in the order of their start.

    A span whose parent is not there is a root. ``cut`` is how many became roots because their parents go in a circle.
    """
    by_id = {(span.trace, span.id): span for span in spans}
    roots: list[Span] = []
    for span in sorted(spans, key=lambda span: span.order):
        parent = by_id.get((span.trace, span.parent)) if span.parent else None
        if parent is None or parent is span:
            roots.append(span)
        else:
            span.above = parent
            parent.children.append(span)
    reached = {id(span) for span in walk(roots)}
    cut = 0
    for span in sorted(spans, key=lambda span: span.order):
        if id(span) in reached:
            continue
        if span.above is not None:
            span.above.children = [child for child in span.above.children if child is not span]
            span.above = None
        roots.append(span)
        cut += 1
        reached |= {id(each) for each in walk([span])}
    roots.sort(key=lambda span: span.order)
    return roots, cut


def walk(roots: Iterable[Span]) -> Iterable[Span]:
    """All spans below and including ``roots``, parents before their children."""
    stack = list(roots)[::-1]
    seen: set[int] = set()
    while stack:
        span = stack.pop()
        if id(span) in seen:
            continue
        seen.add(id(span))
        yield span
        stack += span.children[::-1]


def unlink(roots: Iterable[Span]) -> None:
    """Take a forest apart once it is told. Parents and children hold each other; only a collector would free them."""
    for span in list(walk(roots)):
        span.children, span.above = [], None


def timed(reply: Reply, span: Span, message: Mapping[str, Any] | None = None) -> Reply:
    """``reply`` with a message, and with the times and the error of its span where it has none of its own."""
    return replace(
        reply,
        message=message,
        started=reply.started or time_of(span.started),
        at=reply.at or time_of(span.ended),
        latency_ms=span.latency_ms if span.latency_ms is not None else reply.latency_ms,
        error=reply.error or span.error,
    )


# -- times ---------------------------------------------------------------------------------------------------------

_TWICE = re.compile(r"Z\.\d+$")
"""Some writers put a fraction behind the zone, beside the one before it."""


def moment(value: Any) -> float | None:
    """Unix seconds of any way in which span formats write a time; None for what is none.

    ISO 8601 text, seconds to nanoseconds since 1970 as a number or as text, and the ``[seconds, nanoseconds]`` of
    JavaScript.
    """
    if isinstance(value, (list, tuple)) and len(value) == 2:
        seconds, nanos = value
        whole = moment(seconds)
        return None if whole is None or not isinstance(nanos, (int, float)) else whole + nanos / 1e9
    if isinstance(value, str):
        text = value.strip()
        if text.isdecimal() and len(text) <= 20:
            value = int(text)
        else:
            found = timestamp(text)
            return found if found is not None else timestamp(_TWICE.sub("Z", text))
    return unix_seconds(value)
