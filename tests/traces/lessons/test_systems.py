"""The five systems: what each makes of the one task, and that the lines which are called an idea are there."""

from __future__ import annotations

import inspect
import logging
from pathlib import Path

import pytest

import agent
from traces.lessons.course import bundled
from traces.lessons.lesson import LANGUAGES, System
from traces.lessons.systems import Idea, produce, systems

IDEAS = [idea for info in systems() for idea in info.ideas]


def test_there_are_the_five_systems_in_their_order() -> None:
    expected = [System.PLAIN, System.OBSERVABLE, System.STATE_MACHINE, System.JSON_ACTION, System.BOUNDED]
    assert [info.name for info in systems()] == expected


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea.at)
def test_the_lines_of_every_idea_stand_in_the_source_of_the_agent(idea: Idea) -> None:
    assert idea.code.__module__ == idea.at.partition(":")[0]
    assert Path(inspect.getsourcefile(idea.code) or "").is_relative_to(Path(agent.__file__).parent)
    assert inspect.getsource(idea.code)


def test_an_idea_whose_lines_have_moved_is_found_out() -> None:
    with pytest.raises(AttributeError):
        _ = Idea("agent.loop:Loop._no_such_phase", IDEAS[0].text).code


def test_each_system_has_its_lesson() -> None:
    lessons = {lesson.name for lesson in bundled()}
    assert {info.lesson for info in systems()} <= lessons


def test_every_text_is_there_in_both_languages() -> None:
    for info in systems():
        for text in (info.origin, info.point, info.shows, info.lacks, info.added, *info.duties.values()):
            assert text.en and text.zh
            assert not any("一" <= sign <= "鿿" for sign in text.en)
    assert all(idea.text.en != idea.text.zh for idea in IDEAS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_system_solves_the_same_task(language: str) -> None:
    answers = {info.name: produce(info.name, 0, language).outcome.final for info in systems()}
    assert set(answers.values()) == {"计算结果是 20。" if language == "zh" else "The result is 20."}


def test_the_plain_loop_prints_the_lines_of_the_reference_run() -> None:
    assert produce(System.PLAIN, 0, "zh").lines == (
        "[0] tool_call add({'a': 2, 'b': 3}) -> 5",
        "[1] tool_call multiply({'a': 5, 'b': 4}) -> 20",
        "[2] final     计算结果是 20。",
    )


def test_the_observable_loop_says_who_caused_each_event_and_fails_at_its_limit() -> None:
    rows = produce(System.OBSERVABLE, 0, "en").rows
    assert [(row["event"], row["maker"]) for row in rows[:4]] == [
        ("turn.started", "user"),
        ("model.completed", "model"),
        ("tool.started", "code"),
        ("tool.completed", "environment"),
    ]
    idle = produce(System.OBSERVABLE, 1, "en").rows
    assert (idle[-1]["event"], idle[-1]["payload"]) == ("turn.failed", '{"reason": "max_iterations"}')


def test_the_records_of_the_state_machine_are_those_that_go_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    rows = produce(System.STATE_MACHINE, 0, "en").rows
    assert [(row["step"], row["state"], row["msg_count"], row["total_tokens"]) for row in rows] == [
        (1, "OBSERVE", 4, 204),
        (2, "OBSERVE", 6, 229),
        (3, "DONE", 7, 246),
    ]
    info = next(info for info in systems() if info.name is System.STATE_MACHINE)
    script = info.runs[0].script_in("en")
    with caplog.at_level(logging.INFO, logger="agent"):
        loop = script.loop(pace=0)
        loop.start(script.opening)
        loop.finish()
    logged = [(record.__dict__["step"], record.__dict__["state"]) for record in caplog.records]
    assert logged == [(row["step"], row["state"]) for row in rows]
    assert rows[0].keys() <= caplog.records[0].__dict__.keys()


def test_in_json_actions_calls_are_text_and_results_come_from_the_user() -> None:
    lines = produce(System.JSON_ACTION, 0, "en").lines
    assert [line.split(": ")[0] for line in lines] == ["system", *["user", "assistant"] * 3]
    assert lines[3] == "user: Result of add: 5"
    assert '"action": "tool", "tool": "multiply"' in lines[4]


def test_the_bounded_loop_ends_after_five_rounds_and_counts_what_they_took() -> None:
    idle = produce(System.BOUNDED, 1, "en")
    assert [row["round"] for row in idle.rows] == [1, 2, 3, 4, 5]
    assert idle.outcome.reason == "max_iterations"
    assert idle.tokens == sum(row["tokens"] for row in idle.rows) > 0
    assert {info.name for info in systems() if info.duties} == {System.BOUNDED}
