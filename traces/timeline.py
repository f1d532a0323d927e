"""What ran when: model calls and tools as spans of time, calls that ran side by side in lanes of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from agent.trace import ToolRun, Trace
from traces.times import timestamp

MOST = 1500
"""From so many spans on, neighbours in a lane that no screen could tell apart are drawn as one."""


@dataclass(frozen=True, slots=True)
class Span:
    """A model call or the run of a tool."""

    name: str
    """The model or the tool."""
    model: bool
    start: float
    """Seconds since the trace began."""
    end: float
    lane: int
    """0 for model calls; tools from 1 on."""
    step: int
    """From 1."""
    message: int | None
    """Position of the message that it made."""
    ok: bool | None = None
    """Of a tool: False where its result is an error."""
    count: int = 1
    """How many neighbours are drawn as this one."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The spans of a trace in the order of their start."""

    spans: tuple[Span, ...]
    assumed: bool
    """Some of them do not say when they began: those follow the call that asked for them, side by side."""


def timeline(trace: Trace) -> Timeline:
    """Lay out a trace in time. What does not say how long it took has no span."""
    placed, assumed = _placed(trace)
    begin = min((span.start for span in placed), default=0.0)
    moved = sorted((replace(s, start=s.start - begin, end=s.end - begin) for s in placed), key=lambda s: s.start)
    spans = list(_in_lanes(moved))
    return Timeline(tuple(_merged(spans) if len(spans) > MOST else spans), assumed)


def _placed(trace: Trace) -> tuple[list[Span], bool]:
    """All spans in absolute time, and whether some had to be guessed."""
    spans: list[Span] = []
    assumed, now = False, 0.0
    for number, step in enumerate(trace.steps, 1):
        started = timestamp(step.started)
        at = now if started is None else started
        if step.latency_ms is not None:
            assumed = assumed or started is None
            end = at + step.latency_ms / 1000
            spans.append(
                Span(step.model or trace.model.name or "", True, at, end, 0, step.index or number, step.message)
            )
            at = end
        now = max(now, at)
        for run in step.tools:
            if run.latency_ms is None:
                continue
            begun = timestamp(run.started)
            assumed = assumed or begun is None
            spans.append(_of_run(run, at if begun is None else begun, step.index or number, step.reply))
            now = max(now, spans[-1].end)
    return spans, assumed


def _of_run(run: ToolRun, start: float, step: int, reply: int | None) -> Span:
    message = run.message if run.message is not None else reply
    return Span(run.name, False, start, start + (run.latency_ms or 0) / 1000, 1, step, message, run.ok)


def _in_lanes(spans: Iterable[Span]) -> Iterator[Span]:
    """Each tool in the first lane that is free when it begins. Model calls share one; they seldom overlap."""
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    lanes = 0
    for span in spans:
        if span.model:
            yield span
            continue
        while busy and busy[0][0] <= span.start:
            heappush(free, heappop(busy)[1])
        if free:
            lane = heappop(free)
        else:
            lanes += 1
            lane = lanes
        heappush(busy, (span.end, lane))
        yield replace(span, lane=lane)


def _merged(spans: list[Span]) -> list[Span]:
    """Fewer spans that look the same: runs of short neighbours of one lane and kind become one."""
    least = max(span.end for span in spans) / MOST
    last: dict[tuple[int, bool | None], int] = {}
    merged: list[Span] = []
    for span in spans:
        key = (span.lane, span.ok)
        at = last.get(key)
        if at is not None and span.start - merged[at].end < least and span.end - span.start < least:
            before = merged[at]
            merged[at] = replace(before, end=max(before.end, span.end), count=before.count + 1)
        else:
            last[key] = len(merged)
            merged.append(span)
    return merged
