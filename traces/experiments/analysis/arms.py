"""Arms: all runs of one condition with one model, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, median, stdev, variance

from traces.experiments.analysis import statistics as st
from traces.experiments.analysis.summary import Arm, Estimate
from traces.experiments.analysis.values import Values
from traces.experiments.rows import Row


def arm(
    model: str, condition: str, rows: Sequence[Row], values: Mapping[str, Values], *, primary: str, seed: int
) -> Arm:
    """What one arm gave.

    Args:
        model: its name.
        condition: its name.
        rows: its runs, also those that were stopped.
        values: what the runs of the model say, by outcome.
        primary: the outcome whose spread is told.
        seed: of the experiment.
    """
    status = Counter(row.status for row in rows)
    estimates = {
        outcome: estimate(each, condition, st.seed_of(seed, model, condition, outcome))
        for outcome, each in values.items()
        if each.of(condition)
    }
    tasks = values[primary].by_subject(condition) if primary in values else {}
    return Arm(
        model=model,
        condition=condition,
        started=status["ended"] + status["error"],
        ended=status["ended"],
        errors=status["error"],
        stopped=status["stopped"],
        outcomes=estimates,
        reasons=dict(Counter(row.reason or "unknown" for row in rows if row.counted).most_common()),
        run_to_run=_run_to_run(list(tasks.values())),
        task_to_task=stdev(map(fmean, tasks.values())) if len(tasks) > 1 else None,
    )


def estimate(values: Values, condition: str, seed: int) -> Estimate:
    """The rate or the median of one outcome, with its interval where there are several runs."""
    given = values.of(condition)
    value = fmean(given) if values.is_rate else median(given)
    if len(given) == 1:
        return Estimate(value, n=1)
    if values.is_rate:
        interval = st.wilson(st.Counts(int(sum(given)), len(given)))
    else:
        interval = st.bootstrap([given], "median", seed=seed)
    return Estimate(value, interval.low, interval.high, len(given), identical=len(set(given)) == 1)


def _run_to_run(tasks: Sequence[Sequence[float]]) -> float | None:
    """The standard deviation between repeats, over all tasks together; None where no task was repeated."""
    repeated = [task for task in tasks if len(task) > 1]
    freedom = sum(len(task) - 1 for task in repeated)
    if not freedom:
        return None
    return float((sum(variance(task) * (len(task) - 1) for task in repeated) / freedom) ** 0.5)
