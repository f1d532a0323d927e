"""A run as cells: what becomes one, in which order, and where a note stands."""

from __future__ import annotations

import time

from agent import Phase, Trace
from tests.traces.notebook.papers import halfway, lesson_notebook, phase_cells, troubled
from tests.traces.scripted import ASK, run_of
from traces.notebook.cells import Notebook, cells, place_of
from traces.notebook.telling import did, ending, head, lesson_texts
from traces.notebook.words import say_in

SAY = say_in("en")


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
