"""Exercises in a real browser: by keyboard alone, and with a program that is typed and run."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Lab
from traces.lessons.exercises import order_messages, stop_rule

pytestmark = pytest.mark.browser


def test_a_stop_rule_is_typed_run_and_mended(lab: Lab, page: Page, app: str) -> None:
    lab.open(f"{app}/learn?exercise=stop_rule")
    editor = page.get_by_label("Your stop rule")
    editor.fill("def should_stop(steps):\n    return True\n")
    lab.settled()
    lab.button("Run it").click()
    remarks = page.locator(".st-key-exercise-remarks")
    expect(remarks).to_contain_text("should_stop gave True", timeout=60_000)
    editor.fill(stop_rule.SOLUTION)
    lab.settled()
    editor.press("Control+s")
    expect(page.get_by_text("Solved. Well done.")).to_be_visible(timeout=60_000)
    expect(page.locator(".st-key-exercise-figures")).to_contain_text("False stops: 0")
    page.reload()
    lab.drawn()
    expect(editor).to_have_value(re.compile("consecutive_errors"))
    expect(page.locator(".st-key-exercise-head")).to_contain_text("solved")


def test_messages_are_put_in_order_by_keyboard_alone(lab: Lab, page: Page, app: str) -> None:
    lab.open(f"{app}/learn?exercise=order_messages")
    makers = {"user": "user", "model": "model", "code": "code", "environment": "environment"}
    for card in order_messages.cards("sum", "en"):
        for what, words in (("Number", str(card.number)), ("Maker", makers[card.maker])):
            field = page.get_by_role("combobox", name=f"{what} of {card.letter}")
            field.focus()
            with lab.answered():
                page.keyboard.type(words)
                page.keyboard.press("Enter")
    check = lab.button("Check it")
    check.focus()
    with lab.answered():
        page.keyboard.press("Enter")
    expect(page.get_by_text("Solved. Well done.")).to_be_visible()
