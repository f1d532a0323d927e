"""The exercises in the app: what is wrong is said beside the work, hints come one at a time, and nothing gets lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import texts
from tests.pages.teaching import in_address
from traces.lessons.answers import LOCAL, Answers
from traces.lessons.exercises import map_fields, order_messages, react, repair, stop_rule, write_tool
from traces.lessons.exercises.catalogue import catalogue

Visit = Callable[..., AppTest]


@pytest.fixture
def open_exercise(visit: Visit) -> Callable[..., AppTest]:
    def open_it(name: str, **query: str) -> AppTest:
        return visit("learn", exercise=name, **query)

    return open_it


def click(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def solved(data: Path) -> frozenset[str]:
    return Answers(data).finished(LOCAL)


def shown(app: AppTest) -> str:
    return texts(app, "text", "markdown", "success", "caption")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [info.name for info in catalogue()])
def test_each_exercise_opens_with_its_task_and_gives_hints_one_by_one_and_then_the_answer(
    open_exercise: Callable[..., AppTest], name: str, language: str, data: Path
) -> None:
    app = open_exercise(name, lang=language)
    for number in (1, 2, 3):
        assert "exercise-show" not in [button.key for button in app.button]
        click(app, "exercise-hint")
        assert sum(each.startswith(("Hint ", "提示 ")) for each in shown(app).splitlines()) == number
    assert "answer shown" not in shown(app)
    assert "看过答案" not in shown(app)
    click(app, "exercise-show")
    assert ("看过答案" if language == "zh" else "answer shown") in shown(app)
    assert not solved(data)
    click(app, "exercise-again")
    assert "Hint 1" not in shown(app)
    assert "提示 1" not in shown(app)


def test_an_unknown_exercise_is_told_and_leads_back(open_exercise: Callable[..., AppTest]) -> None:
    app = open_exercise("**nothing**")
    assert "There is no exercise '**nothing**' here." in texts(app, "text")
    click(app, "exercise-back")
    assert "exercise" not in app.query_params


# ---- order ----


def place_all(app: AppTest, run: str, number: int = 0) -> None:
    for card in order_messages.cards(run, "en"):
        for what, value in (("number", card.number), ("maker", card.maker)):
            app.selectbox(key=f"exercise-order_messages-{number}-{run}-{card.letter}-{what}").set_value(value)


def test_messages_in_order_are_solved_and_kept_as_such(open_exercise: Callable[..., AppTest], data: Path) -> None:
    app = click(open_exercise("order_messages"), "exercise-check")
    assert "Without a number yet" in shown(app)
    place_all(app, "sum")
    app.run()
    assert "Every message in its place" in shown(app)
    assert "Solved" in texts(app, "success")
    assert solved(data) == {"exercise:order_messages"}
    click(app, "exercise-next")
    assert in_address(app, "exercise") == "repair"


def test_another_run_is_a_new_task_and_the_first_is_still_there(open_exercise: Callable[..., AppTest]) -> None:
    app = open_exercise("order_messages")
    place_all(app, "sum")
    app.run()
    choice = app.selectbox(key="exercise-order_messages-0-run")
    choice.set_value("order").run()
    assert "cancel order A1002" in texts(app, "text")
    app.selectbox(key="exercise-order_messages-0-run").set_value("sum").run()
    click(app, "exercise-check")
    assert "Every message in its place" in shown(app)


def test_what_was_placed_is_there_after_another_page(open_exercise: Callable[..., AppTest]) -> None:
    app = open_exercise("order_messages")
    place_all(app, "sum")
    app.run()
    app.switch_page("pages/scripts.py").run()
    app.switch_page("pages/learn.py")
    app.query_params["exercise"] = "order_messages"
    app.run()
    click(app, "exercise-check")
    assert "Every message in its place" in shown(app)


# ---- repair ----


def choose(app: AppTest, case: str) -> None:
    app.selectbox(key="exercise-repair-0-case").set_value(case).run()
    assert not app.exception


def test_the_check_speaks_while_a_list_is_mended_row_by_row(open_exercise: Callable[..., AppTest], data: Path) -> None:
    app = open_exercise("repair")
    assert "message 2: a tool result for 'c9' without its call" in shown(app)
    click(app, "exercise-delete-1")
    assert "The check accepts this list" in shown(app)
    click(app, "exercise-repair-0-next")
    click(app, "exercise-add")
    click(app, "exercise-arrow_upward-4")
    click(app, "exercise-edit-3")
    app.text_input(key="exercise-repair-0-list-unanswered-en-3-tool_call_id").set_value("c2").run()
    assert "The check accepts this list" in shown(app)
    choose(app, "wrong_id")
    click(app, "exercise-edit-2")
    app.text_input(key="exercise-repair-0-list-wrong_id-en-2-tool_call_id").set_value("c1").run()
    choose(app, "arguments")
    click(app, "exercise-edit-1")
    app.text_input(key="exercise-repair-0-list-arguments-en-1-0-arguments").set_value('{"a": 2').run()
    assert "the arguments are not valid JSON" in shown(app)
    app.text_input(key="exercise-repair-0-list-arguments-en-1-0-arguments").set_value('{"a": 2, "b": 3}').run()
    choose(app, "result_first")
    click(app, "exercise-arrow_downward-1")
    assert "5 of 6 lists are mended." in shown(app)
    assert not solved(data)
    choose(app, "same_id")
    click(app, "exercise-edit-1")
    app.text_input(key="exercise-repair-0-list-same_id-en-1-1-id").set_value("c2").run()
    assert "a tool result for 'c1' without its call" in shown(app)
    click(app, "exercise-edit-3")
    app.text_input(key="exercise-repair-0-list-same_id-en-3-tool_call_id").set_value("c2").run()
    assert "6 of 6 lists are mended." in shown(app)
    assert solved(data) == {"exercise:repair"}


def test_a_list_can_be_mended_as_json_and_what_cannot_be_read_is_told(open_exercise: Callable[..., AppTest]) -> None:
    app = open_exercise("repair")
    app.session_state["exercise-repair-0-tabs"] = "JSON"
    app.run()
    field = "exercise-repair-0-list-orphan-en-json"
    app.text_area(key=field).set_value("[{]").run()
    assert "Line 1: This is no valid JSON" in shown(app)
    app.text_area(key=field).set_value(repair.mended_text(repair.CASES[0], "en")).run()
    assert "The check accepts this list" in shown(app)


# ---- Thought, Action, Observation ----


def test_both_rounds_are_checked_with_their_place(open_exercise: Callable[..., AppTest], data: Path) -> None:
    app = click(open_exercise("react"), "exercise-check")
    assert "Round 1, Thought: Say in a sentence" in shown(app)
    for number, each in enumerate(react.rounds("en"), 1):
        for what, text in zip(("thought", "action", "observation"), each.answer, strict=True):
            app.text_input(key=f"exercise-react-0-{number}-{what}").set_value(text)
    app.run()
    assert "Both rounds are well told" in shown(app)
    assert solved(data) == {"exercise:react"}


# ---- fields ----


@pytest.mark.parametrize("provider", [each.name for each in map_fields.providers()])
def test_the_fields_of_each_provider_can_be_chosen(
    open_exercise: Callable[..., AppTest], provider: str, data: Path
) -> None:
    app = open_exercise("map_fields")
    app.selectbox(key="exercise-map_fields-0-provider").set_value(provider).run()
    click(app, "exercise-check")
    assert "content: Nothing is chosen yet." in shown(app)
    for field, paths in map_fields.answers(provider).items():
        app.selectbox(key=f"exercise-map_fields-0-{provider}-{field}").set_value(paths[0])
    app.run()
    assert "Our reader finds each field just there" in shown(app)
    assert solved(data) == {"exercise:map_fields"}


# ---- programs ----


def write(app: AppTest, name: str, code: str) -> AppTest:
    """What the editor says a moment after the last key; it is an element that the test driver does not know."""
    id = f"exercise-{name}"
    version = app.session_state["script-versions"].get(id, 0) if "script-versions" in app.session_state else 0
    app.session_state[f"script-editor-{id}"] = {"edit": {"text": code, "version": version}}
    return app.run()


def run_it(app: AppTest, name: str) -> AppTest:
    click(app, "exercise-run")
    job = app.session_state[f"draft-exercise-{name}"].job
    assert job.wait(60)
    app.run()
    assert not app.exception
    return app


@pytest.fixture(
    params=[("stop_rule", stop_rule.SOLUTION), ("write_tool", write_tool.SOLUTION)], ids=lambda each: each[0]
)
def program(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    yield request.param


def test_a_program_is_run_and_what_is_wrong_is_told_until_it_is_right(
    open_exercise: Callable[..., AppTest], program: tuple[str, str], data: Path
) -> None:
    name, solution = program
    app = run_it(open_exercise(name), name)
    assert "to put right" in shown(app)
    assert not solved(data)
    write(app, name, solution)
    assert "The program has changed since" in shown(app)
    run_it(app, name)
    assert "Solved" in texts(app, "success")
    assert solved(data) == {f"exercise:{name}"}


def test_a_program_is_there_after_another_page_and_gone_when_begun_again(open_exercise: Callable[..., AppTest]) -> None:
    app = write(open_exercise("stop_rule"), "stop_rule", "def should_stop(steps):\n    return 7\n")
    app.switch_page("pages/scripts.py").run()
    app.switch_page("pages/learn.py")
    app.query_params["exercise"] = "stop_rule"
    app.run()
    run_it(app, "stop_rule")
    assert "should_stop gave 7" in shown(app)
    click(app, "exercise-again")
    assert "should_stop gave 7" not in shown(app)
    run_it(app, "stop_rule")
    assert "Your rule let it go on" in shown(app)


def test_while_a_program_runs_no_other_can_be_started(open_exercise: Callable[..., AppTest]) -> None:
    app = write(open_exercise("stop_rule"), "stop_rule", "while True: pass\n")
    click(app, "exercise-run")
    assert app.button(key="exercise-run").disabled
    job = app.session_state["draft-exercise-stop_rule"].job
    assert not job.done
    click(app, "exercise-again")
    assert app.button(key="exercise-run").disabled
    assert job.wait(60)
    app.run()
    assert not app.button(key="exercise-run").disabled
    assert "takes too long" not in shown(app)


def test_a_call_of_ones_own_shows_what_comes_back(open_exercise: Callable[..., AppTest]) -> None:
    app = write(open_exercise("write_tool"), "write_tool", write_tool.SOLUTION)
    run_it(app, "write_tool")
    app.session_state["exercise-write_tool-0-tabs"] = "Calls"
    app.run()
    assert "→ 14.0" in texts(app, "text")
    app.text_input(key="exercise-write_tool-0-call").set_value('{"weight_kg": ').run()
    assert "the arguments are not valid JSON" in texts(app, "text")
    app.text_input(key="exercise-write_tool-0-call").set_value('{"weight_kg": 7}').run()
    assert "Run it to see what comes back." in shown(app)
    run_it(app, "write_tool")
    assert "→ 18.0" in texts(app, "text")
