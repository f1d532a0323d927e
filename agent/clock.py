"""Two clocks: the wall clock for what people read, the monotonic clock for every duration and limit.

A wall clock may jump, so nothing is ever measured with it.
"""

from __future__ import annotations

import time
from functools import lru_cache

monotonic = time.perf_counter
"""Seconds on a clock that never goes back."""


def now() -> str:
    """The time of day in UTC with milliseconds: ``2026-11-29T12:00:00.123Z``."""
    return _millisecond(time.time_ns() // 1_000_000)


@lru_cache(maxsize=64)
def _millisecond(moment: int) -> str:
    """Kept, because a quick step asks for the same few milliseconds half a dozen times."""
    return f"{_second(moment // 1000)}.{moment % 1000:03}Z"


@lru_cache(maxsize=4)
def _second(moment: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))


def since_ms(start: float) -> float:
    """Milliseconds since ``start``, a value of :data:`monotonic`; whole microseconds."""
    return int((monotonic() - start) * 1_000_000) / 1000
