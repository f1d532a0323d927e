"""The course that comes with the project: every lesson plays, shows what it claims, and gives no answer away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from agent.context import ContextBudget
from agent.stops import StopReason
from traces.experiments.exercise import exercises
from traces.lessons.course import bundled
from traces.lessons.exercises.catalogue import catalogue
from traces.lessons.lesson import LANGUAGES, Ask, Lesson, System, Text
from traces.lessons.questions import CHOICES, asks_of, choices, truth
from traces.lessons.scripts import lesson_script
from traces.lessons.shows import check_lesson, check_shown, play_lesson, play_variants

LESSONS = bundled()
NAMES = [lesson.name for lesson in LESSONS]
CHOICE = [(lesson, ask) for lesson in LESSONS for ask in lesson.asks if ask.kind == "choice"]
CJK = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")

each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
each_language = pytest.mark.parametrize("language", LANGUAGES)


def texts_of(value: Any) -> Iterator[Text]:
    """Every text in both languages under a lesson."""
    if isinstance(value, Text):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from texts_of(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from texts_of(each)


@each_language
@each_lesson
def test_a_lesson_shows_what_it_claims_and_answers_what_it_asks(lesson: Lesson, language: str) -> None:
    assert check_lesson(lesson, language) == []


@each_language
@each_lesson
def test_it_shows_the_same_with_the_guards_and_the_budget_that_the_app_sets(lesson: Lesson, language: str) -> None:
    runs = {}
    for variant in lesson.variants:
        script = lesson_script(lesson, variant.name, language)
        options: dict[str, Any] = {}
        if not script.limits.repeated_calls and not script.limits.failing_steps:
            options["limits"] = replace(script.limits, repeated_calls=3, failing_steps=3)
        if script.context is None and script.recorded is None:
            options["context"] = ContextBudget(100_000, 8_000, summarise=False)
        runs[variant.name] = play_lesson(lesson, variant.name, language, **options)
    for shown in lesson.shows:
        variant_name = shown.variant or lesson.variants[0].name
        assert check_shown(shown, lesson, language, variant_name, runs) is None


@each_lesson
def test_a_lesson_asks_before_tells_during_and_sets_a_task_after(lesson: Lesson) -> None:
    assert lesson.idea.en
    assert lesson.question.en
    assert lesson.notices
    assert len(lesson.shows) >= 2
    assert lesson.task
    assert lesson.answer
    assert lesson.takeaway
    told = {shown.variant or lesson.variants[0].name for shown in lesson.shows}
    assert told == {variant.name for variant in lesson.variants}, "a claim about every variant"


@each_lesson
def test_a_lesson_asks_two_to_eight_questions_one_of_them_with_four_answers(lesson: Lesson) -> None:
    assert 2 <= len(lesson.asks) <= 8
    assert all(len(asks_of(lesson, variant)) <= 4 for variant in lesson.variants)
    assert any(len(ask.options) == 4 for ask in lesson.asks)


@pytest.mark.parametrize(("lesson", "ask"), CHOICE, ids=[f"{lesson.name}-{ask.id}" for lesson, ask in CHOICE])
def test_a_wrong_answer_is_told_why_and_the_right_one_does_not_stick_out(lesson: Lesson, ask: Ask) -> None:
    assert all(option.why for option in ask.options if not option.right)
    for language in LANGUAGES:
        (right,) = (len(option.text.of(language)) for option in ask.options if option.right)
        wrong = [len(option.text.of(language)) for option in ask.options if not option.right]
        assert min(wrong) / 3 < right < max(wrong) * 2, f"its length gives it away in {language}"
        assert len({option.text.of(language) for option in ask.options}) == len(ask.options)


def test_neither_place_nor_length_gives_right_answers_away() -> None:
    places = Counter(next(at for at, option in enumerate(ask.options) if option.right) for _, ask in CHOICE)
    assert max(places.values()) < 0.4 * len(CHOICE)
    assert set(places) == {0, 1, 2, 3}
    for language in LANGUAGES:
        longest = shortest = 0
        for _, ask in CHOICE:
            ordered = sorted(ask.options, key=lambda option: len(option.text.of(language)))
            shortest, longest = shortest + ordered[0].right, longest + ordered[-1].right
        assert max(longest, shortest) < 0.5 * len(CHOICE), language


def test_the_answers_that_runs_give_are_not_always_the_same() -> None:
    given: dict[str, Counter[str | None]] = {kind: Counter() for kind in CHOICES}
    for lesson in LESSONS:
        for name, played in play_variants(lesson, "en").items():
            for ask in asks_of(lesson, lesson.variant(name)):
                if ask.kind != "choice":
                    given[ask.kind][truth(ask, played.trace, played.loop.phase)] += 1
    assert len(given["maker"]) >= 3
    assert len(given["role"]) >= 2
    for kind in ("reply", "stop"):
        assert set(given[kind]) == set(CHOICES[kind])
        assert max(given[kind].values()) < 0.75 * given[kind].total()


@each_lesson
def test_both_languages_are_there_and_each_is_its_own(lesson: Lesson) -> None:
    for text in texts_of(lesson):
        assert CJK.search(text.zh) or text.zh == text.en, text
        assert not re.search(r"[\u3002\uff0c\uff1f\uff1a\uff1b]", text.en), text
        assert not re.search(r"[\u4e00-\u9fff][,;:?!]", text.zh), f"punctuation of the other language: {text.zh}"


@each_language
@each_lesson
def test_the_run_speaks_the_language_of_the_lesson(lesson: Lesson, language: str) -> None:
    script = lesson_script(lesson, "", language)
    assert bool(CJK.search(script.task)) is (language == "zh")


@each_lesson
def test_texts_are_short(lesson: Lesson) -> None:
    assert max(len(text.en) for text in (lesson.idea, lesson.question)) <= 420
    for text in texts_of((lesson.asks, lesson.notices, lesson.shows, lesson.title, lesson.takeaway)):
        assert len(text.en) <= 260, text.en


@each_lesson
def test_the_exercises_that_belong_to_a_lesson_exist(lesson: Lesson) -> None:
    assert lesson.exercise in ("", *(info.name for info in catalogue()))
    assert lesson.ablation in ("", *(exercise.name for exercise in exercises()))


def test_the_course_is_whole() -> None:
    assert len(NAMES) == len(set(NAMES)) >= 22
    assert {lesson.system for lesson in LESSONS} == set(System)
    assert {lesson.exercise for lesson in LESSONS} >= {"order_messages", "repair", "react", "map_fields", "stop_rule"}
    assert not any(lesson.own for lesson in LESSONS)
    assert all(choices(ask) for lesson in LESSONS for ask in lesson.asks)


def test_every_stop_reason_is_shown_but_the_one_that_is_the_learners_own_press() -> None:
    shown = {shown.that.get("reason") for lesson in LESSONS for shown in lesson.shows}
    assert {str(reason) for reason in StopReason} - shown == {"stopped_by_user"}


def test_the_two_reference_sessions_of_the_json_action_loop() -> None:
    counting = {
        shown.that.get("steps") for lesson in LESSONS if lesson.name == "counting_lines" for shown in lesson.shows
    }
    missing = {shown.that.get("steps") for lesson in LESSONS if lesson.name == "missing_file" for shown in lesson.shows}
    assert 5 in counting
    assert 3 in missing
