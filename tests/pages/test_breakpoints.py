"""The list of breakpoints in the side bar: before a run, in it, in two tabs, and in both languages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from agent import Breakpoint, CapabilityPolicy, ContextBudget, FakeModel, InputError, Loop, Runner, ToolCall, tool
from agent.breakpoints import KINDS, BreakpointKind, Hit
from agent.recovery import recover
from pages.parts.runs import OpenRun, registry
from pages.parts.setup import Setup
from pages.parts.words import translate_loop_words
from tests.pages.conftest import texts

WAIT_S = 10


@tool
def echo(text: str) -> str:
    """Say it again."""
    if text == "no":
        raise ValueError("too small")
    return text


CALL = [ToolCall("c1", "echo", {"text": "no"})]


def panel() -> None:
    """A page of nothing but the panel, for the run in its address."""
    import streamlit as st

    from pages.parts.breakpoints import breakpoints_panel, hand_over, hit_line
    from pages.parts.notices import notices
    from pages.parts.runs import registry

    run = registry().find(st.query_params.get("run", ""))
    if run is not None and "made" in st.query_params:
        hand_over(run)
    with st.sidebar:
        breakpoints_panel(run)
    notices()
    if run is not None:
        st.text(hit_line(run))


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(panel, default_timeout=30)
    app.query_params.update(query)
    return drawn(app)


def drawn(changed: Any) -> AppTest:
    """The page once more, as it is or after one of its elements was used."""
    app: AppTest = changed.run()
    assert not app.exception
    return app


def add(app: AppTest, kind: BreakpointKind, value: Any = None) -> AppTest:
    drawn(app.selectbox(key="breakpoint-kind").select_index(KINDS.index(kind)))
    if value is not None:
        field = {"text": app.text_input, "tokens": app.number_input}.get(kind, app.selectbox)
        drawn(field(key=f"breakpoint-{kind}").set_value(value))
    return drawn(app.button(key="breakpoint-add").click())


def rows(app: AppTest) -> list[str]:
    return [row.value for row in app.sidebar.text]


def test_every_kind_can_be_added_and_stands_in_one_list(open_run: Callable[..., OpenRun]) -> None:
    run = open_run([CALL, "done"], [echo])
    app = opened(run=run.id)
    assert app.selectbox(key="breakpoint-kind").options == [
        "A call of a tool",
        "A phase",
        "An error of a tool",
        "A stop rule about to fire",
        "A text in a message",
        "A long request",
    ]
    add(app, "tool", "echo")
    add(app, "phase", "append")
    add(app, "error")
    add(app, "stop")
    add(app, "stop", "max_iterations")
    add(app, "text", "Small *print*")
    add(app, "tokens", 500)
    assert run.runner.breakpoints == (
        Breakpoint("tool", "echo"),
        Breakpoint("phase", "append"),
        Breakpoint("error"),
        Breakpoint("stop"),
        Breakpoint("stop", "max_iterations"),
        Breakpoint("text", "Small *print*"),
        Breakpoint("tokens", 500),
    )
    assert {each.kind for each in run.runner.breakpoints} == {*KINDS}
    assert rows(app) == [
        "a call of echo",
        "before append",
        "a tool gives an error",
        "any stop but final",
        "the stop rule max_iterations is about to fire",
        "the text “Small *print*” in a message",
        "a request of more than 500 tokens",
    ]
    assert app.sidebar.expander[0].label == "Breakpoints: 7"


def test_one_can_be_switched_off_added_again_and_removed(open_run: Callable[..., OpenRun]) -> None:
    run = open_run(["done"], [echo])
    app = add(add(opened(run=run.id), "error"), "phase", "call")
    drawn(app.toggle(key="breakpoint-on-1").set_value(False))
    assert run.runner.breakpoints == (Breakpoint("error", enabled=False), Breakpoint("phase", "call"))
    add(app, "error")
    assert run.runner.breakpoints == (Breakpoint("error"), Breakpoint("phase", "call"))
    assert app.toggle(key="breakpoint-on-1").value
    drawn(app.button(key="breakpoint-remove-1").click())
    assert run.runner.breakpoints == (Breakpoint("phase", "call"),)
    assert rows(app) == ["before call"]


def test_what_makes_no_sense_is_said_in_words(open_run: Callable[..., OpenRun]) -> None:
    run = open_run(["done"])
    app = add(opened(run=run.id), "text", " ")
    assert "a breakpoint on a text needs a text, not ' '" in texts(app, "toast", "text", "warning")
    assert run.runner.breakpoints == ()


@pytest.mark.parametrize(("kind", "value"), [("text", ""), ("tool", ""), ("tokens", 0)])
def test_what_is_said_about_a_value_has_a_chinese_form(kind: Any, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        Breakpoint(kind, value)
    assert "断点需要" in translate_loop_words(str(caught.value), "zh")


def test_the_list_of_the_session_goes_over_to_the_run_that_is_made(open_run: Callable[..., OpenRun]) -> None:
    app = add(opened(), "phase", "execute")
    drawn(app.toggle(key="breakpoint-on-1").set_value(False))
    assert rows(app) == ["before execute"]
    run = open_run([CALL, "done"], [echo])
    app.query_params.update({"run": run.id, "made": "1"})
    drawn(app)
    assert run.runner.breakpoints == (Breakpoint("phase", "execute", enabled=False),)
    assert rows(app) == ["before execute"]


def test_the_first_press_of_a_fresh_app_already_meets_the_breakpoints(
    visit: Callable[..., AppTest], press: Callable[..., AppTest]
) -> None:
    app = add(visit(), "phase", "execute")
    press(app, "continue")
    (run,) = registry().listed()
    assert run.loop.phase == "execute"
    assert run.runner.hit == Hit(Breakpoint("phase", "execute"), "the run stands before execute")
    shown = [text.value for text in app.main.text]
    assert "Breakpoint: the run stands before execute" in shown


def test_two_tabs_show_and_change_the_same_list(open_run: Callable[..., OpenRun]) -> None:
    run = open_run(["done"], [echo])
    one, two = opened(run=run.id), opened(run=run.id)
    add(one, "error")
    assert rows(drawn(two)) == ["a tool gives an error"]
    drawn(two.toggle(key="breakpoint-on-1").set_value(False))
    assert drawn(one).toggle(key="breakpoint-on-1").value is False
    drawn(two.button(key="breakpoint-remove-1").click())
    drawn(one.toggle(key="breakpoint-on-1").set_value(True))
    assert run.runner.breakpoints == (), "what is gone does not come back by an old switch"


def test_two_tabs_that_change_the_list_at_once_lose_nothing(open_run: Callable[..., OpenRun]) -> None:
    run = open_run(["done"], [echo])
    app = drawn(opened(run=run.id).selectbox(key="breakpoint-kind").select("error"))
    press = threading.Thread(target=app.button(key="breakpoint-add").click().run)
    with run.lock:  # another tab is in the middle of a change
        before = run.runner.breakpoints
        press.start()
        press.join(1)
        run.runner.breakpoints = (*before, Breakpoint("phase", "append"))
    press.join(WAIT_S)
    assert [each.kind for each in run.runner.breakpoints] == ["phase", "error"]


def test_the_list_can_be_changed_while_the_run_moves(open_run: Callable[..., OpenRun]) -> None:
    inside, go_on = threading.Event(), threading.Event()

    @tool
    def hold() -> str:
        """Wait."""
        inside.set()
        go_on.wait(WAIT_S)
        return "late"

    run = open_run([[ToolCall("c1", "hold", {})], "done"], [hold])
    app = opened(run=run.id)
    run.runner.resume()
    assert inside.wait(WAIT_S)
    add(app, "phase", "append")
    assert rows(app) == ["before append"]
    go_on.set()
    assert run.runner.wait(WAIT_S)
    assert run.loop.phase == "append"
    assert drawn(app).main.text[0].value == "Breakpoint: the run stands before append"


def test_a_restarted_server_shows_the_same_list(data: Path) -> None:
    loop = Loop(FakeModel([CALL, "done"]), [echo], journal=data)
    loop.start("go")
    run = OpenRun(Runner(loop), Setup())
    registry().open(run.id, lambda: run)
    app = add(opened(run=run.id), "error")
    drawn(app.toggle(key="breakpoint-on-1").set_value(False))
    run.keep_setup(max_steps=16)
    registry().end(run.id)
    snapshot = recover(data / f"{run.id}.jsonl")
    assert Setup.from_dict(snapshot["trace"]["setup"]).max_steps == 16
    again = OpenRun(Runner(Loop.resume(snapshot, model=FakeModel([CALL, "done"]), tools=[echo])), Setup())
    registry().open(run.id, lambda: again)
    assert rows(drawn(app)) == ["a tool gives an error"]
    assert app.toggle(key="breakpoint-on-1").value is False


def test_neither_the_list_nor_what_was_seen_shows_the_key_in_use(open_run: Callable[..., OpenRun]) -> None:
    key = "Zq81Lm-the-key-in-use"

    class Keyed(FakeModel):
        secrets = (key,)

    loop = Loop(Keyed([f"I saw {key}"]))
    loop.start("go")
    run = registry().open(loop.trace.trace_id, lambda: OpenRun(Runner(loop), Setup()))
    app = add(opened(run=run.id), "text", key)
    run.runner.resume()
    assert run.runner.wait(WAIT_S)
    assert run.runner.hit
    drawn(app)
    shown = [text.value for text in app.text]
    assert len(shown) == 2
    assert not any(key in text for text in shown)


HITS: list[tuple[Breakpoint, dict[str, Any]]] = [
    (Breakpoint("tool", "echo"), {}),
    *((Breakpoint("phase", phase), {}) for phase in ("call", "approve", "execute", "append", "decide")),
    (Breakpoint("error"), {}),
    (Breakpoint("stop", "final"), {}),
    (Breakpoint("stop"), {"max_steps": 1}),
    (Breakpoint("text", "small"), {}),
    (Breakpoint("tokens", 20), {"context": ContextBudget(4000)}),
]


@pytest.mark.parametrize(("breakpoint", "options"), HITS, ids=[each.id for each, _ in HITS])
def test_what_was_seen_has_a_chinese_form(
    open_run: Callable[..., OpenRun], breakpoint: Breakpoint, options: dict[str, Any]
) -> None:
    run = open_run([CALL, "done"], [echo], policy=CapabilityPolicy(), **options)
    run.runner.breakpoints = (breakpoint,)
    run.runner.resume()
    assert run.runner.wait(WAIT_S)
    assert run.runner.hit
    chinese = translate_loop_words(run.runner.hit.text, "zh")
    assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese)
    app = opened(run=run.id, lang="zh")
    assert app.main.text[0].value == f"断点: {chinese}"
    assert app.sidebar.expander[0].label == "断点：1"
