"""A lesson's file: what is wrong is told with line and place, and a teacher's broken file hides no other lesson."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent import jsontext
from agent.errors import InputError
from agent.events import Phase
from traces.lessons.course import FOLDER, Course, bundled, course
from traces.lessons.file import lesson_name, lesson_problems, parse_lesson, read_lesson
from traces.lessons.lesson import LANGUAGES, Hand, Place
from traces.lessons.scripts import in_language, lesson_script

LESSON = """\
title: {en: One sum, zh: 一道加法}
system: plain
idea: {en: The model asks., zh: 模型请求。}
question: {en: Who adds?, zh: 谁来加？}
script:
  task: {en: What is 2+3?, zh: 2+3 等于多少？}
  tools: [add]
  turns:
    - calls: [{name: add, arguments: {a: 2, b: 3}}]
    - {en: It is 5., zh: 等于 5。}
""".replace("Who adds?, zh", '"Who adds?", zh').replace("What is 2+3?, zh", '"What is 2+3?", zh')
ASK = """\
asks:
  - at: {step: 1, phase: call}
    kind: choice
    text: {en: Which, zh: 哪个}
    options:
      - {text: {en: A, zh: 甲}, right: true}
      - {text: {en: B, zh: 乙}}
"""


def told(text: str) -> list[str]:
    return [problem.told("x.yaml") for problem in lesson_problems(text, "x.yaml")]


def test_a_lesson_with_the_least_that_must_be_there() -> None:
    lesson = parse_lesson(LESSON, "07_One Sum.yaml")
    assert (lesson.name, lesson.title.of("zh"), lesson.title.of("fr")) == ("one_sum", "一道加法", "One sum")
    assert [variant.name for variant in lesson.variants] == ["only"]
    assert lesson.variant("there is none").name == "only"
    assert lesson.hand == Hand("run")
    assert not lesson.own


def test_a_lesson_in_json_is_the_same() -> None:
    from agent.scripts import source

    data = source.read(LESSON, "x.yaml")
    assert parse_lesson(jsontext.dumps(data), "x.json") == parse_lesson(LESSON, "x.yaml")


def test_a_place_without_a_step_is_in_the_first_and_the_end_is_no_phase() -> None:
    lesson = parse_lesson(
        LESSON + "until: {phase: approve}\nnotices:\n  - {at: {phase: end}, text: {en: Over, zh: 完}}\n"
    )
    assert lesson.until == Place(1, Phase.APPROVE)
    assert lesson.notices[0].at.phase is None
    assert (lesson.until.id, lesson.notices[0].at.id) == ("1-approve", "end")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a", "x.yaml: a lesson is a mapping with the keys title, idea, script; found a list"),
        (LESSON.replace("system: plain", "system: plane"), "line 2, system: expected one of plain, observable"),
        (
            LESSON.replace("zh: 模型请求。", "zhh: 模型请求。"),
            "line 3, idea.zhh: unknown key 'zhh'; did you mean 'zh'?",
        ),
        (
            LESSON.replace("{en: The model asks., zh: 模型请求。}", '{en: "", zh: 模}'),
            "line 3, idea.en: expected a text that",
        ),
        (LESSON.replace("tools: [add]", "tools: [ad]"), "line 7, script.tools[0]"),
        (LESSON.replace("  turns:", "  turn:"), "line 8, script.turn: unknown key 'turn'"),
        (LESSON[: LESSON.index("script:")] + "script: nothing\n", "line 5, script: there is no scenario 'nothing'"),
        (LESSON + "variants: []\n", "line 11, variants: the list is empty"),
        (LESSON + "until: {step: 0, phase: call}\n", "line 11, until.step: expected a number from 1"),
        (LESSON + "until: {phase: think}\n", "until.phase: expected one of prepare, call"),
        (LESSON + ASK.replace("right: true", "right: false"), "asks[0].options: exactly one of the options is right"),
        (
            LESSON + ASK.replace("    text: {en: Which, zh: 哪个}\n", ""),
            "asks[0].text: a question of kind choice needs",
        ),
        (LESSON + ASK.replace("kind: choice", "kind: maker"), "asks[0]: a question of kind maker has no text and no"),
        (LESSON + ASK + ASK.removeprefix("asks:\n"), "asks[1]: there is already a question of this kind at this place"),
        (LESSON + ASK + "    variant: other\n", "asks[0].variant: there is no variant 'other'"),
        (LESSON + "shows: [{text: {en: a, zh: 甲}, that: {}}]\n", "shows[0].that: a claim names at least one thing"),
        (LESSON + "shows: [{text: {en: a, zh: 甲}, that: {step: 1}}]\n", "unknown key 'step'; did you mean 'steps'?"),
        (LESSON + "shows: [{text: {en: a, zh: 甲}, that: {reason: done}}]\n", "that.reason: expected one of final"),
        (LESSON + "shows: [{text: {en: a, zh: 甲}, that: {flagged: [exact_lop]}}]\n", "did you mean 'exact_loop'?"),
        (LESSON + "shows: [{text: {en: a, zh: 甲}, that: {more_steps_than: x}}]\n", "there is no variant 'x'"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_place(text: str, said: str) -> None:
    assert any(said in sentence for sentence in told(text)), told(text)
    with pytest.raises(InputError, match=r"x\.yaml"):
        parse_lesson(text, "x.yaml")


def test_a_mistake_that_a_variant_makes_is_told_where_it_stands() -> None:
    variants = """\
variants:
  - {name: one, title: {en: One, zh: 一}}
  - name: two
    title: {en: Two, zh: 二}
    changes:
      max_steps: none
"""
    (sentence,) = told(LESSON + variants)
    assert sentence.startswith("x.yaml, line 16, variants[1].changes.max_steps: expected a whole number")


def test_the_same_question_may_be_asked_in_different_variants() -> None:
    two = "variants:\n  - {name: a, title: {en: A, zh: 甲}}\n  - {name: b, title: {en: B, zh: 乙}}\n"
    asks = ASK + "    variant: a\n" + ASK.removeprefix("asks:\n") + "    variant: b\n"
    assert [ask.variant for ask in parse_lesson(LESSON + two + asks).asks] == ["a", "b"]
    assert any("already a variant" in sentence for sentence in told(LESSON + two.replace("name: b", "name: a")))


def test_any_value_of_a_script_may_have_both_languages() -> None:
    value: Any = {"a": [{"en": 1, "zh": {"en": "x", "zh": "y"}}, "z"], "b": {"en": "only one"}}
    assert in_language(value, "zh") == {"a": ["y", "z"], "b": {"en": "only one"}}
    scripts = {language: lesson_script(parse_lesson(LESSON), "", language) for language in LANGUAGES}
    assert [script.task for script in scripts.values()] == ["What is 2+3?", "2+3 等于多少？"]
    assert [script.title for script in scripts.values()] == ["One sum", "一道加法"]


def test_the_runs_of_several_variants_have_titles_of_their_own() -> None:
    head = LESSON[: LESSON.index("script:")]
    variants = "[{name: x, title: {en: X, zh: 乙}}, {name: y, title: {en: Y, zh: 丙}}]"
    lesson = parse_lesson(head + f"script: noop\nvariants: {variants}\n")
    assert [lesson_script(lesson, "y", language).title for language in LANGUAGES] == ["One sum: Y", "一道加法：丙"]


def test_a_scenario_can_be_the_script_and_a_variant_changes_keys_of_it() -> None:
    head = LESSON[: LESSON.index("script:")]
    text = head + "script: noop\nvariants: [{name: x, title: {en: X, zh: 乙}, changes: {max_steps: 5}}]\n"
    script = lesson_script(parse_lesson(text), "x", "en")
    assert (script.max_steps, script.tools) == (5, ("noop",))


@pytest.mark.parametrize(
    ("file", "name"),
    [("03-tea.yaml", "tea"), ("Tee für zwei.yml", "tee_f_r_zwei"), ("12.json", "12"), ("a/b.yaml", "b")],
)
def test_the_name_comes_from_the_file_and_fits_into_an_address(file: str, name: str) -> None:
    assert lesson_name(file) == name


# ---- a teacher's folder ----


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir()
    return tmp_path


def taught(folder: Path) -> Course:
    found = course(folder)
    assert found.lessons[: len(bundled())] == bundled()
    return found


def test_without_a_folder_there_is_the_course_alone(tmp_path: Path) -> None:
    assert course() == course(tmp_path) == Course(bundled())


def test_lessons_of_a_teacher_come_after_the_course_in_the_order_of_their_files(folder: Path) -> None:
    for name in ("02_b.yaml", "01_z.yml", "notes.txt"):
        (folder / FOLDER / name).write_text(LESSON, encoding="utf-8")
    found = taught(folder)
    assert [lesson.name for lesson in found.lessons[len(bundled()) :]] == ["z", "b"]
    assert all(lesson.own for lesson in found.lessons[len(bundled()) :])
    assert found.problems == ()
    assert (lesson := found.find("b")) is not None
    assert lesson.title.en == "One sum"
    assert found.find("notes") is None


def test_a_broken_file_is_told_and_hides_no_other(folder: Path) -> None:
    files = {"a.yaml": LESSON + "tilte: x\n", "b.yaml": LESSON, "c.yaml": "\x00", "d.yaml": "[" * 200}
    for name, text in files.items():
        (folder / FOLDER / name).write_text(text, encoding="utf-8")
    (folder / FOLDER / "e.yaml").write_bytes(b"\xff\xfe\xff")
    (folder / FOLDER / "f.yaml").mkdir()
    found = taught(folder)
    assert [lesson.name for lesson in found.lessons[len(bundled()) :]] == ["b"]
    assert len(found.problems) == 5
    assert "a.yaml, line 11, tilte: unknown key 'tilte'; did you mean 'title'?" in found.problems[0]


def test_a_name_that_is_taken_is_told(folder: Path) -> None:
    for name in ("99_one_call.yaml", "1_mine.yaml", "2_mine.yaml"):
        (folder / FOLDER / name).write_text(LESSON, encoding="utf-8")
    found = taught(folder)
    assert [lesson.name for lesson in found.lessons[len(bundled()) :]] == ["mine"]
    assert found.problems == (
        "2_mine.yaml: there is already a lesson called 'mine'",
        "99_one_call.yaml: there is already a lesson called 'one_call'",
    )


def test_a_file_that_was_changed_is_read_anew(folder: Path) -> None:
    path = folder / FOLDER / "mine.yaml"
    path.write_text(LESSON, encoding="utf-8")
    first = taught(folder).find("mine")
    assert taught(folder).find("mine") is first, "read once as long as it does not change"
    path.write_text(LESSON.replace("One sum", "Another sum"), encoding="utf-8")
    assert (again := taught(folder).find("mine")) is not None
    assert again.title.en == "Another sum"
    path.unlink()
    assert taught(folder).find("mine") is None


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_lesson(tmp_path / "none.yaml")
