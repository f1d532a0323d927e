"""Breakpoints of every kind in a real browser, and one list for all tabs, reloads and restarts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import TimeoutError, expect

pytestmark = pytest.mark.browser


def unfolded(lab: Any, count: int) -> None:
    lab.settled()
    lab.page.get_by_text(f"Breakpoints: {count}").click()
    expect(lab.page.get_by_role("button", name="Add breakpoint")).to_be_visible()


def choose(lab: Any, label: str, option: str, *, new: bool = False) -> None:
    """Choose an option, or type a new one. The framework closes an open list when it draws the page anew."""
    box = lab.page.get_by_role("combobox", name=label, exact=True)
    wanted = lab.page.get_by_role("option", name=option, exact=not new).first
    expect(box).to_be_visible()
    for _ in range(5):
        lab.settled()
        box.click()
        box.press("ArrowDown")
        if new:
            box.fill(option)
        try:
            wanted.click(timeout=3_000)
        except TimeoutError:
            continue
        lab.settled()
        return
    raise AssertionError(f"the list {label} never showed {option}")


def add(lab: Any, kind: str, field: str = "", value: str = "") -> None:
    """Fill in the small form of an unfolded panel."""
    choose(lab, "Stand still at", kind)
    if field in ("Text", "Prompt tokens"):
        lab.fill(field, value)
    elif field:
        choose(lab, field, value, new=field == "Tool")
    lab.page.get_by_role("button", name="Add breakpoint").click()
    lab.settled()


@pytest.mark.parametrize(
    ("form", "phase", "seen"),
    [
        (("A call of a tool", "Tool", "multiply"), "approve", "the model asked for multiply, and it has not run yet"),
        (("A phase", "Phase", "append"), "append", "the run stands before append"),
        (("A stop rule about to fire", "Stop reason", "final"), "decide", "about to end with its final answer"),
        (("A text in a message", "Text", '"A": 5'), "approve", 'message 5 (assistant) holds "A": 5'),
        (("A long request", "Prompt tokens", "10"), "call", "tokens, more than 10"),
    ],
)
def test_a_run_stands_still_where_it_was_told_to(
    app: str, lab: Any, form: tuple[str, str, str], phase: str, seen: str
) -> None:
    lab.open(app)
    unfolded(lab, 0)
    add(lab, *form)
    lab.key("g")
    expect(lab.status).to_contain_text("Breakpoint: ")
    expect(lab.status).to_contain_text(seen)
    expect(lab.status).to_contain_text(f"Next: {phase}")


def test_an_error_of_a_tool_stops_before_it_is_written(app: str, lab: Any) -> None:
    lab.open(f"{app}/?scenario=missing_file")
    unfolded(lab, 0)
    add(lab, "An error of a tool")
    lab.key("g")
    expect(lab.status).to_contain_text("gave an error")
    expect(lab.status).to_contain_text("Next: append")


def test_a_tool_that_does_not_exist_can_be_named(app: str, lab: Any) -> None:
    lab.open(app)
    unfolded(lab, 0)
    add(lab, "A call of a tool", "Tool", "launch_rocket")
    expect(lab.page.get_by_text("a call of launch_rocket")).to_be_visible()


def test_the_list_is_the_same_in_two_tabs_and_after_a_restart(
    serve: Callable[..., Any], tmp_path: Path, lab: Any, new_lab: Callable[[], Any]
) -> None:
    with serve(tmp_path) as server:
        lab.open(server.url)
        unfolded(lab, 0)
        add(lab, "A phase", "Phase", "approve")
        lab.key("g")
        expect(lab.status).to_contain_text("the run stands before approve")
        query = lab.page.url.split("?", 1)[1]
        other = new_lab().open(f"{server.url}/?{query}")
        unfolded(other, 1)
        add(other, "An error of a tool")
        expect(lab.page.get_by_text("Breakpoints: 2")).to_be_visible()
        lab.settled()
        lab.page.get_by_role("button", name="Remove").first.click()
        expect(other.page.get_by_text("Breakpoints: 1")).to_be_visible()
        server.process.kill()
        lab.leave()
        other.leave()
    with serve(tmp_path) as server:
        lab.open(f"{server.url}/?{query}")
        unfolded(lab, 1)
        expect(lab.page.get_by_text("a tool gives an error")).to_be_visible()
