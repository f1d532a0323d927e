"""Cells: the runs that a design asks for, in the order in which they begin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from traces.experiments.design.experiment import Experiment
from traces.experiments.rows import Row, key_of


class Cell(NamedTuple):
    """One run of an experiment, by the names of what it is made of."""

    subject: str
    model: str
    condition: str
    repeat: int
    """From 0."""
    seed: int

    @property
    def key(self) -> str:
        """What a ledger knows it by."""
        return key_of(self.subject, self.model, self.condition, self.repeat)

    def trace_id(self, experiment: str) -> str:
        """The id of its trace, twelve hex digits: the same whenever this cell of this experiment is run.

        Args:
            experiment: the id of the experiment, which cannot be guessed.
        """
        return blake2b(f"{experiment}/{self.key}".encode(), digest_size=6).hexdigest()


def cells(experiment: Experiment) -> Iterator[Cell]:
    """All runs. One repeat after the other; within it all conditions of a subject and model follow each other, each
    time beginning with another one, so that a drift of the server hits all conditions alike.
    """
    conditions = experiment.conditions
    for repeat in range(experiment.repeats):
        turn = repeat % len(conditions)
        for subject in experiment.subjects:
            for model in experiment.models:
                for condition in conditions[turn:] + conditions[:turn]:
                    yield Cell(subject.name, model.name, condition.name, repeat, experiment.seed + repeat)


def in_order(experiment: Experiment, rows: Iterable[Row]) -> list[Row]:
    """The rows as the design has their cells; those that it does not have come last."""
    places = {cell.key: place for place, cell in enumerate(cells(experiment))}
    return sorted(rows, key=lambda row: places.get(row.key, len(places)))
