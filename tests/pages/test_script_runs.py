"""A run that is started with a script of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.runs import registry
from tests.pages.conftest import texts
from traces.script_store import ScriptStore

Visit = Callable[..., AppTest]
Press = Callable[[AppTest, str], AppTest]
Keep = Callable[[str], str]

TWO_TURNS = """\
title: Two <b>questions</b>
user: ["What is 2+3?", "And times four?"]
tools: [add, {name: look, results: [{result: "far", arguments: {at: 1}}]}]
turns:
  - calls: [{name: add, arguments: {a: 2, b: 3}}, {name: look, arguments: {at: 1}}]
  - It is 5.
  - It is 20.
"""
RULES = """\
tools: [noop]
rules:
  - when: {calls: {at_most: 1}}
    calls: [{name: noop}]
default: Enough.
"""


def shown(app: AppTest) -> str:
    return texts(app, "markdown", "text", "caption", "badge")


@pytest.fixture
def keep(data: Path) -> Keep:
    """Keep a script, and give its name among the scenarios."""
    return lambda text: f"script:{ScriptStore(data).save('mine', text)}"


def test_both_turns_of_a_conversation_are_played(visit: Visit, press: Press, keep: Keep) -> None:
    app = visit(scenario=keep(TWO_TURNS))
    app = press(app, "continue")
    assert len(app.dataframe[0].value) == 7
    assert "It is 20." in app.dataframe[0].value.to_string()


def test_between_two_turns_the_page_says_that_the_user_goes_on(visit: Visit, press: Press, keep: Keep) -> None:
    app = visit(scenario=keep(TWO_TURNS))
    for _ in range(2):
        app = press(app, "step_over")
    assert "The user goes on with the next message." in shown(app)
    assert not app.button(key="step").disabled
    app = press(app, "step")
    assert len(app.dataframe[0].value) == 6


def test_rules_are_said_to_be_written_by_hand_at_all_times(visit: Visit, press: Press, keep: Keep) -> None:
    app = visit(scenario=keep(RULES))
    assert "rules written by hand" in shown(app)
    app = press(app, "continue")
    assert "rules written by hand" in shown(app)
    assert "Enough." in app.dataframe[0].value.to_string()
    assert "rules written by hand" not in shown(visit())


def test_a_broken_script_is_not_offered_and_a_link_to_it_shows_another(visit: Visit, keep: Keep) -> None:
    app = visit(scenario=keep("turns: 3"))
    assert not app.exception
    assert app.selectbox(key="scenario").value == "calc"


def test_a_run_whose_script_is_gone_says_so(visit: Visit, press: Press, keep: Keep, data: Path) -> None:
    name = keep(TWO_TURNS)
    app = press(visit(scenario=name), "step_over")
    run_id = app.query_params["run"]
    registry().end(run_id)
    ScriptStore(data).delete(name.removeprefix("script:"))
    again = visit(run=run_id)
    assert not again.exception
    assert "The script of this run is not here any more" in shown(again)
    steps = len(again.dataframe[0].value)
    assert len(press(again, "step").dataframe[0].value) == steps


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        ("{}", "final"),
        ("{repeated_calls: 4}", "repeated_call"),
        ("{failing_steps: 3}", "final"),
    ],
)
def test_a_kept_script_has_the_limits_that_it_names_and_no_others(
    visit: Visit, press: Press, keep: Keep, limits: str, stop: str
) -> None:
    text = f"limits: {limits}\ntools: [noop]\nturns:\n  - {{calls: [{{name: noop}}], repeat: 5}}\n  - Done.\n"
    press(visit(scenario=keep(text)), "continue")
    (run,) = registry().listed()
    assert run.loop.trace.outcome.reason == stop
