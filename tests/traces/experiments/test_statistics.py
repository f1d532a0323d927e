"""Intervals and tests of the laboratory, beside published figures, other libraries and plain enumeration."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, product
from statistics import fmean

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from traces.experiments.analysis import statistics as st
from traces.experiments.analysis.statistics import Counts, Pairs

pytestmark = pytest.mark.filterwarnings("error")  # degenerate data are no reason for a warning


@pytest.mark.parametrize("n", [1, 2, 5, 10, 47, 300])
def test_wilson_is_that_of_statsmodels(n: int) -> None:
    for yes in {0, 1, n // 3, n // 2, n - 1, n}:
        assert st.wilson(Counts(yes, n)) == pytest.approx(proportion_confint(yes, n, method="wilson"), abs=1e-9)


def test_none_of_five_is_not_zero_for_certain() -> None:
    low, high = st.wilson(Counts(0, 5))
    assert (low, round(high, 3)) == (0, 0.434)


@pytest.mark.parametrize("n", [2, 7, 12, 60])
@pytest.mark.parametrize("m", [3, 12, 45])
def test_the_interval_without_pairs_is_that_of_statsmodels(n: int, m: int) -> None:
    for yes, other in product({0, 1, n // 2, n}, {0, m // 3, m - 1, m}):
        expected = confint_proportions_2indep(other, m, yes, n, method="newcomb", compare="diff")
        assert st.newcombe(Counts(yes, n), Counts(other, m)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        # Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables (2017), chapter 8
        (Pairs(both=1, gained=1, lost=7, neither=12), (-0.507, -0.026)),
        (Pairs(both=59, gained=6, lost=16, neither=80), (-0.1186, -0.0046)),
        # Altman and others, Statistics with Confidence (2000), table 6.2
        (Pairs(both=14, gained=5, lost=0, neither=22), (0.011, 0.226)),
    ],
)
def test_the_interval_of_pairs_is_the_published_one(pairs: Pairs, expected: tuple[float, float]) -> None:
    digits = max(len(str(bound).partition(".")[2]) for bound in expected)
    assert tuple(round(bound, digits) for bound in st.newcombe_paired(pairs)) == expected


def test_the_interval_of_pairs_holds_the_difference_and_turns_round_with_it() -> None:
    for pairs in (Pairs(*counts) for counts in product((0, 1, 4, 30), repeat=4) if sum(counts)):
        low, high = st.newcombe_paired(pairs)
        assert -1 <= low <= pairs.difference <= high <= 1
        turned = st.newcombe_paired(pairs._replace(gained=pairs.lost, lost=pairs.gained))
        assert turned == pytest.approx((-high, -low))


def test_mcnemar_is_that_of_statsmodels() -> None:
    for gained, lost in product((0, 1, 2, 3, 7, 20), repeat=2):
        ours = st.mcnemar(Pairs(5, gained, lost, 4))
        assert ours == pytest.approx(mcnemar([[5, lost], [gained, 4]], exact=True).pvalue if gained + lost else 1)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (10, 10), (12, 7), (40, 35)])
def test_fisher_sums_all_tables_that_are_no_likelier(n: int, m: int) -> None:
    for yes, other in product({0, 1, n // 2, n}, {0, m // 3, m}):
        tables = range(max(0, yes + other - m), min(n, yes + other) + 1)
        weights = [math.comb(n, k) * math.comb(m, yes + other - k) for k in tables]
        seen = math.comb(n, yes) * math.comb(m, other)
        expected = sum(weight for weight in weights if weight <= seen) / sum(weights)
        assert st.fisher(Counts(yes, n), Counts(other, m)) == pytest.approx(expected)


def test_holm_is_that_of_statsmodels() -> None:
    generator = np.random.default_rng(3)
    for size in (1, 2, 3, 8, 25):
        values = (generator.random(size) ** 3).tolist()
        values[-1] = values[0]
        assert st.holm(values) == pytest.approx(multipletests(values, method="holm")[1])
    assert st.holm([]) == []


def test_few_pairs_are_flipped_in_every_way() -> None:
    generator = np.random.default_rng(5)
    for size in (2, 3, 5, 9):
        values = np.round(generator.normal(0.7, 1, size), 1).tolist()
        means = [
            fmean(sign * value for sign, value in zip(s, values, strict=True)) for s in product((1, -1), repeat=size)
        ]
        seen = fmean(values)
        one_sided = min(fmean(mean >= seen - 1e-12 for mean in means), fmean(mean <= seen + 1e-12 for mean in means))
        assert st.permutation_paired(values, seed=1) == pytest.approx(min(1, 2 * one_sided))


def test_few_labels_are_mixed_in_every_way() -> None:
    baseline, arm = [1.0, 2, 4, 4], [3.0, 5, 9]
    both = baseline + arm
    mixed = [fmean(both[at] for at in chosen) for chosen in combinations(range(7), 3)]
    share = fmean(mean >= fmean(arm) - 1e-12 for mean in mixed)
    assert st.permutation_unpaired(baseline, arm, seed=1) == pytest.approx(2 * share)


def test_many_pairs_are_flipped_at_random_and_the_same_each_time() -> None:
    values = np.random.default_rng(1).normal(0.25, 1, 80).tolist()
    p = st.permutation_paired(values, seed=4)
    assert p == st.permutation_paired(values, seed=4)
    assert p == pytest.approx(st.permutation_paired(values, seed=5), abs=0.02)
    assert 0 < p < 0.2


@pytest.mark.parametrize("values", [[3.0], [3.0, 3.0, 3.0], [0.0] * 40])
def test_equal_values_have_an_interval_of_no_width(values: list[float]) -> None:
    assert st.bootstrap([values], "median", seed=1) == (values[0], values[0])
    assert st.bootstrap([values, values], "mean", seed=1, expanded=True) == (0, 0)
    assert st.permutation_paired([value - value for value in values], seed=1) == 1
    assert st.permutation_unpaired(values, values, seed=1) == 1


def test_a_bootstrap_interval_of_few_values_is_about_as_wide_as_that_of_student() -> None:
    widths = []
    for seed in range(30):
        values = np.random.default_rng(seed).normal(10, 2, 10)
        low, high = st.bootstrap([values.tolist()], "mean", seed=seed, expanded=True)
        assert low < values.mean() < high
        widths.append((high - low) / (2 * 2.262 * values.std(ddof=1) / math.sqrt(10)))
    assert 0.9 < fmean(widths) < 1.1


def test_a_bootstrap_interval_holds_the_true_median_nearly_always() -> None:
    held = 0
    for seed in range(200):
        values = np.random.default_rng(seed).exponential(1, 15).tolist()
        low, high = st.bootstrap([values], "median", seed=seed)
        held += low <= math.log(2) <= high
    assert 180 <= held < 200


def test_every_figure_draws_its_own_samples() -> None:
    seeds = [st.seed_of(1, *names) for names in (("m", "a", "steps"), ("m", "a", "tokens"), ("m", "b", "steps"))]
    assert all(one != other for one, other in pairwise(seeds))
    assert seeds[0] == st.seed_of(1, "m", "a", "steps") != st.seed_of(2, "m", "a", "steps")
