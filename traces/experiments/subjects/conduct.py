"""How a run of a task is conducted: with which settings it goes on from a recording, and who speaks to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent import clock
from agent.errors import InputError, ModelError
from agent.limits import Limits
from agent.loop import Loop
from agent.models.base import Model
from agent.models.replay import ReplayModel
from agent.policy import CapabilityPolicy
from agent.scripts import Script
from agent.scripts.turns import AnyTurn, ScriptTurn
from agent.scripts.user import ScriptedUser
from agent.trace import Trace
from traces.experiments.design.experiment import Condition, Subject
from traces.experiments.subjects.rerun import Beginning
from traces.scripting.continuing import room_for, settings_before, settings_options
from traces.scripting.replies import ENDS_HERE

OWN_STEPS = 8
"""Steps that a model which goes its own way has at least, from where a recording is continued."""
_NO_TOOL = CapabilityPolicy(allow=())
_AFTER_THE_CALL = ("no_step_limit", "no_guards", "no_policy")
"""Interventions that switch off what keeps a decision from becoming a run."""


def decision_options(source: Trace, script: Script, start: Beginning, condition: Condition) -> dict[str, Any]:
    """Options of ``Loop.resume`` for one model call: no tool runs after it, and no step follows.

    What switches the policy or a limit off has nothing to do in one call, and is left out.

    Args:
        source: the recorded trace.
        script: made of it.
        start: before the model call.
        condition: its interventions come after those of the recorded run.

    Raises:
        InputError: the condition has a fault that strikes elsewhere.
    """
    for armed in condition.faults:
        if not armed.in_one_call:
            raise InputError(
                f"the condition {condition.name!r}: a decision is rerun as one model call and no tool runs, so that "
                f"the fault {armed.fault.kind} cannot strike; continue the trace from this step instead"
            )
    before = settings_before(start.snapshot, settings_options(source, script))
    changes = (*before.interventions, *condition.interventions)
    return {
        "interventions": tuple(each for each in changes if each.kind not in _AFTER_THE_CALL),
        "policy": _NO_TOOL,
        "limits": Limits(),
        "max_steps": room_for(start.snapshot, 1, 1),
        "context": before.context,
    }


def continue_options(
    source: Trace, script: Script, start: Beginning, condition: Condition, subject: Subject, *, replays: bool
) -> dict[str, Any]:
    """Options of ``Loop.resume`` for the rest of a recorded run, under its own settings.

    A model that goes its own way has at least :data:`OWN_STEPS`, where the subject says nothing else. Where a person
    was asked nobody is there now: a recorded result is given all the same, but no real tool runs.

    Args:
        source: the recorded trace.
        script: made of it.
        start: where it goes on.
        condition: its interventions come after those of the recorded run.
        subject: what the design says of it.
        replays: whether the model says the recorded replies again.
    """
    given = settings_options(source, script)
    before = settings_before(start.snapshot, given)
    if subject.max_steps is not None:
        given["max_steps"] = room_for(start.snapshot, 1, subject.max_steps)
    elif not replays:
        given["max_steps"] = room_for(start.snapshot, before.max_steps, OWN_STEPS)
    if not subject.real_tools:
        given["policy"] = script.policy
    others = words_to_come(script, start.turns, start.snapshot["counters"]["model_calls"])
    user = ScriptedUser(script.users, answered(script)) if replays else others
    return {**given, "interventions": (*before.interventions, *condition.interventions), "user": user}


def resumed(start: Beginning, trace_id: str, seed: int, model: Model, options: dict[str, Any]) -> Loop:
    """A new run that begins where a recording stood."""
    about = {"trace_id": trace_id, "created": clock.now(), "seed": seed}
    return Loop.resume({**start.snapshot, "trace": {**start.snapshot["trace"], **about}}, model=model, **options)


def replays(model: Model | None) -> bool:
    """Whether a model says recorded replies again."""
    while model is not None and not isinstance(model, ReplayModel):
        model = getattr(model, "inner", None)
    return model is not None


def answered(script: Script) -> Sequence[AnyTurn]:
    """The turns of a script without what a recording ends with: words to which no answer is known."""
    last = script.turns[-1] if script.turns else None
    reply = last.said.reply if isinstance(last, ScriptTurn) else None
    return script.turns[:-1] if isinstance(reply, ModelError) and str(reply) == ENDS_HERE else script.turns


def words_to_come(script: Script, begun: int, model_calls: int) -> ScriptedUser | None:
    """Who speaks to a model that goes its own way: each further word of the user comes after a final answer.

    Before which model call it came in the script means nothing to another model.

    Args:
        script: of the task.
        begun: turns of the conversation that have begun.
        model_calls: calls of the script's own model by then.
    """
    later = (turn.before or () for turn in answered(script)[model_calls + 1 :])
    said = ["\n\n".join(each.text for each in before if each.role == "user") for before in later]
    words = [*script.users[begun:], *filter(None, said)]
    return ScriptedUser(("",) * begun + tuple(words), ()) if words else None
