"""One run of an experiment: a cell under its condition, driven phase by phase to its end, and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from agent import clock, jsontext
from agent.errors import InputError
from agent.events import Phase
from agent.journal import write_trace
from agent.loop import Loop
from agent.redact import may_hold_secret, redact
from agent.stops import StopReason
from agent.trace import Trace
from agent.usage import Usage
from agent.workings import nobody_was_there
from traces.experiments.cells import Cell
from traces.experiments.design.experiment import Condition, ModelSpec
from traces.experiments.measuring.measure import row_of
from traces.experiments.rows import Row, Status
from traces.experiments.running.gate import UsageOf
from traces.experiments.subjects.models import make_model
from traces.experiments.subjects.task import Started, Task
from traces.prices import PriceTable, step_costs

EXTRA = "experiment"
"""The key of a trace under which it says which run of which experiment it is."""
_OF_A_RUN = (".jsonl", ".jsonl.tmp", ".json", ".json.tmp")


class Control(Protocol):
    """What a run asks between its phases; that of an experiment is :class:`~traces.experiments.running.gate.Gate`."""

    def begin(self, loop: Loop, usage: UsageOf) -> None:
        """The run begins."""

    def between(self, loop: Loop) -> str:
        """Whether it may go on; it may wait here. Gives why the run must stop, or an empty text."""


class Alone:
    """The control of a run that nobody stops."""

    def begin(self, loop: Loop, usage: UsageOf) -> None:
        """Nothing is noted."""

    def between(self, loop: Loop) -> str:
        """It goes on."""
        return ""


def run_cell(
    cell: Cell,
    condition: Condition,
    task: Task,
    spec: ModelSpec,
    *,
    experiment: str = "",
    key: str | None = None,
    journal: Path | None = None,
    control: Control | None = None,
    prices: PriceTable | None = None,
) -> tuple[Row, Trace]:
    """Run one cell; gives its row and its trace. Whatever goes wrong in the run is told in its row and never raised.

    Where a person would be asked nobody is there: the call is denied.

    Args:
        cell: which run.
        condition: what is different in it.
        task: its subject, loaded.
        spec: its model.
        experiment: the id that the trace's own is made of.
        key: of a live model; None: out of the environment.
        journal: folder for the journal and the trace file; None keeps the run in memory. What a killed run of this cell
            left there is removed.
        control: who may stop it; None: nobody.
        prices: for what a provider does not say itself.

    Raises:
        OSError: the journal or the trace file cannot be written.
    """
    trace_id, control = cell.trace_id(experiment), control or Alone()
    if journal is not None:
        clear(journal, trace_id)
    try:
        model = make_model(spec, task, seed=cell.seed, key=key)
        started = task.begin(model, condition, seed=cell.seed, trace_id=trace_id, journal=journal)
    except OSError:
        raise
    except Exception as error:
        return not_run(cell, task, spec, experiment, journal, error)
    loop = started.loop
    loop.trace.title = title_of(cell)
    loop.remember(EXTRA, about(cell, experiment, started.first_step))
    control.begin(loop, partial(_used, loop.trace, started.first_step, prices))
    stopped = ""
    try:
        stopped = _drive(started, condition, control)
    except OSError:
        raise
    except Exception as error:
        _end_broken(loop, error, journal)
    if stopped:
        loop.remember(EXTRA, {**loop.trace.extra[EXTRA], "stopped": stopped})
    row = measured(cell, loop.trace, task, spec, prices)
    return _without_secrets(row, loop.secrets), loop.trace


def clear(journal: Path, trace_id: str) -> None:
    """Remove what an earlier run of this id left behind."""
    for suffix in _OF_A_RUN:
        (journal / f"{trace_id}{suffix}").unlink(missing_ok=True)


def title_of(cell: Cell) -> str:
    """What the trace of a run is called."""
    return f"{cell.subject}, {cell.condition}, {cell.model}, run {cell.repeat + 1}"


def about(cell: Cell, experiment: str, first_step: int) -> dict[str, Any]:
    """What a trace says of the experiment that it belongs to."""
    return {"id": experiment, **cell._asdict(), "first_step": first_step}


def measured(cell: Cell, trace: Trace, task: Task, spec: ModelSpec, prices: PriceTable | None = None) -> Row:
    """The row of a run that is over, by its trace alone."""
    said: Mapping[str, Any] = trace.extra[EXTRA]
    stopped, scripted = said.get("stopped"), spec.kind != "live"
    status: Status | None = "stopped" if stopped else None
    row = row_of(cell, trace, task, first_step=said["first_step"], scripted=scripted, status=status, prices=prices)
    return replace(row, detail=stopped) if stopped else row


def _drive(started: Started, condition: Condition, control: Control) -> str:
    """Perform phase after phase to the end; gives why it was stopped, or an empty text."""
    loop, armed = started.loop, 0
    started.begin()
    while loop.phase is not None or loop.more:
        if why := control.between(loop):
            loop.stop()
            loop.finish()
            return why
        if loop.phase is Phase.PREPARE and condition.faults:
            armed = _arm(loop, condition, len(loop.trace.steps) - started.first_step + 1, armed)
        for position, pending in enumerate(loop.run.pending if loop.waiting else ()):
            if pending.decision is None:
                loop.decide(position, nobody_was_there(pending))
        loop.advance()
    return control.between(loop) if loop.stopping else ""


def _arm(loop: Loop, condition: Condition, step: int, armed: int) -> int:
    """Arm the faults of the step that begins; gives up to which step they are armed."""
    for each in condition.faults:
        if armed < each.step <= step:
            loop.arm(each.fault)
    return max(armed, step)


def _used(trace: Trace, first_step: int, prices: PriceTable | None) -> tuple[int | None, float | None]:
    """Tokens and US dollars of a run up to now, as far as the provider says."""
    steps = trace.steps[first_step:]
    tokens = Usage.sum(step.usage for step in steps).total
    if prices is None:
        costs = [step.cost for step in steps]
    else:
        costs = [each.value for each in step_costs(trace, prices)[first_step:]]
    return tokens, sum(cost for cost in costs if cost is not None)


def _end_broken(loop: Loop, error: Exception, journal: Path | None) -> None:
    """A defect of a tool, a check or the program itself ended the run: say so, and keep what there is."""
    outcome = loop.trace.outcome
    outcome.reason, outcome.detail = StopReason.MODEL_ERROR, _words(error)
    if journal is not None:
        write_trace(loop.trace, journal, loop.secrets)
        (journal / f"{loop.trace.trace_id}.jsonl").unlink(missing_ok=True)


def not_run(
    cell: Cell, task: Task, spec: ModelSpec, experiment: str, journal: Path | None, error: Exception
) -> tuple[Row, Trace]:
    """The row and the trace of a run that could not even begin."""
    trace = Trace(trace_id=cell.trace_id(experiment), created=clock.now(), title=title_of(cell))
    trace.extra[EXTRA] = about(cell, experiment, 0)
    trace.outcome.reason, trace.outcome.detail = StopReason.MODEL_ERROR, _words(error)
    if journal is not None:
        write_trace(trace, journal)
    return _without_secrets(measured(cell, trace, task, spec), ()), trace


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def _without_secrets(row: Row, secrets: tuple[str, ...]) -> Row:
    """The row as it may be written: an answer or the words of a server can repeat a key."""
    data = row.to_dict()
    if not may_hold_secret(jsontext.dumps(data, compact=True), secrets):
        return row
    return Row.from_dict(redact(data, secrets))
