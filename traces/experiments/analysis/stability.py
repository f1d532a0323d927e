"""Stability: the baseline against itself. It is looked at before any claim about an arm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, median

from traces.experiments.analysis import statistics as st
from traces.experiments.analysis.summary import Stability
from traces.experiments.analysis.values import Values
from traces.experiments.design.experiment import BASELINE
from traces.experiments.rows import Row


def stability(model: str, values: Values, rows: Sequence[Row], *, margin: float, seed: int) -> Stability:
    """How far two samples of the baseline differ by chance alone.

    It is unstable where that can be as much as the margin: then a difference of that size in an arm says nothing by
    itself. One run tells nothing, so its baseline is not called stable either.

    Args:
        model: its name.
        values: of the primary outcome.
        rows: runs of the model that count.
        margin: the difference that would matter; of a number as a share of the baseline.
        seed: of the experiment.
    """
    tasks = values.by_subject(BASELINE)
    everything = values.of(BASELINE)
    value = (fmean(everything) if values.is_rate else median(everything)) if everything else None
    if value is None or max(map(len, tasks.values())) < 2:
        return Stability(model, value, None, stable=False)
    spread = _spread(list(tasks.values()), st.seed_of(seed, model, BASELINE, "spread"))
    return Stability(
        model,
        value,
        _flips(list(tasks.values())) if values.is_rate else None,
        spread.low,
        spread.high,
        stable=spread == (0, 0) or spread.inside(margin if values.is_rate else margin * fmean(everything)),
        identical=identical(row for row in rows if row.condition == BASELINE),
    )


def identical(rows: Iterable[Row]) -> bool:
    """Whether all repeats of each task were the same in everything but time; some task must be repeated."""
    seen: dict[str, list[list[object]]] = {}
    for row in rows:
        if row.status == "stopped":  # by a person or the budget: counted apart
            continue
        seen.setdefault(row.subject, []).append([getattr(row, name) for name in _SAME])
    repeated = max(map(len, seen.values()), default=0) > 1
    return repeated and all(run == runs[0] for runs in seen.values() for run in runs)


_SAME = ("status", "reason", "verified", "answer", "decision", "steps", "calls", "tool_errors", "tokens", "strip")


def _flips(tasks: Sequence[Sequence[float]]) -> float:
    """The share of pairs of repeats of the same task that disagree."""
    pairs = sum(len(task) * (len(task) - 1) / 2 for task in tasks)
    return sum(sum(task) * (len(task) - sum(task)) for task in tasks) / pairs


def _spread(tasks: Sequence[Sequence[float]], seed: int) -> st.Interval:
    """The middle 95 of 100 differences between two samples of the baseline, each drawn task by task."""
    import numpy as np

    generator = np.random.default_rng(seed)
    whole = sum(map(len, tasks))
    shares = [len(task) / whole for task in tasks]
    samples = [
        sum(st.resampled(task, "mean", generator) * share for task, share in zip(tasks, shares, strict=True))
        for _ in range(2)
    ]
    low, high = np.quantile(samples[0] - samples[1], [(1 - st.CONFIDENCE) / 2, (1 + st.CONFIDENCE) / 2])
    return st.Interval(float(low), float(high))
