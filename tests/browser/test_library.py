"""The list of traces in a real browser: a press on a title, ticked boxes, the way to a comparison and its link."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from traces import open_trace, save_trace
from traces.store import SAMPLES

pytestmark = pytest.mark.browser

BOX = 18
"""Where the box of a row is, in pixels from the left."""


@pytest.fixture
def two_runs(data):
    """The same run twice, with another answer the second time; newer than all others, so they are gone afterwards."""
    base = open_trace(SAMPLES / "calc.json")[0]
    answer = replace(base.messages[-1], content="It is 21.")
    for number, messages in enumerate((base.messages, [*base.messages[:-1], answer]), 1):
        run = replace(base, trace_id=f"pair-{number}", title=f"Pair {number}", messages=list(messages))
        save_trace(replace(run, created=f"2031-01-0{number}T00:00:00Z"), data)
    yield
    for path in data.glob("pair-*.json"):
        path.unlink()


def press(lab, row, x):
    lab.page.get_by_test_id("stDataFrame").first.click(position={"x": x, "y": 38 + 32 * (row - 1) + 16})


def test_two_ticked_runs_are_compared_and_the_link_opens_the_same_row(app, lab, new_lab, two_runs):
    lab.page.goto(f"{app}/traces?lang=en")
    lab.cell(1, "Pair 2")
    press(lab, 1, BOX)
    expect(lab.page.locator(".st-key-open-line")).to_be_visible()
    press(lab, 2, BOX)
    lab.page.get_by_role("link", name="Compare").click()
    expect(lab.page.get_by_text(re.compile("The first 6 messages are the same"))).to_be_visible()
    expect(lab.page.get_by_test_id("stCode")).to_contain_text("21")
    lab.cell(1, "20")
    press(lab, 1, 200)
    expect(lab.page).to_have_url(re.compile("row=6"))
    other = new_lab()
    other.page.goto(lab.page.url)
    expect(other.page.get_by_role("link", name="A: message 6")).to_be_visible()
    other.page.get_by_role("link", name="B: message 6").click()
    expect(other.page).to_have_url(re.compile(r"trace=pair-\d.*message=6|message=6.*trace=pair-\d"))


def test_a_run_is_deleted_and_comes_back(app, lab, data, two_runs):
    lab.page.goto(f"{app}/traces?lang=en")
    lab.cell(1, "Pair 2")
    press(lab, 1, 400)
    lab.page.get_by_role("button", name="Delete").click()
    lab.cell(1, "Pair 1")
    assert not (data / "pair-2.json").exists()
    lab.page.get_by_role("button", name="Undo").click()
    lab.cell(1, "Pair 2")


def test_a_search_without_a_hit_is_taken_back_by_one_press(app, lab, two_runs):
    lab.open(f"{app}/traces")
    field = lab.page.get_by_label("Search", exact=True)
    lab.fill("Search", "no such trace")
    with lab.answered():
        lab.page.get_by_role("button", name="Show all").click()
    expect(field).to_have_value("")
    lab.cell(1, "Pair 2")
