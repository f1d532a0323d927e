"""Job: what an engine is given to run, and where it puts what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.errors import AgentError
from agent.ids import new_trace_id
from agent.tools import Tool
from agent.trace import Trace
from traces.decoding import loads
from traces.experiments.cells import Cell
from traces.experiments.design.experiment import Condition, Experiment, ModelSpec
from traces.experiments.folder import Folder
from traces.experiments.rows import Row
from traces.experiments.running.gate import Gate
from traces.experiments.running.one_run import EXTRA, measured
from traces.experiments.subjects.models import make_model
from traces.experiments.subjects.task import Task, load_subject
from traces.prices import PriceTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The runs that are left of an experiment, and all that they need."""

    id: str
    """Of the experiment."""
    folder: Folder
    experiment: Experiment
    cells: Sequence[Cell]
    """What is left, in order."""
    tasks: Mapping[str, Task]
    """The subjects by name, loaded."""
    gate: Gate
    record: Callable[[Row], None]
    """Takes the row of a run that is over, once its trace file is in place. May be called from any thread."""
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of live models, by the name of the model in the design."""
    prices: PriceTable | None = None
    workers: int = 1
    scheduler: str | None = None
    """The address of a Dask cluster."""
    tools_files: tuple[Path, ...] = ()
    """Files with tools of one's own, where they came from files."""
    leftover: frozenset[str] = frozenset()
    """Ids of traces that were in the folder without a row when the job began."""

    def model(self, cell: Cell) -> ModelSpec:
        """The model of a cell."""
        return next(each for each in self.experiment.models if each.name == cell.model)

    def condition(self, cell: Cell) -> Condition:
        """The condition of a cell."""
        return next(each for each in self.experiment.conditions if each.name == cell.condition)

    def to_run(self) -> Iterator[Cell]:
        """The cells that must be run, in order. One whose trace is whole already is only measured on the way."""
        for cell in self.cells:
            row = self._found(cell) if cell.trace_id(self.id) in self.leftover else None
            if row is None:
                yield cell
            else:
                self.record(row)

    def _found(self, cell: Cell) -> Row | None:
        """The row of a run that ended, and whose process was killed before it was noted; None: there is no such."""
        path = self.folder.traces / f"{cell.trace_id(self.id)}.json"
        try:
            trace = Trace.from_dict(loads(path.read_bytes()))
            if trace.outcome.reason is None or "stopped" in trace.extra[EXTRA]:
                return None
            row = measured(cell, trace, self.tasks[cell.subject], self.model(cell), self.prices)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, AgentError):
            return None  # whatever the file holds: it is simply made again
        path.with_suffix(".jsonl").unlink(missing_ok=True)  # its process came no further than to the trace
        return row


def load_tasks(experiment: Experiment, base: Path, own: Sequence[Tool], keys: Mapping[str, str]) -> dict[str, Task]:
    """All subjects of a design. Everything is made once on trial: what is missing is said before any run.

    Raises:
        InputError: a subject, a model or a condition cannot be used; the text says why.
    """
    tasks = {subject.name: load_subject(subject, base, own) for subject in experiment.subjects}
    for task in tasks.values():
        models = [make_model(spec, task, seed=0, key=keys.get(spec.name)) for spec in experiment.models]
        for condition in experiment.conditions:
            task.begin(models[0], condition, seed=0, trace_id=new_trace_id(), journal=None)
    return tasks
