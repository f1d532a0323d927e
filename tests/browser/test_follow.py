"""Following a run in a real browser: what comes over the wire, and how soon; the mode for a projector; languages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.browser.conftest import Lab

pytestmark = pytest.mark.browser

SOON_MS = 3_000
"""A press is to show within a second; a busy machine that runs tests gets more."""
REST_MS = 2_500
"""Three of a follower's polls, were there any."""


class Wire:
    """Everything that went over the websockets of a page."""

    def __init__(self, page: Page) -> None:
        self.frames: list[bytes] = []
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        for event in ("framereceived", "framesent"):
            socket.on(event, lambda data: self.frames.append(data.encode() if isinstance(data, str) else data))


def links(lab: Lab) -> tuple[str, str]:
    """The links to look on and to move the run, out of the menu."""
    lab.page.get_by_role("button", name="Share").click()
    shown = lab.page.get_by_test_id("stPopoverBody").locator("code")
    expect(shown).to_have_count(2)
    view, control = (each.inner_text().strip() for each in shown.all())
    lab.page.keyboard.press("Escape")
    expect(shown).to_have_count(0)
    return view, control


def place(lab: Lab, words: str) -> None:
    expect(lab.page.locator(".st-key-follow-looks")).to_contain_text(words, timeout=SOON_MS)


def test_a_follower_sees_each_press_and_nothing_that_leads_to_the_run(
    app: str, lab: Lab, new_lab: Callable[[], Lab]
) -> None:
    lab.open(app)
    lab.key("s")
    view, control = links(lab)
    run_id = re.search("run=([0-9a-f]{12})", control)[1]
    assert run_id in lab.page.url
    follower = new_lab()
    wire = Wire(follower.page)
    follower.open(view)
    place(follower, "with the teacher: moment 2 of 2")
    lab.key("s")
    place(follower, "with the teacher: moment 3 of 3")
    follower.rows(3)
    lab.key("b")
    place(follower, "with the teacher: moment 2 of 3")
    lab.key("n")
    lab.select(1)
    expect(follower.page.get_by_text("Message 1", exact=True)).to_be_visible(timeout=SOON_MS)
    lab.key("g")
    expect(follower.status).to_contain_text("The model answered and asked for nothing more.", timeout=SOON_MS)
    for name in ("Request", "Charts", "Tools", "Notes and faults", "Message"):
        with follower.answered():
            follower.page.get_by_role("tab", name=name, exact=True).click()
    for step in ("b", "b", "f"):
        follower.key(step)
    follower.settled()
    rested = len(wire.frames)
    follower.page.wait_for_timeout(REST_MS)
    assert len(wire.frames) == rested  # a run that rests is not asked about
    assert rested > 20
    assert not [frame for frame in wire.frames if run_id.encode() in frame]
    assert run_id not in follower.page.content()
    assert run_id not in follower.page.url


def test_who_looks_around_stays_there_until_one_press_leads_back(
    app: str, lab: Lab, new_lab: Callable[[], Lab]
) -> None:
    lab.open(app)
    lab.key("o")
    view, _ = links(lab)
    follower = new_lab().open(view)
    follower.key("b")
    place(follower, "on my own: moment 6 of 7")
    lab.key("s")
    place(follower, "on my own: moment 6 of 8")
    follower.open(follower.page.url)  # a reload
    place(follower, "on my own: moment 6 of 8")
    follower.key("t")
    place(follower, "with the teacher: moment 8 of 8")
    follower.select(2)
    place(follower, "on my own: moment 8 of 8")
    expect(follower.page.get_by_text("Message 2", exact=True)).to_be_visible()


@pytest.mark.parametrize("width,height", [(1280, 720), (1920, 1080)])
def test_for_a_projector_all_is_larger_and_nothing_is_cut_off(app: str, lab: Lab, width: int, height: int) -> None:
    lab.page.set_viewport_size({"width": width, "height": height})
    lab.open(app)
    row = lab.page.get_by_test_id("stDataFrame").first
    letter = "getComputedStyle(document.body).fontSize"
    before = float(lab.page.evaluate(letter).removesuffix("px"))
    with lab.answered():
        lab.page.get_by_text("Large type").click()
    assert float(lab.page.evaluate(letter).removesuffix("px")) >= 1.3 * before
    lab.key("g")
    lab.rows(5)
    lab.key("b")
    expect(row).to_be_in_viewport(ratio=0.2)
    for button in ("Step", "Stop", "Back", "Reset"):
        expect(lab.button(button)).to_be_in_viewport(ratio=1)
    for part in (".stMain", ".st-key-status", ".st-key-transport"):
        box = lab.page.locator(part).first
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth + 1"), part
    for name in ("Traces", "Scripts", "Ablate"):
        lab.page.get_by_role("link", name=name).click()
        lab.drawn()
        expect(lab.page).to_have_url(re.compile("projector=1"))
        assert lab.page.locator(".stMain").evaluate("box => box.scrollWidth <= box.clientWidth + 1"), name


def test_the_language_goes_along_and_the_browser_is_told(app: str, lab: Lab) -> None:
    lab.open(app)
    assert lab.page.evaluate("document.documentElement.lang") == "en"
    with lab.answered():
        lab.page.get_by_text("中文").click()
    expect(lab.page.locator("html")).to_have_attribute("lang", "zh-CN")
    for name in ("学习", "轨迹", "消融"):
        lab.page.get_by_role("link", name=name).first.click()
        lab.drawn()
        expect(lab.page).to_have_url(re.compile("lang=zh"))
        expect(lab.page.locator("html")).to_have_attribute("lang", "zh-CN")
