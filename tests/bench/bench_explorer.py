"""A trace of 5,000 messages and 50 MB in the browser, as ratios to bare apps on the same machine.

    python tests/bench/bench_explorer.py [--rounds N]

Measured in turn, in headless Chromium, with the server's first reading of the file and later ones apart: from the
navigation to a drawn table, against an app that is nothing but ``st.dataframe`` of 5,000 short rows; and from a press
(on a row of the table, on a bar of the chart) to the new message on screen, against the rerun of an app with one chart.
Targets: each at most 2x.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench_stepper import FLAGS, ROOT, served
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(ROOT))

from agent import Message, ToolCall, Trace
from agent.trace import ToolRun, TraceStep
from agent.usage import Usage

MESSAGES = 5_000
BYTES = 50_000_000
WORDS = ("alpha", "beta", "gamma", "delta", "file", "error", "open", "result", "the", "of")

TABLE = """
import pandas as pd
import streamlit as st

st.set_page_config(layout="wide")
st.dataframe(pd.DataFrame({"number": range(5000), "role": ["assistant"] * 5000, "text": ["a short text"] * 5000}))
"""

CHART = """
import plotly.graph_objects as go
import streamlit as st

count = st.session_state.setdefault("count", 0)

def more():
    st.session_state["count"] += 1

st.button("Again", on_click=more)
st.text(f"Rerun {count}")
figure = go.Figure()
figure.add_bar(x=list(range(400)), y=[number % 17 + count for number in range(400)])
st.plotly_chart(figure, key="chart")
"""


def seeded(folder: Path) -> Path:
    """The trace file, the same at every call."""
    pick = random.Random(7)
    size = BYTES // MESSAGES * 2
    trace = Trace(title="long")
    trace.add(Message("user", "go"), "user")
    while len(trace.messages) < MESSAGES:
        number = len(trace.steps) + 1
        call = ToolCall(f"c{number}", pick.choice(("read", "write", "grep")), {"path": pick.choice(WORDS)})
        reply = trace.add(Message("assistant", None, (call,)), "model", number)
        text = " ".join(pick.choices(WORDS, k=size // 6))
        result = trace.add(Message("tool", text, tool_call_id=call.id), "environment", number)
        run = ToolRun(tool_call_id=call.id, name=call.name, message=result, ok=True, decision="run", latency_ms=9.0)
        usage = Usage(number * 40, pick.randint(5, 300), cached_tokens=number * 30)
        latency = pick.uniform(300, 3000)
        trace.steps.append(TraceStep(index=number, reply=reply, usage=usage, latency_ms=latency, tools=[run]))
    path = folder / "long.json"
    path.write_text(json.dumps(trace.to_dict()))
    return path


def until_drawn(page: Page, url: str) -> float:
    """Seconds from the navigation to the first drawn table."""
    start = time.perf_counter()
    page.goto(url)
    page.locator('[data-testid="stDataFrame"] canvas').first.wait_for()
    return time.perf_counter() - start


def rested(page: Page) -> None:
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    page.wait_for_timeout(600)


def rerun(page: Page, number: int) -> float:
    """Seconds from a press to the text of the rerun of this number."""
    start = time.perf_counter()
    page.get_by_role("button", name="Again").click()
    page.get_by_text(f"Rerun {number}", exact=True).wait_for()
    return time.perf_counter() - start


def selected(page: Page, x: float, y: float) -> float:
    """Seconds from a click at this place to the message that it selects on screen."""
    before = page.url
    page.mouse.move(x, y)  # the table takes clicks only where it has seen the mouse come
    page.wait_for_timeout(200)
    start = time.perf_counter()
    page.mouse.click(x, y)
    page.wait_for_function("before => location.href !== before", arg=before)
    number = re.search(r"message=(\d+)", page.url)[1]
    page.get_by_text(f"Message {number}", exact=True).wait_for()
    return time.perf_counter() - start


def select_row(page: Page, row: int) -> float:
    table = page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    return selected(page, box["x"] + 250, box["y"] + 38 + 32 * row - 16)


def select_bar(page: Page, number: int) -> float:
    figure = page.get_by_role("figure", name="Tokens per step")
    figure.scroll_into_view_if_needed()
    box = figure.locator(".trace.bars").first.locator(".point").nth(number).bounding_box()
    return selected(page, box["x"] + box["width"] / 2, box["y"] + box["height"] - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    folder = Path(tempfile.mkdtemp())
    (folder / "apps").mkdir()
    for name, code in (("table", TABLE), ("chart", CHART)):
        (folder / "apps" / f"{name}.py").write_text(code)
    path = seeded(folder)
    times: dict[str, list[float]] = {}
    with (
        served(folder / "apps" / "table.py", folder / "data") as table,
        served(folder / "apps" / "chart.py", folder / "data") as chart,
        served(ROOT / "app.py", folder / "data") as app,
        sync_playwright() as play,
    ):
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        new = lambda: browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB").new_page()  # noqa: E731
        url = f"{app.url}/traces?path={path}"
        warm, bare, ours = new(), new(), new()
        until_drawn(warm, f"{app.url}/traces")
        times["first reading"] = [until_drawn(warm, url)]
        rested(warm)
        for page, address in ((bare, table.url), (ours, url)):
            until_drawn(page, address)
            rested(page)
        for _ in range(rounds):
            for name, page, address in (("bare table", bare, table.url), ("explorer", ours, url)):
                page.bring_to_front()
                times.setdefault(name, []).append(until_drawn(page, address))
                rested(page)
        counting = new()
        counting.goto(chart.url)
        counting.locator(".js-plotly-plot").wait_for()
        rested(counting)
        ours.bring_to_front()
        ours.get_by_role("figure", name="Tokens per step").locator(".point").first.wait_for()
        for number in range(1, rounds + 1):
            counting.bring_to_front()
            times.setdefault("rerun with a chart", []).append(rerun(counting, number))
            rested(counting)
            ours.bring_to_front()
            times.setdefault("row", []).append(select_row(ours, 2 + number % 2))
            rested(ours)
            times.setdefault("bar", []).append(select_bar(ours, 15 * number))
            rested(ours)
        browser.close()
    median = {name: statistics.median(values) for name, values in times.items()}
    for name, value in median.items():
        print(f"{name:>18}: {value:6.2f} s")
    print(f"table, first reading, to a bare table {median['first reading'] / median['bare table']:.2f} (target 2)")
    print(f"table, read before, to a bare table {median['explorer'] / median['bare table']:.2f} (target 2)")
    for name in ("row", "bar"):
        print(f"{name} to a rerun with a chart {median[name] / median['rerun with a chart']:.2f} (target 2)")


if __name__ == "__main__":
    main()
