"""What an engineer does with a file: drop it, see the counts, click a bar, hand on the link, watch it grow."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from agent import Message, ToolCall, Trace
from agent.trace import ToolRun, TraceStep
from agent.usage import Usage
from tests.browser.conftest import TWO_FRAMES

pytestmark = pytest.mark.browser

STEPS = 12


def traced(steps: int = STEPS) -> bytes:
    """A run that asks the weather of one town after another; in step 5 the tool fails."""
    trace = Trace(title="a tour", task="Which town is warm?")
    trace.add(Message("user", "Which town is warm?"), "user", at="2026-01-01T10:00:00Z")
    for number in range(1, steps + 1):
        start = f"2026-01-01T10:{number:02}:00Z"
        call = ToolCall(f"c{number}", "weather", {"town": f"town {number}"})
        reply = trace.add(Message("assistant", None, (call,)), "model", number, at=start)
        failed = number == 5
        answer = json.dumps({"error": "no such town"} if failed else {"weather": json.dumps({"degrees": number})})
        result = trace.add(Message("tool", answer, tool_call_id=call.id), "environment", number, at=start)
        run = ToolRun(
            tool_call_id=call.id, name="weather", message=result, latency_ms=250.0, ok=not failed, decision="run"
        )
        usage = Usage(100 * number, 20, cached_tokens=40)
        step = TraceStep(index=number, started=start, reply=reply, usage=usage, latency_ms=900.0, tools=[run])
        trace.steps.append(step)
    trace.add(Message("assistant", "Town 12."), "model", None, at="2026-01-01T10:59:00Z")
    return json.dumps(trace.to_dict()).encode()


def drop(lab: Any, content: bytes, name: str = "tour.json") -> None:
    """Drop a file on the field, and wait until the page shows it."""
    lab.page.locator('input[type="file"]').set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": content}
    )
    expect(lab.button("All traces")).to_be_visible()
    lab.settled()


def click_bar(lab: Any, figure: Locator, number: int) -> None:
    """Click the bar at this place (from 1) of a chart, once the chart answers to the mouse there."""
    bar = figure.locator(".trace.bars").first.locator(".point").nth(number - 1)
    expect(bar).to_be_attached()
    figure.scroll_into_view_if_needed()
    lab.settled()
    for _ in range(30):  # a chart takes its width a moment after it is drawn, and its bars move
        box = bar.bounding_box()
        lab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        lab.page.evaluate(TWO_FRAMES)
        if figure.locator(".hovertext").count() and bar.bounding_box() == box:
            break
    with lab.answered():
        lab.page.mouse.down()
        lab.page.mouse.up()


def shown(lab: Any, number: int) -> None:
    expect(lab.page.get_by_text(f"Message {number}", exact=True)).to_be_visible()
    expect(lab.page).to_have_url(re.compile(rf"message={number}\b"))


def test_a_dropped_file_a_bar_a_link_and_a_fresh_browser(app: str, lab: Any, browser: Browser) -> None:
    lab.open(f"{app}/traces")
    drop(lab, traced())
    for name, value in (("Messages", "26"), ("Steps", "12"), ("Prompt tokens", "7,800"), ("Answer tokens", "240")):
        expect(lab.page.get_by_test_id("stMetric").filter(has_text=name)).to_contain_text(value)
    click_bar(lab, lab.page.get_by_role("figure", name="Tokens per step"), 7)
    shown(lab, 14)
    expect(lab.table.locator('tr[aria-rowindex="15"] td[aria-selected="true"]')).to_be_attached()
    fresh = browser.new_context().new_page()
    fresh.goto(lab.page.url)
    expect(fresh.get_by_text("Message 14", exact=True)).to_be_visible()
    expect(fresh.locator('canvas tr[aria-rowindex="15"] td[aria-selected="true"]')).to_be_attached()
    fresh.wait_for_function("() => document.querySelector('.dvn-scroller')?.scrollTop > 300")
    fresh.context.close()


def test_a_chosen_message_is_highlighted_in_the_chart_and_the_timeline_leads_to_it(app: str, lab: Any) -> None:
    lab.open(f"{app}/traces")
    drop(lab, traced())
    lab.select(2)
    shown(lab, 2)
    figure = lab.page.get_by_role("figure", name="Tokens per step")
    bars = figure.locator(".trace.bars").first.locator(".point path")
    expect(bars.nth(0)).to_have_css("opacity", "1")
    expect(bars.nth(1)).to_have_css("opacity", "0.5")
    with lab.answered():
        lab.page.get_by_text("Time", exact=True).click()
    click_bar(lab, lab.page.get_by_role("figure", name="Timeline"), 3)
    shown(lab, 6)


def test_the_keyboard_goes_from_message_to_message(app: str, lab: Any) -> None:
    lab.open(f"{app}/traces")
    drop(lab, traced())
    lab.select(3)
    shown(lab, 3)
    with lab.answered():
        lab.page.keyboard.press("ArrowDown")
    shown(lab, 4)
    with lab.answered():
        lab.page.keyboard.press("ArrowUp")
    shown(lab, 3)
    lab.page.get_by_test_id("stMetric").first.click()  # away from the table
    lab.key("j")
    shown(lab, 4)
    lab.key("k")
    lab.key("k")
    shown(lab, 2)


def test_search_and_filters_leave_what_is_wanted_and_the_next_key_stays_among_it(app: str, lab: Any) -> None:
    lab.open(f"{app}/traces")
    drop(lab, traced())
    lab.fill("Search", "NO SUCH town")
    lab.rows(1)
    lab.cell(1, "no such town")
    lab.fill("Search", "")
    lab.rows(26)
    with lab.answered():
        lab.page.get_by_text("Errors only", exact=True).click()
    lab.rows(2)
    lab.page.get_by_test_id("stMetric").first.click()
    lab.key("j")
    shown(lab, 10)
    lab.key("j")
    shown(lab, 11)


def test_a_call_leads_to_its_result_and_back(app: str, lab: Any) -> None:
    lab.open(f"{app}/traces")
    drop(lab, traced())
    lab.select(2)
    with lab.answered():
        lab.button("Its result: message 3").click()
    shown(lab, 3)
    expect(lab.page.get_by_test_id("stCode").first).to_contain_text('"degrees": 1')
    with lab.answered():
        lab.button("The call: message 2").click()
    shown(lab, 2)


def test_a_growing_file_is_followed(app: str, lab: Any, tmp_path: Path) -> None:
    line = json.dumps({"messages": [{"role": "user", "content": "first"}]}) + "\n"
    path = tmp_path / "chat.jsonl"
    path.write_text(line)
    lab.open(f"{app}/traces")
    lab.fill("Or the path of a file on this machine", str(path))
    lab.rows(1)
    with path.open("a") as file:
        file.write(line.replace("first", "second")[:20])
        file.flush()
        file.write(line.replace("first", "second")[20:])
    expect(lab.page.get_by_text("followed while it grows")).to_be_visible(timeout=15_000)
    expect(lab.page.get_by_text("2 conversations")).to_be_visible()
