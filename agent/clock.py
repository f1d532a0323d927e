"""Two clocks: the wall clock for what people read, the monotonic clock for every duration and limit.

A wall clock may jump (bugs E20), so nothing is ever measured with it.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

monotonic = time.perf_counter
"""Seconds on a clock that never goes back."""


def now() -> str:
    """The time of day in UTC with milliseconds: ``2026-11-29T12:00:00.123Z``."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def since_ms(start: float) -> float:
    """Milliseconds since ``start``, a value of :data:`monotonic`."""
    return round((monotonic() - start) * 1000, 3)
