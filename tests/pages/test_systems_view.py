"""The five systems on the page: all in one table, one at a time, its lines of the loop, its lesson."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Column

from agent.stops import max_iterations
from pages.parts.source import source_of
from tests.pages.conftest import texts
from traces.lessons.lesson import System
from traces.lessons.systems import systems

Visit = Callable[..., AppTest]


@pytest.mark.parametrize("system", [info.name for info in systems()])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_address_opens_each_system_in_both_languages(visit: Visit, system: System, language: str) -> None:
    app = visit("learn", systems=str(system), lang=language)
    info = next(info for info in systems() if info.name is system)
    assert info.point.of(language) in texts(app, "text")
    assert len(app.expander) == len(info.ideas)
    assert _beside(app) == [system]


def test_the_table_compares_all_five(visit: Visit) -> None:
    app = visit("learn", systems="1")
    table = next(str(html.value) for html in app.get("html") if "<table" in str(html.value))
    assert all(info.lacks.en.replace("'", "&#x27;") in table for info in systems())


def test_outputs_of_the_same_task_stand_beside_each_other(visit: Visit) -> None:
    app = visit("learn", systems="plain,observable,bounded")
    plain, observable, bounded = _columns(app)
    assert "[0] tool_call add({'a': 2, 'b': 3}) -> 5" in plain.code[0].value
    events = observable.code[0].value.splitlines()
    assert [line.partition(" ")[0] for line in events] == [
        "turn.started",
        *["model.completed", "tool.started", "tool.completed"] * 2,
        "model.completed",
        "turn.completed",
    ]
    assert '"result": 20' in events[6]
    assert list(bounded.dataframe[0].value["observe"]) == ["5", "20", ""]
    assert all(any("679 tokens" in text.value for text in column.text) for column in (plain, observable, bounded))


def test_another_one_is_added_and_the_address_says_so(visit: Visit) -> None:
    app = visit("learn", systems="bounded")
    app.get("button_group")[0].set_value([System.BOUNDED, System.STATE_MACHINE]).run()
    assert not app.exception
    assert app.query_params["systems"] == "bounded,state_machine"
    assert _beside(app) == [System.BOUNDED, System.STATE_MACHINE]
    code, file, first = source_of(max_iterations)
    shown = next(block.value for block in app.code if "def max_iterations" in block.value)
    assert shown == f"# {file}, from line {first}\n{code}"


def test_a_fourth_one_takes_the_place_of_the_first(visit: Visit) -> None:
    app = visit("learn", systems="plain,observable,bounded")
    app.get("button_group")[0].set_value([*_beside(app), System.JSON_ACTION]).run()
    assert app.query_params["systems"] == "observable,bounded,json_action"
    assert _beside(app) == [System.OBSERVABLE, System.BOUNDED, System.JSON_ACTION]


def test_the_last_one_stays(visit: Visit) -> None:
    app = visit("learn", systems="bounded")
    app.get("button_group")[0].set_value([]).run()
    assert not app.exception
    assert _beside(app) == [System.BOUNDED]
    assert app.query_params["systems"] == "bounded"


@pytest.mark.parametrize("said", ["1", "sixth", ",", "lab"])
def test_an_address_without_one_of_the_five_shows_two(visit: Visit, said: str) -> None:
    app = visit("learn", systems=said)
    assert _beside(app) == [System.PLAIN, System.JSON_ACTION]
    assert systems()[0].point.en in texts(app, "text")


def _beside(app: AppTest) -> list[System]:
    """What the field says stands beside each other."""
    return list(app.get("button_group")[0].value)


def _columns(app: AppTest) -> list[Column]:
    """The columns of outputs; those below say who is responsible for what."""
    return [column for column in app.columns if column.markdown[0].value.startswith("#### ")]


def test_the_lesson_of_a_system_is_one_press_away(visit: Visit) -> None:
    app = visit("learn", systems="plain")
    app.button(key="systems-lesson").click().run()
    assert not app.exception
    assert app.query_params["lesson"] == "two_sums"
    assert "systems" not in app.query_params


def test_the_way_back_leads_to_the_course(visit: Visit) -> None:
    app = visit("learn", systems="plain", lang="zh")
    app.button(key="systems-close").click().run()
    assert not app.exception
    assert "systems" not in app.query_params
    assert app.query_params["lang"] == "zh"
