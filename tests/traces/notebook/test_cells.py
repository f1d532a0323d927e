"""A run as cells: what becomes one, in which order, and where a note stands."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from agent import FakeModel, Loop, Phase, Trace
from tests.traces.notebook.papers import LESSON, halfway, lesson_notebook, phase_cells, troubled
from tests.traces.scripted import ASK, run_of
from traces.lessons.file import parse_lesson
from traces.lessons.shows import play_lesson
from traces.notebook.cells import Notebook, Own, cells, place_of
from traces.notebook.telling import did, ending, head, lesson_texts
from traces.notebook.words import say_in

SAY = say_in("en")
CHOICE = """asks:
  - at: {step: 1, phase: execute}
    kind: choice
    text: {en: Who has added so far?, zh: 到现在谁算过？}
    options:
      - {text: {en: The model, zh: 模型}, why: {en: It only asked., zh: 它只是请求。}}
      - {text: {en: Nobody, zh: 没有人}, right: true}
"""


def test_a_phase_that_added_messages_is_a_cell_and_every_message_stands_in_one() -> None:
    notebook = Notebook(troubled())
    made = cells(notebook)
    assert phase_cells(made) == [
        (1, Phase.CALL, [1]),
        (1, Phase.APPEND, [2]),
        (2, Phase.CALL, [3]),
        (2, Phase.APPROVE, []),
        (2, Phase.APPEND, [4, 5]),
        (3, Phase.CALL, [6]),
    ]
    assert [position for cell in made for position in cell.messages] == list(range(7))
    assert (made[0].kind, made[-1].kind) == ("start", "end")


@pytest.mark.parametrize(("messages", "told"), [(1, "there is 1 message in"), (2, "there are 2 messages in")])
def test_the_messages_that_a_run_begins_with_are_counted(messages: int, told: str) -> None:
    loop = Loop(FakeModel(["done"]), system="You add." if messages == 2 else "")
    loop.start("What is 2+3?")
    (said,) = did(loop.trace, cells(Notebook(loop.trace, loop.phase))[0], SAY)
    assert told in said


def test_what_was_done_about_a_call_is_told() -> None:
    trace = troubled()
    told = {(cell.step, cell.phase): did(trace, cell, SAY) for cell in cells(Notebook(trace)) if cell.kind == "phase"}
    assert "delete (c2): denied by the policy" in told[2, Phase.APPROVE][0]
    assert any(line.startswith("fails (c1): run as asked, it failed") for line in told[1, Phase.APPEND])
    assert told[2, Phase.CALL][0] == "The model asks for delete, nowhere. Asking runs nothing."


def test_a_lesson_speaks_at_its_moments_and_the_run_answers_its_questions() -> None:
    notebook = lesson_notebook()
    made = cells(notebook)
    assert [cell.kind for cell in made] == [
        "idea", "start", "phase", "lesson", "phase", "lesson", "phase", "end", "task",
    ]  # fmt: skip
    question = dict(lesson_texts(notebook, made[3], SAY))
    assert (made[3].phase, question["The run answers"]) == (Phase.APPEND, "environment")
    assert question["Why"] == "The tool ran outside of the model."
    assert lesson_texts(notebook, made[5], SAY) == [("Notice", "The list holds four messages now.")]
    assert lesson_texts(notebook, made[8], SAY)[1] == ("To keep", "The model only asks.")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"1-append.maker": "environment"}, "environment (right)"),
        ({"1-append.maker": "model"}, "model (not right)"),
        ({"1-append.maker": ""}, "passed over"),
        ({}, None),
    ],
)
def test_what_the_learner_predicted_stands_beside_what_the_run_answers(given: dict[str, str], told: str | None) -> None:
    notebook = replace(lesson_notebook(), own=Own(given))
    texts = dict(lesson_texts(notebook, cells(notebook)[3], SAY))
    assert texts.get("My prediction") == told
    assert texts["The run answers"] == "environment"


def test_a_wrong_option_is_told_why_and_one_that_is_gone_is_told_as_it_was_kept() -> None:
    lesson = parse_lesson(LESSON.replace("asks:\n", CHOICE), "01_sum.yaml")
    played = play_lesson(lesson, "", "en")
    whole = Notebook(played.trace, None, lesson, lesson.variants[0])
    for kept, words in (("0", "A. The model (not right)"), ("9", "9 (not right)")):
        notebook = replace(whole, own=Own({"1-execute.choice": kept}))
        texts = [each for cell in cells(notebook) for each in lesson_texts(notebook, cell, SAY)]
        assert ("My prediction", words) in texts
        assert (("Why", "It only asked.") in texts) is (kept == "0")


def test_the_words_on_the_task_stand_there_and_the_answer_only_once_it_was_looked_at() -> None:
    whole = lesson_notebook()
    assert [name for name, _ in lesson_texts(whole, cells(whole)[8], SAY)] == ["Task", "To keep"]
    notebook = replace(whole, own=Own({}, "I would take 4 and 5.", True))
    assert lesson_texts(notebook, cells(notebook)[8], SAY) == [
        ("Task", "Change the sum."),
        ("My answer", "I would take 4 and 5."),
        ("The answer of the lesson", "Any two numbers do."),
        ("To keep", "The model only asks."),
    ]


def test_a_question_is_not_answered_before_the_run_has_gone_on() -> None:
    whole = lesson_notebook()
    trace = Trace.from_dict(whole.trace.to_dict())
    del trace.messages[3:], trace.entries[3:], trace.steps[1:]
    trace.outcome.reason, trace.steps[0].tools[0].message = None, None
    notebook = Notebook(trace, Phase.APPEND, whole.lesson, whole.variant)
    asked = next(cell for cell in cells(notebook) if cell.kind == "lesson")
    assert asked.questions[0].answer is None
    assert [name for name, _ in lesson_texts(notebook, asked, SAY)] == ["Question"]


def test_a_run_that_goes_on_shows_what_there_is_so_far() -> None:
    notebook = halfway(3)
    end = cells(notebook)[-1]
    assert (end.kind, end.phase, head(end, SAY)) == ("end", Phase.EXECUTE, "So far")
    assert ending(notebook, SAY)[0] == ("The run goes on", "TOOL_CALL, next: execute")


def test_the_end_tells_why_it_stopped_and_what_checks_say() -> None:
    told = dict(ending(Notebook(troubled()), SAY))
    assert told["Stop reason"].startswith("final")
    assert told["Is the task done?"] == "nothing was checked"


def test_a_note_stands_after_the_cell_that_holds_its_message_or_its_moment() -> None:
    made = cells(Notebook(troubled()))
    assert made[place_of("message-4", made)].messages == range(4, 6)
    assert place_of("trace", made) == -1
    assert made[place_of("end", made)].kind == "end"
    assert made[place_of("message-99", made)].kind == "end"
    approve = next(cell for cell in made if cell.phase is Phase.APPROVE)
    assert made[place_of(approve.place, made)] == approve
    assert made[place_of(f"lesson-{approve.moment + 1}", made)] == approve
    assert made[place_of("no such place", made)].kind == "end"


def test_a_trace_without_messages_is_a_notebook_too() -> None:
    assert [cell.kind for cell in cells(Notebook(Trace(trace_id="t1")))] == ["start", "end"]


def test_two_turns_of_the_user_both_stand_in_it() -> None:
    trace = run_of(["one"])
    trace.add(trace.messages[0], "user")
    made = cells(Notebook(trace))
    assert [position for cell in made for position in cell.messages] == list(range(len(trace.messages)))


def test_thousands_of_messages_become_cells_at_once() -> None:
    trace = run_of([*[ASK] * 1500, "end"], max_steps=2000)
    begun = time.perf_counter()
    assert len(cells(Notebook(trace))) > 3000
    assert time.perf_counter() - begun < 3
