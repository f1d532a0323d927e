"""From a press of Step to the new state on screen, as a ratio to an empty app with the same Runner.

    python tests/bench/bench_stepper.py [--steps N]

Headless Chromium presses Step in a run of 20 messages, in one of 500 and in an app that draws one line, in turn.
Measured is the time from the pointer going down to the second frame after the text of the status has changed.
Targets: the 95th percentile at most 2x of the empty app's; the long run at most 1.5x of the short one.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agent.scripts import load_script
from pages.parts.runs import SETUP
from pages.parts.setup import Setup
from tests.serving import ROOT, served

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

EMPTY = """
import streamlit as st
from agent.scripts import load_script
from agent.runner import Runner

@st.cache_resource
def runner():
    script = load_script("noop")
    loop = script.loop(max_steps=None)
    loop.start(script.task)
    return Runner(loop)

def step():
    runner().step()
    runner().wait(0.15)

run = runner()
busy = run.busy
st.button("Step", key="step", on_click=step)

@st.fragment(run_every=0.4 if busy else None)
def live():
    with st.container(key="status"):
        st.text(f"{len(run.loop.messages)} {run.loop.phase}")
    if busy and not run.busy:
        st.rerun()

live()
"""

WATCH = """() => {
  window.times = [];
  let text = null, began = null;
  const shown = () => document.querySelector('.st-key-status')?.innerText;
  document.addEventListener('pointerdown', () => { began = performance.now(); text = shown(); }, true);
  new MutationObserver(() => {
    if (began === null || shown() === undefined || shown() === text) return;
    const t0 = began; began = null;
    requestAnimationFrame(() => requestAnimationFrame(() => window.times.push(performance.now() - t0)));
  }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def interrupted_run(data: Path, trace_id: str, messages: int) -> str:
    """A run of so many messages, in several turns where the step limit asks for it, that rests before its next step."""
    script = load_script("noop")
    setup = Setup(scenario="noop", max_steps=80, guards=False)
    loop = script.loop(max_steps=80, trace_id=trace_id, journal=data)
    loop.trace.extra[SETUP] = setup.to_dict()
    while True:
        loop.start(script.task)
        while loop.phase is not None:
            loop.advance()
            if len(loop.messages) >= messages and loop.phase == "prepare":
                return trace_id


def ready(page: Page, url: str) -> None:
    page.goto(url)
    page.locator(".st-key-status").wait_for()
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    page.wait_for_timeout(2500)
    page.evaluate(WATCH)


def press(page: Page, count: int) -> list[float]:
    """Milliseconds of so many presses, each after the page came to rest."""
    button = page.get_by_test_id("stButton").get_by_role("button", name="Step").first
    for _ in range(count):
        before = len(page.evaluate("window.times"))
        button.click()
        page.wait_for_function(f"window.times.length > {before}", timeout=20_000)
        page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
        page.wait_for_timeout(120)
    return page.evaluate("window.times")[-count:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50)
    count = parser.parse_args().steps
    data = Path(tempfile.mkdtemp())
    (data / "empty").mkdir()
    empty_app = data / "empty" / "empty.py"
    empty_app.write_text(EMPTY)
    short, long = interrupted_run(data, "a" * 12, 20), interrupted_run(data, "b" * 12, 500)
    with served(empty_app, data) as empty, served(ROOT / "app.py", data) as app, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        pages = {}
        for name, url in {"empty": empty.url, "20": f"{app.url}/?run={short}", "500": f"{app.url}/?run={long}"}.items():
            page = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB").new_page()
            ready(page, url)
            press(page, 3)
            pages[name] = page
        times: dict[str, list[float]] = {name: [] for name in pages}
        for _ in range(count // 10):
            for name, page in pages.items():
                page.bring_to_front()
                times[name] += press(page, 10)
        browser.close()
    p95 = {name: statistics.quantiles(values, n=20)[-1] for name, values in times.items()}
    for name, values in times.items():
        print(f"{name:>6}: median {statistics.median(values):6.0f} ms, 95th percentile {p95[name]:6.0f} ms")
    print(f"20 messages to empty {p95['20'] / p95['empty']:.2f} (target 2)")
    print(f"500 messages to 20 {p95['500'] / p95['20']:.2f} (target 1.5)")


if __name__ == "__main__":
    main()
