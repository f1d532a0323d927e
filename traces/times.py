"""Times as files give them, and as the rest of the project has them: ISO 8601 text."""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = ((1e8, 1e11, 1), (1e11, 1e14, 1e3), (1e14, 1e17, 1e6), (1e17, 1e20, 1e9))
"""Smallest and largest number, and how many of it make a second: the ranges of seconds, milli-, micro- and nanoseconds
since 1970 do not touch between 1973 and 5138."""


def timestamp(text: str | None) -> float | None:
    """Unix seconds of an ISO 8601 time; a time without a zone is taken as UTC. None for what is no time."""
    if not isinstance(text, str):
        return None
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def is_time(value: object) -> bool:
    """Whether ``value`` is text that :func:`timestamp` reads."""
    try:
        return isinstance(value, str) and (
            1 < datetime.fromisoformat(value).year < 9999 or timestamp(value) is not None
        )
    except ValueError:
        return False


def unix_seconds(value: object) -> float | None:
    """Seconds, milli-, micro- or nanoseconds since 1970 as seconds; None for what is no such number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    for least, most, unit in _UNITS:
        if least <= value < most:
            return value / unit
    return None


def time_of(value: object) -> str | None:
    """A number that :func:`unix_seconds` takes as ISO 8601 in UTC; None for anything else."""
    seconds = unix_seconds(value)
    if seconds is None:
        return None
    whole = seconds == value and seconds.is_integer()
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds" if whole else "milliseconds")[:-6] + "Z"


def elapsed_ms(start: float | None, end: float | None) -> float | None:
    """Milliseconds between two times in Unix seconds; None where one of them is unknown, or the later comes first."""
    if start is None or end is None or end < start:
        return None
    return round((end - start) * 1000, 3)
