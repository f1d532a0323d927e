"""Where the time of a run went: into model calls, into tools, or into neither."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.trace import Trace
from traces.summary import duration_s
from traces.times import timestamp

_Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class WallTime:
    """Seconds of a run by what they were spent on. ``None`` means that the file does not say."""

    wall: float | None
    """From the first to the last known moment."""
    model: float | None
    """Somebody waited for a model call."""
    tools: float | None
    """Tools ran and no model call did. Tools that ran side by side count once."""
    idle: float | None
    """Neither: people, queues, the program itself. Known only where every call and tool says when it began."""


def wall_time(trace: Trace) -> WallTime:
    """Split the duration of a trace.

    Calls that overlap count once. Where some of them do not say when they began, their times are added up as if they
    had come one after another, and what is left over is unknown.
    """
    wall = duration_s(trace)
    calls = [(timestamp(step.started), step.latency_ms) for step in trace.steps]
    runs = [(timestamp(run.started), run.latency_ms) for step in trace.steps for run in step.tools]
    known_calls, known_runs = _spans(calls), _spans(runs)
    model: float | None
    tools: float | None
    idle: float | None = None
    if known_calls is not None and known_runs is not None:
        model, either = _length(known_calls), _length([*known_calls, *known_runs])
        tools = either - model
        idle = None if wall is None else max(0.0, wall - either)
    else:
        model, tools = _sum(calls), _sum(runs)
    if not any(latency is not None for _, latency in calls):
        model = idle = None
    if runs and not any(latency is not None for _, latency in runs):
        tools = idle = None
    return WallTime(wall, _rounded(model), _rounded(tools), _rounded(idle))


def _spans(timed: Iterable[tuple[float | None, float | None]]) -> list[_Span] | None:
    """Begin and end of each; None where one of them took time and does not say when it began."""
    spans: list[_Span] = []
    for start, latency in timed:
        if latency is None:
            continue
        if start is None:
            return None
        spans.append((start, start + latency / 1000))
    return spans


def _length(spans: Iterable[_Span]) -> float:
    """Seconds that at least one of the spans covers."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _sum(timed: Iterable[tuple[float | None, float | None]]) -> float:
    return sum(latency for _, latency in timed if latency is not None) / 1000


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
