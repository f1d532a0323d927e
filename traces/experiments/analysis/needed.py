"""How many runs would probably settle it: enough that a difference like the one seen would be found, or that its
interval would lie inside the margin.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist, fmean, stdev

from traces.experiments.analysis.statistics import CONFIDENCE, Counts, Interval, Pairs, newcombe, newcombe_paired

POWER = 0.8
"""How often the test should find a difference of the size that was seen, or its interval lie inside the margin."""
MOST = 100_000
"""Runs beyond which no number is given."""
_TAIL = 1e-9
"""What may be left out of the sum over how many pairs differ."""


@lru_cache(maxsize=4096)
def pairs_needed(pairs: Pairs, alpha: float, margin: float) -> int | None:
    """Pairs of a yes-or-no outcome that would settle it; None: more than :data:`MOST`.

    Args:
        pairs: what was seen.
        alpha: of the test, corrected for how many there are.
        margin: the difference that would matter.
    """
    gained, lost = pairs.gained / pairs.n, pairs.lost / pairs.n

    def scaled(n: int) -> Interval:
        return newcombe_paired(Pairs(*(round(count * n / pairs.n) for count in pairs)))

    difference = pairs.difference
    spread = math.sqrt(max(gained + lost - difference**2, 0))
    seen = gained != lost and _more_than(pairs.n, lambda n: mcnemar_power(n, gained, lost, alpha) >= POWER)
    return _smaller(seen, _inside(pairs.n, scaled, difference, spread, margin))


def runs_needed(baseline: Counts, arm: Counts, alpha: float, margin: float) -> int | None:
    """The same for two rates that are not paired: runs of each. The test is Fisher's, its power by the formula of
    Casagrande, Pike and Smith (1978), Biometrics 34, 483-486.
    """

    def scaled(n: int) -> Interval:
        return newcombe(Counts(round(baseline.rate * n), n), Counts(round(arm.rate * n), n))

    difference = abs(arm.rate - baseline.rate)
    variance = baseline.rate * (1 - baseline.rate) + arm.rate * (1 - arm.rate)
    seen = None
    if difference:
        middle = (baseline.rate + arm.rate) / 2
        reach = _z(1 - alpha / 2) * math.sqrt(2 * middle * (1 - middle)) + _z(POWER) * math.sqrt(variance)
        plain = reach**2 / difference**2
        seen = math.ceil(plain / 4 * (1 + math.sqrt(1 + 4 / (plain * difference))) ** 2)
    fewer = min(baseline.n, arm.n)
    return _smaller(seen, _inside(fewer, scaled, arm.rate - baseline.rate, math.sqrt(variance), margin))


def paired_numbers_needed(differences: Sequence[float], alpha: float, margin: float) -> int | None:
    """Pairs of a numeric outcome that would settle it, by the normal approximation and never fewer than the sign-flip
    test needs to be able to speak at all.
    """
    few = _z(1 - alpha / 2) ** 2 / 2
    return _of_numbers(fmean(differences), stdev(differences), alpha, margin, few, fewest_pairs(alpha))


def numbers_needed(baseline: Sequence[float], arm: Sequence[float], alpha: float, margin: float) -> int | None:
    """The same for two samples that are not paired: runs of each."""
    spread = math.hypot(stdev(baseline), stdev(arm))
    few = _z(1 - alpha / 2) ** 2 / 4
    return _of_numbers(fmean(arm) - fmean(baseline), spread, alpha, margin, few, fewest_runs(alpha))


def mcnemar_power(n: int, gained: float, lost: float, alpha: float) -> float:
    """How often McNemar's exact test finds a difference, summed over how many of the pairs may differ.

    Args:
        n: pairs.
        gained: the share of pairs in which only the arm has the outcome.
        lost: the share in which only the baseline has it.
        alpha: of the two-sided test.
    """
    import numpy as np
    from scipy import stats

    differing = stats.binom(n, gained + lost)
    counts = np.arange(differing.ppf(_TAIL), differing.isf(_TAIL) + 1)
    most = stats.binom.ppf(alpha / 2, counts, 0.5)  # of the rarer direction, so that p is still small enough
    most = np.where(stats.binom.cdf(most, counts, 0.5) <= alpha / 2, most, most - 1)
    share = gained / (gained + lost)
    found = stats.binom.cdf(most, counts, share) + stats.binom.sf(counts - most - 1, counts, share)
    return float((differing.pmf(counts) * found).sum())


def fewest_pairs(alpha: float) -> int:
    """Pairs that must differ, all in one direction, before a test of pairs can speak: 2 * 0.5^n <= alpha."""
    return math.ceil(math.log2(2 / alpha))


def fewest_runs(alpha: float) -> int:
    """Runs of each of two arms that are not paired before a permutation of their labels can speak."""
    return next(n for n in itertools.count(1) if 2 / math.comb(2 * n, n) <= alpha)


# ---- what they have in common ----


def _of_numbers(difference: float, spread: float, alpha: float, margin: float, few: float, fewest: int) -> int | None:
    """How many numbers would settle it.

    Args:
        difference: that was seen.
        spread: standard deviation of what it is the mean of.
        alpha: of the test.
        margin: the difference that would matter.
        few: how many more the test takes because it has to estimate the spread. Guenther (1981), The American
            Statistician 35, 243-244.
        fewest: that the test needs to be able to speak at all.
    """
    seen = ((_z(1 - alpha / 2) + _z(POWER)) * spread / difference) ** 2 + few if difference else None
    half = _z((1 + CONFIDENCE) / 2) * spread

    def interval(n: int) -> Interval:
        return Interval(difference - half / math.sqrt(n), difference + half / math.sqrt(n))

    enough = _smaller(seen, _inside(1, interval, difference, spread, margin))
    return None if enough is None else max(enough, fewest)


def _inside(
    seen: int, interval: Callable[[int], Interval], difference: float, spread: float, margin: float
) -> int | None:
    """Runs, more than those seen, with which the interval of the next experiment would probably lie inside the margin.

    That an interval around the difference seen just fits in is not enough: the next difference is another one.

    Args:
        seen: runs.
        interval: around the difference seen, of so many runs.
        difference: that was seen, taken for the true one.
        spread: standard deviation of what it is the mean of.
        margin: the difference that would matter.
    """
    if abs(difference) >= margin:
        return None

    def holds(n: int) -> bool:
        low, high = interval(n)
        error = spread / math.sqrt(n)
        if not error:
            return Interval(low, high).inside(margin)
        up, down = (margin - high) / error, (margin + low) / error
        return _normal.cdf(up) + _normal.cdf(down) - 1 >= POWER

    return _more_than(seen, holds)


def _more_than(seen: int, holds: Callable[[int], bool]) -> int | None:
    """The first number above the one seen that is enough, where more are never worse; None: none up to :data:`MOST`."""
    short, enough = seen, 2 * seen
    while not holds(enough):
        short, enough = enough, 2 * enough
        if short > MOST:
            return None
    while enough - short > 1:
        middle = (enough + short) // 2
        short, enough = (short, middle) if holds(middle) else (middle, enough)
    return enough


def _smaller(*numbers: float | None) -> int | None:
    found = [math.ceil(number) for number in numbers if number and number <= MOST]
    return min(found, default=None)


_normal = NormalDist()
_z = _normal.inv_cdf
