"""The player in a real browser: it plays to the end, pauses, keeps its place, and leads into a run of its own."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab
from traces import read_file
from traces.store import SAMPLES

pytestmark = pytest.mark.browser

(TRACE,) = read_file(SAMPLES / "calc.json").traces
END_MS = 30_000


def replay(lab: Lab, app: str, **query: str) -> Lab:
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return lab.open(f"{app}/replay?trace={TRACE.trace_id}{more}")


def at(lab: Lab, number: int | str) -> None:
    expect(lab.page.get_by_text(re.compile(rf"^moment {number} of 16"))).to_be_visible(timeout=END_MS)


def test_it_plays_to_the_end_and_then_asks_for_nothing(lab: Lab, app: str) -> None:
    replay(lab, app, tempo="0.5s")
    lab.key("w")
    at(lab, "[2-9]")
    at(lab, 16)
    expect(lab.status).to_contain_text("The model answered and asked for nothing more.")
    lab.settled()
    before = lab.page.evaluate("window.labDrawings")
    lab.page.wait_for_timeout(1_500)
    assert lab.page.evaluate("window.labDrawings") == before
    expect(lab.page).to_have_url(re.compile("at=16"))


def test_a_reload_while_it_plays_goes_on_and_pause_keeps_the_place(lab: Lab, app: str) -> None:
    replay(lab, app, tempo="1x", at="2", since="1")  # a link of long ago: it rests
    at(lab, 2)
    replay(lab, app, tempo="2s")
    lab.key("w")
    at(lab, "[2-9]")
    lab.page.reload()
    lab.drawn()
    expect(lab.button("Pause")).to_be_enabled()
    at(lab, "([3-9]|1[0-6])")
    lab.key("p")
    expect(lab.button("Play")).to_be_enabled()
    place = lab.page.get_by_text(re.compile("^moment .* of 16")).inner_text().split(" of ")[0]
    lab.page.reload()
    lab.drawn()
    expect(lab.page.get_by_text(re.compile(f"^{place} of 16"))).to_be_visible()
    expect(lab.button("Play")).to_be_enabled()


def test_the_keys_are_those_of_the_stepper(lab: Lab, app: str) -> None:
    replay(lab, app)
    for key, number in (("s", 2), ("s", 3), ("b", 2), ("o", 7), ("m", 8), ("End", 16), ("Home", 1)):
        lab.key(key)
        at(lab, number)


def test_the_slider_seeks_by_keyboard_and_mouse(lab: Lab, app: str) -> None:
    replay(lab, app)
    lab.page.get_by_role("slider").first.focus()
    for number in (2, 3, 4):  # it keeps the focus
        lab.key("ArrowRight")
        at(lab, number)
    track = lab.page.locator(".stSlider")
    box = track.bounding_box()
    assert box is not None
    with lab.answered():
        track.click(position={"x": box["width"] * 0.6, "y": box["height"] / 2})
    at(lab, 10)
    lab.page.wait_for_timeout(400)
    lab.key("s")  # the mouse leaves the keys to the buttons
    at(lab, 11)


def test_nothing_below_the_buttons_moves_from_moment_to_moment(lab: Lab, app: str) -> None:
    replay(lab, app)
    tops = set()
    for _ in range(5):
        at(lab, r"\d+")
        box = lab.page.get_by_test_id("stDataFrame").first.bounding_box()
        assert box is not None
        tops.add((round(box["y"]), round(box["height"])))
        lab.key("s")
    assert len(tops) == 1


def test_from_the_traces_page_to_a_run_that_reaches_the_recorded_end(lab: Lab, app: str) -> None:
    lab.open(f"{app}/traces?trace={TRACE.trace_id}")
    lab.page.get_by_role("link", name="Replay").click()
    lab.settled()
    lab.key("m")
    lab.key("s")
    lab.page.get_by_role("tab", name="Continue from here").click()
    lab.page.get_by_role("button", name=re.compile("Continue from here: step 1, before approve")).click()
    expect(lab.page).to_have_url(re.compile("run=[0-9a-f]{12}"))
    lab.drawn()
    lab.rows(3)
    lab.key("g")
    lab.rows(len(TRACE.messages))
    expect(lab.status).to_contain_text("The model answered and asked for nothing more.")
    lab.page.reload()
    lab.drawn()
    lab.rows(len(TRACE.messages))


def test_strict_stops_after_an_edit_and_shows_the_difference(lab: Lab, app: str) -> None:
    replay(lab, app, at="6")
    lab.page.get_by_role("tab", name="Continue from here").click()
    lab.page.get_by_role("button", name=re.compile("Continue from here: step 1")).click()
    expect(lab.page).to_have_url(re.compile("run=[0-9a-f]{12}"))
    lab.drawn()
    lab.page.get_by_role("tab", name="Edit and fork").click()
    lab.fill("Text of message 4", "7")
    with lab.answered():
        lab.page.get_by_role("button", name=re.compile("Fork from here")).click()
    lab.key("g")
    expect(lab.status).to_contain_text("The script holds no reply to this request.")
    expect(lab.status).to_contain_text("message 4 (tool)")
    lab.rows(4)
