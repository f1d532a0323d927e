"""Values of foreign JSON, each as what it should be or as nothing: no reader has to ask twice what it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from agent.usage import Usage
from traces.times import elapsed_ms, time_of, timestamp
from traces.wire.parts import count

_MOST = 1e15


def text(value: Any) -> str:
    """``value`` where it is text, else ``""``."""
    return value if isinstance(value, str) else ""


def amount(value: Any) -> float | None:
    """A number from 0 on; None for everything else, so that no trace holds a number that cannot be true."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < _MOST else None


_seconds_of = lru_cache(maxsize=4096)(timestamp)
"""Neighbouring lines are compared with one another, so that each time is asked for more than once."""


def moment(value: Any) -> str | None:
    """A time as ISO 8601 text: such text itself, or a number of seconds to nanoseconds since 1970; else None."""
    if isinstance(value, str):
        return value if _seconds_of(value) is not None else None
    return time_of(value)


def milliseconds(start: Any, end: Any) -> float | None:
    """From one time to a later one, each in any form of :func:`moment`; None where the file does not say."""
    return elapsed_ms(_seconds_of(moment(start)), _seconds_of(moment(end)))


def duration(moments: Iterable[Any]) -> float | None:
    """Seconds from the earliest to the latest of some times; None where there are no two."""
    known = [at for value in moments if (at := _seconds_of(moment(value))) is not None]
    return round(max(known) - min(known), 3) if len(known) > 1 else None


def ended_well(exit_code: Any) -> bool | None:
    """Whether a command ended without an error; None for what is no exit code."""
    code = count(exit_code)
    return None if code is None else code == 0


def known_usage(counts: Mapping[str, Any]) -> Usage | None:
    """Tokens under the names of :class:`agent.usage.Usage`; None where not one of them is a count."""
    usage = Usage.from_dict(counts)
    return None if usage == Usage() else usage


def difference(now: Usage, before: Usage | None) -> Usage | None:
    """What was used between two running totals; None where nothing was. A smaller total is a count begun anew."""
    if before is None or (now.total or 0) < (before.total or 0):
        return None if not now.total else now
    if now == before:
        return None
    grown = now.to_dict()
    return Usage.from_dict({name: _less(value, getattr(before, name)) for name, value in grown.items()})


def _less(now: int | None, before: int | None) -> int | None:
    return None if now is None else max(0, now - (before or 0))
