"""The baseline twin of a run: the same task, model and repeat with nothing changed; and where the two part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent.trace import Trace
from traces.compare import Comparison, compare
from traces.experiments.design import BASELINE
from traces.experiments.rows import Row


def twins(rows: Sequence[Row]) -> dict[str, Row]:
    """The twin of each run that has one, by :attr:`~traces.experiments.rows.Row.key`. Baseline runs have none."""
    base = {(row.subject, row.model, row.repeat): row for row in rows if row.condition == BASELINE}
    pairs = ((row, base.get((row.subject, row.model, row.repeat))) for row in rows if row.condition != BASELINE)
    return {row.key: twin for row, twin in pairs if twin is not None}


def twin_of(row: Row, rows: Sequence[Row]) -> Row | None:
    """The baseline run that differs from this one in nothing but the condition; None where it is not there yet."""
    return twins([*(each for each in rows if each.condition == BASELINE), row]).get(row.key)


class Parting(NamedTuple):
    """Where a run and its twin part. Their requests may part before: the message list keeps what was taken away."""

    comparison: Comparison
    """The two traces, the twin first."""
    row: int | None
    """The first line of the comparison that differs; None: the messages of both are the same."""
    twin_message: int | None
    """Position in the twin of the message on that line; None: it has none there."""
    message: int | None
    """Position in the run."""
    step: int | None
    """The step of the run, else of the twin, that the message belongs to, from 1."""


def parting(twin: Trace, trace: Trace) -> Parting:
    """Compare a run with its baseline twin and say where the two part.

    Args:
        twin: the baseline run.
        trace: the run under the condition.
    """
    compared = compare(twin, trace)
    if compared.divergence is None:
        return Parting(compared, None, None, None, None)
    line = compared.rows[compared.divergence]
    step = trace.entries[line.b].step if line.b is not None else None
    if step is None and line.a is not None:
        step = twin.entries[line.a].step
    return Parting(compared, compared.divergence, line.a, line.b, step)
