"""A lesson without a browser: questions before the run goes on, what the run says to them, and the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.runs import OpenRun, registry
from tests.pages.conftest import texts
from tests.pages.teaching import LESSON, in_address, put_lesson
from traces.lessons.answers import LOCAL, Answers, Score, TaskWords

Visit = Callable[..., AppTest]
Press = Callable[..., AppTest]
KINDS = ("markdown", "text", "code", "caption", "warning", "error", "subheader")
STOP, REPLY, CHOICE = "2-decide.stop", "1-call.reply", "1-execute.choice"


@pytest.fixture
def adding(visit: Visit, data: Path) -> Callable[..., AppTest]:
    """The lesson of a teacher, opened at an address."""
    put_lesson(data)

    def open_lesson(**query: str) -> AppTest:
        return visit("learn", lesson="adding", **query)

    return open_lesson


def said(app: AppTest) -> str:
    return texts(app, *KINDS)


def the_run() -> OpenRun:
    (run,) = registry().listed()
    return run


def answer(app: AppTest, ask: str, choice: str, variant: str = "usual") -> AppTest:
    app.button(key=f"answer-adding-{variant}-{ask}-{choice}").click().run()
    assert not app.exception
    return app


def skip(app: AppTest, ask: str) -> AppTest:
    app.button(key=f"skip-adding-usual-{ask}").click().run()
    return app


def asked(app: AppTest, ask: str) -> bool:
    return f"skip-adding-usual-{ask}" in {button.key for button in app.button}


def to_the_end(app: AppTest, press: Press) -> AppTest:
    """Skip every question and go on to the end."""
    for ask in (REPLY, CHOICE, STOP):
        app = skip(press(app, "continue"), ask)
    return press(app, "continue")


def test_idea_and_question_come_first_and_no_run_is_made(adding: Callable[..., AppTest]) -> None:
    app = adding()
    assert "The *idea* of it." in texts(app, "text") and "Who adds?" in texts(app, "text")
    assert "What is 2+3?" in str(app.dataframe[0].value)
    assert registry().listed() == []


def test_an_open_question_keeps_the_run_from_going_on_and_says_so_kindly(
    adding: Callable[..., AppTest], press: Press
) -> None:
    app = press(adding(), "step")
    assert asked(app, REPLY) and "Does the model ask for a tool, or does it answer?" in said(app)
    for way in ("step", "step_over", "next_call", "continue", "walk"):
        app.button(key=way).click().run()
        assert "There is a question first" in app.toast[0].value
        assert the_run().loop.phase == "call" and not the_run().loop.trace.steps


def test_while_it_is_asked_the_status_does_not_say_who_acts_next(adding: Callable[..., AppTest], press: Press) -> None:
    app = press(adding(), "step")
    assert "Next: **call**" in said(app) and "answers once" not in said(app)
    assert "answers once" in said(skip(app, REPLY))


@pytest.mark.parametrize(("choice", "verdict"), [("tools", "✓ Right"), ("text", "✗ Not this time")])
def test_what_the_run_says_is_revealed_when_the_phase_has_run(
    adding: Callable[..., AppTest], press: Press, data: Path, choice: str, verdict: str
) -> None:
    app = answer(press(adding(), "step"), REPLY, choice)
    assert verdict not in said(app) and "It has a tool for that." not in said(app)
    app = press(app, "step")
    assert verdict in said(app) and "It has a tool for that." in said(app)
    assert Answers(data).scores(LOCAL)["adding"] == Score(right=int(choice == "tools"), answered=1)


def test_a_wrong_answer_is_told_why_it_is_wrong(adding: Callable[..., AppTest], press: Press) -> None:
    app = skip(press(adding(), "step"), REPLY)
    app = answer(press(app, "continue"), CHOICE, "0")
    assert "It only asked." not in said(app)
    app = press(app, "step")
    assert "It only asked." in said(app) and "It is: Nobody" in said(app)


@pytest.mark.parametrize("way", ["continue", "step_over", "walk"])
def test_every_way_of_going_on_rests_at_the_next_question(
    adding: Callable[..., AppTest], press: Press, way: str
) -> None:
    app = skip(press(adding(), "step"), REPLY)
    app.selectbox(key="pace").set_value(0.5).run()
    app = press(app, way)
    assert the_run().loop.phase == "execute" and asked(app, CHOICE)


def test_a_question_is_asked_once_also_when_the_learner_has_looked_back(
    adding: Callable[..., AppTest], press: Press
) -> None:
    app = answer(press(adding(), "step"), REPLY, "tools")
    app = press(app, "step")
    app = press(app, "back")
    assert not asked(app, REPLY)
    app = press(app, "now")
    assert "✓ Right" in said(app)


def test_the_first_answer_counts_in_a_run_begun_again(adding: Callable[..., AppTest], press: Press, data: Path) -> None:
    app = answer(press(adding(), "step"), REPLY, "text")
    app = press(press(app, "step"), "reset")
    app = press(app, "step")
    assert not asked(app, REPLY) and "It answers with text" in said(app)
    app = press(app, "step")
    assert Answers(data).given(LOCAL, "adding", "usual") == {REPLY: "text"}
    app.button(key="lesson-forget").click().run()
    assert asked(press(app, "step"), REPLY)
    assert Answers(data).given(LOCAL, "adding", "usual") == {}


def test_a_passed_over_question_is_revealed_and_does_not_count(
    adding: Callable[..., AppTest], press: Press, data: Path
) -> None:
    app = press(skip(press(adding(), "step"), REPLY), "step")
    assert "Skipped" in said(app) and "The run says: It asks for a tool" in said(app)
    assert Answers(data).scores(LOCAL) == {}


def test_without_questions_the_run_only_walks(adding: Callable[..., AppTest], press: Press) -> None:
    app = press(adding(ask="0"), "continue")
    assert the_run().done and "What do you think?" not in said(app)
    assert "Models ask." in said(app)


def test_the_switch_of_the_questions_is_in_the_address(adding: Callable[..., AppTest], press: Press) -> None:
    app = press(adding(), "step")
    app.toggle(key="lesson-asks").set_value(False).run()
    assert in_address(app, "ask") == "0" and not asked(app, REPLY)
    app.toggle(key="lesson-asks").set_value(True).run()
    assert in_address(app, "ask") is None and asked(app, REPLY)


def test_what_is_to_be_noticed_comes_at_its_moment_and_stays(adding: Callable[..., AppTest], press: Press) -> None:
    app = skip(press(adding(), "step"), REPLY)
    assert "Nothing has run." not in said(app)
    app = press(app, "step")
    assert said(app).count("Nothing has run.") == 1
    assert "To notice" not in said(app)  # it is in the box, and not a second time in the side bar
    app = press(app, "step")
    assert said(app).count("Nothing has run.") == 1
    assert "To notice" in said(app)


# ---- the end ----


def test_at_the_end_the_claims_are_held_against_the_own_run(adding: Callable[..., AppTest], press: Press) -> None:
    app = to_the_end(adding(), press)
    assert said(app).count("✓ shown") == 2 and said(app).count("not in this run") == 1
    assert "It guessed." not in said(app)


def test_the_answer_to_the_task_comes_when_it_is_asked_for(adding: Callable[..., AppTest], press: Press) -> None:
    app = to_the_end(adding(), press)
    assert "Add 4 and 5." in said(app) and "Ask for the tool." not in said(app)
    app.toggle(key="lesson-answer-adding").set_value(True).run()
    assert "Ask for the tool." in said(app)


def test_what_is_written_to_the_task_is_there_after_a_reload(
    adding: Callable[..., AppTest], press: Press, visit: Visit, data: Path
) -> None:
    app = to_the_end(adding(), press)
    app.text_area[0].input("Ask it to add **4** and 5.").run()
    assert Answers(data).task(LOCAL, "adding") == TaskWords("Ask it to add **4** and 5.", looked=False)
    app.toggle(key="lesson-answer-adding").set_value(True).run()
    assert Answers(data).task(LOCAL, "adding").looked
    again = visit("learn", lesson="adding", run=the_run().id)
    assert again.text_area[0].value == "Ask it to add **4** and 5."
    again.text_area[0].input("").run()
    assert Answers(data).task(LOCAL, "adding") == TaskWords("", looked=True)


def test_the_end_is_kept(adding: Callable[..., AppTest], press: Press, data: Path) -> None:
    app = adding()
    assert Answers(data).finished(LOCAL) == frozenset()
    to_the_end(app, press)
    assert Answers(data).finished(LOCAL) == {"adding"}


def test_a_lesson_may_end_before_its_run_does(visit: Visit, press: Press, data: Path) -> None:
    put_lesson(data, LESSON + "until: {step: 1, phase: append}\n")
    app = visit("learn", lesson="adding", ask="0")
    app = press(app, "continue")
    assert the_run().loop.phase == "append"
    assert "The lesson ends here, on purpose" in said(app) and "Models ask." in said(app)
    app.button(key="step").click().run()
    assert "ends here on purpose" in app.toast[0].value and the_run().loop.phase == "append"


def test_the_run_page_goes_on_with_the_run_of_a_lesson(
    adding: Callable[..., AppTest], visit: Visit, press: Press
) -> None:
    app = press(adding(), "step")
    run = the_run()
    other = visit(run=run.id)
    assert not other.exception
    press(other, "continue")
    assert run.done, "questions are asked in the lesson alone"
    assert "What do you think?" not in said(app.run())


# ---- variants, languages, links ----


def test_each_variant_keeps_its_own_run(adding: Callable[..., AppTest], press: Press) -> None:
    app = press(adding(), "step")
    usual = in_address(app, "run")
    app.segmented_control(key="lesson-variant-adding").select("alone").run()
    assert in_address(app, "variant") == "alone" and in_address(app, "run") is None
    app = press(app, "continue")
    assert "Perhaps 5." in str(app.dataframe[0].value) and "It guessed." in said(app)
    app.segmented_control(key="lesson-variant-adding").select("usual").run()
    assert in_address(app, "run") == usual and in_address(app, "variant") is None


@pytest.mark.parametrize(("more", "shown"), [(0, r"Slow \(very\)"), (3, "Slow (very)")])
def test_the_title_of_a_variant_reads_as_it_is_written(visit: Visit, data: Path, more: int, shown: str) -> None:
    named = "".join(f"  - {{name: v{n}, title: {{en: V{n}, zh: 第{n}}}}}\n" for n in range(more))
    slow = '  - {name: slow, title: {en: "Slow (very)", zh: 慢}}\n'
    put_lesson(data, LESSON.replace("asks:\n", f"{slow}{named}asks:\n", 1))
    app = visit("learn", lesson="adding")
    chooser = app.selectbox if more else app.segmented_control
    assert shown in chooser(key="lesson-variant-adding").options


def test_each_language_keeps_its_own_run(adding: Callable[..., AppTest], press: Press) -> None:
    app = press(adding(), "step")
    english = in_address(app, "run")
    app.session_state["language"] = "zh"  # what the switch does; the driver draws the page without it
    app.run()
    assert in_address(app, "run") is None and "2+3 等于多少？" in str(app.dataframe[0].value)
    assert "你用另一种语言开始的这一课，运行还在" in said(app)
    assert "要点说明。" in said(app)
    app = press(app, "step")
    assert "运行还在" not in said(app)
    app.session_state["language"] = "en"
    app.run()
    assert in_address(app, "run") == english and "is kept" not in said(app)


def test_a_link_opens_a_moment_of_a_run(adding: Callable[..., AppTest], press: Press) -> None:
    press(to_the_end(adding(), press), "back")
    other = adding(run=the_run().id, at="3")
    assert "Looking back: moment 3" in said(other)
    assert "Nothing has run." in said(other)


def test_a_link_without_the_variant_of_its_run_shows_that_variant(adding: Callable[..., AppTest], press: Press) -> None:
    press(adding(variant="alone"), "continue")
    other = adding(run=the_run().id, at="2")
    assert in_address(other, "variant") == "alone" and "Looking back: moment 2" in said(other)
    other.segmented_control(key="lesson-variant-adding").select("usual").run()
    assert in_address(other, "run") is None and "What is 2+3?" in str(other.dataframe[0].value)


def test_a_press_that_breaks_a_drawing_off_is_still_about_the_run_of_the_lesson(
    visit: Visit, press: Press, data: Path
) -> None:
    put_lesson(data)
    app = press(visit(), "step")
    own = in_address(app, "run")
    app.query_params.clear()
    app.switch_page("pages/learn.py")
    app.query_params["lesson"] = "adding"
    app.run()
    app.session_state["runs-of"] = ""  # so far the drawing had come
    app = press(app, "step")
    assert "does not belong to this lesson" not in said(app)
    assert in_address(app, "run") not in (None, own) and app.session_state["run"] == own


def test_the_link_of_another_lessons_run_is_told(
    adding: Callable[..., AppTest], visit: Visit, press: Press, data: Path
) -> None:
    put_lesson(data, name="91_other.yaml")
    press(adding(), "step")
    other = visit("learn", lesson="other", run=the_run().id)
    assert "does not belong to this lesson" in said(other) and in_address(other, "run") is None


def test_the_run_page_takes_any_name_of_a_variant_and_a_language_from_the_address(visit: Visit, data: Path) -> None:
    put_lesson(data)
    app = visit(scenario="lesson:adding:nothing:xx")
    assert "What is 2+3?" in str(app.dataframe[0].value)


def test_a_lesson_that_is_gone_is_told(adding: Callable[..., AppTest], press: Press, data: Path) -> None:
    app = press(adding(), "step")
    (data / "lessons" / "90_adding.yaml").unlink()
    app.run()
    assert not app.exception and "There is no lesson 'adding' here." in said(app)
    app.button(key="lesson-back").click().run()
    assert in_address(app, "lesson") is None


def test_a_lesson_that_was_changed_meanwhile_shows_its_new_words(
    adding: Callable[..., AppTest], press: Press, data: Path
) -> None:
    app = press(adding(), "step")
    put_lesson(data, LESSON.replace("Who adds?", "Who adds it all up?"))
    app.run()
    assert not app.exception and "Who adds it all up?" in said(app)


def test_the_breakpoints_of_the_run_page_are_not_those_of_a_lesson(visit: Visit, press: Press, data: Path) -> None:
    put_lesson(data)
    app = visit()
    app.button(key="breakpoint-add").click().run()
    app.switch_page("pages/learn.py")
    app.query_params.update({"lesson": "adding", "ask": "0"})
    app.run()
    press(app, "step")
    assert the_run().runner.breakpoints == ()
