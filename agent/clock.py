"""Two clocks: the wall clock for what people read, the monotonic clock for every duration and limit.

A wall clock may jump (bugs E20), so nothing is ever measured with it.
"""

from __future__ import annotations

import time
from functools import lru_cache

monotonic = time.perf_counter
"""Seconds on a clock that never goes back."""


def now() -> str:
    """The time of day in UTC with milliseconds: ``2026-11-29T12:00:00.123Z``."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(seconds)}.{nanoseconds // 1_000_000:03}Z"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    """Kept for the few seconds that are asked for again and again: a step looks at the clock half a dozen times."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def since_ms(start: float) -> float:
    """Milliseconds since ``start``, a value of :data:`monotonic`."""
    return round((monotonic() - start) * 1000, 3)
