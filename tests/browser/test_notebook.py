"""The notebook in a real browser: a note survives a reload, and the files that are taken along are whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Lab
from traces import read_file
from traces.store import SAMPLES

pytestmark = pytest.mark.browser

(TRACE,) = read_file(SAMPLES / "calc.json").traces


def taken(page: Page, button: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_a_note_survives_a_reload_and_goes_along(lab: Lab, app: str) -> None:
    lab.open(f"{app}/notebook?trace={TRACE.trace_id}")
    page = lab.page
    with lab.answered():
        page.get_by_role("button", name="Add a note", exact=True).nth(1).click()
    field = page.get_by_label("Note on message 3")
    field.fill("why <this> tool?")
    with lab.answered():
        field.press("Tab")
    page.reload()
    lab.drawn()
    expect(page.get_by_label("Note on message 3")).to_have_value("why <this> tool?")
    assert "why &#60;this\\> tool?" in taken(page, "Markdown")
    assert "why &lt;this&gt; tool?" in taken(page, "Web page")
    made = json.loads(taken(page, "Jupyter"))
    assert "True (7 / 7)" in "".join(made["cells"][-1]["outputs"][0]["text"])


def test_a_run_and_a_trace_lead_to_their_notebook(lab: Lab, app: str) -> None:
    lab.open(app)
    lab.key("s")
    with lab.answered():
        lab.page.get_by_role("link", name="Notebook").click()
    expect(lab.page.get_by_text("So far", exact=True)).to_be_visible()
    lab.open(f"{app}/traces?trace={TRACE.trace_id}")
    with lab.answered():
        lab.page.get_by_role("button", name="Export").click()
    lab.page.get_by_role("link", name="Notebook: cell by cell").click()
    expect(lab.page.get_by_text("The run begins", exact=True)).to_be_visible()
