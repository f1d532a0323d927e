"""How a task goes where nothing is changed, as far as that is known before any run: recorded, or played in memory."""

from __future__ import annotations

from dataclasses import replace

from agent.errors import InputError
from agent.ids import new_trace_id
from agent.models.fake import FakeModel
from agent.scripts.harmless import harmless
from agent.trace import Trace
from traces.experiments.design.experiment import Condition
from traces.experiments.subjects.rerun import beginning, step_of
from traces.experiments.subjects.task import Started, Task
from traces.scripting import replay

SECONDS = 5.0
"""After so long a script that is played in memory is cut off."""


def baseline(task: Task) -> Trace | None:
    """The recorded trace; of a script the run that it gives, of which no tool of one's own really runs.

    None: it is a task of the user's own, and what a model will say to it is not known.
    """
    if task.source is not None:
        return task.source
    if not task.scripted:
        return None
    steps = task.subject.max_steps or task.script.max_steps
    return replay(replace(harmless(task.script), max_steps=steps), stop_after_s=SECONDS).trace


def before_step(task: Task, condition: Condition, step: int, trace: Trace | None = None) -> Started:
    """The run of a condition as it stands before a step, when all steps before it went as in the baseline.

    Args:
        task: what is run.
        condition: under which.
        step: from 1.
        trace: the baseline, where it is at hand already.

    Raises:
        InputError: there is no such step; the text says which ones there are.
    """
    started = _at(task, step, trace).begin(FakeModel([]), condition, seed=0, trace_id=new_trace_id(), journal=None)
    started.begin()
    return started


def _at(task: Task, step: int, trace: Trace | None) -> Task:
    """The task as if it were the trace of its own baseline, which goes on from a step."""
    if step == (1 if task.source is None else task.subject.step):
        return task
    trace = trace or baseline(task)
    if trace is None:
        raise InputError(f"what is asked in step {step} depends on what a live model says before: only step 1 is known")
    step_of(trace, step)
    subject = replace(task.subject, scenario="", script="", trace=trace.trace_id, step=step, max_steps=None)
    return replace(task, subject=subject, source=trace, start=beginning(trace, step))
