"""What the laboratory says on the page: verdicts, the baseline, remarks, progress, in both languages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.parts import ablate_words
from pages.parts.ablate_progress import counts_line, error_lines, figures_line, outcome_so_far, told_lines
from pages.parts.ablate_verdicts import (
    besides,
    effect_line,
    effect_of,
    remarks_of_all,
    stability_badge,
    stability_lines,
    verdict_sentence,
)
from pages.parts.words import translate_loop_words
from tests.traces.experiments.trials import design, found, row, successes
from traces.experiments.analysis.summary import Stability, Summary, Verdict
from traces.experiments.rows import Row
from traces.experiments.running.progress import Progress


def told(summary: Summary, condition: str = "other") -> str:
    """The sentence about an arm."""
    return verdict_sentence(summary, next(each for each in summary.verdicts if each.condition == condition))


def test_an_effect_is_told_with_its_numbers() -> None:
    summary = found([*successes("baseline", [1] * 12), *successes("other", [1] * 3 + [0] * 9)])
    numbers = "Verified success: 100\u202f% in the baseline, 25\u202f% here, a difference of −75 points."
    assert told(summary) == f"{numbers} That is more than chance."
    effect = effect_of(summary, summary.verdicts[0])
    assert effect is not None
    line = effect_line(effect)
    assert "p = 0.0039 after Holm's correction" in line
    assert "12 pairs: 0 gained, 9 lost" in line


@pytest.mark.parametrize(
    ("verified", "said"), [(0, "in the baseline."), (1, "where chance has no part, more repeats say")]
)
def test_repeats_that_are_all_the_same_are_not_held_against_chance(verified: int, said: str) -> None:
    summary = found([*successes("baseline", [1] * 10), *successes("other", [verified] * 10)])
    assert "Every repeat was the same, here and in the baseline" in told(summary)
    assert said in told(summary) and "more than chance" not in told(summary) and "settle it" not in told(summary)


def test_no_effect_is_told_with_the_margin() -> None:
    summary = found([*successes("baseline", [1] * 200), *successes("other", [1] * 200)])
    assert "No effect larger than 10 points" in told(summary)


def test_too_few_runs_are_told_with_how_many_would_do() -> None:
    summary = found([*successes("baseline", [1] * 8), *successes("other", [1] * 7 + [0])])
    needed = summary.verdicts[0].needed
    assert needed is not None
    assert f"{needed:,} repeats" in told(summary)


def test_one_run_proves_nothing() -> None:
    summary = found([*successes("baseline", [1]), *successes("other", [0])])
    assert "One run proves nothing." in told(summary)
    assert "chance." not in told(summary)


def test_without_evidence_there_is_nothing_to_compare() -> None:
    summary = found([*successes("baseline", [None] * 4), *successes("other", [None] * 4)])
    assert told(summary) == "There is nothing to compare."


def test_what_is_to_be_said_of_every_arm_is_said_once() -> None:
    verdicts = (
        Verdict("m", "a", "effect", remarks=("both", "only a")),
        Verdict("m", "b", "effect", remarks=("both",)),
    )
    assert remarks_of_all(Summary("", "success", 0.05, 0.1, 2, verdicts=verdicts)) == ["both"]


def test_a_remark_about_all_arms_names_them() -> None:
    rows = [*successes("baseline", [1] * 8), *successes("other", [0] * 8), *successes("third", [0] * 8)]
    assert besides(found(rows))[0].startswith("other, third: Identical in all seeds: every repeat was the same")


def test_one_point_is_no_points() -> None:
    assert ablate_words.difference_words("success", -0.01) == "−1 point"
    assert ablate_words.difference_words("success", 0.001) == "0 points"
    assert ablate_words.margin_words("success", 0.01) == "1 point"


def test_the_spread_of_the_baseline_is_told_in_points() -> None:
    lines = stability_lines("success", Stability("m", 0.6, 0.45, -0.3, 0.4, stable=False))
    assert lines[1:] == [
        "Of all pairs of repeats of the same task 45% disagree.",
        "Two samples of it differ by −30 points to +40 points by chance alone (95 of 100).",
    ]


@pytest.mark.parametrize("verified", [[1], [None] * 4])
def test_a_baseline_that_says_nothing_of_its_chance_is_not_called_unsteady(verified: list[int | None]) -> None:
    summary = found([*successes("baseline", verified), *successes("other", verified)])
    assert "not measured" in stability_badge(summary.stability[0])


REMARKS = [
    [*successes("baseline", [1] * 6), *successes("other", [0] * 6, reason="max_iterations")],
    [*successes("baseline", [1, 0] * 6), *successes("other", [0] * 12)],
    [*successes("baseline", [0] * 12), *successes("other", [0] * 12)],
    [*successes("baseline", [1]), *successes("other", [0])],
    [*successes("baseline", [None] * 4), *successes("other", [None] * 4)],
    [*successes("baseline", [1] * 6), *successes("other", [1, "x", None, 1, 1, 1])],
    [*successes("baseline", [1] * 6), *successes("other", [None] * 6, status="error")],
    [*successes("baseline", [1] * 6), *successes("other", [1] * 4), row("other", 4, status="stopped")],
]


@pytest.mark.parametrize("rows", REMARKS, ids=range(len(REMARKS)))
def test_every_remark_has_a_chinese_form(rows: list[Row], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.parts.address.language", lambda: "zh")
    summary = found(rows)
    remarks = [*summary.remarks, *(remark for verdict in summary.verdicts for remark in verdict.remarks)]
    assert remarks
    english = [each for each in map(ablate_words.remark, remarks) if not any("一" <= c <= "鿿" for c in each)]
    assert english == []


def test_progress_is_told_in_one_line() -> None:
    now = Progress("running", 1200, 100, 2, 3, 1, 12_345, 0.5, 61, 3720, waiting="qwen waits for 4 s: busy")
    assert counts_line(now) == "100 of 1,200 runs · 2 under way · errors: 3 · stopped: 1"
    assert figures_line(now) == "for 1 min 1 s · about 1 h 2 min left · Tokens: 12,345 · Cost: $ 0.5000"
    over = figures_line(replace(now, state="done"))
    assert over == "Tokens: 12,345 · Cost: $ 0.5000", "the clock knows this server alone"
    assert told_lines(now) == ["qwen waits for 4 s: busy"]
    assert translate_loop_words("qwen waits for 4 s: busy", "zh") == "qwen 等待 4 秒：busy"


def test_the_most_frequent_errors_are_told() -> None:
    details = ["busy\nwith more"] * 3 + ["refused"] + ["a" * 400] * 2 + ["rare"]
    rows = [row("baseline", at, status="error", detail=detail) for at, detail in enumerate(details)]
    assert error_lines([*rows, row("baseline", 9)]) == ["✖ 3 × busy", f"✖ 2 × {'a' * 300}…", "✖ 1 × refused"]


def test_what_the_budget_cut_short_is_not_called_finished() -> None:
    assert ablate_words.state_look("done", cut=True).label == "▲ cut short"
    assert ablate_words.state_look("done").label == "✔ finished"


def test_the_numbers_so_far_are_bare_counts() -> None:
    rows = [*successes("baseline", [1, 1, 0]), *successes("other", [0])]
    assert outcome_so_far(design(rows), rows) == {"baseline": "2 of 3", "other": "0 of 1"}
    steps = design(rows, outcome="steps")
    assert outcome_so_far(steps, rows) == {"baseline": "2", "other": "2"}
