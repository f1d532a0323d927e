"""The export menu: closed it costs nothing, open it tells what is taken out and offers every form."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import texts


def script() -> None:
    import streamlit as st

    from agent import Message, Trace
    from agent.trace import Entry, TraceStep
    from pages.parts.exports import export_menu

    trace = Trace(trace_id="t1", title="A <title>")
    trace.messages = [Message("user", "my key is sk-proj-Abcdefgh12345678Zz")]
    trace.entries = [Entry(maker="user")]
    trace.messages += [Message("assistant", "first"), Message("assistant", "password=hunter22")]
    trace.entries += [Entry(maker="model"), Entry(maker="model")]
    trace.steps = [TraceStep(index=1, reply=1), TraceStep(index=2, reply=2)]
    st.text("before")
    export_menu(trace, key="x")


def test_a_closed_menu_offers_nothing() -> None:
    app = AppTest.from_function(script).run()
    assert not app.exception
    assert not app.get("download_button")


def test_an_open_menu_offers_every_form_and_tells_what_is_taken_out() -> None:
    app = AppTest.from_function(script)
    app.session_state["x-menu"] = True
    app.run()
    assert not app.exception
    assert len(app.get("download_button")) == 10
    shown = texts(app, "caption", "text")
    assert "2 here" in shown
    assert "key, 26 characters: messages[0].content" in shown
    assert "sk-proj" not in shown
    assert "hunter22" not in shown


def test_an_open_menu_tells_what_a_form_leaves_out() -> None:
    app = AppTest.from_function(script)
    app.session_state["x-menu"] = True
    app.run()
    assert "times, tokens, costs and decisions have no place in a message list" in texts(app, "caption")
    app.query_params["lang"] = "zh"
    app.run()
    assert not app.exception
    assert "此格式中与原来不同之处：时间、词元、费用和决定在消息列表中没有位置" in texts(app, "caption")


def test_some_steps_alone_can_be_handed_out() -> None:
    app = AppTest.from_function(script)
    app.session_state["x-menu"] = True
    app.run()
    app.select_slider[0].set_range(1, 1).run()
    assert not app.exception
    assert "1 here" in texts(app, "caption"), "the other secret stands in step 2"
