"""The laboratory on experiments whose truth is known; ``tests/selftest/ablation.py`` runs as many as one likes."""

from __future__ import annotations

import pytest

from tests.selftest import ablation
from tests.selftest.ablation import World
from traces.experiments.analysis.analyse import analyse
from traces.experiments.analysis.summary import Summary
from traces.experiments.cells import cells
from traces.experiments.design.experiment import Experiment
from traces.experiments.design.file import read_design
from traces.experiments.exercise import EXERCISES, exercises
from traces.experiments.running.one_run import run_cell
from traces.experiments.subjects.task import load_subject


@pytest.mark.parametrize("cause", ["a", "c"])
def test_a_planted_cause_is_found_and_nothing_else(cause: str) -> None:
    score = ablation.score(World(cause=cause, effect=0.8), 15, seed=7)
    assert score.found >= 13
    assert score.false <= 1
    assert score.denied == 0


def test_where_nothing_is_planted_nothing_is_found() -> None:
    assert ablation.score(World(chance=0.6, repeats=10), 25, seed=3).false <= 4


@pytest.mark.parametrize("kind", ablation.KINDS)
def test_numbers_and_runs_without_pairs_give_no_more_false_alarms(kind: str) -> None:
    assert ablation.false_alarms(kind, 50, seed=2, repeats=7) <= 8  # nominal are 2 or 3


def test_what_it_prints_has_intervals() -> None:
    lines = list(ablation.report(World(cause="b", repeats=3), 2, seed=1))
    expected = lines.pop(1)
    assert expected.endswith("0.0%")  # three pairs cannot show anything
    assert len(lines) == 4
    assert all("of 2" in line and line.endswith("%]") for line in lines)


def run(experiment: Experiment) -> Summary:
    tasks = {subject.name: load_subject(subject, EXERCISES) for subject in experiment.subjects}
    conditions = {condition.name: condition for condition in experiment.conditions}
    models = {model.name: model for model in experiment.models}
    every = cells(experiment)
    rows = [run_cell(each, conditions[each.condition], tasks[each.subject], models[each.model])[0] for each in every]
    return analyse(experiment, rows)


FINDINGS = {
    "planted_cause": {
        "green note blank": "effect",
        "red note blank": "inconclusive",
        "blue note blank": "inconclusive",
    },
    "what_results_do": {
        "blank_results": "effect",
        "dropped with their calls": "effect",
        "WALNUT instead": "effect",
        "not written back": "effect",
    },
    "keep_last": {
        "keep last 0": "effect",
        "keep last 1": "effect",
        "keep last 2": "effect",
        "keep last 3": "effect",
        "keep last 4": "none",
    },
    "unstable": {"no system text": "inconclusive"},
}


@pytest.mark.parametrize("name", [exercise.name for exercise in exercises()])
def test_an_exercise_ends_as_its_solution_says(name: str) -> None:
    summary = run(read_design(EXERCISES / f"{name}.yaml"))
    assert {each.condition: each.finding for each in summary.verdicts} == FINDINGS[name]
    assert any("identical" in remark for remark in summary.remarks) == (name == "what_results_do")
    assert any("intermittent" in remark for remark in summary.remarks) == (name == "unstable")


def test_every_exercise_asks_and_answers_in_both_languages() -> None:
    assert {exercise.name for exercise in exercises()} == set(FINDINGS)
    for each in exercises():
        assert each.design.is_file()
        assert all((each.title, each.question, each.solution))
        assert all(
            any(letter >= "\u4e00" for letter in text) for text in (each.title_zh, each.question_zh, each.solution_zh)
        )
