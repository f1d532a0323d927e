"""A teacher and students as sessions of the app, for the tests of the class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from pages.parts.class_rooms import Rooms, rooms
from pages.parts.runs import OpenRun, registry
from traces.classroom.klass import Klass, Seat

Visit = Callable[..., AppTest]
KEY = "sk-teacher-2718-2818-2845"


def begun(visit: Visit, title: str = "Monday") -> tuple[AppTest, Klass]:
    """A teacher who has begun a class, and the class."""
    app = visit("classroom")
    app.text_input(key="class-title").input(title)
    app.button(key="class-begin-it").click().run()
    assert not app.exception
    return app, here().classes.all()[0]


def seated(visit: Visit, klass: Klass, name: str = "Ada") -> tuple[AppTest, Seat]:
    """A student who has joined by the link, and the seat."""
    app = visit("learn", join=klass.code)
    app.text_input(key="class-name").input(name)
    app.button(key="class-take").click().run()
    assert not app.exception
    return app, here().classes.seats(klass.id)[-1]


def here() -> Rooms:
    """The classes of the server under test."""
    return rooms()


def seen(app: AppTest) -> str:
    """Everything that a page has sent to its browser, whatever element it stands in, and its address."""
    assert not app.exception
    sent = [str(getattr(element, "proto", "")) for block in (app.main, app.sidebar) for element in block]
    frames = [element.value.to_string() for element in app.dataframe]
    return "\n".join([*sent, *frames, str(dict(app.query_params))])


def shown(app: AppTest, *kinds: str) -> str:
    """The texts of a page."""
    assert not app.exception
    return "\n".join(str(each.value) for kind in kinds or ("text", "info", "caption") for each in app.get(kind))


def query(app: AppTest) -> dict[str, str]:
    """The parameters of a page's address."""
    return {key: value if isinstance(value, str) else value[0] for key, value in app.query_params.items()}


def run_of(app: AppTest) -> OpenRun:
    """The open run that a page shows."""
    run = registry().find(query(app)["run"])
    assert run is not None
    return run


def stepped(app: AppTest) -> OpenRun:
    """Let a session begin a run on the Run page, and move it by one phase."""
    app.switch_page("pages/run.py").run()
    app.button(key="step").click().run()
    run = run_of(app)
    assert run.runner.wait(10)
    return run


def lend(app: AppTest, url: str, **fields: Any) -> None:
    """Fill in the form of a loan on the teacher's page, and lend."""
    app.text_input(key="class-lend-model").input(fields.get("model", "class-model"))
    app.text_input(key="class-lend-url").input(url)
    app.text_input(key="class-lend-key").input(fields.get("key", KEY))
    app.number_input(key="class-lend-calls").set_value(fields.get("calls", 10))
    app.number_input(key="class-lend-tokens").set_value(fields.get("tokens", 10_000))
    app.button(key="class-lend-it").click().run()
    assert not app.exception
