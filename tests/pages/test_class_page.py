"""The class: a teacher's page, students who join, what is shown to all, and what a teacher decides about a seat."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.pages.schooling import Visit, begun, here, query, run_of, seated, seen, shown, stepped
from traces.classroom.classes import FILE
from traces.lessons.answers import Answers, Question
from traces.lessons.course import course


def choose(app: AppTest, seat: str) -> AppTest:
    """Let the buttons below the table be about a seat."""
    app.session_state["class-chosen"] = seat
    app.run()
    assert not app.exception
    return app


def test_a_class_is_begun_and_its_links_are_shown(visit: Visit) -> None:
    app, klass = begun(visit, "Monday *group*")
    assert query(app)["class"] == klass.secret
    assert "Monday *group*" in shown(app, "text")
    codes = shown(app, "code")
    assert f"/learn?join={klass.code}" in codes
    assert f"/classroom?class={klass.secret}" in codes
    assert "Nobody has joined yet" in shown(app, "caption")


def test_a_student_joins_by_the_link_and_keeps_the_seat_on_every_page(visit: Visit) -> None:
    _, klass = begun(visit)
    app, seat = seated(visit, klass, "Ada **Lovelace**")
    assert query(app) == {"seat": seat.id}
    assert "Monday · Ada **Lovelace**" in shown(app, "text")
    elsewhere = visit(seat=seat.id)
    elsewhere.query_params.clear()  # as the menu does
    elsewhere.run()
    assert query(elsewhere)["seat"] == seat.id
    assert "Ada **Lovelace**" in shown(elsewhere, "text")
    again = visit("learn", seat=seat.id)
    assert "Ada **Lovelace**" in shown(again, "text")


def test_the_code_can_be_typed_and_a_proposed_name_be_taken(visit: Visit) -> None:
    _, klass = begun(visit)
    app = visit("learn")
    app.text_input(key="class-code").input(f" {klass.code.lower()} ").run()
    assert app.text_input(key="class-name").value == "Student 1"
    app.button(key="class-take").click().run()
    assert [seat.name for seat in here().classes.seats(klass.id)] == ["Student 1"]


def test_without_a_class_no_page_speaks_of_one(visit: Visit) -> None:
    app = visit("learn")
    assert not [each for each in app.text_input if each.key == "class-code"]


@pytest.mark.parametrize("code", ["WRONG1", "closed", "ended"])
def test_a_code_that_leads_nowhere_says_so(visit: Visit, code: str) -> None:
    _, klass = begun(visit)
    if code == "closed":
        here().classes.close(klass.id, True)
    elif code == "ended":
        here().classes.end(klass.id)
    app = visit("learn", join=code if code == "WRONG1" else klass.code)
    assert "No way in" in shown(app, "markdown")
    app.button(key="class-without").click().run()
    assert "join" not in app.query_params
    assert "Learn" in shown(app, "subheader")


def test_the_table_says_who_is_where_and_how_far(visit: Visit, data: Path) -> None:
    teacher, klass = begun(visit)
    ada, seat = seated(visit, klass, "Ada")
    bob, _ = seated(visit, klass, "Bob")
    stepped(ada)
    lesson = course(data).lessons[0]
    bob.query_params["lesson"] = lesson.name
    bob.run()
    Answers(data).put(seat.id, Question(lesson.name, "", "2-call.maker"), "model", True, klass=klass.id)
    teacher.run()
    table = teacher.dataframe[0].value
    assert table["name"].tolist() == ["Ada", "Bob"]
    assert table["where"].tolist() == ["Run page", lesson.title.en]
    assert table["state"].tolist() == ["step 1: call", "–"]
    assert table["score"].tolist() == ["1 / 1", "–"]
    assert table["seen"].tolist() == ["just now", "just now"]


def test_the_table_knows_the_pages_without_a_run(visit: Visit) -> None:
    teacher, klass = begun(visit)
    ada, _ = seated(visit, klass)
    assert teacher.run().dataframe[0].value["where"].tolist() == ["The course"]
    ada.query_params["systems"] = "1"
    ada.run()
    assert teacher.run().dataframe[0].value["where"].tolist() == ["The five systems side by side"]


def test_no_student_writes_words_of_his_own_into_the_table(visit: Visit) -> None:
    teacher, klass = begun(visit)
    ada, _ = seated(visit, klass)
    ada.query_params["exercise"] = "nonsense"
    ada.run()
    assert teacher.run().dataframe[0].value["where"].tolist() == ["–"]


def test_a_run_that_is_reset_begins_again_and_says_why(visit: Visit) -> None:
    teacher, klass = begun(visit)
    ada, seat = seated(visit, klass)
    old = stepped(ada)
    choose(teacher.run(), seat.id).button(key="class-reset").click().run()
    ada.run()
    assert "run" not in ada.query_params
    assert "Your teacher has reset this run" in shown(ada, "info")
    ada.button(key="step").click().run()
    assert run_of(ada).id != old.id
    assert "reset" not in shown(ada, "info")
    ada.query_params["run"] = old.id  # as the browser's Back does
    ada.run()
    assert "run" not in ada.query_params


def test_a_reset_lesson_begins_again_too(visit: Visit, data: Path) -> None:
    teacher, klass = begun(visit)
    ada, seat = seated(visit, klass)
    ada.query_params["lesson"] = course(data).lessons[0].name
    ada.run()
    skips = [each for each in ada.button if str(each.key).startswith("skip-")]
    if skips:
        skips[0].click().run()
    ada.button(key="step").click().run()
    old = run_of(ada)
    choose(teacher.run(), seat.id).button(key="class-reset").click().run()
    ada.run()
    assert "Your teacher has reset this run" in shown(ada, "info")
    assert old.id not in seen(ada)


def test_a_run_is_ended_by_the_teacher(visit: Visit) -> None:
    teacher, klass = begun(visit)
    ada, seat = seated(visit, klass)
    run = stepped(ada)
    choose(teacher.run(), seat.id).button(key="class-stop").click().run()
    assert run.runner.wait(5)
    assert run.loop.stop_reason == "stopped_by_user"
    assert teacher.run().dataframe[0].value["state"].tolist() == ["Stopped by the user."]


def test_a_seat_that_is_taken_away_is_told_and_the_student_goes_on_without(visit: Visit) -> None:
    teacher, klass = begun(visit)
    ada, seat = seated(visit, klass)
    choose(teacher, seat.id).button(key="class-remove").click().run()
    ada.run()
    assert "Your seat in the class is not there any more" in shown(ada, "info")
    assert "seat" not in ada.query_params
    ada.run()
    assert "Monday" not in seen(ada)
    assert "Learn" in shown(ada, "subheader")


def test_a_press_on_a_row_is_about_that_seat_and_a_later_student_does_not_change_it(visit: Visit) -> None:
    teacher, klass = begun(visit)
    seated(visit, klass, "Ada")
    seated(visit, klass, "Bob")
    teacher.run()
    here_now = here().classes.seats(klass.id)
    choose(teacher, here_now[1].id)
    seated(visit, klass, "Eve")
    here().classes.remove(here_now[0].id)
    teacher.run()
    assert "2 · Bob" in shown(teacher, "text")


def test_what_is_shown_to_the_class_is_one_line_with_a_link(visit: Visit, data: Path) -> None:
    teacher, klass = begun(visit)
    ada, _ = seated(visit, klass)
    lesson = course(data).lessons[1]
    teacher.selectbox(key="class-show").select(f"lesson:{lesson.name}:").run()
    teacher.button(key="class-show-it").click().run()
    assert lesson.title.en in shown(teacher, "text")
    ada.run()
    assert "See what your teacher shows" in seen(ada)
    assert lesson.title.en in shown(ada, "text")
    ada.query_params["lesson"] = lesson.name
    assert "See what your teacher shows" not in seen(ada.run())  # there it leads nowhere
    ada.query_params["variant"] = lesson.variants[1].name
    assert "See what your teacher shows" in seen(ada.run())
    teacher.button(key="class-show-no").click().run()
    assert "See what your teacher shows" not in seen(ada.run())


def test_the_teachers_run_is_shown_by_its_view_and_not_by_its_id(visit: Visit) -> None:
    teacher, klass = begun(visit)
    ada, _ = seated(visit, klass)
    run = stepped(teacher)
    teacher.query_params.clear()
    teacher.switch_page("pages/classroom.py")
    teacher.query_params["class"] = klass.secret
    teacher.run()
    assert teacher.selectbox(key="class-show").value == f"run:{run.id}"
    teacher.button(key="class-show-it").click().run()
    page = seen(ada.run())
    assert "See what your teacher shows" in page
    assert run.id not in page


def test_a_class_that_ends_is_told_to_its_seats(visit: Visit) -> None:
    teacher, klass = begun(visit)
    ada, seat = seated(visit, klass)
    teacher.button(key="class-end").click().run()
    assert "This class is over" in shown(teacher, "info")
    ada.run()
    assert "The class is over" in shown(ada, "caption")
    assert query(ada)["seat"] == seat.id
    ada.button(key="class-leave").click().run()
    assert "seat" not in ada.query_params


def test_a_class_survives_a_restart(visit: Visit) -> None:
    _, klass = begun(visit)
    _, seat = seated(visit, klass)
    st.cache_resource.clear()
    assert "Monday · Ada" in shown(visit("learn", seat=seat.id), "text")
    assert visit("classroom", **{"class": klass.secret}).dataframe[0].value["name"].tolist() == ["Ada"]


def test_two_classes_at_once_are_apart(visit: Visit) -> None:
    monday, first = begun(visit, "Monday")
    tuesday, second = begun(visit, "Tuesday")
    seated(visit, first, "Ada")
    bob, _ = seated(visit, second, "Bob")
    assert monday.run().dataframe[0].value["name"].tolist() == ["Ada"]
    assert tuesday.run().dataframe[0].value["name"].tolist() == ["Bob"]
    here().classes.end(first.id)
    assert "over" not in shown(bob.run(), "caption")


def test_a_broken_file_of_classes_is_told_and_the_course_goes_on(visit: Visit, data: Path) -> None:
    (data / FILE).write_bytes(b"no database" * 500)
    app = visit()
    assert FILE in shown(app, "text")
    app.switch_page("pages/learn.py").run()
    assert "Learn" in shown(app, "subheader")
    assert FILE not in shown(app, "text")


def test_hands_of_a_room_without_devices_are_counted_under_the_question(visit: Visit, data: Path) -> None:
    lesson = next(each for each in course(data).lessons if each.asks)
    app = visit("classroom")
    app.toggle(key="hands").set_value(True).run()
    app.switch_page("pages/learn.py")
    app.query_params["lesson"] = lesson.name
    app.run()
    for _ in range(12):
        fields = [each for each in app.number_input if str(each.key).startswith("hands--")]
        if fields:
            break
        app.button(key="step").click().run()
    fields[0].set_value(7).run()
    ask = lesson.asks[0]
    assert sorted(Answers(data).tally("", Question(lesson.name, lesson.variants[0].name, ask.id)).values()) == [7]
    assert query(visit(hands="1"))["hands"] == "1"


def test_the_answers_of_a_class_stay_hidden_until_the_teacher_shows_them(visit: Visit, data: Path) -> None:
    teacher, klass = begun(visit)
    _, seat = seated(visit, klass)
    lesson = next(
        each for each in course(data).lessons if len(each.variants) > 1 and each.asks and each.variants[-1].asks
    )
    ask = next(each for each in lesson.asks if not each.variant)
    variant = lesson.variants[0].name
    Answers(data).put(seat.id, Question(lesson.name, variant, ask.id), "0", None, klass=klass.id)
    teacher.run()
    assert "Answers: 1 of 1" in shown(teacher, "caption")
    toggle = next(each for each in teacher.toggle if str(each.key).startswith("class-reveal"))
    bars = "list-style:none"
    assert bars not in seen(teacher)
    toggle.set_value(True).run()
    assert bars in seen(teacher)
    Answers(data).put(seat.id, Question(lesson.name, lesson.variants[-1].name, ask.id), "0", None, klass=klass.id)
    assert bars not in seen(teacher.run()), "the same question of another variant begins hidden"
