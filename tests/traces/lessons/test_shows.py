"""Claims are held against a run: each name that a claim may use says no when it is not so, and says what was there."""

from __future__ import annotations

from typing import Any

import pytest

from traces.lessons.file import parse_lesson
from traces.lessons.lesson import Shown, Text
from traces.lessons.shows import check_lesson, check_shown, play_lesson, play_variants

LESSON = """\
title: {en: Shop, zh: 商店}
system: plain
idea: {en: An idea., zh: 想法。}
question: {en: A question., zh: 问题。}
script:
  task: {en: Weather and share, zh: 天气和股价}
  tools: [get_weather, get_stock, noop]
  policy: {deny: [noop]}
  turns:
    - calls:
        - {id: c1, name: get_weather, arguments: {city: Paris}, result: {temperature_c: 12}}
        - {id: c2, name: noop}
      usage: {prompt_tokens: 100, completion_tokens: 20}
    - text: {en: 12 degrees., zh: 12 度。}
      usage: {prompt_tokens: 150, completion_tokens: 10}
  evidence: [{tool_succeeded: get_weather}]
variants:
  - {name: one, title: {en: One, zh: 一}}
  - name: short
    title: {en: Short, zh: 短}
    changes: {max_steps: 1}
"""


@pytest.mark.parametrize(
    "that",
    [
        {"reason": "max_iterations"},
        {"steps": 3},
        {"messages": 4},
        {"roles": ["user", "assistant", "tool", "tool"]},
        {"makers": ["user", "model", "environment", "environment", "model"]},
        {"calls": ["get_weather"]},
        {"results": ["12"]},
        {"results": ["not permitted", "12"]},
        {"final": "12 degrees"},
        {"final_contains": {"en": "13", "zh": "12"}},
        {"sent_roles": ["user"]},
        {"request_contains": "degrees"},
        {"request_lacks": "Weather"},
        {"errors": 0},
        {"denied": 0},
        {"mocked": 1},
        {"verified": None},
        {"flagged": ["claimed_call"]},
        {"events": ["turn.started", "turn.completed"]},
        {"states": ["THINK", "DONE"]},
        {"phase": "call"},
        {"first_finished": "noop"},
        {"tokens": 281},
        {"tokens_from": 281},
        {"more_tokens_than": "one"},
        {"more_steps_than": "one"},
        {"same_messages_as": "short"},
        {"noted": "left out"},
    ],
    ids=lambda that: next(iter(that)),
)
def test_a_claim_that_does_not_hold_is_told(that: dict[str, Any]) -> None:
    lesson = parse_lesson(LESSON)
    sentence = check_shown(Shown(Text("a", "甲"), that), lesson, "en", "one", play_variants(lesson, "en"))
    assert sentence is not None
    assert sentence.startswith(f"lesson, variant one, en: {next(iter(that))} ")


def test_what_the_linter_finds_and_does_not_find() -> None:
    lesson = parse_lesson(LESSON.replace("12 degrees.", "I have called get_stock. It is 41.5."))
    runs = play_variants(lesson, "en")
    found, other = ["claimed_call"], ["exact_loop"]
    good = Shown(Text("a", "甲"), {"flagged": found, "not_flagged": other})
    assert check_shown(good, lesson, "en", "one", runs) is None
    for that in ({"flagged": other}, {"not_flagged": [*other, *found]}):
        sentence = check_shown(Shown(Text("a", "甲"), that), lesson, "en", "one", runs)
        assert sentence is not None
        assert "found ['claimed_call']" in sentence


def test_all_that_is_claimed_must_hold() -> None:
    lesson = parse_lesson(LESSON)
    runs = play_variants(lesson, "zh")
    good: dict[str, Any] = {"steps": 2, "final": {"en": "no", "zh": "12 度。"}, "more_steps_than": "short"}
    assert check_shown(Shown(Text("a", "甲"), good), lesson, "zh", "one", runs) is None
    assert check_shown(Shown(Text("a", "甲"), {**good, "tokens": 1}), lesson, "zh", "one", runs) == (
        "lesson, variant one, zh: tokens should be 1, found 280"
    )


def test_a_question_or_a_notice_that_the_run_never_comes_to_is_told() -> None:
    more = """\
asks:
  - {at: {step: 2, phase: decide}, kind: stop}
notices:
  - {at: {step: 3, phase: call}, variant: one, text: {en: Look., zh: 看。}}
"""
    assert check_lesson(parse_lesson(LESSON + more), "en") == [
        "lesson, variant one, en: the run never comes to the notice at 3-call",
        "lesson, variant short, en: the question 2-decide.stop is never answered: the run does not go on from there",
    ]


def test_a_lesson_rests_where_it_is_over() -> None:
    lesson = parse_lesson(LESSON + "until: {step: 2, phase: call}\n")
    played = play_lesson(lesson, "one", "en")
    assert (played.loop.phase, len(played.trace.steps), played.loop.stop_reason) == ("call", 1, None)
    assert played.moments[-1].step == 2
    claim = Shown(Text("a", "甲"), {"reason": "none", "phase": "call", "request_contains": "12"})
    assert check_shown(claim, lesson, "en", "one", {"one": played}) is None, "the request that is about to be sent"


@pytest.mark.parametrize(
    ("hand", "reason", "decision"),
    [
        ("{action: run}", "final", "run"),
        ('{action: mock, result: "99"}', "final", "mocked"),
        ("{action: reject, result: not today}", "final", "rejected"),
        ("{action: reject, stop: true}", "rejected_by_user", "rejected"),
    ],
)
def test_what_a_person_is_to_decide_is_decided_as_the_lesson_says(hand: str, reason: str, decision: str) -> None:
    text = LESSON.replace("policy: {deny: [noop]}", "policy: {ask: [get_weather, noop]}") + f"hand: {hand}\n"
    played = play_lesson(parse_lesson(text), "one", "en")
    assert played.loop.stop_reason == reason
    assert {run.decision for run in played.trace.steps[0].tools} == {decision}
