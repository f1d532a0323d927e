"""How a run goes on from a moment of a trace: the settings under which it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.limits import HARD_CAP
from agent.scripts import Script
from agent.settings import Settings
from agent.trace import Trace

_OF_A_SCRIPT = ("max_steps", "limits", "policy", "context", "parallel")


def settings_options(trace: Trace, script: Script | None) -> dict[str, Any]:
    """The settings to give to ``Loop.resume``: those of the script where the trace does not say its own, else none."""
    if script is None or "max_steps" in trace.config:
        return {}
    return {name: getattr(script, name) for name in _OF_A_SCRIPT}


def settings_before(snapshot: Mapping[str, Any], options: Mapping[str, Any]) -> Settings:
    """The settings under which a run goes on.

    Args:
        snapshot: of the run, made by a fork.
        options: of :func:`settings_options`.

    Raises:
        InputError: the trace keeps settings that make no sense.
    """
    return Settings(**options) if options else Settings.from_config(snapshot["trace"]["config"])


def room_for(snapshot: Mapping[str, Any], limit: int | None, more: int) -> int:
    """A step limit that leaves a model that goes its own way some steps of its own.

    Args:
        snapshot: of the run.
        limit: the one that holds; None: only the hard cap.
        more: steps that there must be after those that the turn at hand has taken.
    """
    taken: int = len(snapshot["trace"]["steps"]) - snapshot["counters"]["turn_start"]
    return max(limit or HARD_CAP, taken + more)
