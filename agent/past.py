"""What held at a moment of a run: the settings under which it stood, and what had been done to it by then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent import faults
from agent.events import EXECUTE, Phase
from agent.moments import Moment
from agent.recorded import BY_A_PERSON
from agent.settings import Settings
from agent.trace import Trace

FORK_EDITS = ("message_edited", "system_edited", "tools_changed", "settings_changed")
"""Kinds of the interventions that a fork begins with."""
_ORDER: dict[str | None, int] = {**{str(phase): place for place, phase in enumerate(Phase)}, None: len(Phase)}


def settings_at(trace: Trace, moment: Moment) -> Settings:
    """The settings under which the run stood at a moment: those of the trace, without what later faults switched off.

    Raises:
        InputError: the trace keeps settings that make no sense.
    """
    config = dict(trace.config)
    for item in reversed(trace.interventions):
        if _happened(item, moment):
            continue
        before: Any = (item.get("params") or {}).get("before")
        if item.get("kind") == faults.LIMIT_REMOVED:
            limits = {name: value for name, value in before.items() if name != "max_steps"}
            config |= {"max_steps": before["max_steps"], "limits": {**config["limits"], **limits}}
        elif item.get("kind") == faults.PERMISSION_CHECK_REMOVED:
            config["policy"] = before
        elif item.get("kind") == faults.RESULTS_NOT_WRITTEN_BACK:
            config["interventions"] = before
    return Settings.from_config(config)


def interventions_at(trace: Trace, moment: Moment) -> list[dict[str, Any]]:
    """What had been done to the run by then, beside its settings. The edits that a fork began with are always there."""
    return [item for item in trace.interventions if item.get("step") is not None and _happened(item, moment)]


def _happened(item: Mapping[str, Any], moment: Moment) -> bool:
    kind, step, phase = item.get("kind"), item.get("step"), item.get("phase")
    if step is None or kind in FORK_EDITS:
        return True
    if kind in BY_A_PERSON:
        phase = EXECUTE  # a decision is noted with the result that comes of it
    return (step, _ORDER.get(phase, 0)) < (moment.step, _ORDER[moment.phase])
