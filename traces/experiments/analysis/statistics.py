"""The statistics of the laboratory: intervals and tests for rates and for numbers. Counts in, plain numbers out.

Nothing here knows of runs. Everything that draws at random takes a seed, so the same data give the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIDENCE = 0.95
"""Of all intervals."""
RESAMPLES = 5_000
"""Samples that a bootstrap interval or the spread of a baseline is made of."""
PERMUTATIONS = 9_999
"""Permutations that a test draws where there are more than that; else it goes through all of them."""
_AT_ONCE = 2_000_000
"""Numbers that one batch of resamples may hold."""
_KNOWN = 4096
"""Tables whose figures are kept: the same few counts come again and again."""


class Interval(NamedTuple):
    """Two bounds."""

    low: float
    high: float

    def inside(self, margin: float) -> bool:
        """Whether all of it is nearer to zero than ``margin``."""
        return -margin < self.low and self.high < margin


class Pairs(NamedTuple):
    """Pairs of runs of a yes-or-no outcome, counted: baseline and arm had the same task and seed."""

    both: int
    gained: int
    """Only the arm has it."""
    lost: int
    """Only the baseline has it."""
    neither: int

    @property
    def n(self) -> int:
        """How many pairs."""
        return sum(self)

    @property
    def difference(self) -> float:
        """The rate of the arm less that of the baseline."""
        return (self.gained - self.lost) / self.n


class Counts(NamedTuple):
    """How many runs have a yes-or-no outcome, out of how many."""

    yes: int
    n: int

    @property
    def rate(self) -> float:
        """The share."""
        return self.yes / self.n


def seed_of(seed: int, *names: str) -> int:
    """A seed for one figure, so that no two figures of an experiment draw the same samples."""
    return int.from_bytes(blake2b("/".join((str(seed), *names)).encode(), digest_size=8).digest(), "big")


# ---- rates ----


@lru_cache(maxsize=_KNOWN)
def wilson(counts: Counts) -> Interval:
    """Wilson's score interval of a rate. It never leaves 0 to 1, and 0 of 5 is not "0 ± 0"."""
    from scipy import stats

    found = stats.binomtest(counts.yes, counts.n).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(found.low), float(found.high))


def newcombe(baseline: Counts, arm: Counts) -> Interval:
    """Newcombe's hybrid score interval of the difference of two rates that are not paired.

    Newcombe (1998), Statistics in Medicine 17, 873-890, method 10.
    """
    return _square_and_add(baseline, arm, 0.0)


def newcombe_paired(pairs: Pairs) -> Interval:
    """Newcombe's interval of the difference of two paired rates: as :func:`newcombe`, less what the pairs have in
    common.

    Newcombe (1998), Statistics in Medicine 17, 2635-2650, method 10.
    """
    both, gained, lost, neither = pairs
    baseline, arm = Counts(both + lost, pairs.n), Counts(both + gained, pairs.n)
    product = arm.yes * (arm.n - arm.yes) * baseline.yes * (baseline.n - baseline.yes)
    common: float = both * neither - gained * lost
    if common > 0:  # corrected for continuity, which keeps the interval from being too short
        common = max(common - pairs.n / 2, 0.0)
    return _square_and_add(baseline, arm, common / math.sqrt(product) if product else 0.0)


def _square_and_add(baseline: Counts, arm: Counts, correlation: float) -> Interval:
    was, now = wilson(baseline), wilson(arm)
    down = (arm.rate - now.low, was.high - baseline.rate)
    up = (now.high - arm.rate, baseline.rate - was.low)
    below, above = (math.sqrt(max(a * a - 2 * correlation * a * b + b * b, 0)) for a, b in (down, up))
    difference = arm.rate - baseline.rate
    return Interval(max(difference - below, -1), min(difference + above, 1))


@lru_cache(maxsize=_KNOWN)
def mcnemar(pairs: Pairs) -> float:
    """McNemar's exact test: were the pairs that differ as likely to differ one way as the other? Two-sided p."""
    from scipy import stats

    differing = pairs.gained + pairs.lost
    return float(stats.binomtest(pairs.gained, differing).pvalue) if differing else 1.0


@lru_cache(maxsize=_KNOWN)
def fisher(baseline: Counts, arm: Counts) -> float:
    """Fisher's exact test of two rates that are not paired. Two-sided p."""
    from scipy import stats

    table = [[arm.yes, arm.n - arm.yes], [baseline.yes, baseline.n - baseline.yes]]
    return float(stats.fisher_exact(table).pvalue)


# ---- numbers ----


def bootstrap(
    samples: Sequence[Sequence[float]], of: Literal["mean", "median"], *, seed: int, expanded: bool = False
) -> Interval:
    """The percentile bootstrap interval of a mean or median; of two samples, of the first less the second.

    It is defined for any data: of equal values it is that value, twice.

    Args:
        samples: one or two samples, none of them empty.
        of: what is worked out of each resample.
        seed: of the resamples.
        expanded: widen it as Student's t does, since with few values the plain one is too short. Hesterberg (2015),
            The American Statistician 69, 371-386: the expanded percentile interval. For means.
    """
    import numpy as np
    from scipy import stats

    tail = (1 - CONFIDENCE) / 2
    fewest = min(map(len, samples))
    if expanded and fewest > 1:
        tail = float(stats.norm.cdf(math.sqrt(fewest / (fewest - 1)) * stats.t.ppf(tail, fewest - 1)))
    generator = np.random.default_rng(seed)
    first, *second = [resampled(sample, of, generator) for sample in samples]
    drawn = first - second[0] if second else first
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(float(low), float(high))


def permutation_paired(differences: Sequence[float], *, seed: int) -> float:
    """The sign-flip test: is the mean difference further from zero than if each pair had gone either way? Two-sided p.

    Exact where there are few pairs; else over :data:`PERMUTATIONS` drawn at random, the data themselves among them. Two
    pairs are the least.
    """
    if len(set(differences)) == 1:  # only the data themselves and their mirror image are as far from zero
        return 0.5 ** (len(differences) - 1) if differences[0] else 1.0
    return _permutation([differences], lambda sample, axis: sample.mean(axis=axis), "samples", seed)


def permutation_unpaired(baseline: Sequence[float], arm: Sequence[float], *, seed: int) -> float:
    """The same for two samples that are not paired: do the means lie further apart than if the labels were mixed up?"""
    if len({*baseline, *arm}) == 1:
        return 1.0
    return _permutation(
        [arm, baseline], lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis), "independent", seed
    )


def _permutation(data: Sequence[Sequence[float]], work: Callable[..., Any], kind: str, seed: int) -> float:
    import numpy as np
    from scipy import stats

    found = stats.permutation_test(
        [np.asarray(sample, dtype=float) for sample in data],
        work,
        permutation_type=kind,
        vectorized=True,
        n_resamples=PERMUTATIONS,
        batch=max(1, _AT_ONCE // sum(map(len, data))),
        rng=seed,
    )
    return float(found.pvalue)


def resampled(sample: Sequence[float], of: str, generator: np.random.Generator) -> NDArray[np.float64]:
    """The mean or median of each of many samples drawn from this one."""
    import numpy as np

    values = np.asarray(sample, dtype=float)
    if (values == values[0]).all():
        return np.full(RESAMPLES, values[0])
    work: Callable[..., Any] = np.mean if of == "mean" else np.median
    size = max(1, _AT_ONCE // len(values))
    batches = [min(size, RESAMPLES - at) for at in range(0, RESAMPLES, size)]
    drawn = (values[generator.integers(len(values), size=(batch, len(values)))] for batch in batches)
    return np.concatenate([work(each, axis=1) for each in drawn])


# ---- several tests ----


def holm(values: Sequence[float]) -> list[float]:
    """Holm's correction: the p values, each made so large that all of them may be held against one alpha.

    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    corrected = [1.0] * len(values)
    largest = 0.0
    for rank, at in enumerate(sorted(range(len(values)), key=lambda at: values[at])):
        largest = max(largest, min(1.0, values[at] * (len(values) - rank)))
        corrected[at] = largest
    return corrected
