"""The baseline twin of a run: the same task, model and repeat with nothing changed."""

from __future__ import annotations

from collections.abc import Sequence

from traces.experiments.design.experiment import BASELINE
from traces.experiments.rows import Row


def twins(rows: Sequence[Row]) -> dict[str, Row]:
    """The twin of each run that has one, by :attr:`~traces.experiments.rows.Row.key`. Baseline runs have none."""
    base = {(row.subject, row.model, row.repeat): row for row in rows if row.condition == BASELINE}
    pairs = ((row, base.get((row.subject, row.model, row.repeat))) for row in rows if row.condition != BASELINE)
    return {row.key: twin for row, twin in pairs if twin is not None}


def twin_of(row: Row, rows: Sequence[Row]) -> Row | None:
    """The baseline run that differs from this one in nothing but the condition; None where it is not there yet."""
    return twins([*(each for each in rows if each.condition == BASELINE), row]).get(row.key)
