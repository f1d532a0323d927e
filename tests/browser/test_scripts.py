"""The Scripts page in a real browser: typing, keys, mistakes, a reload, and the way to the stepper."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from traces.script_store import ScriptStore

pytestmark = pytest.mark.browser

PLAIN = "title: Typed\ntask: go\nturns:\n  - text: done\n"


@pytest.fixture
def script(data):
    store = ScriptStore(data)
    kept = store.save("typed", PLAIN)
    yield kept
    for info in store.list():
        info.path.unlink()


@pytest.fixture
def opened(app, lab, script):
    lab.open(f"{app}/scripts?script={script}&lang=en")
    expect(area(lab)).to_have_value(PLAIN)
    return lab


def area(lab) -> Locator:
    return lab.page.get_by_label("Text of the script")


def unsaved(lab) -> Locator:
    return lab.page.get_by_text("not saved")


def test_no_letter_is_lost_while_the_page_is_drawn_again_and_again(opened):
    area(opened).click()
    opened.page.keyboard.press("Control+Home")
    words = "# typed letter by letter, with c and r and s, while the page is drawn\n"
    opened.page.keyboard.type(words, delay=30)
    expect(area(opened)).to_have_value(words + PLAIN)
    expect(unsaved(opened)).to_be_visible()
    opened.page.keyboard.type("# more\n")
    opened.settled()
    assert area(opened).evaluate("field => field.selectionStart") == len(words) + len("# more\n")
    opened.page.keyboard.press("Control+z")
    expect(area(opened)).not_to_have_value(words + "# more\n" + PLAIN)


def test_a_mistake_is_marked_and_a_press_goes_to_its_line(opened):
    area(opened).fill(PLAIN.replace("text: done", "tekst: done"))
    expect(opened.page.get_by_text("1 mistake")).to_be_visible()
    expect(opened.page.locator(".lab-editor-band")).to_have_count(1)
    expect(area(opened)).to_have_attribute("aria-invalid", "true")
    opened.page.get_by_role("button", name="Line 4").click()
    expect(area(opened)).to_be_focused()
    chosen = area(opened).evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)")
    assert chosen == "  - tekst: done"
    area(opened).fill(PLAIN)
    expect(opened.page.locator(".lab-editor-band")).to_have_count(0)


def test_keys_of_the_editor(opened, data, script):
    area(opened).click()
    opened.page.keyboard.press("Control+End")
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.type("# two blanks")
    opened.page.keyboard.press("Enter")
    opened.page.keyboard.type("# again")
    expect(area(opened)).to_have_value(f"{PLAIN}  # two blanks\n  # again")
    opened.page.keyboard.press("Control+s")
    expect(opened.page.get_by_text("Saved.")).to_be_visible()
    expect(unsaved(opened)).to_have_count(0)
    assert ScriptStore(data).read(script) == f"{PLAIN}  # two blanks\n  # again"
    opened.page.keyboard.press("Escape")
    opened.page.keyboard.press("Tab")
    expect(area(opened)).not_to_be_focused()


def test_what_is_not_saved_survives_a_page_a_language_and_a_reload(opened, app):
    area(opened).click()
    opened.page.keyboard.press("Control+Home")
    opened.page.keyboard.type("# mine\n")
    opened.page.get_by_role("link", name="Traces").first.click(delay=80)  # sooner than the editor tells by itself
    expect(opened.page).to_have_url(re.compile("/traces"))
    opened.drawn()
    opened.page.get_by_role("link", name="Scripts").first.click()
    opened.cell(1, "not saved")
    opened.select(1)
    expect(area(opened)).to_have_value("# mine\n" + PLAIN)
    opened.page.get_by_text("中文").click()
    expect(opened.page.get_by_label("脚本文本")).to_have_value("# mine\n" + PLAIN)
    opened.page.reload()
    opened.drawn()
    expect(opened.page.get_by_label("脚本文本")).to_have_value("# mine\n" + PLAIN)
    expect(opened.page.get_by_text("未保存")).to_be_visible()
    opened.page.get_by_role("button", name="放弃修改").click()
    expect(opened.page.get_by_label("脚本文本")).to_have_value(PLAIN)
    opened.page.reload()
    opened.drawn()
    expect(opened.page.get_by_label("脚本文本")).to_have_value(PLAIN)


def test_a_piece_is_inserted_below_the_caret(opened):
    area(opened).click()
    opened.page.keyboard.press("Control+End")
    opened.page.keyboard.press("ArrowUp")
    opened.page.get_by_role("tab", name="Format").click()
    with opened.answered():
        opened.page.get_by_role("button", name="Insert below the caret").click()
    expect(area(opened)).to_have_value(PLAIN.rstrip() + "\n  - calls:\n      - {name: add, arguments: {a: 2, b: 3}}\n")
    opened.page.keyboard.press("Control+z")
    expect(area(opened)).to_have_value(PLAIN)


def test_a_new_script_is_written_and_run(app, lab, data):
    lab.open(f"{app}/scripts?lang=en")
    lab.page.get_by_role("button", name="New script").click()
    expect(lab.page.get_by_text("This script can be played.")).to_be_visible()
    with lab.answered():
        lab.page.get_by_role("button", name="Run in the stepper").click()
    expect(lab.page).to_have_url(re.compile("scenario=script"))
    expect(lab.status).to_be_visible()
    (info,) = ScriptStore(data).list()
    assert info.rules
    info.path.unlink()


def test_words_of_a_script_are_never_run_or_fetched(app, lab, data):
    title = '![x](https://evil.invalid/x.png) <img src="https://evil.invalid/y.png" onerror="window.hurt=1">'
    text = f"title: '{title}'\ntask: '{title}'\nturns: ['{title}', {{tekst: '{title}'}}]\n"
    script = ScriptStore(data).save("hostile", text)
    asked: list[str] = []
    lab.page.on("request", lambda request: asked.append(request.url))
    lab.open(f"{app}/scripts?script={script}&lang=en")
    expect(lab.page.get_by_text("1 mistake")).to_be_visible()
    lab.page.get_by_label("Text of the script").fill(text.replace("tekst", "text"))
    expect(lab.page.get_by_text("This script can be played.")).to_be_visible()
    lab.settled()
    assert not [url for url in asked if "evil" in url]
    assert lab.page.evaluate("window.hurt") is None
    ScriptStore(data).find(script).unlink()


def test_back_from_the_stepper_leads_to_the_script_again(opened, script):
    opened.button("Run in the stepper").click()
    expect(opened.page).to_have_url(re.compile("/[?]scenario=script"))
    opened.drawn()
    opened.page.go_back()
    expect(opened.page).to_have_url(re.compile(f"/scripts.*script={script}"))
    expect(area(opened)).to_have_value(PLAIN)


def test_what_was_saved_as_a_new_script_is_not_written_at_the_old_one(opened, script, app):
    text = PLAIN.replace("done", "changed")
    area(opened).fill(text)
    expect(unsaved(opened)).to_be_visible()
    opened.page.get_by_role("button", name="Save as new").first.click()
    opened.page.get_by_label("Title of the new script").fill("Another")
    opened.page.get_by_test_id("stPopoverBody").get_by_role("button", name="Save as new").click()
    expect(area(opened)).to_have_value(text.replace("Typed", '"Another"'))
    opened.open(f"{app}/scripts?script={script}&lang=en")
    expect(area(opened)).to_have_value(PLAIN)
    expect(unsaved(opened)).to_have_count(0)
