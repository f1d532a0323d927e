"""The Learn page in a real browser: the course by keyboard, questions that hold the run, two languages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.pages.teaching import LESSON, put_lesson

pytestmark = pytest.mark.browser

TO_CALL = "Next: call"


@pytest.fixture
def open_lesson(app: str, data: Path, lab) -> Callable[[str], None]:
    """A lesson of its own for each test, so that no answer of another test counts in it."""

    def open_it(name: str) -> None:
        put_lesson(data, LESSON, f"{name}.yaml")
        lab.open(f"{app}/learn?lesson={name}")

    return open_it


def test_three_keys_lead_to_the_sentence_that_the_model_only_asked(open_lesson: Callable[[str], None], lab) -> None:
    open_lesson("three_keys")
    for key in ("s", "1", "s"):
        lab.key(key)
    expect(lab.status).to_contain_text("The model only asked; nothing has run yet.")
    expect(lab.status).to_contain_text("✓ Right")
    expect(lab.status).to_contain_text("Nothing has run.")


def test_presses_however_quick_do_not_go_past_a_question(open_lesson: Callable[[str], None], lab, page: Page) -> None:
    open_lesson("quick")
    for key in "ssgswsgs":
        page.keyboard.press(key)
    lab.settled()
    expect(lab.status).to_contain_text(TO_CALL)
    expect(lab.status).to_contain_text("Does the model ask for a tool, or does it answer?")
    lab.rows(1)
    lab.key("s")
    expect(page.get_by_test_id("stToast").first).to_contain_text("There is a question first")
    lab.key("k")
    lab.key("s")
    lab.rows(2)


def test_a_lesson_is_gone_through_by_keyboard_alone_and_the_course_knows_it(
    open_lesson: Callable[[str], None], lab, page: Page
) -> None:
    open_lesson("whole")
    lab.key("g")
    for key in ("1", "g", "2", "g", "2", "g"):
        lab.key(key)
    expect(page.locator(".st-key-lesson-end")).to_contain_text("What your run showed")
    expect(page.locator(".st-key-lesson-head")).to_contain_text("2 of 3 right")
    lab.key("b")
    expect(lab.status).to_contain_text("Looking back")
    with lab.answered():
        page.get_by_role("button", name="The course", exact=True).click()
    expect(page.locator(".st-key-course-line-whole")).to_contain_text("done")


def test_a_run_of_each_language_and_the_browsers_back(open_lesson: Callable[[str], None], lab, page: Page) -> None:
    open_lesson("languages")
    lab.key("s")
    lab.cell(1, "What is 2+3?")
    with lab.answered():
        page.get_by_text("中文").click()
    lab.cell(1, "2+3 等于多少？")
    assert "run=" not in page.url and "lang=zh" in page.url
    with lab.answered():
        page.go_back()
    lab.cell(1, "What is 2+3?")


def test_the_first_lesson_begins_with_one_key(app: str, lab, page: Page) -> None:
    lab.open(f"{app}/learn")
    lab.key("l")
    expect(page.locator(".st-key-lesson-head")).to_contain_text("1.")
    assert "lesson=" in page.url
