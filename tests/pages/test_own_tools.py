"""Options after ``streamlit run app.py --``: own tools, the data folder, and what is said about wrong ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts.options import Options, read_options
from pages.parts.runs import registry
from tests.pages.conftest import refused

Visit = Callable[..., AppTest]
Press = Callable[..., AppTest]
Start = Callable[..., None]
TOOLS = '''\
from agent import tool


@tool
def greet(name: str) -> str:
    """Say hello."""
    return f"hello {name}"
'''


@pytest.fixture
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "mine.py"
    path.write_text(TOOLS, encoding="utf-8")
    return path


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """A new server process, started with these options."""

    def start_server(*options: object) -> None:
        monkeypatch.setattr(sys, "argv", ["/somewhere/app.py", *map(str, options)])
        st.cache_resource.clear()

    return start_server


def shown(app: AppTest) -> str:
    return "\n".join(str(each.value) for kind in ("markdown", "text", "caption") for each in app.get(kind))


def test_own_tools_are_on_offer_and_marked(start: Start, visit: Visit, press: Press, mine: Path) -> None:
    start("--tools", mine)
    app = visit()
    assert "greet (own)" in app.multiselect(key="script_tools").options
    app.multiselect(key="script_tools").select("greet").run()
    press(app, "step")
    (run,) = registry().listed()
    assert run.loop.tools.names == ("add", "multiply", "greet")
    (schema,) = [each["function"] for each in run.loop.trace.tools if each["function"]["name"] == "greet"]
    assert schema["description"] == "Say hello."


def test_a_run_with_own_tools_is_shown_without_them_and_goes_on_with_them(
    start: Start, visit: Visit, press: Press, mine: Path, data: Path
) -> None:
    start("--tools", mine)
    app = visit()
    app.multiselect(key="script_tools").select("greet").run()
    run_id = press(app, "step_over").query_params["run"]
    before = {path.name: path.read_bytes() for path in data.iterdir()}

    start()
    again = visit(run=run_id)
    assert "Tools that are not here: greet. Start the app with the file that holds them" in shown(again)
    assert len(again.dataframe[0].value) == 4
    assert again.multiselect(key="script_tools").value == ["add", "multiply", "greet"]
    assert [each["function"]["name"] for each in registry().listed()[0].trace().tools] == ["add", "multiply", "greet"]
    assert all(refused(again, key) for key in ("step", "step_over", "continue"))
    assert again.button(key="stop").disabled
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before

    start("--tools", mine)
    back = press(visit(run=run_id), "continue")
    assert "The model answered and asked for nothing more." in shown(back)


def test_chosen_tools_that_are_gone_keep_a_run_from_starting(start: Start, visit: Visit, mine: Path) -> None:
    start("--tools", mine)
    app = visit()
    app.multiselect(key="script_tools").select("greet").run()
    start()
    app.run()
    assert not app.exception
    assert "Tools that are not here: greet." in shown(app)
    assert refused(app)


def test_wrong_options_are_told_and_the_app_starts(start: Start, visit: Visit, press: Press, mine: Path) -> None:
    mine.with_name("broken.py").write_text("def f(:\n", encoding="utf-8")
    start("--tools", mine, mine.with_name("broken.py"), "--tools", "/nowhere/gone.py", "--color", "red")
    app = visit()
    text = shown(app)
    assert "broken.py, line 1: it is no valid Python" in text
    assert "/nowhere/gone.py: the file with your tools cannot be read" in text
    assert "--color red: the app has no such option. Usage: streamlit run app.py --" in text
    assert "greet (own)" in app.multiselect(key="script_tools").options
    assert "The model answered and asked for nothing more." in shown(press(app, "continue"))


def test_runs_are_saved_in_the_folder_of_the_options(
    start: Start, visit: Visit, press: Press, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("other") / "runs"
    start("--data", folder)
    press(visit(), "continue")
    assert [path.suffix for path in folder.iterdir() if path.stem != "index"] == [".json"]
    assert list(data.iterdir()) == []


def test_a_data_folder_that_is_none_is_told(mine: Path) -> None:
    options = read_options(["--data", str(mine)])
    assert options.data is None
    assert options.problems == (f"--data {mine}: it is no folder, so runs are not saved there",)
    assert read_options(["--data", ""]) == Options(
        problems=("--data : the name is empty, so runs are not saved there",)
    )


def test_an_option_without_its_value_is_told() -> None:
    (problem,) = read_options(["--tools"]).problems
    assert problem.startswith("argument --tools: expected at least one argument. Usage: streamlit run app.py --")


def test_the_arguments_of_another_program_are_not_read(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, mine: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["pytest", "--tools", str(mine)])
    assert "greet (own)" not in visit().multiselect(key="script_tools").options
