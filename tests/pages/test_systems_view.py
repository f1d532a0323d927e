"""The five systems on the page: all in one table, one at a time, its lines of the loop, its lesson."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

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


def test_the_table_compares_all_five(visit: Visit) -> None:
    app = visit("learn", systems="1")
    table = next(str(html.value) for html in app.get("html") if "<table" in str(html.value))
    assert all(info.lacks.en.replace("'", "&#x27;") in table for info in systems())
    assert "[0] tool_call add({'a': 2, 'b': 3}) -> 5" in texts(app, "code")


def test_another_one_is_chosen_and_the_address_says_so(visit: Visit) -> None:
    app = visit("learn", systems="1")
    app.get("button_group")[0].set_value(System.BOUNDED).run()
    assert not app.exception
    assert app.query_params["systems"] == "bounded"
    code, file, first = source_of(max_iterations)
    shown = next(block.value for block in app.code if "def max_iterations" in block.value)
    assert shown == f"# {file}, from line {first}\n{code}"


def test_a_name_that_is_none_of_the_five_shows_the_first(visit: Visit) -> None:
    app = visit("learn", systems="sixth")
    assert systems()[0].point.en in texts(app, "text")


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
