"""Going on after a stop: which reasons leave a way on, and what has to change for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agent.limits import HARD_CAP
from agent.settings import Settings
from agent.stops import ASK_AGAIN, StopReason

MORE_STEPS = 5
"""Steps that one extension grants."""

_TRY_AGAIN = ASK_AGAIN - {StopReason.SCRIPT_EXHAUSTED, StopReason.CONTEXT_OVERFLOW}
"""After these the same request may be answered otherwise. A script that has run out and a list that is too long give
the same again."""

_SPENT = {
    StopReason.DEADLINE: "deadline_s",
    StopReason.TOKEN_BUDGET: "total_tokens",
    StopReason.COST_BUDGET: "cost",
}
"""The budget that each of these reasons used up."""

_OUT_OF_STEPS = frozenset({StopReason.MAX_ITERATIONS, StopReason.REPEATED_CALL, StopReason.CONSECUTIVE_ERRORS, *_SPENT})
"""The limits: a person may grant more."""


def extension(reason: StopReason | None, settings: Settings, steps: int) -> dict[str, Any] | None:
    """What to give to :meth:`Loop.extend <agent.control.RunControl.extend>` so that a stopped run goes on.

    After a limit that is :data:`MORE_STEPS` more steps, and twice the budget that was used up.

    Args:
        reason: why the run stopped.
        settings: those that it stopped under.
        steps: the steps that its turn has taken.

    Returns:
        Settings to change; an empty dict where asking the model again is enough; None where there is no way on.
    """
    if reason in _TRY_AGAIN:
        return {}
    if reason not in _OUT_OF_STEPS or steps >= HARD_CAP:
        return None
    changes: dict[str, Any] = {}
    if settings.max_steps is not None:
        changes["max_steps"] = min(max(settings.max_steps, steps + MORE_STEPS), HARD_CAP)
    if (name := _SPENT.get(reason)) and (old := getattr(settings.limits, name)):
        changes["limits"] = replace(settings.limits, **{name: old * 2})
    return changes
