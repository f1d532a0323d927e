"""Totals that a file states for a whole conversation, kept beside what its steps add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.trace import Trace
from agent.usage import Usage, reported_cost

KEY = "reported"
"""Where they stand in the trace: ``{"usage", "cost", "duration_s"}``, each only where the file says it."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a file says of the whole conversation. ``None``: nothing."""

    usage: Usage | None = None
    cost: float | None = None
    """US dollars."""
    duration_s: float | None = None


def reported(trace: Trace) -> Stated:
    """The totals that the trace's file states."""
    data = trace.extra.get(KEY)
    if not isinstance(data, Mapping):
        return Stated()
    usage, seconds = data.get("usage"), data.get("duration_s")
    return Stated(
        usage=Usage.from_dict(usage) if isinstance(usage, Mapping) else None,
        cost=reported_cost(data),
        duration_s=float(seconds) if isinstance(seconds, (int, float)) and 0 <= seconds < 1e12 else None,
    )


def state(trace: Trace, *, usage: Usage | None, cost: float | None, duration_s: float | None) -> None:
    """Keep totals with a trace. A later one replaces an earlier one of its kind."""
    stated = {"usage": usage and usage.to_dict(), "cost": cost, "duration_s": duration_s}
    known = {key: value for key, value in stated.items() if value is not None}
    trace.extra[KEY] = {**trace.extra.get(KEY, {}), **known}
