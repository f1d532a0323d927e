"""``python -m traces lessons``: the course in a list, and what is wrong with a lesson of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from traces.cli import main
from traces.lessons.course import COURSE, bundled

FIRST = sorted(COURSE.glob("*.yaml"))[0]


def test_the_lessons_of_the_course_are_listed_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "system", "variants", "questions", "title"]
    assert [row.split()[0] for row in rows] == [lesson.name for lesson in bundled()]


def test_a_lesson_that_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", str(FIRST)]) == 0
    assert capsys.readouterr().out == f"{FIRST}: nothing is wrong with it\n"


def test_every_mistake_is_told_with_its_line_and_the_other_files_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(FIRST.read_text(encoding="utf-8").replace("title:", "titel:") + "more: 1\n", encoding="utf-8")
    assert main(["lessons", str(wrong), str(tmp_path / "none.yaml"), str(FIRST)]) == 1
    out, err = capsys.readouterr()
    assert "nothing is wrong" in out
    said = err.splitlines()
    assert "python -m traces: wrong.yaml, line 1, titel: unknown key 'titel'; did you mean 'title'?" in said
    assert any("more: unknown key 'more'" in line for line in said)
    assert "none.yaml' cannot be read" in said[-1]


def test_a_claim_that_does_not_hold_is_told_for_each_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        "title: {en: A, zh: 甲}\nsystem: lab\nidea: {en: A, zh: 甲}\nquestion: {en: A, zh: 甲}\nscript: order\n"
        "shows: [{text: {en: A, zh: 甲}, that: {steps: 3}}]\n",
        encoding="utf-8",
    )
    assert main(["lessons", str(own)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"python -m traces: own.yaml: own, variant only, {language}: steps should be 3, found 2"
        for language in ("en", "zh")
    ]
