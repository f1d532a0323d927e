"""Predict, then reveal: which question is open where a run stands, and what the run answers once it has gone on."""

from __future__ import annotations

import pytest

from agent.events import Phase
from agent.moments import Moment, moments
from traces.lessons.file import parse_lesson
from traces.lessons.lesson import Ask, Lesson, Place
from traces.lessons.questions import asks_at, asks_of, choices, notices_at, open_ask, place_of, truth
from traces.lessons.scripts import lesson_script

TEXT = """\
title: {en: Two questions, zh: 两个问题}
system: plain
idea: {en: An idea., zh: 想法。}
question: {en: A question., zh: 问题。}
script:
  user: [{en: Add., zh: 加。}, {en: And again., zh: 再来。}]
  system: {en: Be brief., zh: 请简短。}
  tools: [add]
  turns:
    - calls: [{id: c1, name: add, arguments: {a: 2, b: 3}}]
    - {en: It is 5., zh: 等于 5。}
    - {en: Still 5., zh: 还是 5。}
variants:
  - {name: asked, title: {en: Asked, zh: 提问}}
  - {name: quiet, title: {en: Quiet, zh: 安静}, asks: false}
asks:
  - {at: {step: 1, phase: call}, kind: reply}
  - {at: {step: 1, phase: call}, kind: maker}
  - {at: {step: 1, phase: append}, kind: maker}
  - {at: {step: 1, phase: append}, kind: role}
  - {at: {step: 1, phase: decide}, kind: stop}
  - {at: {step: 2, phase: call}, kind: reply}
  - {at: {step: 2, phase: decide}, kind: stop}
  - at: {step: 3, phase: call}
    variant: quiet
    kind: choice
    text: {en: Which, zh: 哪个}
    options:
      - {text: {en: A, zh: 甲}}
      - {text: {en: B, zh: 乙}, right: true}
      - {text: {en: C, zh: 丙}}
notices:
  - {at: {phase: end}, text: {en: Over., zh: 完了。}}
  - {at: {phase: end}, variant: quiet, text: {en: Quietly over., zh: 悄悄完了。}}
"""


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return parse_lesson(TEXT)


def ask_of(lesson: Lesson, id: str) -> Ask:
    return next(ask for ask in lesson.asks if ask.id == id)


@pytest.mark.parametrize(
    ("id", "right"),
    [
        ("1-call.reply", "tools"),
        ("1-call.maker", "model"),
        ("1-append.maker", "environment"),
        ("1-append.role", "tool"),
        ("1-decide.stop", "goes_on"),
        ("2-call.reply", "text"),
        ("2-decide.stop", "stops"),
        ("3-call.choice", "1"),
    ],
)
def test_the_run_answers_a_question_when_it_has_gone_on_and_never_before(lesson: Lesson, id: str, right: str) -> None:
    """At every moment of the run: no answer up to the place of the question, from some later one on the right one."""
    script, ask = lesson_script(lesson, "asked", "en"), ask_of(lesson, id)
    loop, passed, answers = script.loop(pace=0), False, list[str | None]()
    loop.start(script.opening)
    while loop.phase is not None or loop.more:
        here = moments(loop.trace, loop.phase)[-1]
        found = truth(ask, loop.trace, loop.phase)
        passed = passed or place_of(here) == ask.at
        assert found is None or (passed and place_of(here) != ask.at)
        answers.append(found)
        loop.advance()
    answers.append(truth(ask, loop.trace, loop.phase))
    assert answers[-1] == right
    assert set(answers) == {None, right}, "once known it stays the same, in the next turn too"
    assert right in choices(ask)


def test_questions_are_open_in_their_order_until_they_are_answered(lesson: Lesson) -> None:
    variant, here = lesson.variant("asked"), Moment(1, Phase.CALL, 2)
    assert [ask.id for ask in asks_at(lesson, variant, here)] == ["1-call.reply", "1-call.maker"]
    assert (first := open_ask(lesson, variant, here, ())) is not None
    assert first.id == "1-call.reply"
    assert (second := open_ask(lesson, variant, here, {"1-call.reply"})) is not None
    assert second.id == "1-call.maker"
    assert open_ask(lesson, variant, here, {"1-call.reply", "1-call.maker"}) is None
    assert open_ask(lesson, variant, Moment(2, Phase.APPROVE, 2), ()) is None


def test_a_variant_without_questions_has_only_those_that_name_it(lesson: Lesson) -> None:
    asked, quiet = lesson.variants
    assert [ask.id for ask in asks_of(lesson, quiet)] == ["3-call.choice"]
    assert len(asks_of(lesson, asked)) == len(lesson.asks) - 1
    end = Moment(2, None, 5)
    assert [notice.text.en for notice in notices_at(lesson, asked, end)] == ["Over."]
    assert [notice.text.en for notice in notices_at(lesson, quiet, end)] == ["Quietly over."]


def test_the_end_is_the_end_in_whichever_step(lesson: Lesson) -> None:
    asked = lesson.variant("asked")
    assert notices_at(lesson, asked, Moment(7, None, 5)) == notices_at(lesson, asked, Moment(1, None, 5)) != []
    assert notices_at(lesson, asked, Moment(1, Phase.DECIDE, 5)) == []
    assert place_of(Moment(7, None, 5)) == Place(7, None)


def test_a_run_that_never_comes_there_answers_nothing(lesson: Lesson) -> None:
    script = lesson_script(lesson, "asked", "en")
    loop = script.loop(pace=0)
    loop.start(script.opening)
    loop.finish()
    assert truth(ask_of(lesson, "3-call.choice"), loop.trace, loop.phase) is None
