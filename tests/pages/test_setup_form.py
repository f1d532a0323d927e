"""The choices of a run: its tools, the options of its model, and what becomes of them on disk and in other sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts.runs import SETUP, registry
from pages.parts.setup import Setup
from tests.pages.conftest import refused
from tests.pages.provider import Provider

Visit = Callable[..., AppTest]
Press = Callable[..., AppTest]
PARALLEL = "parallel"


@pytest.fixture
def live(visit: Visit, provider: Provider) -> AppTest:
    """The page, ready to ask the provider."""
    app = visit(model="live")
    app.text_input(key="model_name").input("some-model")
    app.text_input(key="base_url").input(provider.url)
    return app.run()


def shown(app: AppTest) -> str:
    return "\n".join(str(each.value) for kind in ("markdown", "text", "code", "caption") for each in app.get(kind))


def offered() -> tuple[str, ...]:
    (run,) = registry().listed()
    return run.loop.tools.names


def test_by_default_the_server_decides(live: AppTest, press: Press, provider: Provider) -> None:
    press(live, "continue")
    (body,) = provider.asked
    assert not {"temperature", "max_tokens", "parallel_tool_calls"} & body.keys()
    assert [tool["function"]["name"] for tool in body["tools"]] == ["add", "multiply"]


def test_the_options_go_into_the_request(live: AppTest, press: Press, provider: Provider) -> None:
    live.number_input(key="temperature").set_value(0.3)
    live.number_input(key="max_tokens").set_value(500)
    live.toggle(key=PARALLEL).set_value(False).run()
    press(live, "continue")
    (body,) = provider.asked
    assert (body["temperature"], body["max_tokens"], body["parallel_tool_calls"]) == (0.3, 500, False)
    (run,) = registry().listed()
    assert run.loop.settings.parallel is False


def test_options_survive_a_restart_and_are_shown_in_another_session(
    live: AppTest, press: Press, visit: Visit, provider: Provider
) -> None:
    provider.says = '{"action": "tool", "tool": "add", "params": {"a": 2, "b": 3}}'
    live.number_input(key="temperature").set_value(0.3)
    live.number_input(key="max_tokens").set_value(500)
    live.radio(key="protocol").set_value("json_action")
    live.toggle(key=PARALLEL).set_value(False)
    live.multiselect(key="script_tools").set_value(["add", "divide"]).run()
    run_id = press(live, "step_over").query_params["run"]
    for restart in (False, True):
        if restart:
            st.cache_resource.clear()
        again = visit(run=run_id)
        assert again.number_input(key="temperature").value == 0.3
        assert again.number_input(key="max_tokens").value == 500
        assert again.radio(key="protocol").value == "json_action"
        assert again.toggle(key=PARALLEL).value is False
        assert again.multiselect(key="script_tools").value == ["add", "divide"]
    provider.says = '{"action": "final", "response": "5"}'
    press(again, "continue")
    last = provider.asked[-1]
    assert (last["temperature"], last["max_tokens"]) == (0.3, 500)
    assert "tools" not in last
    assert last["messages"][-1]["content"] == "Result of add: 5"


def test_options_stand_in_the_address_until_they_are_the_usual_ones(live: AppTest, visit: Visit) -> None:
    live.number_input(key="temperature").set_value(0.3)
    live.multiselect(key="script_tools").set_value(["add", "divide"]).run()
    assert (live.query_params["temperature"], live.query_params["script_tools"]) == ("0.3", "add,divide")
    again = visit(model="live", temperature="0.3", script_tools="add,divide", max_tokens="9", parallel="off")
    assert again.number_input(key="temperature").value == 0.3
    assert again.multiselect(key="script_tools").value == ["add", "divide"]
    again.number_input(key="temperature").set_value(None)
    again.multiselect(key="script_tools").set_value(["add", "multiply"]).run()
    assert not {"temperature", "script_tools"} & again.query_params.keys()


def test_nonsense_in_an_address_gives_the_usual_options(visit: Visit) -> None:
    app = visit(model="live", temperature="hot", max_tokens="-3", protocol="morse", script_tools="hammer", parallel="?")
    assert app.number_input(key="temperature").value is None
    assert app.number_input(key="max_tokens").value is None
    assert app.radio(key="protocol").value == "native"
    assert app.multiselect(key="script_tools").value == ["add", "multiply"]
    assert app.toggle(key=PARALLEL).value is True


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("temperature", -0.1, "The temperature on the left can be from 0 to 2, or empty."),
        ("temperature", 2.5, "The temperature on the left can be from 0 to 2, or empty."),
        ("max_tokens", 0, "The length of a reply on the left can be from 1 token, or empty."),
    ],
)
def test_a_value_that_cannot_be_right_is_said_and_nothing_starts(
    live: AppTest, key: str, value: float, words: str
) -> None:
    live.number_input(key=key).set_value(value).run()
    assert not live.exception
    assert words in shown(live)
    assert refused(live) and not registry().listed()


def test_an_option_changed_during_a_run_begins_a_new_one(live: AppTest, press: Press) -> None:
    press(live, "step")
    live.number_input(key="temperature").set_value(1.0).run()
    assert "run" not in live.query_params
    assert live.number_input(key="temperature").value == 1.0


def test_a_scripted_run_takes_parallel_calls_up_on_its_way(visit: Visit, press: Press, data: Path) -> None:
    app = press(visit(scenario="parallel"), "step")
    run_id = app.query_params["run"]
    app.toggle(key=PARALLEL).set_value(False).run()
    assert app.query_params["run"] == run_id
    (run,) = registry().listed()
    assert run.loop.settings.parallel is False
    press(app, "continue")
    saved = json.loads((data / f"{run_id}.json").read_text(encoding="utf-8"))
    assert (saved["config"]["parallel"], saved[SETUP]["parallel"]) == (False, False)


def test_a_scenario_offers_the_tools_of_its_script_and_others_can_be_added_or_taken_away(
    visit: Visit, press: Press
) -> None:
    app = visit()
    app.multiselect(key="script_tools").set_value(["multiply", "divide"]).run()
    app = press(app, "step_over")
    assert offered() == ("multiply", "divide")
    assert "unknown tool 'add'" in app.dataframe[0].value["text"].iloc[-1]


def test_another_scenario_comes_with_its_own_tools(visit: Visit, press: Press) -> None:
    app = visit()
    app.multiselect(key="script_tools").set_value(["add"]).run()
    app.selectbox(key="scenario").select("weather").run()
    assert app.multiselect(key="script_tools").value == ["get_weather"]
    assert "script_tools" not in app.query_params
    press(app, "step")
    assert offered() == ("get_weather",)


def test_a_scenario_without_any_tool_stays_without(visit: Visit, press: Press) -> None:
    app = visit()
    app.multiselect(key="script_tools").set_value([]).run()
    app = press(app, "step")
    assert offered() == ()
    st.cache_resource.clear()
    assert visit(run=app.query_params["run"]).multiselect(key="script_tools").value == []


def test_a_scripted_run_says_that_it_keeps_the_protocol_of_its_script(visit: Visit) -> None:
    assert "The script speaks native tool calls." in shown(visit())
    assert "The script speaks JSON actions." in shown(visit(scenario="count_files"))


def test_a_live_model_speaks_the_protocol_of_the_scenario_unless_another_is_chosen(
    visit: Visit, press: Press, provider: Provider
) -> None:
    app = visit(model="live", scenario="count_files")
    app.text_input(key="model_name").input("some-model")
    app.text_input(key="base_url").input(provider.url).run()
    assert app.radio(key="protocol").value == "json_action"
    assert app.toggle(key="text_calls").disabled
    app.radio(key="protocol").set_value("native").run()
    press(app, "continue")
    assert "tools" in provider.asked[0]


def test_a_call_in_the_text_runs_only_where_that_is_chosen(live: AppTest, press: Press, provider: Provider) -> None:
    provider.says = '<tool_call>{"name": "add", "arguments": {"a": 2, "b": 3}}</tool_call>'
    live = press(live, "step_over")
    assert len(registry().listed()[0].loop.messages) == 3
    live.toggle(key="text_calls").set_value(True).run()
    press(live, "step_over")
    assert registry().listed()[0].loop.messages[-1].text == "5"


def test_settings_of_an_older_run_take_the_usual_options() -> None:
    old = {"scenario": "calc", "tools": [], "kind": "live", "model": "m", "max_steps": 4}
    setup = Setup.from_dict(old)
    assert setup.offered == ("add", "multiply")
    assert (setup.speaks, setup.temperature, setup.parallel) == ("native", None, True)
