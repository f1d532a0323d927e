"""``runs.csv``: every run as one line of a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable

from traces.experiments.cells import in_order
from traces.experiments.design.experiment import Experiment
from traces.experiments.rows import COLUMNS, Row
from traces.spreadsheet import table


def runs_csv(experiment: Experiment, rows: Iterable[Row]) -> bytes:
    """The rows in the order of the design, whatever order they ended in. No cell of it is taken for a formula."""
    data = (row.to_dict() for row in in_order(experiment, rows))
    return table(COLUMNS, ([each[name] for name in COLUMNS] for each in data))
