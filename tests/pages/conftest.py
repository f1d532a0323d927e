"""The app without a browser: Streamlit's own test driver over the real pages, with a data folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from agent import FakeModel, Loop, Runner
from pages.parts.runs import OpenRun, registry
from pages.parts.setup import Setup
from tests.pages.provider import Provider, served

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session", autouse=True)
def packages_are_looked_through_once() -> Iterator[None]:
    """Streamlit reads what every installed package says of itself for each AppTest: most of the time of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder and an empty registry for each test; no live model in the environment."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGENT_LAB_DATA", str(tmp_path))
    st.cache_resource.clear()
    yield tmp_path
    for run in registry().listed():
        registry().end(run.id)
        run.runner.wait(10)


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A model server of this test."""
    with served() as provider:
        yield provider


@pytest.fixture
def visit() -> Callable[..., AppTest]:
    """Open the app at an address, as a new browser session."""

    def open_page(page: str | None = None, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
        app.query_params.update(query)
        if page:
            app.run()
            app.switch_page(f"pages/{page}.py")
            app.query_params.update(query)
        app.run()
        assert not app.exception
        return app

    return open_page


def refused(app: AppTest, key: str = "continue") -> bool:
    """Press a button that cannot do its work yet: True when the page says so and no run has moved."""
    before = [len(run.loop.trace.steps) for run in registry().listed()]
    app.button(key=key).click().run()
    told = any("That did not work" in str(each.value) for each in app.markdown)
    return told and [len(run.loop.trace.steps) for run in registry().listed()] == before


@pytest.fixture
def press() -> Callable[..., AppTest]:
    """Press a button, wait until the run rests, and draw the page once more."""

    def press_button(app: AppTest, key: str) -> AppTest:
        app.button(key=key).click().run()
        for run in registry().listed():
            assert run.runner.wait(10)
        app.run()
        assert not app.exception
        return app

    return press_button


@pytest.fixture
def open_run() -> Callable[..., OpenRun]:
    """Put a run made from a fake model into the registry, ready to be opened by its id."""

    def make(turns: list[Any] | FakeModel, tools: Any = (), task: str = "a task", **options: Any) -> OpenRun:
        loop = Loop(turns if isinstance(turns, FakeModel) else FakeModel(turns), tools, **options)
        loop.start(task)
        run = OpenRun(Runner(loop), Setup())
        return registry().open(run.id, lambda: run)

    return make


def texts(app: AppTest, *kinds: str) -> str:
    """Everything that elements of these kinds show."""
    return "\n".join(str(element.value) for kind in kinds for element in app.get(kind))


@pytest.fixture
def public() -> Iterator[None]:
    """A server that other machines can reach."""
    config.set_option("server.address", "0.0.0.0")
    yield
    config.set_option("server.address", "127.0.0.1")


@pytest.fixture
def new(visit: Callable[..., AppTest]) -> AppTest:
    """A new design of an experiment, as the button makes it."""
    app = visit("ablate")
    app.button(key="ablate-new").click().run()
    assert not app.exception
    return app
