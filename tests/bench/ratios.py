"""What the benchmarks measure by: CPU time of a floor and of ours, by turns, as the ratio of their medians."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

WORDS = 'The quick "brown" fox jumps over the lazy dog.\n\tfor line in lines: print(line)\n东京の天気は晴れです。\n'
"""A text with what makes texts slow: quotes, line breaks, other scripts."""


def cpu(work: Callable[[], Any]) -> float:
    """Seconds of CPU time; the result is freed outside of the clock."""
    gc.collect()
    started = time.process_time()
    result = work()
    seconds = time.process_time() - started
    del result
    return seconds


def compare(name: str, floor: Callable[[], Any], ours: Callable[[], Any], rounds: int, target: float) -> float:
    """Print one line; gives our seconds."""
    pairs = [(cpu(floor), cpu(ours)) for _ in range(rounds)]
    low, high = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"{name:<46} floor {low * 1000:8.1f} ms   ours {high * 1000:8.1f} ms   {high / low:6.2f}x  (target {target}x)"
    )
    return high
