"""Editing and forking in a real browser: twice from one point, the old run stays, and every one is reached again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser


def panel(lab) -> None:
    """Open the tab of the panels."""
    lab.settled()
    lab.page.get_by_role("tab", name="Edit and fork").click()
    expect(lab.page.get_by_text("Message to change")).to_be_visible()
    lab.settled()


def fork_with(lab, message: int, text: str) -> str:
    """Change a message, fork, and give the address of the new run."""
    before = lab.page.url
    lab.page.get_by_label(f"Text of message {message}").fill(text)
    forking(lab).click()  # a person goes from the field to the button at once
    lab.page.wait_for_url(lambda url: "run=" in url and url != before)
    lab.settled()
    return str(lab.page.url)


def forking(lab) -> Locator:
    return lab.page.get_by_role("button", name="Fork from here")


def test_two_forks_of_one_point_and_the_run_that_they_come_from(app: str, lab) -> None:
    lab.open(app)
    lab.key("g")
    lab.rows(7)
    for phase in ("decide", "call", "prepare"):
        lab.key("b")
        expect(lab.status).to_contain_text(f"Next: {phase}")
    lab.rows(6)
    point = lab.page.url
    panel(lab)
    expect(forking(lab)).to_have_text(re.compile("step 3, before prepare"))
    first = fork_with(lab, 6, "21")
    lab.cell(6, "21")
    lab.page.goto(point)
    lab.drawn()
    lab.rows(6)
    lab.cell(6, "20")
    panel(lab)
    second = fork_with(lab, 6, "22")
    lab.cell(6, "22")
    assert len({first, second, point}) == 3

    panel(lab)
    expect(lab.page.get_by_text("Runs that were forked from one another: 3")).to_be_visible()
    lab.key("g")
    lab.rows(7)
    lab.page.reload()
    lab.drawn()
    lab.rows(7)
    lab.cell(6, "22")
    panel(lab)
    lab.page.get_by_role("button", name=re.compile("the first run")).click()
    lab.settled()
    lab.rows(7)
    lab.cell(6, "20")
