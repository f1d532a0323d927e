"""What may be said of an arm, and when nothing may be said."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from agent.interventions import Intervention
from tests.traces.experiments.trials import effect, found, numbers, row, successes, verdict
from traces.experiments.analysis.analyse import analyse
from traces.experiments.design.experiment import Condition, Experiment, Subject
from traces.experiments.rows import Row

pytestmark = pytest.mark.filterwarnings("error")


def varied(condition: str, runs: int, **said: Any) -> list[Row]:
    """Runs that succeed, each with another answer, so that chance has a part in them."""
    return [row(condition, at, verified=True, answer=str(at), **said) for at in range(runs)]


def test_a_difference_that_chance_hardly_makes_is_an_effect() -> None:
    summary = found(successes("baseline", [1] * 11 + [0]) + successes("arm", [0] * 10 + [1, 1]))
    told = verdict(summary, "arm")
    assert (told.finding, told.needed) == ("effect", None)
    for part in ("17\u202f%", "in the baseline 92\u202f%", "−75 points", "McNemar, exact: p = 0.012", "12 pairs"):
        assert part in told.sentence


def test_one_run_proves_nothing() -> None:
    summary = found(successes("baseline", [1]) + successes("arm", [0]))
    told, seen = verdict(summary, "arm"), effect(summary, "arm")
    assert (told.finding, told.needed) == ("inconclusive", None)
    assert told.sentence.startswith("One run proves nothing") and "fewer than 6 repeats" in told.sentence
    assert (seen.low, seen.high, seen.p, seen.value) == (None, None, None, -1)
    baseline = summary.stability[0]
    assert (baseline.flips, baseline.low, baseline.high, baseline.stable) == (None, None, None, False)
    assert all(arm.outcomes["success"].low is None for arm in summary.arms)


def test_no_effect_is_said_only_where_the_whole_interval_lies_inside_the_margin() -> None:
    wide = verdict(found(varied("baseline", 10) + varied("arm", 10)), "arm")
    assert wide.finding == "inconclusive" and wide.needed is not None and 10 < wide.needed < 100
    narrow = verdict(found(varied("baseline", wide.needed) + varied("arm", wide.needed)), "arm")
    assert narrow.finding == "none"
    assert narrow.sentence.startswith("No effect larger than 10 points")


def test_an_effect_smaller_than_the_margin_is_called_so() -> None:
    rows = successes("baseline", [1] * 400) + successes("arm", [0] * 16 + [1] * 384)
    told = verdict(found(rows), "arm")
    assert told.finding == "effect"
    assert any("smaller than 10 points" in remark for remark in told.remarks)


def test_too_few_runs_are_told_with_how_many_would_do() -> None:
    draw = random.Random(2)
    rows = successes("baseline", [draw.random() < 0.9 for _ in range(8)])
    rows += successes("arm", [draw.random() < 0.5 for _ in range(8)])
    told = verdict(found(rows), "arm")
    assert told.finding == "inconclusive"
    assert told.needed is not None and 8 < told.needed < 100
    assert f"about {told.needed} repeats" in told.sentence


@pytest.mark.parametrize("outcome", ["success", "same_decision"])
def test_a_baseline_that_hardly_ever_succeeds_can_lose_nothing_but_an_improvement_can_be_seen(outcome: str) -> None:
    name = {"success": "verified", "same_decision": "same_decision"}[outcome]
    rows = [row("baseline", at, **{name: at == 0}) for at in range(12)]
    rows += [row("worse", at, **{name: False}) for at in range(12)]
    rows += [row("better", at, **{name: True}) for at in range(12)]
    summary = found(rows, outcome=outcome)
    assert verdict(summary, "worse").finding == "refused"
    assert "the baseline itself" in verdict(summary, "worse").sentence
    assert verdict(summary, "better").finding == "effect"
    assert any("no loss can be seen" in remark for remark in summary.remarks)


@pytest.mark.parametrize(("right", "said"), [(6, True), (7, False)])
def test_a_baseline_of_sixty_in_a_hundred_is_called_intermittent(right: int, said: bool) -> None:
    outcomes = [1] * right + [0] * (10 - right)
    summary = found(successes("baseline", outcomes) + successes("arm", outcomes))
    assert any("intermittent" in remark for remark in summary.remarks) == said


def test_the_baseline_is_held_against_itself_before_any_claim() -> None:
    restless = found(successes("baseline", [1, 0] * 5) + successes("arm", [0, 1] * 5)).stability[0]
    assert (restless.stable, restless.flips) == (False, pytest.approx(25 / 45))
    assert restless.low is not None and restless.high is not None
    assert restless.low == pytest.approx(-0.4) and restless.high == pytest.approx(0.4)
    calm = found(successes("baseline", [1, 0] * 400) + successes("arm", [0, 1] * 400)).stability[0]
    assert calm.stable and calm.high is not None and calm.high < 0.1


def test_two_samples_of_the_same_are_not_called_a_difference() -> None:
    called = 0
    for seed in range(60):
        draw = random.Random(seed)
        rows = successes("baseline", [draw.random() < 0.6 for _ in range(10)])
        rows += successes("again", [draw.random() < 0.6 for _ in range(10)])
        called += verdict(found(rows), "again").finding in ("effect", "none")
    assert called <= 2


def test_runs_that_are_identical_in_all_seeds_are_called_one_observation() -> None:
    summary = found(successes("baseline", [1] * 8) + successes("arm", [0] * 8))
    assert summary.stability[0].identical
    assert any("identical in all seeds" in remark for remark in summary.remarks)
    assert verdict(summary, "arm").finding == "effect"
    assert any("one observation repeated" in remark for remark in verdict(summary, "arm").remarks)
    stopped = found([*successes("baseline", [1] * 8), *successes("arm", [0] * 7), row("arm", 7, status="stopped")])
    assert verdict(stopped, "arm").identical
    varied = [row("baseline", at, verified=True, answer=str(at)) for at in range(8)] + successes("arm", [0] * 8)
    assert not found(varied).stability[0].identical


@pytest.mark.parametrize("verified", [0, 1])
def test_runs_that_are_identical_in_all_seeds_are_not_held_against_chance(verified: int) -> None:
    told = verdict(found(successes("baseline", [1] * 10) + successes("arm", [verified] * 10)), "arm")
    assert told.needed is None
    begin = "Every repeat was the same" if verified else "An effect, and every repeat was the same"
    assert told.sentence.startswith(f"{begin}, here and in the baseline: verified success")
    assert ("more repeats say nothing new" in told.sentence) == bool(verified)
    for word in ("Not enough runs", "Chance is not ruled out", "settle"):
        assert word not in told.sentence


def test_a_difference_of_one_is_one_point() -> None:
    rows = [*varied("baseline", 100), *varied("arm", 99), row("arm", 99, verified=False)]
    told = verdict(found(rows, margin=0.01), "arm").sentence
    assert "the difference is −1 point (" in told and "larger than 1 point;" in told


def test_two_equal_numbers_are_not_yet_no_effect() -> None:
    rows = [row(condition, at, steps=3, answer=str(at)) for condition in ("baseline", "arm") for at in range(2)]
    few = verdict(found(rows, outcome="steps"), "arm")
    assert (few.finding, few.needed) == ("inconclusive", 6)
    many = verdict(found(numbers("baseline", [3] * 6) + numbers("arm", [3] * 6), outcome="steps"), "arm")
    assert many.finding == "none"


def test_the_margin_of_a_number_is_a_share_of_the_baseline() -> None:
    baseline = [100, 104, 96, 102, 98, 100, 101, 99, 103, 97]
    rows = numbers("baseline", baseline) + numbers("arm", [each + at % 3 - 1 for at, each in enumerate(baseline)])
    assert verdict(found(rows, outcome="steps"), "arm").finding == "none"
    assert verdict(found(rows, outcome="steps", margin=0.001), "arm").finding == "inconclusive"
    nothing = [replace(each, steps=0) for each in varied("baseline", 8) + varied("arm", 8)]
    told = verdict(found(nothing, outcome="steps"), "arm")
    assert (told.finding, told.needed) == ("inconclusive", None)
    assert "no share of it" in told.sentence


def test_several_tasks_share_the_repeats_that_are_needed() -> None:
    one = varied("baseline", 10) + varied("arm", 10)
    alone = verdict(found(one), "arm").needed
    names = ["task", "second", "third"]
    rows = [replace(each, subject=name) for name in names for each in one]
    together = verdict(found(rows, subjects=names), "arm")
    assert alone is not None and together.needed == -(-alone // 3)
    assert any("these 3 tasks" in remark for remark in together.remarks)


def test_the_least_difference_that_so_many_runs_can_show_is_told() -> None:
    rows = successes("baseline", [1] * 10) + successes("one", [1] * 10) + successes("two", [1] * 10)
    assert any("at least 7 must differ" in remark and "70 points" in remark for remark in found(rows).remarks)
    few = [each for each in rows if each.repeat < 3]
    assert any("cannot show any effect" in remark for remark in found(few).remarks)


def test_an_arm_that_breaks_the_protocol_is_named_and_its_errors_are_no_answers() -> None:
    rows = successes("baseline", [1] * 8)
    rows += [row("omitted", at, status="error", reason="model_error") for at in range(8)]
    broken = Condition(name="omitted", interventions=(Intervention("omit_results"),))
    experiment = Experiment(subjects=(Subject(name="task", task="?"),), conditions=(broken,), repeats=8)
    told = verdict(analyse(experiment, rows), "omitted")
    assert told.finding == "effect"
    assert "break the protocol on purpose" in told.remarks[0]
    assert "8 of 8 runs ended with an error" in told.remarks[1] and "not as wrong answers" in told.remarks[1]
