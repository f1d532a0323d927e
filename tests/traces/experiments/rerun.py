"""What tests of subjects, models and rows share: a recorded run of our own, and a cell that is run to its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.interventions import Intervention
from agent.models.base import Model
from agent.scripts import load_script, play
from agent.trace import Trace
from traces.experiments.cells import Cell
from traces.experiments.design.experiment import NOTHING_CHANGED, Condition, ModelSpec, Subject
from traces.experiments.measuring.measure import row_of
from traces.experiments.rows import Row
from traces.experiments.subjects.models import make_model
from traces.experiments.subjects.task import Started, Task, load_subject
from traces.prices import PriceTable

SCRIPT, STAND_IN = ModelSpec(name="script"), ModelSpec(name="stand-in", kind="stand_in")
CELL = Cell("task", "model", "condition", 0, 1)


def condition(kind: str, **params: Any) -> Condition:
    return Condition(name=kind, interventions=(Intervention(kind, params),))


def recorded(scenario: str) -> Trace:
    """A scenario that was played."""
    script = load_script(scenario)
    loop = script.loop(pace=0)
    play(loop, script)
    return loop.trace


def saved(trace: Trace, folder: Path, name: str = "run.json") -> str:
    (folder / name).write_text(jsontext.dumps(trace.to_dict()), encoding="utf-8")
    return name


def task_of(trace: Trace, folder: Path, step: int = 1, **more: Any) -> Task:
    """A trace as a subject."""
    return load_subject(Subject(name="task", trace=saved(trace, folder), step=step, **more), folder)


def begun(task: Task, under: Condition = NOTHING_CHANGED, model: Model | None = None) -> Started:
    started = task.begin(
        model or make_model(SCRIPT, task, seed=1), under, seed=1, trace_id="0123456789ab", journal=None
    )
    started.begin()
    return started


def played(task: Task, under: Condition = NOTHING_CHANGED, spec: ModelSpec = SCRIPT, seed: int = 1) -> Started:
    """A run of a task to its end."""
    started = begun(task, under, make_model(spec, task, seed=seed))
    started.loop.finish()
    while started.loop.more:
        started.loop.advance()
        started.loop.finish()
    return started


def row(
    task: Task, under: Condition = NOTHING_CHANGED, spec: ModelSpec = SCRIPT, prices: PriceTable | None = None
) -> Row:
    started = played(task, under, spec)
    scripted, first = started.script, started.first_step
    return row_of(CELL, started.loop.trace, task, first_step=first, scripted=scripted, prices=prices)


def roles(started: Started) -> Sequence[str]:
    return [message.role for message in started.loop.messages]
