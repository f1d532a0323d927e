"""A model on loan: chosen on the Run page, counted for each student, taken back, asleep after a restart."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts.runs import OpenRun
from tests.pages.provider import Provider
from tests.pages.schooling import KEY, Visit, begun, here, lend, query, run_of, seated, shown
from traces.classroom.klass import Klass, Seat


def borrowed(app: AppTest, press: str = "continue") -> OpenRun:
    """Let a student run something with the model of the class."""
    app.switch_page("pages/run.py").run()
    app.radio(key="model").set_value("lent").run()
    app.button(key=press).click().run()
    run = run_of(app)
    assert run.runner.wait(10)
    app.run()
    assert not app.exception
    return run


@pytest.fixture
def class_of_one(visit: Visit, provider: Provider) -> tuple[AppTest, Klass, AppTest, Seat]:
    """A teacher who lends a model, and a student."""
    teacher, klass = begun(visit)
    lend(teacher, provider.url)
    student, seat = seated(visit, klass)
    return teacher, klass, student, seat


Setting = tuple[AppTest, Klass, AppTest, Seat]


def test_a_student_runs_with_the_model_of_the_class_and_both_see_what_is_left(class_of_one: Setting) -> None:
    teacher, _, student, _ = class_of_one
    run = borrowed(student)
    assert run.loop.trace.outcome.final == "Done."
    assert run.setup.lent
    assert "class-model: 1 of 10 calls" in shown(student, "text")
    row = teacher.run().dataframe[0].value.iloc[0]
    assert row["calls"] == "1 / 10"
    assert row["tokens"].startswith("≈ ")  # this server reports no usage
    assert row["tokens"].endswith(" / 10,000")


def test_a_task_of_ones_own_can_use_it_too(class_of_one: Setting) -> None:
    _, _, student, _ = class_of_one
    student.switch_page("pages/run.py").run()
    student.selectbox(key="scenario").select("own").run()
    assert student.radio(key="model").options == ["Live", "Model of the class"]
    student.text_area(key="task").input("Say done.").run()
    student.radio(key="model").set_value("lent").run()
    student.button(key="continue").click().run()
    assert run_of(student).runner.wait(10)
    assert run_of(student).loop.trace.outcome.final == "Done."


def test_a_used_up_share_ends_a_run_with_a_sentence_until_the_teacher_gives_more(class_of_one: Setting) -> None:
    teacher, _, student, _ = class_of_one
    teacher.number_input(key="class-lend-calls").set_value(1)
    teacher.button(key="class-lend-quota").click().run()
    assert borrowed(student).loop.stop_reason == "final"
    student.button(key="reset").click().run()
    run = borrowed(student)
    assert run.loop.stop_reason == "model_error"
    assert "1 of 1 calls" in shown(student, "text", "markdown")
    teacher.number_input(key="class-lend-calls").set_value(5)
    teacher.button(key="class-lend-quota").click().run()
    student.button(key="reset").click().run()
    assert borrowed(student).loop.stop_reason == "final"


def test_a_model_that_is_taken_back_answers_nobody_and_can_be_lent_again(
    class_of_one: Setting, provider: Provider
) -> None:
    teacher, _, student, _ = class_of_one
    provider.adds = True
    run = borrowed(student, press="step_over")
    assert run.loop.phase is not None
    teacher.run().button(key="class-lend-back").click().run()
    student.run()
    assert "No model is lent to the class" in shown(student, "text")
    student.button(key="continue").click().run()
    assert len(provider.asked) == 1
    lend(teacher, provider.url, key="sk-another-1414-2135-6237")
    student.run()
    student.button(key="continue").click().run()
    again = run_of(student)
    assert again.runner.wait(10)
    assert again.id == run.id
    assert again.loop.trace.outcome.final == "Done."
    assert provider.keys == [KEY, "sk-another-1414-2135-6237"]


def test_after_a_restart_the_run_waits_until_the_teacher_lends_again(
    visit: Visit, class_of_one: Setting, provider: Provider
) -> None:
    teacher, klass, student, seat = class_of_one
    provider.adds = True
    run = borrowed(student, press="step_over")
    st.cache_resource.clear()
    student = visit(seat=seat.id, run=run.id)
    assert "asleep" in shown(student, "text")
    student.button(key="continue").click().run()
    assert len(provider.asked) == 1
    teacher = visit("classroom", **{"class": klass.secret})
    assert "keeps no key" in shown(teacher, "caption")
    assert teacher.text_input(key="class-lend-model").value == "class-model"
    assert teacher.text_input(key="class-lend-key").value == ""
    lend(teacher, provider.url)
    assert here().lendings.of(klass.id).meter.used(seat.id).calls == 1  # type: ignore[union-attr]
    student.run()
    student.button(key="continue").click().run()
    again = run_of(student)
    assert again.runner.wait(10)
    assert again.loop.trace.outcome.final == "Done."
    assert query(student)["run"] == run.id


def test_a_seat_that_is_taken_away_borrows_nothing_more(class_of_one: Setting, provider: Provider) -> None:
    teacher, _, student, seat = class_of_one
    provider.adds = True
    run = borrowed(student, press="step_over")
    teacher.session_state["class-chosen"] = seat.id
    teacher.run().button(key="class-remove").click().run()
    student.run()
    student.button(key="continue").click().run()
    assert run.runner.wait(10)
    assert len(provider.asked) == 1
    student.button(key="reset").click().run()
    student.button(key="continue").click().run()
    assert len(provider.asked) == 1


def test_the_end_of_the_class_is_the_end_of_the_loan(class_of_one: Setting) -> None:
    teacher, klass, student, _ = class_of_one
    teacher.button(key="class-end").click().run()
    assert here().lendings.of(klass.id) is None
    student.switch_page("pages/run.py").run()
    assert student.radio(key="model").options == ["Scripted", "Live"]


@pytest.mark.parametrize("works", [True, False])
def test_a_trial_says_whether_the_model_answers(visit: Visit, provider: Provider, works: bool) -> None:
    teacher, _ = begun(visit)
    provider.says = f"Hello from {KEY}" if works else ""
    provider.refuse = "" if works else KEY
    teacher.text_input(key="class-lend-model").input("class-model")
    teacher.text_input(key="class-lend-url").input(provider.url)
    teacher.text_input(key="class-lend-key").input(KEY)
    teacher.button(key="class-lend-try").click().run()
    for _ in range(100):
        time.sleep(0.05)
        if "asked for one word" not in shown(teacher.run(), "caption"):
            break
    assert ("It answered" if works else "It did not answer") in shown(teacher, "markdown")
    assert KEY not in shown(teacher, "text", "markdown")


def test_what_no_call_could_succeed_with_is_told_and_nothing_is_lent(visit: Visit) -> None:
    teacher, klass = begun(visit)
    lend(teacher, "no url")
    assert "The base URL must look like" in shown(teacher, "text")
    assert here().lendings.of(klass.id) is None


def test_the_environments_key_goes_to_the_environments_server_alone(
    visit: Visit, provider: Provider, monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    monkeypatch.setitem(os.environ, "OPENAI_API_KEY", "sk-environment-1618-0339")
    teacher, klass = begun(visit)
    lend(teacher, provider.url, key="")
    student, _ = seated(visit, klass)
    borrowed(student)
    assert provider.keys == ["no-key"]
