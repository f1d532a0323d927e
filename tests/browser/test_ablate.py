"""An experiment in a real browser: from a foreign trace to a verdict, through reloads and a killed server."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pages.parts.message_table import HEADER_PX, ROW_PX
from tests.browser.conftest import Lab
from traces.experiments.design.file import parse_design
from traces.experiments.folder import Folder
from traces.experiments.rows import Row
from traces.experiments.running.ledger import read_rows
from traces.experiments.running.session import Session, create

pytestmark = pytest.mark.browser

ID = "00c0ffee0001"
END_MS = 60_000
DESIGN = """
title: Does it need its tool results?
subjects: [code_word]
conditions: [blank_results, drop_pairs]
repeats: %d
seed: 1
"""
FOREIGN = {
    "model": "gpt-4.1-mini",
    "messages": [
        {"role": "system", "content": "Use the tool."},
        {"role": "user", "content": "What is the code word?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"name": "code"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "code: MAPLE"},
        {"role": "assistant", "content": "The code word is MAPLE."},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "read",
                "description": "Reads an entry.",
                "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
        }
    ],
}


def kept(data: Path, repeats: int, id: str = ID) -> Folder:
    """An experiment that has not begun."""
    return create(data / "experiments" / id, parse_design(DESIGN % repeats, "design.yaml"), data)


def finished(data: Path, repeats: int, id: str = ID) -> Session:
    session = Session(kept(data, repeats, id))
    session.start()
    assert session.wait(120)
    return session


def told(rows: list[Row]) -> list[dict[str, Any]]:
    """What must not depend on when the runs were made."""
    return sorted(({**row.to_dict(), "started": None} for row in rows), key=lambda row: row["trace_id"])


def progress(page: Page) -> Any:
    return page.locator(".st-key-ablate-progress")


def done(page: Page) -> int:
    """How many runs are over, as the page says it."""
    found = re.search(r"([\d,]+) of [\d,]+ runs", progress(page).inner_text())
    assert found is not None
    return int(found[1].replace(",", ""))


def wait_for_runs(page: Page, least: int) -> None:
    expect(progress(page)).to_contain_text("running")
    for _ in range(300):
        if done(page) >= least:
            return
        time.sleep(0.05)
    raise TimeoutError(f"{done(page)} runs")


class Clicks:
    """Presses with the mouse, counted."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.count = lab, 0

    def __call__(self, place: Any) -> None:
        self.count += 1
        with self.lab.answered():
            place.click()


def test_from_a_foreign_trace_to_the_verdict_in_six_clicks(lab: Lab, app: str) -> None:
    click = Clicks(lab)
    lab.open(f"{app}/traces")
    file = {"name": "chat.json", "mimeType": "application/json", "buffer": json.dumps(FOREIGN).encode()}
    with lab.page.expect_file_chooser() as chooser:
        click(lab.page.get_by_test_id("stFileUploader").get_by_text("Upload", exact=True))
    click.count += 1  # the file in the dialog of the browser
    chooser.value.set_files(file)
    expect(lab.button("All traces")).to_be_visible()
    lab.settled()
    click(lab.page.get_by_test_id("stMain").get_by_role("link", name="Ablate"))
    click(lab.button("Start the experiment"))
    expect(progress(lab.page)).to_contain_text("finished", timeout=END_MS)
    expect(lab.page.get_by_text("What it found")).to_be_visible()
    expect(lab.page.get_by_text("▼ effect").first).to_be_visible()
    assert click.count <= 6


def test_a_pause_outlives_a_reload_and_cancelling_ends_it(lab: Lab, new_lab: Any, app: str, data: Path) -> None:
    kept(data, 5_000)
    address = f"{app}/ablate?experiment={ID}"
    lab.open(address)
    lab.button("Continue").click()
    wait_for_runs(lab.page, 10)
    lab.page.reload()
    lab.drawn()
    wait_for_runs(lab.page, 30)
    lab.button("Pause").click()
    expect(progress(lab.page)).to_contain_text("paused")
    lab.page.wait_for_timeout(1_000)  # the run under way goes on to the end of its phase, which may be its last one
    lab.page.reload()
    lab.drawn()
    before = done(lab.page)
    lab.page.wait_for_timeout(1_000)
    assert done(lab.page) == before
    assert lab.page.evaluate("window.labDrawings") <= 3  # a page that rests asks for nothing
    other = new_lab().open(address)
    assert done(other.page) == before
    lab.button("Continue").click()
    wait_for_runs(lab.page, before + 10)
    wait_for_runs(other.page, before + 10)
    lab.button("Cancel").click()
    expect(progress(lab.page)).to_contain_text("cancelled")
    expect(progress(other.page)).to_contain_text("cancelled")
    expect(lab.page.get_by_text("Cut short")).to_be_visible()
    expect(lab.button("Continue")).to_be_visible()


def test_killed_in_the_middle_it_goes_on_to_the_same_table(
    serve: Callable[..., Any], tmp_path: Path, lab: Lab, data: Path
) -> None:
    undisturbed = finished(tmp_path / "undisturbed", 150)
    runs = tmp_path / "runs"
    folder = kept(runs, 150)
    options = ["--data", str(runs)]
    with serve(options=options) as server:
        lab.open(f"{server.url}/ablate?experiment={ID}")
        lab.button("Continue").click()
        wait_for_runs(lab.page, 40)
        server.process.kill()
        server.process.wait()
        address = lab.leave()
    assert 40 <= len(read_rows(folder)) < 450
    with serve(options=options):
        lab.open(address)
        expect(progress(lab.page)).to_contain_text("interrupted")
        expect(lab.page.get_by_text("▼ effect")).to_have_count(0)
        lab.button("Continue").click()
        expect(progress(lab.page)).to_contain_text("finished", timeout=END_MS)
        expect(lab.page.get_by_text("▼ effect")).to_have_count(2)
    assert told(read_rows(folder)) == told(undisturbed.rows)
    assert {path.stem for path in folder.traces.iterdir()} == {row.trace_id for row in undisturbed.rows}


def test_a_run_leads_to_its_trace_and_to_the_comparison_with_its_twin(lab: Lab, app: str, data: Path) -> None:
    session = finished(data, 8, "00c0ffee0002")
    rows = session.rows
    lab.open(f"{app}/ablate?experiment={session.id}")
    table = lab.page.get_by_test_id("stDataFrame").last
    at = next(at for at, row in enumerate(rows) if row.condition == "blank_results")
    place = {"x": 150, "y": HEADER_PX + ROW_PX * at + ROW_PX // 2}
    table.scroll_into_view_if_needed()
    table.hover(position=place)
    with lab.answered():
        table.click(position=place)
    lab.page.get_by_role("link", name="Compare with its baseline twin").click()
    twin = next(row for row in rows if (row.condition, row.repeat) == ("baseline", rows[at].repeat))
    expect(lab.page).to_have_url(re.compile(f"compare.*a={twin.trace_id}&b={rows[at].trace_id}"))
    expect(lab.page.get_by_text("Compare two traces")).to_be_visible()
    expect(lab.page.get_by_role("tab", name="Messages")).to_be_visible()
    lab.page.go_back()
    lab.drawn()
    expect(lab.page.get_by_text("What it found")).to_be_visible()


def test_a_press_on_a_strip_leads_to_that_run(lab: Lab, app: str, data: Path) -> None:
    session = finished(data, 8, "00c0ffee0003")
    lab.open(f"{app}/ablate?experiment={session.id}")
    with lab.answered():
        lab.page.get_by_role("tab", name="Messages of each run").click()
    bar = lab.page.locator(".js-plotly-plot .bars .point path").first
    bar.scroll_into_view_if_needed()
    with lab.answered():
        bar.click(force=True)
    lab.page.get_by_role("link", name="Open the trace").click()
    expect(lab.page).to_have_url(re.compile("traces.*trace=[0-9a-f]{12}"))
    expect(lab.button("All traces")).to_be_visible()


def test_it_speaks_chinese(lab: Lab, app: str, data: Path) -> None:
    session = finished(data, 8, "00c0ffee0004")
    lab.open(f"{app}/ablate?experiment={session.id}&lang=zh")
    expect(lab.page.get_by_text("▼ 有效应")).to_have_count(2)
    expect(lab.page.get_by_text("基线与自己相比")).to_be_visible()
    expect(lab.page.get_by_text("Remark")).to_have_count(0)
