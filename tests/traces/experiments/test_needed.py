"""How many runs would settle it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from traces.experiments.analysis import needed
from traces.experiments.analysis.statistics import (
    Counts,
    Pairs,
    bootstrap,
    fisher,
    mcnemar,
    newcombe,
    newcombe_paired,
    permutation_paired,
)


@pytest.mark.parametrize(("n", "gained", "lost"), [(8, 0.0, 1.0), (12, 0.1, 0.5), (30, 0.2, 0.3), (5, 0.5, 0.25)])
def test_the_power_of_mcnemar_is_the_sum_over_all_tables(n: int, gained: float, lost: float) -> None:
    from scipy import stats

    tables = [counts for counts in product(range(n + 1), repeat=2) if sum(counts) <= n]
    found = [counts for counts in tables if mcnemar(Pairs(0, *counts, n - sum(counts))) <= 0.05]
    weights = stats.multinomial(n, [gained, lost, 1 - gained - lost])
    expected = sum(weights.pmf([*counts, n - sum(counts)]) for counts in found)
    assert needed.mcnemar_power(n, gained, lost, 0.05) == pytest.approx(expected, abs=1e-6)


def test_so_many_pairs_find_the_difference_four_times_out_of_five() -> None:
    pairs = Pairs(both=4, gained=1, lost=5, neither=2)
    runs = needed.pairs_needed(pairs, 0.05 / 3, margin=0.1)
    assert runs is not None
    drawn = np.random.default_rng(1).multinomial(runs, [count / pairs.n for count in pairs], size=400)
    found = np.mean([mcnemar(Pairs(*map(int, each))) <= 0.05 / 3 for each in drawn])
    assert found == pytest.approx(needed.POWER, abs=0.06)


def test_so_many_runs_without_pairs_find_it_too() -> None:
    runs = needed.runs_needed(Counts(9, 10), Counts(5, 10), 0.05, margin=0.1)
    assert runs is not None
    generator = np.random.default_rng(2)
    seen = [(generator.binomial(runs, 0.9), generator.binomial(runs, 0.5)) for _ in range(400)]
    found = np.mean([fisher(Counts(int(was), runs), Counts(int(now), runs)) <= 0.05 for was, now in seen])
    assert found == pytest.approx(needed.POWER, abs=0.06)


def test_so_many_pairs_of_numbers_find_it_too() -> None:
    differences = [1.0, 3, -1, 2, 0, 2, 2, 1]
    runs = needed.paired_numbers_needed(differences, 0.05, margin=0.01)
    assert runs is not None
    spread, generator = np.std(differences, ddof=1), np.random.default_rng(3)
    drawn = generator.normal(np.mean(differences), spread, size=(200, runs))
    found = np.mean([permutation_paired(each.tolist(), seed=1) <= 0.05 for each in drawn])
    assert found == pytest.approx(needed.POWER, abs=0.08)


@pytest.mark.parametrize("pairs", [Pairs(6, 1, 1, 2), Pairs(20, 1, 2, 7)])
def test_so_many_pairs_bring_the_next_interval_into_the_margin_four_times_out_of_five(pairs: Pairs) -> None:
    runs = needed.pairs_needed(pairs, 0.05, margin=0.12)
    assert runs is not None
    drawn = np.random.default_rng(4).multinomial(runs, [count / pairs.n for count in pairs], size=400)
    inside = np.mean([newcombe_paired(Pairs(*map(int, each))).inside(0.12) for each in drawn])
    assert inside == pytest.approx(needed.POWER, abs=0.06)


def test_so_many_runs_without_pairs_do_it_too() -> None:
    runs = needed.runs_needed(Counts(6, 10), Counts(6, 10), 0.05, margin=0.2)
    assert runs is not None
    seen = np.random.default_rng(5).binomial(runs, 0.6, size=(400, 2)).tolist()
    inside = np.mean([newcombe(Counts(was, runs), Counts(now, runs)).inside(0.2) for was, now in seen])
    assert inside == pytest.approx(needed.POWER, abs=0.06)


def test_so_many_numbers_do_it_too() -> None:
    differences = [3.0, -3, 1, -1, 2, -2, 4, -4]
    runs = needed.paired_numbers_needed(differences, 0.05, margin=1)
    assert runs is not None
    drawn = np.random.default_rng(6).normal(0, np.std(differences, ddof=1), size=(200, runs))
    inside = np.mean([bootstrap([each.tolist()], "mean", seed=1, expanded=True).inside(1) for each in drawn])
    assert inside == pytest.approx(needed.POWER, abs=0.08)


def test_where_nothing_differed_it_is_the_interval_that_must_become_narrow() -> None:
    runs = needed.pairs_needed(Pairs(10, 0, 0, 0), 0.05, margin=0.1)
    assert runs is not None and runs > 10
    assert newcombe_paired(Pairs(runs, 0, 0, 0)).inside(0.1)
    assert not newcombe_paired(Pairs(runs - 1, 0, 0, 0)).inside(0.1)


def test_a_difference_that_never_fails_needs_as_many_pairs_as_the_test_can_speak_with() -> None:
    assert needed.pairs_needed(Pairs(0, 0, 5, 0), 0.05, margin=0.1) == needed.fewest_pairs(0.05) == 6
    assert needed.paired_numbers_needed([1.0, 1.0], 0.05, margin=0.1) == 6
    assert needed.numbers_needed([1.0, 1.0], [2.0, 2.0], 0.05, margin=0.1) == needed.fewest_runs(0.05) == 4


def test_no_number_is_given_where_it_would_be_absurd() -> None:
    assert needed.pairs_needed(Pairs(5, 1, 0, 5), 0.05, margin=1e-6) is not None
    assert needed.pairs_needed(Pairs(5, 1, 1, 5), 0.05, margin=1e-6) is None
    assert needed.numbers_needed([1.0, 3.0], [3.0, 1.0], 0.05, margin=0) is None
    assert needed.runs_needed(Counts(5, 10), Counts(5, 10), 0.05, margin=1e-4) is None
