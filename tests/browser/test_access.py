"""Whether everybody can use the app: axe on every page, light and dark, and a whole lesson by the keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import Lab

pytestmark = pytest.mark.browser

LOOKS, LOOK_MS = 4, 500
"""How often axe looks before a fault counts, and milliseconds before each look."""

GRAVE = ("serious", "critical")

FRAMEWORK = {
    # A code block that scrolls sideways: browsers let the keyboard scroll it without a mark that axe would know.
    "scrollable-region-focusable": r"^<pre class=\"st-emotion-cache",
    # A link that leads nowhere yet is pale as a disabled button is; the framework marks it in a way that axe ignores.
    "color-contrast": r"^<p>Open on the Run page</p>$",
}
"""What is found in the framework's own elements: rule -> pattern of the element."""

MARKS = """() => {
  let marks = "";
  for (let each = window.watched, n = 0; each && n < 6; each = each.parentElement, n++) {
    const style = getComputedStyle(each);
    marks += [style.outline, style.boxShadow, style.borderColor, style.backgroundColor].join();
  }
  return marks;
}"""
"""How the element that is watched, and what is round it, is marked."""

PAGES = {
    "course": "learn",
    "lesson": "learn?lesson=one_call",
    "lesson for a projector": "learn?lesson=full_round&projector=1",
    "exercise": "learn?exercise=order_messages",
    "systems": "learn?systems=1",
    "class": "classroom",
    "follow without a link": "follow",
    "notebook": "notebook?trace=calc",
    "traces": "traces",
    "scripts": "scripts",
    "ablate": "ablate",
}


def grave(lab: Lab) -> list[str]:
    """What axe finds that is grave and ours, each with the rule and the element."""
    found: list[dict[str, Any]] = Axe().run(lab.page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:300]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
        if not re.search(FRAMEWORK.get(each["id"], r"$^"), node["html"])
    ]


def light_and_dark(lab: Lab, name: str) -> list[str]:
    found = []
    for scheme in ("light", "dark"):
        lab.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for _ in range(LOOKS):  # the colours of the one scheme go over into those of the other bit by bit
            lab.page.wait_for_timeout(LOOK_MS)
            if not (faults := grave(lab)):
                break
        found += [f"{name}, {scheme}: {each}" for each in faults]
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_grave_fault(app: str, lab: Lab, name: str) -> None:
    lab.open(f"{app}/{PAGES[name]}")
    assert not light_and_dark(lab, name)


def test_a_run_and_those_who_follow_it_have_no_grave_fault(app: str, lab: Lab, new_lab: Callable[[], Lab]) -> None:
    lab.open(app)
    lab.key("g")
    lab.rows(7)
    lab.page.get_by_role("button", name="Share").click()
    codes = lab.page.get_by_test_id("stPopoverBody").locator("code")
    expect(codes).to_have_count(2)
    found = light_and_dark(lab, "run")
    follower = new_lab().open(codes.first.inner_text().strip())
    found += light_and_dark(follower, "follow")
    follower.page.close()
    lab.page.keyboard.press("Escape")
    lab.page.get_by_role("tab", name="Charts").click()
    expect(lab.page.get_by_role("figure", name="Tokens per step")).to_be_visible()
    found += light_and_dark(lab, "charts")
    lab.page.get_by_role("link", name="Open the trace").click()
    lab.drawn()
    found += light_and_dark(lab, "trace")
    assert not found


def test_headings_come_in_order(app: str, lab: Lab) -> None:
    for path in ("learn", "learn?systems=1", "traces", "scripts", "ablate"):
        lab.open(f"{app}/{path}")
        levels = [int(each[1]) for each in lab.page.locator("h1, h2, h3, h4, h5, h6").evaluate_all(
            "found => found.map(each => each.tagName)"
        )]  # fmt: skip
        assert all(after <= before + 1 for before, after in pairwise(levels)), (path, levels)


def test_a_whole_lesson_by_the_keyboard_alone(app: str, lab: Lab) -> None:
    lab.open(f"{app}/learn")
    lab.key("l")
    expect(lab.page).to_have_url(re.compile("lesson=one_call"))
    following = lab.page.locator(".st-key-lesson-next")
    for _ in range(20):
        if following.is_visible():
            break
        if lab.page.locator("[class*='st-key-answer-']").count():
            lab.key("1")
        lab.key("s")
    expect(following).to_be_visible()
    lab.key("l")
    expect(lab.page).to_have_url(re.compile("lesson=(?!one_call)"))


def test_what_has_the_focus_is_seen(app: str, lab: Lab) -> None:
    lab.page.emulate_media(reduced_motion="reduce")
    lab.open(app)
    lab.page.keyboard.press("Tab")  # the link that skips the menu
    for _ in range(14):
        lab.page.keyboard.press("Tab")
        lab.page.wait_for_timeout(150)
        told = lab.page.evaluate("(window.watched = document.activeElement).outerHTML.slice(0, 200)")
        focused = lab.page.evaluate(MARKS)
        lab.page.keyboard.press("Tab")
        lab.page.wait_for_timeout(150)
        assert lab.page.evaluate(MARKS) != focused, told
        lab.page.keyboard.press("Shift+Tab")
