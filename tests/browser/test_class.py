"""A class in real browsers: a teacher and two students, each in a context of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Lab, ModelServer

KEY = "sk-browser-1732-0508-0756"


@pytest.fixture
def person(browser: Browser) -> Iterator[Callable[..., Lab]]:
    """Somebody with a browser of one's own."""
    contexts = []

    def come(**options: object) -> Lab:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 720}, "locale": "en-GB"} | options))
        contexts.append(context)
        return Lab(context.new_page())

    yield come
    for context in contexts:
        context.close()


def press(lab: Lab, name: str, *, exact: bool = True) -> None:
    with lab.answered():
        lab.page.get_by_role("button", name=name, exact=exact).first.click()


def begin(lab: Lab, app: str, title: str) -> str:
    """Begin a class; gives the link for students."""
    lab.open(f"{app}/classroom")
    lab.page.get_by_label("Title of the class").fill(title)
    press(lab, "Begin a class")
    link = lab.page.locator("code").filter(has_text="join=")
    expect(link).to_be_visible()
    return link.inner_text()


def join(lab: Lab, link: str, name: str) -> None:
    lab.open(link)
    lab.page.get_by_label("Your name", exact=True).fill(name)
    press(lab, "Take a seat")
    expect(lab.page.get_by_text(name).first).to_be_visible()


def seat_of(page: Page) -> str:
    found = re.search(r"[?&]seat=([\w-]+)", page.url)
    assert found, page.url
    return found[1]


def menu(lab: Lab, name: str) -> None:
    with lab.answered():
        lab.page.get_by_role("link", name=name, exact=True).first.click()


@pytest.mark.browser
def test_a_teacher_sees_a_student_step_resets_the_run_and_shows_a_lesson(app: str, person: Callable[..., Lab]) -> None:
    teacher, ada = person(), person()
    link = begin(teacher, app, "Monday")
    join(ada, link, "Ada")
    seat = seat_of(ada.page)
    menu(ada, "Run")
    expect(ada.page).to_have_url(re.compile(f"seat={seat}"))
    with ada.answered():
        ada.button("Step").click()
    expect(ada.page).to_have_url(re.compile("run="))
    run = re.search(r"run=([0-9a-f]{12})", ada.page.url)
    assert run
    ada.page.reload()
    ada.drawn()
    expect(ada.page.get_by_text("Monday · Ada")).to_be_visible()
    assert seat_of(ada.page) == seat

    table = teacher.table
    expect(table.locator('tr[aria-rowindex="2"]')).to_contain_text("step 1: call")
    teacher.page.get_by_test_id("stDataFrame").first.click(position={"x": 120, "y": 38 + 16})
    expect(teacher.page.get_by_text("1 · Ada")).to_be_visible()
    assert run[1] not in teacher.page.content()
    press(teacher, "Reset the run", exact=False)
    expect(ada.page.get_by_text("Your teacher has reset this run")).to_be_visible()
    expect(ada.page).not_to_have_url(re.compile(run[1]))

    press(teacher, "Show it to the class", exact=False)
    shown = ada.page.get_by_role("link", name="See what your teacher shows")
    expect(shown).to_be_visible()
    shown.click()
    expect(ada.page).to_have_url(re.compile(rf"/learn\?.*seat={seat}|/learn\?.*lesson="))
    expect(ada.page.get_by_text("Monday · Ada")).to_be_visible()


@pytest.mark.browser
def test_a_double_click_begins_one_class_and_takes_one_seat(app: str, person: Callable[..., Lab]) -> None:
    teacher, ada, bob = person(), person(), person()
    teacher.open(f"{app}/classroom")
    teacher.page.get_by_label("Title of the class").fill("Twice")
    teacher.page.get_by_role("button", name="Begin a class").dblclick()
    link = teacher.page.locator("code").filter(has_text="join=")
    expect(link).to_be_visible()
    teacher.drawn()
    ada.open(link.inner_text())
    ada.page.get_by_role("button", name="Take a seat").dblclick()
    expect(ada.page.get_by_text("Twice · Student 1")).to_be_visible()
    ada.drawn()
    seat_of(ada.page)
    bob.open(link.inner_text())
    expect(bob.page.get_by_label("Your name", exact=True)).to_have_value("Student 2")
    press(teacher, "All classes")
    expect(teacher.page.get_by_text("Twice ·")).to_have_count(1)


@pytest.mark.browser
def test_the_key_of_a_loan_goes_to_the_model_and_to_no_page(
    app: str, person: Callable[..., Lab], model_server: ModelServer
) -> None:
    teacher, ada, bob = person(), person(), person()
    sent: list[str] = []
    for lab in (ada, bob):
        lab.page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda data: sent.append(repr(data))),
        )
    link = begin(teacher, app, "Lending")
    join(ada, link, "Ada")
    join(bob, link, "Bob")
    teacher.page.get_by_text("Lend a model").click()
    for label, text in (("Model name", "class-model"), ("Base URL", model_server.url), ("API key", KEY)):
        teacher.page.get_by_label(label, exact=True).fill(text)
    press(teacher, "Lend it")
    expect(teacher.page.get_by_text("On loan")).to_be_visible()
    assert teacher.page.get_by_label("API key", exact=True).input_value() == ""

    model_server.gate.set()
    model_server.echo = True
    menu(ada, "Run")
    with ada.answered():
        ada.page.get_by_text("Model of the class", exact=True).click()
    with ada.answered():
        ada.button("Continue").click()
    expect(ada.page.get_by_text("You sent").first).to_be_visible()
    model_server.wait_for_request(1)
    host = model_server.url.split("/")[2]
    assert any("You sent" in text for text in sent)  # what is sent to a page can be read here
    for text in (*sent, ada.page.content(), bob.page.content(), ada.page.url, bob.page.url):
        assert KEY not in text
        assert host not in text
