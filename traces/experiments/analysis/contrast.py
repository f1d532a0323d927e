"""The contrast of one arm with the baseline of the same model, for one outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from traces.experiments.analysis import needed
from traces.experiments.analysis import statistics as st
from traces.experiments.analysis.summary import Effect
from traces.experiments.analysis.values import Values
from traces.experiments.design.experiment import BASELINE


@dataclass(frozen=True, slots=True)
class Contrast:
    """The values that are compared. Where runs are pairs, the n-th of one belongs to the n-th of the other."""

    outcome: str
    is_rate: bool
    baseline: Sequence[float]
    arm: Sequence[float]
    paired: bool
    tasks: int
    """How many tasks these runs are of."""
    alone: int = 0
    """Runs that are not compared, because the other one of their pair is missing."""

    @property
    def fewest(self) -> int:
        """Runs of the smaller side."""
        return min(len(self.baseline), len(self.arm))

    @property
    def differences(self) -> list[float]:
        """Arm less baseline, of each pair."""
        return [now - was for was, now in zip(self.baseline, self.arm, strict=True)]

    @property
    def pairs(self) -> st.Pairs:
        """The pairs of a rate, counted."""
        seen = list(zip(self.baseline, self.arm, strict=True))
        return st.Pairs(seen.count((1, 1)), seen.count((0, 1)), seen.count((1, 0)), seen.count((0, 0)))

    @property
    def counts(self) -> tuple[st.Counts, st.Counts]:
        """Baseline and arm of a rate, counted."""
        return _counts(self.baseline), _counts(self.arm)

    @property
    def means(self) -> tuple[float, float]:
        """Baseline and arm."""
        return fmean(self.baseline), fmean(self.arm)

    def margin(self, margin: float) -> float:
        """The difference that would matter: of a number that share of the baseline's mean."""
        return margin if self.is_rate else margin * fmean(self.baseline)


def contrast(values: Values, condition: str) -> Contrast | None:
    """What there is to compare: pairs of the same task and seed; where there are none, all runs. None: nothing."""
    was, now = (values.by_condition.get(each, {}) for each in (BASELINE, condition))
    if not was or not now:
        return None
    places = [place for place in now if place in was]
    paired = bool(places)
    baseline = [was[place] for place in places] or list(was.values())
    arm = [now[place] for place in places] or list(now.values())
    tasks = len({subject for subject, _ in places or now})
    alone = len(was) + len(now) - len(baseline) - len(arm)
    return Contrast(values.outcome, values.is_rate, baseline, arm, paired, tasks, alone)


def effect(seen: Contrast, model: str, condition: str, seed: int) -> Effect:
    """The difference with its interval and p value. One run of a side has neither: it proves nothing.

    Args:
        seen: what is compared.
        model: for the table.
        condition: for the table.
        seed: of the experiment.
    """
    was, now = seen.means
    gained, lost = (seen.pairs.gained, seen.pairs.lost) if seen.is_rate and seen.paired else (0, 0)
    interval, p, test = None, None, ""
    if seen.fewest > 1:
        draw = st.seed_of(seed, model, condition, seen.outcome)
        interval, p, test = (_of_rates if seen.is_rate else _of_numbers)(seen, draw)
    return Effect(
        model=model,
        condition=condition,
        outcome=seen.outcome,
        value=now - was,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        p=p,
        test=test,
        pairs=len(seen.arm) if seen.paired else 0,
        gained=gained,
        lost=lost,
    )


def runs_needed(seen: Contrast, alpha: float, margin: float) -> int | None:
    """Runs of each condition for one task that would probably settle it; None: too many, or it cannot be told.

    Args:
        seen: at least two runs of each.
        alpha: of one test, corrected.
        margin: in the unit of the outcome.
    """
    if seen.is_rate:
        runs = (
            needed.pairs_needed(seen.pairs, alpha, margin)
            if seen.paired
            else needed.runs_needed(*seen.counts, alpha, margin)
        )
    elif seen.paired:
        runs = needed.paired_numbers_needed(seen.differences, alpha, margin)
    else:
        runs = needed.numbers_needed(seen.baseline, seen.arm, alpha, margin)
    return None if runs is None else -(-max(runs, seen.fewest + 1) // seen.tasks)


def _of_rates(seen: Contrast, _: int) -> tuple[st.Interval, float, str]:
    if seen.paired:
        return st.newcombe_paired(seen.pairs), st.mcnemar(seen.pairs), "McNemar, exact"
    return st.newcombe(*seen.counts), st.fisher(*seen.counts), "Fisher, exact"


def _of_numbers(seen: Contrast, seed: int) -> tuple[st.Interval, float, str]:
    if seen.paired:
        interval = st.bootstrap([seen.differences], "mean", seed=seed, expanded=True)
        return interval, st.permutation_paired(seen.differences, seed=seed), "permutation"
    interval = st.bootstrap([seen.arm, seen.baseline], "mean", seed=seed, expanded=True)
    return interval, st.permutation_unpaired(seen.baseline, seen.arm, seed=seed), "permutation"


def _counts(values: Sequence[float]) -> st.Counts:
    return st.Counts(int(sum(values)), len(values))
