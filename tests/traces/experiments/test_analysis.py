"""From rows to what an experiment found: outcomes, pairs, arms, and what is flagged."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.traces.experiments.trials import design, effect, found, numbers, row, successes, verdict
from traces.experiments.analysis.analyse import analyse
from traces.experiments.analysis.statistics import Counts, newcombe, wilson
from traces.experiments.analysis.summary import Estimate, Summary
from traces.experiments.rows import Row

pytestmark = pytest.mark.filterwarnings("error")


def arm_of(summary: Summary, condition: str, outcome: str = "success") -> Estimate:
    return next(arm for arm in summary.arms if arm.condition == condition).outcomes[outcome]


def some_rows() -> list[Row]:
    draw = random.Random(4)
    return [
        row(condition, repeat, subject=subject, verified=draw.random() < chance, steps=draw.randrange(2, 6))
        for condition, chance in (("baseline", 0.8), ("one", 0.3), ("two", 0.8))
        for subject in ("task", "other")
        for repeat in range(9)
    ]


def test_the_order_in_which_runs_ended_changes_nothing() -> None:
    rows = some_rows()
    experiment = design(rows, subjects=["task", "other"])
    summary = analyse(experiment, rows)
    assert analyse(experiment, random.Random(1).sample(rows, len(rows))) == summary
    assert json.loads(json.dumps(summary.to_dict(), allow_nan=False))["runs"] == len(rows)


def test_success_is_over_all_started_runs_and_errors_are_told_beside_it() -> None:
    baseline = successes("baseline", [1] * 6)
    arm = [*successes("arm", [1, 1, 0]), row("arm", 3, status="error", reason="model_error", verified=None)]
    arm += [row("arm", 4, status="error", reason="model_error", verified=True)]  # whatever it says of itself
    arm += [row("arm", 5, status="stopped", reason="stopped_by_user", verified=True)]
    summary = found(baseline + arm)
    told = next(each for each in summary.arms if each.condition == "arm")
    assert (told.started, told.ended, told.errors, told.stopped) == (5, 3, 2, 1)
    assert told.outcomes["success"] == Estimate(2 / 5, *wilson(Counts(2, 5)), n=5)
    assert told.reasons == {"final": 3, "model_error": 2}
    assert "2 of 5 runs ended with an error" in verdict(summary, "arm").remarks[0]
    assert any("1 run was stopped" in remark for remark in summary.remarks)
    assert any(remark.startswith("2 runs ended with an error") for remark in summary.remarks)


def test_tokens_that_are_only_estimated_are_called_so() -> None:
    rows = [row("baseline", at, tokens=100, estimated=at > 0) for at in range(3)]
    assert any("tokens of 2 runs are an estimate" in remark for remark in found(rows).remarks)


@pytest.mark.parametrize("odd", [7, 1.0, float("nan"), "C", "true", [True]])
def test_a_success_that_is_neither_yes_nor_no_is_flagged_and_is_no_success(odd: Any) -> None:
    summary = found(successes("baseline", [True, True, True, False]) + successes("arm", [True, odd, None, True]))
    assert arm_of(summary, "arm") == Estimate(0.5, *wilson(Counts(2, 4)), n=4)
    told = [remark for remark in summary.remarks if "verified success" in remark]
    assert any("1 run has a value" in each and "makes no sense" in each for each in told)
    assert any("1 run does not say anything" in each for each in told)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -1, 10**400, True, "3"])
def test_a_number_that_makes_no_sense_is_flagged_and_left_out(odd: Any) -> None:
    rows = numbers("baseline", [2, 2, 4]) + numbers("arm", [3, odd, 5])
    summary = found(rows, outcome="steps")
    assert (arm_of(summary, "arm", "steps").value, arm_of(summary, "arm", "steps").n) == (4, 2)
    assert effect(summary, "arm", "steps").pairs == 2
    assert any("makes no sense" in remark and "steps" in remark for remark in summary.remarks)


def test_numbers_are_of_runs_that_ended_by_themselves() -> None:
    rows = [*numbers("baseline", [4, 4]), row("arm", 0, steps=4), row("arm", 1, steps=1, status="error", reason=None)]
    assert arm_of(found(rows), "arm", "steps") == Estimate(4, n=1)


def test_runs_of_the_same_task_and_repeat_are_pairs_and_others_only_where_there_are_none() -> None:
    rows = successes("baseline", [1, 1, 0, 1]) + successes("arm", [0, 1, 1, 0])
    seen = effect(found(rows), "arm")
    assert (seen.pairs, seen.gained, seen.lost, seen.value) == (4, 1, 2, -0.25)
    assert seen.test == "McNemar, exact"
    apart = [*successes("baseline", [1, 1, 1]), *(row("arm", 3 + at, verified=at > 1) for at in range(4))]
    seen = effect(found(apart), "arm")
    assert (seen.pairs, seen.test, seen.value) == (0, "Fisher, exact", -0.5)
    assert (seen.low, seen.high) == newcombe(Counts(3, 3), Counts(2, 4))
    assert any("without pairs" in remark for remark in verdict(found(apart), "arm").remarks)


def test_a_run_whose_twin_is_missing_is_not_compared_and_that_is_said() -> None:
    rows = successes("baseline", [1, 1, 0, 1]) + successes("arm", [0, 1, 1])
    assert effect(found(rows), "arm").pairs == 3
    assert any(remark.startswith("1 run is not compared") for remark in verdict(found(rows), "arm").remarks)


def test_outcomes_about_which_no_run_says_anything_are_left_out_and_named() -> None:
    summary = found(numbers("baseline", [2, 3]) + numbers("arm", [2, 4]))
    assert set(summary.arms[0].outcomes) == {"finished", "steps", "repeated_calls", "tool_errors"}
    assert any("Left out" in remark and "verified success" in remark for remark in summary.remarks)
    assert any("add evidence" in remark for remark in summary.remarks)
    assert verdict(summary, "arm").finding == "refused"


def test_a_decision_rerun_has_nothing_to_finish() -> None:
    rows = [
        row(condition, at, reason="decided", same_decision=at != 1, answer="")
        for condition in ("baseline", "arm")
        for at in range(3)
    ]
    rows += [row("arm", 3, status="error", reason="model_error", same_decision=None)]
    summary = found(rows, outcome="same_decision")
    assert arm_of(summary, "arm", "same_decision") == Estimate(0.5, *wilson(Counts(2, 4)), n=4)
    assert all("finished" not in arm.outcomes for arm in summary.arms)


def test_the_same_answer_is_the_recorded_one_or_that_of_most_other_baseline_runs() -> None:
    said = ["Paris.", "paris", "PARIS ", "Rome"]
    rows = [row("baseline", at, answer=answer) for at, answer in enumerate(said)]
    rows += [row("arm", at, answer=answer) for at, answer in enumerate(["Paris", "Rome", "", "Paris"])]
    summary = found(rows, outcome="agreement")
    assert (arm_of(summary, "baseline", "agreement").value, arm_of(summary, "arm", "agreement").value) == (0.75, 0.5)
    recorded = [row(condition, at, answer="x", agrees=at == 0) for condition in ("baseline", "arm") for at in range(2)]
    assert arm_of(found(recorded, outcome="agreement"), "arm", "agreement").value == 0.5


def test_a_baseline_whose_answers_all_differ_does_not_agree_with_itself() -> None:
    rows = [row(condition, at, answer=f"{condition} {at}") for condition in ("baseline", "arm") for at in range(12)]
    summary = found(rows, outcome="agreement")
    assert arm_of(summary, "baseline", "agreement").value == 0
    assert verdict(summary, "arm").finding == "refused"


def test_spread_between_runs_and_between_tasks_are_two_figures() -> None:
    rows = [
        row(condition, at, subject=subject, steps=steps)
        for condition in ("baseline", "arm")
        for subject, each in (("task", (2, 4)), ("other", (6, 10)))
        for at, steps in enumerate(each)
    ]
    arm = found(rows, subjects=["task", "other"], outcome="steps").arms[0]
    assert arm.run_to_run == pytest.approx(((2 + 8) / 2) ** 0.5)  # variances 2 and 8, one degree of freedom each
    assert arm.task_to_task == pytest.approx(5 / 2**0.5)  # means 3 and 8
    alone = found(numbers("baseline", [3]) + numbers("arm", [3]), outcome="steps").arms[0]
    assert (alone.run_to_run, alone.task_to_task) == (None, None)


def test_pairs_of_numbers_have_a_mean_difference_with_an_interval_and_a_permutation_test() -> None:
    baseline = [10, 20, 30, 40, 50, 60, 70, 80]
    rows = numbers("baseline", baseline) + numbers("arm", [each + 3 + each % 3 for each in baseline])
    seen = effect(found(rows, outcome="steps"), "arm", "steps")
    assert seen.value == pytest.approx(4.125)
    assert seen.low is not None and seen.high is not None and 3 < seen.low < 4.125 < seen.high < 5
    assert (seen.test, seen.pairs, seen.p) == ("permutation", 8, pytest.approx(2 / 2**8))


def test_the_p_values_of_all_arms_and_models_are_corrected_together_and_those_of_other_outcomes_are_not() -> None:
    rows = [
        each
        for model in ("small", "large")
        for each in (
            *successes("baseline", [1] * 10, model=model),
            *successes("one", [0] * 10, model=model),
            *successes("two", [1] * 10, model=model),
        )
    ]
    summary = found(rows, models=["small", "large"])
    corrected = sorted(each.p_holm for each in summary.effects if each.outcome == "success" and each.p_holm is not None)
    assert corrected == pytest.approx([4 * 2 / 2**10] * 2 + [1, 1])
    assert all(each.p_holm is None for each in summary.effects if each.outcome != "success")


def test_rows_of_an_experiment_that_is_not_over_are_taken_as_they_are() -> None:
    rows = successes("baseline", [1, 0]) + successes("arm", [1])
    summary = found(rows, repeats=10)
    assert "The experiment is not over: 3 of 20 runs are there." in summary.remarks
    empty = analyse(design(rows), [])
    assert [each.finding for each in empty.verdicts] == ["refused"]
    assert empty.runs == 0


def test_rows_that_the_design_does_not_hold_are_left_out() -> None:
    rows = successes("baseline", [1, 1]) + successes("arm", [0, 0])
    more = [*rows, row("unheard of", 0, verified=True), row("arm", 0, verified=True, subject="another")]
    assert analyse(design(rows), more) == analyse(design(rows), rows)
