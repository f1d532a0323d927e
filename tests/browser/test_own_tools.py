"""The app started with ``-- --tools FILE --data DIR``, as a person starts it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

TOOLS = '''\
from agent import tool


@tool
def greet(name: str) -> str:
    """Say hello."""
    return f"hello {name}"
'''


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(TOOLS, encoding="utf-8")
    return path


def test_own_tools_are_offered_and_a_run_with_them_is_shown_without_them(
    lab: Any, serve: Callable[..., Any], tools: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    with serve(options=["--tools", str(tools), "--data", str(folder)]) as server:
        lab.open(f"{server.url}/?script_tools=add,multiply,greet")
        lab.page.get_by_text("Tools on offer: 3").click()
        expect(lab.page.get_by_text("greet (own)")).to_be_visible()
        lab.key("o")
        lab.rows(4)
        run = re.search(r"run=([0-9a-f]{12})", lab.page.url)
        assert run is not None
        assert [path.suffix for path in folder.iterdir()] == [".jsonl"]
    with serve(options=["--data", str(folder), "--tools", os.devnull, "--nonsense"]) as server:
        lab.open(f"{server.url}/?run={run[1]}")
        lab.rows(4)
        expect(lab.page.get_by_text("Tools that are not here: greet.")).to_be_visible()
        expect(lab.page.get_by_text("streamlit run app.py -- [--tools FILE ...]").first).to_be_visible()
        expect(lab.page.get_by_text("there is no tool in it")).to_be_visible()
        expect(lab.page.get_by_text("--nonsense: the app has no such option")).to_be_visible()
        lab.key("g")
        expect(lab.page.get_by_text("Tools that are not here: greet.")).to_have_count(2)  # told at the press as well
        lab.rows(4)
    with serve(options=["--data", str(folder), "--tools", str(tools)]) as server:
        lab.open(f"{server.url}/?run={run[1]}")
        lab.key("g")
        lab.rows(7)
        assert list(folder.glob("*.json"))
