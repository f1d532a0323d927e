"""The course as a whole: what to press first, how far the learner is, and a teacher's own lessons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.parts.lesson_words import label
from tests.pages.conftest import texts
from tests.pages.teaching import LESSON, in_address, put_lesson
from traces.lessons.answers import LOCAL, Answers, Question
from traces.lessons.course import bundled

Visit = Callable[..., AppTest]
KINDS = ("markdown", "text", "caption", "subheader")


def test_one_button_begins_the_course(visit: Visit) -> None:
    app = visit("learn")
    primary = [button for button in app.button if button.proto.type == "primary"]
    assert [button.label for button in primary] == ["Begin"]
    primary[0].click().run()
    assert in_address(app, "lesson") == bundled()[0].name and not app.exception


def test_every_lesson_stands_there_with_its_question(visit: Visit) -> None:
    app = visit("learn")
    keys = {button.key for button in app.button}
    assert {f"course-lesson-{lesson.name}" for lesson in bundled()} <= keys
    assert all(lesson.question.en in texts(app, "text") for lesson in bundled())


def test_the_course_goes_on_where_the_learner_is(visit: Visit, data: Path) -> None:
    answers, first = Answers(data), bundled()[0].name
    answers.finish(LOCAL, first)
    answers.put(LOCAL, Question(first, "only", "1-call.maker"), "model", True)
    app = visit("learn")
    assert app.button(key="course-next").label == "Go on with lesson 2"
    assert "1 of 1 right" in texts(app, *KINDS) and "✓ done" in texts(app, *KINDS)
    app.button(key="course-next").click().run()
    assert in_address(app, "lesson") == bundled()[1].name


def test_who_has_left_the_first_lesson_to_the_end_goes_on_with_it(visit: Visit, data: Path) -> None:
    for lesson in bundled()[1:]:
        Answers(data).finish(LOCAL, lesson.name)
    assert visit("learn").button(key="course-next").label == "Go on with lesson 1"


def test_a_teachers_lesson_stands_in_the_list_and_a_broken_one_is_told(visit: Visit, data: Path) -> None:
    put_lesson(data)
    put_lesson(data, "title: only a title\n", "broken.yaml")
    app = visit("learn")
    assert "Your own lessons" in texts(app, *KINDS)
    assert app.button(key="course-lesson-adding").label.endswith("Adding up")
    assert "broken.yaml" in texts(app, "text")


def test_the_words_of_a_teacher_are_no_markup(visit: Visit, data: Path) -> None:
    put_lesson(data, LESSON.replace("en: Adding up", 'en: "![x](https://example.org/x.png) **loud**"'))
    app = visit("learn", lesson="adding")
    assert label("![x](https://example.org/x.png) **loud**") in app.subheader[0].value
    assert "](" not in app.subheader[0].value


def test_the_course_is_told_in_chinese(visit: Visit) -> None:
    app = visit("learn", lang="zh")
    assert bundled()[0].question.zh in texts(app, "text") and app.button(key="course-next").label == "开始"


def test_the_run_page_shows_the_way_to_the_course_before_the_first_press(visit: Visit) -> None:
    app = visit()
    links = [element.proto.label for element in app.get("page_link")]
    assert "New here? Begin the course" in links
    app.button(key="step").click().run()
    assert "New here? Begin the course" not in [element.proto.label for element in app.get("page_link")]
