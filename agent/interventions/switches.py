"""Interventions on the settings of a run: something is off from its beginning. The hard cap of steps always stays.

Each gives the settings that it sets, by their names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.settings import Settings


def no_step_limit(_: Settings) -> dict[str, Any]:
    """The step limit is off."""
    return {"max_steps": None}


def no_guards(settings: Settings) -> dict[str, Any]:
    """The guards against repeated calls and failing steps are off."""
    return {"limits": replace(settings.limits, repeated_calls=None, failing_steps=None)}


def no_policy(_: Settings) -> dict[str, Any]:
    """No policy is asked: every tool on offer may run."""
    return {"policy": None}


def no_context_budget(_: Settings) -> dict[str, Any]:
    """Requests may be as long as they get; nothing is left out and no result is cut."""
    return {"context": None}
