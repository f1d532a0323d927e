"""Rewards of benchmarks as evidence of whether a task was done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent.trace import Evidence
from traces.readers.fields import amount


def reward(value: Any, details: Any = None) -> Evidence:
    """A reward: 1 says that the task was done, 0 that it was not, a number between them neither.

    Args:
        value: the reward as the file has it.
        details: how it came about, where the file says so; only an object counts.
    """
    known = amount(value)
    words = f"reward {value if known is None else format(known, 'g')}"
    if isinstance(details, Mapping):
        words += f"\n{json.dumps(details, ensure_ascii=False, indent=1, default=str)}"
    done = None if known is None or 0 < known < 1 else known >= 1
    return Evidence(check="reward", ok=done, detail=words)
