"""The document of the lesson format tells every key, and its examples are lessons that show what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import traces.lessons
from agent.events import Phase
from tests.formats import Document, keys_of
from traces.lessons import shows
from traces.lessons.fields import LessonFields, ThatFields
from traces.lessons.file import lesson_problems, parse_lesson
from traces.lessons.lesson import LANGUAGES, System
from traces.lessons.questions import CHOICES

DOCUMENT = Document(Path(traces.lessons.__file__).parent / "FORMAT.md")
TEXT, EXAMPLES, TABLES = DOCUMENT.text, DOCUMENT.examples, DOCUMENT.tables
KEYS = keys_of(LessonFields)


@pytest.mark.parametrize(("group", "key"), KEYS)
def test_every_key_is_told_in_a_table_and_shown_in_an_example(group: str, key: str) -> None:
    assert f"`{key}`" in TABLES
    assert any(re.search(rf"\b{key}:", example) for example in EXAMPLES), "an example shows it"


def test_every_key_of_the_tables_is_one() -> None:
    assert set(re.findall(r"`(\w+)`", TABLES)) <= {key for _, key in KEYS}


def test_what_a_claim_may_say_is_what_can_be_checked() -> None:
    assert set(ThatFields.model_fields) == set(shows.CHECKS)


@pytest.mark.parametrize(
    ("key", "words"), [("system", System), ("kind", [*CHOICES, "choice"]), ("phase", [*Phase, "end"])]
)
def test_the_words_that_a_key_may_hold_are_told(key: str, words: list[str]) -> None:
    told = [set(re.findall(r"`(\w+)`", line)) for line in re.findall(rf"^\| `{key}` \|.*$", TEXT, re.MULTILINE)]
    assert {key, *map(str, words)} in told


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_is_a_lesson_that_shows_what_it_claims(example: str) -> None:
    assert lesson_problems(example) == []
    lesson = parse_lesson(example)
    for language in LANGUAGES:
        assert shows.check_lesson(lesson, language) == []


def test_the_example_in_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one_sum.yaml").write_text(EXAMPLES[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    printed: list[object] = []
    exec(code, {"print": printed.append})
    assert printed == [[]]


def test_the_links_lead_somewhere() -> None:
    headings = {line.lstrip("# ").lower().replace(" ", "-") for line in TEXT.splitlines() if line.startswith("#")}
    assert set(re.findall(r"\]\(#([\w-]+)\)", TEXT)) <= headings
    for target in re.findall(r"\]\((\.\.[^)#]*)", TEXT):
        assert (Path(traces.lessons.__file__).parent / target).is_file()


def test_the_mistake_in_the_text_is_told_as_it_says() -> None:
    (said,) = re.findall(r"`07_one_sum\.yaml, (line [^`]*)`", TEXT)
    text = EXAMPLES[0].replace("system: plain\n", "").replace("question:", "quesiton:") + "system: plain\n"
    assert [problem.told("x") for problem in lesson_problems(text)] == [f"x, {said}"]
