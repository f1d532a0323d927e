"""The notebook page: what it opens, notes that are kept, what others may not do, and the learning note."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from agent import Phase, ToolCall, tool
from agent.journal import write_trace
from pages.parts.chosen_script import lesson_scenario
from pages.parts.runs import SETUP, OpenRun
from pages.parts.setup import Setup
from tests.pages.conftest import texts
from tests.traces.notebook.papers import LESSON, lesson_notebook, troubled
from traces import read_file
from traces.annotations import Annotations
from traces.lessons.answers import LOCAL, Answers, Question
from traces.lessons.course import FOLDER
from traces.notebook.learning import LearningNote, LearningNotes
from traces.notebook.notes import PlacedNotes
from traces.store import SAMPLES, Store

Visit = Callable[..., AppTest]
SAMPLE = read_file(SAMPLES / "calc.json").traces[0].trace_id
KINDS = ("markdown", "text", "code", "caption", "warning", "error")


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@pytest.fixture
def taught(data: Path) -> str:
    """A lesson of a teacher, and its run in the data folder: the id of that."""
    folder = data / FOLDER
    folder.mkdir()
    (folder / "01_our_sum.yaml").write_text(LESSON, encoding="utf-8")
    trace = lesson_notebook().trace
    trace.extra[SETUP] = Setup(scenario=lesson_scenario("our_sum", "", "en")).to_dict()
    write_trace(trace, data)
    return trace.trace_id


def test_it_shows_every_message_the_state_and_the_end(visit: Visit) -> None:
    app = visit("notebook", trace=SAMPLE)
    shown = texts(app, *KINDS)
    for words in ("THINK · call · step 1", "OBSERVE · append · step 2", "Message 7", "All checks hold.", "The end"):
        assert words in shown
    assert "The model asks for add. Asking runs nothing." in shown


def test_a_lesson_is_known_by_its_run_and_speaks_in_the_language_of_the_page(visit: Visit, taught: str) -> None:
    assert "The program runs <b>what</b> the model asks for." in texts(visit("notebook", trace=taught), "text")
    assert "现在列表里有四条消息。" in texts(visit("notebook", trace=taught, lang="zh"), "text")


def test_it_holds_what_this_learner_predicted_and_wrote_and_nobody_elses(visit: Visit, data: Path, taught: str) -> None:
    answers = Answers(data)
    ask = Question("our_sum", lesson_notebook().variant.name, "1-append.maker")  # type: ignore[union-attr]
    answers.put("somebody else", ask, "user", False)
    answers.write_task("somebody else", "our_sum", "not mine")
    before = texts(visit("notebook", trace=taught), *KINDS)
    assert "My prediction" not in before and "not mine" not in before and "Any two numbers do." not in before
    answers.put(LOCAL, ask, "environment", True)
    answers.write_task(LOCAL, "our_sum", "# I take <b>4</b> and 5")
    answers.look_at_task(LOCAL, "our_sum")
    shown = texts(visit("notebook", trace=taught), "text")
    assert "environment (right)" in shown and "# I take <b>4</b> and 5" in shown and "Any two numbers do." in shown
    assert "环境（答对了）" in texts(visit("notebook", trace=taught, lang="zh"), "text")


def test_a_note_is_kept_on_leaving_its_field_and_is_there_after_a_reload(visit: Visit, data: Path) -> None:
    app = visit("notebook", trace=SAMPLE)
    app.button(key="note-add-message-2").click().run()
    app.text_area[0].input("why this tool?").run()
    assert Annotations(data).of(SAMPLE).messages[2].text == "why this tool?"
    app.button(key="note-add-message-2").click().run()
    app.text_area[1].input("and again").run()
    again = visit("notebook", trace=SAMPLE)
    assert [area.value for area in again.text_area if area.label == "Note on message 3"] == [
        "why this tool?",
        "and again",
    ]
    again.text_area[0].input("because").run()
    (first, second) = PlacedNotes(data).of(SAMPLE)
    assert (first.text, second.text) == ("because", "and again")
    again.button(key=f"note-{SAMPLE}-{second.id}-delete").click().run()
    assert [note.text for note in PlacedNotes(data).of(SAMPLE)] == ["because"]


def test_a_run_that_goes_on_shows_what_there_is_so_far(visit: Visit, open_run: Callable[..., OpenRun]) -> None:
    run = open_run([[ToolCall("c1", "echo", {"text": "hi"})], "done"], [echo])
    for _ in range(2):
        run.loop.advance()
    assert run.loop.phase is Phase.APPROVE
    app = visit("notebook", trace=run.id)
    shown = texts(app, *KINDS)
    assert "So far" in shown
    assert "TOOL_CALL, next: approve" in shown
    assert not app.expander


def test_a_long_trace_is_shown_a_page_at_a_time(visit: Visit, data: Path) -> None:
    messages = [{"role": role, "content": f"{role} {n}"} for n in range(300) for role in ("user", "assistant")]
    (data / "long.json").write_text(json.dumps({"messages": messages}))
    (info,) = [info for info in Store(data).list() if info.kind != "bundled"]
    app = visit("notebook", trace=info.id)
    (told,) = [each.value for each in app.caption if "Cells 1 to 30" in each.value]
    assert "messages: 600" in told
    app.button(key="notebook-next").click().run()
    assert any("Cells 31 to 60" in each.value for each in app.caption)
    assert len(app.code) <= 60


def test_words_of_a_trace_are_never_markdown(visit: Visit, data: Path) -> None:
    trace = troubled()
    write_trace(trace, data)
    app = visit("notebook", trace=trace.trace_id)
    assert "alert(1)" in texts(app, "code")
    assert "alert(1)" not in texts(app, "markdown", "html")


def test_a_shared_server_keeps_notes_with_what_only_a_link_leads_to(visit: Visit, data: Path, public: None) -> None:
    trace = troubled()
    write_trace(trace, data)
    assert visit("notebook", trace=trace.trace_id).button(key="note-add-end")
    app = visit("notebook", trace=SAMPLE)
    assert not [button for button in app.button if str(button.key).startswith("note-add")]
    assert any("Everybody on this server sees this trace" in each.value for each in app.caption)


def test_what_is_not_here_is_told_by_a_sentence(visit: Visit) -> None:
    assert "There is no trace with the id in the address." in texts(visit("notebook", trace="nowhere"), "text")
    assert "Open a notebook from a lesson" in texts(visit("notebook"), "caption")


def field(app: AppTest, label: str) -> Any:
    return next(each for each in (*app.text_input, *app.text_area) if each.label == label)


def test_the_learning_note_begins_with_the_lesson_and_is_saved_field_by_field(
    visit: Visit, data: Path, taught: str
) -> None:
    LearningNotes(data).write("other", LearningNote(topic="before"))
    app = visit("notebook", trace=taught)
    assert (field(app, "Day").value, field(app, "Topic").value) == ("2", "A sum, run once")
    assert field(app, "What I take along").value == "The model only asks."
    assert LearningNotes(data).of(taught) is None
    app.button(key=f"learning-keep-{taught}").click().run()
    field(app, "What can go wrong").input("ids").run()
    kept = LearningNotes(data).of(taught)
    assert kept is not None
    assert (kept.day, kept.pitfall_recorded, kept.code_artifact) == ("2", "ids", f"{taught}.json")
    assert any(each.label == "All learning notes: 2" for each in visit("notebook", trace=taught).expander)


def test_on_a_shared_server_only_the_learning_notes_of_runs_that_were_opened_are_listed(
    visit: Visit, data: Path, public: None
) -> None:
    trace = troubled()
    write_trace(trace, data)
    for trace_id in ("somebody-else", trace.trace_id):
        LearningNotes(data).write(trace_id, LearningNote(topic=f"of {trace_id}"))
    shown = texts(visit("notebook", trace=trace.trace_id), "text")
    assert f"of {trace.trace_id}" in shown
    assert "somebody-else" not in shown
