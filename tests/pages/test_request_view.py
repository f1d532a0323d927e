"""The request of a step on a page: the table, the words, JSON, the command; for runs and for saved traces."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from agent import FakeModel, Intervention, JsonActionModel, Loop, Message, OpenAIModel, Phase, Runner, ToolCall, Trace
from agent.asked import body_of
from agent.context import ContextBudget
from agent.journal import write_trace
from agent.trace import Edit, Request, TraceStep
from pages.parts.runs import OpenRun, registry
from pages.parts.setup import Setup

HOSTILE = "![t](https://evil.example/p) <img src=x onerror=alert(1)> $5 to $7 ~x~ :red[x] `c` # h END"
BIG = 2**70 + 1
CALL = [ToolCall("c1", "look", {"id": BIG, "why": HOSTILE})]
KEY = "key-1234567890"


def look(id: int, why: str = "") -> str:
    """Look around."""
    return json.dumps({"id": id})


def page() -> None:
    """A page that shows nothing but the request, and the tools, of the run or trace that the session names."""
    import streamlit as st

    from pages.parts.request_view import request_view
    from pages.parts.runs import registry
    from pages.parts.tools_view import tools_view

    run = registry().find(st.session_state["shows"]) if "shows" in st.session_state else None
    trace = run.trace() if run is not None else st.session_state["trace"]
    request_view(run, trace, st.session_state.get("given"), key="r")
    tools_view(trace, key="t")


def app_of(shows: OpenRun | Trace, **state: Any) -> AppTest:
    app = AppTest.from_function(page, default_timeout=30)
    if isinstance(shows, OpenRun):
        app.session_state["shows"] = shows.id
    else:
        app.session_state["trace"] = shows
    for key, value in state.items():
        app.session_state[key] = value
    return drawn(app)


def drawn(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def to(run: OpenRun, phase: Phase | None, step: int = 1) -> None:
    """Move the run until this phase comes next, in this step."""
    while run.loop.phase != phase or (phase is not None and len(run.loop.trace.steps) < step - 1):
        assert run.loop.phase
        run.loop.advance()


def states(app: AppTest) -> list[list[str]]:
    return [list(each) for each in app.dataframe[0].value["state"]]


def texts(app: AppTest, *kinds: str) -> str:
    return "\n".join(str(each.value) for kind in kinds for each in app.get(kind))


def tab(app: AppTest, name: str, number: int) -> AppTest:
    app.session_state[f"r-{number}-form"] = name
    return drawn(app)


Make = Callable[..., OpenRun]


@pytest.fixture
def run(open_run: Make) -> OpenRun:
    return open_run([CALL, "done"], [look], system="rules", task="去东京")


def test_before_prepare_there_is_a_preview_and_before_call_what_is_about_to_be_sent(run: OpenRun) -> None:
    app = app_of(run)
    assert "preview" in texts(app, "markdown")
    to(run, Phase.CALL)
    drawn(app)
    assert "about to be sent" in texts(app, "markdown")
    assert states(app) == [["＋ new"], ["＋ new"]]
    assert "2 messages: the first request; nothing differs from the message list" in texts(app, "text")


def test_it_follows_the_newest_request_until_a_step_is_chosen(run: OpenRun) -> None:
    app = app_of(run)
    to(run, Phase.CALL, step=2)
    drawn(app)
    assert app.number_input(key="r-step").value == 2
    assert "4 messages: 2 as before, 2 new; nothing differs" in texts(app, "text")
    assert states(app) == [["= as before"], ["= as before"], ["＋ new"], ["＋ new"]]
    app.number_input(key="r-step").set_value(1).run()
    assert len(states(app)) == 2
    to(run, None)
    drawn(app)
    assert app.number_input(key="r-step").value == 1
    app.number_input(key="r-step").set_value(2).run()
    assert "about to be sent" not in texts(app, "markdown")
    assert len(states(app)) == 4


def test_the_page_may_name_the_step(run: OpenRun) -> None:
    to(run, None)
    app = app_of(run, given=1)
    assert app.number_input(key="r-step").value == 1
    app.number_input(key="r-step").set_value(2).run()
    app.session_state["given"] = 2
    drawn(app)
    app.session_state["given"] = 1
    assert drawn(app).number_input(key="r-step").value == 1


def test_json_and_command_hold_the_body_as_it_is(run: OpenRun) -> None:
    to(run, None)
    app = app_of(run)
    body = body_of(run.loop.trace, run.loop.trace.steps[1])
    shown = tab(app, "JSON", 2).code[0].value
    assert json.loads(shown) == body
    assert str(BIG) in shown
    assert "东京" in shown
    assert "A script answered" in texts(app, "caption")
    command = tab(app, "curl", 2).code[0].value
    assert command.startswith("curl https://api.openai.com/v1/chat/completions")
    assert "$OPENAI_API_KEY" in command
    assert json.loads(command.split("<<'END_OF_BODY'\n")[1].removesuffix("\nEND_OF_BODY")) == body


def test_only_the_open_tab_is_drawn(run: OpenRun) -> None:
    to(run, None)
    app = app_of(run)
    assert (len(app.dataframe), len(app.code)) == (1, 0)
    assert len(tab(app, "JSON", 2).dataframe) == 0


def test_a_live_model_is_shown_with_its_options_and_without_its_key() -> None:
    model = OpenAIModel("m-1", base_url=f"http://u:{KEY}@127.0.0.1:9/v1", api_key=KEY, stream=True, temperature=0.5)
    loop = Loop(model, [look], system=f"the key is {KEY}", interventions=[Intervention("blank_results")])
    loop.start("go")
    run = registry().open(loop.trace.trace_id, lambda: OpenRun(Runner(loop), Setup()))
    app = app_of(run)
    shown = tab(app, "JSON", 1).code[0].value
    assert json.loads(shown)["temperature"] == 0.5
    assert not app.caption or "A script answered" not in texts(app, "caption")
    command = tab(app, "curl", 1).code[0].value
    assert "http://127.0.0.1:9/v1/chat/completions" in command
    assert KEY not in shown + command + texts(tab(app, "Messages", 1), "text", "markdown", "caption", "code")
    assert KEY not in str(app.dataframe[0].value)


def test_a_key_in_the_request_that_is_about_to_be_sent_is_hidden() -> None:
    class Keyed(FakeModel):
        secrets = (KEY,)

    instead = Intervention("blank_results", {"text": f"the key is {KEY}"})
    loop = Loop(Keyed([CALL, "done"]), [look], interventions=[instead])
    loop.start("go")
    run = registry().open(loop.trace.trace_id, lambda: OpenRun(Runner(loop), Setup()))
    to(run, Phase.CALL, step=2)
    app = app_of(run)
    assert "about to be sent" in texts(app, "markdown")
    assert "the key is [redacted: secret]" in str(app.dataframe[0].value.to_dict())
    assert KEY not in str(app.dataframe[0].value.to_dict())
    for form in ("JSON", "curl"):
        shown = tab(app, form, 2).code[0].value
        assert "the key is [redacted: secret]" in shown
        assert KEY not in shown


def test_what_was_left_out_or_changed_is_named_and_can_be_read(open_run: Make) -> None:
    run = open_run([CALL, "done"], [look], interventions=[Intervention("blank_results", {"text": "nothing"})])
    to(run, None)
    app = app_of(run)
    assert states(app)[2] == ["＋ new", "✎ changed by “Tool results: blanked”"]
    assert "differs from the message list: 1 changed by “Tool results: blanked”" in texts(app, "text")
    app.session_state["r-2-rows-0"] = {"selection": {"rows": [2], "columns": []}}
    drawn(app)
    assert "＋ new, ✎ changed by “Tool results: blanked”" in texts(app, "text")
    sent, own = (json.loads(code.value)["content"] for code in app.code[:2])
    assert (sent, json.loads(own)["id"]) == ("nothing", BIG)


def test_a_long_run_folds_what_is_as_before(open_run: Make) -> None:
    calls = [[ToolCall(f"c{n}", "look", {"id": n})] for n in range(6)]
    run = open_run([*calls, "done"], [look], max_steps=10)
    to(run, None)
    app = app_of(run)
    assert states(app) == [["＋ new"], ["＋ new"]]
    app.toggle(key="r-7-fold").set_value(False).run()
    assert len(states(app)) == 13


def test_compaction_says_who_left_out_what(open_run: Make) -> None:
    calls = [[ToolCall(f"c{n}", "look", {"id": n, "why": "word " * 60})] for n in range(5)]
    run = open_run([*calls, "done"], [look], context=ContextBudget(max_tokens=500))
    to(run, None)
    app = app_of(run)
    assert ["✕ no longer sent", "− left out by the context budget"] in states(app)
    assert "left out by the context budget" in texts(app, "text")


def test_a_request_that_cannot_be_made_is_told(open_run: Make) -> None:
    app = app_of(open_run(["done"], context=ContextBudget(max_tokens=20), task="word " * 100))
    assert "there can be no request" in texts(app, "warning")
    assert "the limit is 20" in texts(app, "text")


def test_a_file_that_does_not_say_what_was_sent_is_taken_at_its_word() -> None:
    trace = Trace()
    trace.add(Message("user", "hi"), "user")
    trace.add(Message("assistant", "ho"), "model", 1)
    trace.steps.append(TraceStep(index=1, reply=1))
    app = app_of(trace)
    assert "does not say what was sent" in texts(app, "info")
    assert len(app.dataframe) == 0
    assert "No request was made" in texts(app_of(Trace()), "caption")


def hostile() -> Trace:
    trace = Trace(tools=[{"type": "function", "function": {"name": HOSTILE, "description": HOSTILE, "parameters": 3}}])
    for role in (HOSTILE, "assistant", "user"):
        trace.add(Message(role, HOSTILE, tuple(CALL) if role == "assistant" else ()), "user")
    edits = [Edit(op="drop", message=0, by=HOSTILE), Edit(op="insert", message=3, by="\ud800", with_={"role": "x"})]
    trace.steps = [
        TraceStep(index=1, request=Request(upto=3)),
        TraceStep(index=2, request=Request(upto=3, edits=edits)),
    ]
    trace.config = {"temperature": HOSTILE}
    return trace


@pytest.mark.parametrize("form", ["Messages", "JSON", "curl"])
def test_the_words_of_a_file_stay_plain_text(form: str) -> None:
    app = tab(app_of(hostile(), lang="zh"), form, 2)
    assert "evil" not in texts(app, "markdown", "caption", "info", "warning")
    assert "evil" in texts(app, "text", "code") + str([frame.value.to_dict() for frame in app.dataframe])


def test_five_thousand_messages_are_a_preview_and_a_download() -> None:
    trace = Trace(tools=[{"type": "function", "function": {"name": f"tool-{n}"}} for n in range(40)])
    for _ in range(6000):
        trace.add(Message("user", "word " * 20), "user")
    trace.steps = [TraceStep(index=1, request=Request(upto=6000))]
    app = app_of(trace)
    assert len(app.dataframe[0].value) == 1000
    assert "≈" in texts(app, "markdown")
    tab(app, "JSON", 1)
    assert len(app.code[0].value) <= 20_000
    assert app.get("download_button")


# ---- the tools ----


def test_tools_are_shown_with_their_parameters_and_their_schema(run: OpenRun) -> None:
    app = app_of(run)
    shown = texts(app, "text")
    assert "look\nLook around." in shown
    assert "● id: integer (required)" in shown
    assert "○ why: string (optional)" in shown
    app.session_state["t-0-open"] = True
    (schema,) = run.loop.tools.schemas()
    assert json.loads(drawn(app).code[-1].value) == schema


def test_a_schema_is_shown_in_the_dialect_of_its_host() -> None:
    model = OpenAIModel("m", base_url="http://127.0.0.1:9/v1", api_key=KEY, profile="gemini")
    strict = {"name": "f", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}
    trace = Trace(tools=[{"type": "function", "function": strict}], config={"asked_with": model.asked_with})
    app = app_of(trace, **{"t-0-open": True})
    parameters = json.loads(app.code[-1].value)["function"]["parameters"]
    assert parameters == {"type": "object", "properties": {}}


def test_a_model_without_tools_of_its_own_is_told_about_them_in_words() -> None:
    loop = Loop(JsonActionModel(FakeModel([])), [look])
    app = app_of(loop.trace)
    assert '"action": "tool"' in app.code[-1].value
    assert "- look: Look around." in app.code[-1].value


# ---- on the page of a trace ----


def test_a_saved_trace_shows_its_requests_and_tools_when_asked(
    visit: Callable[..., AppTest], run: OpenRun, data: Path
) -> None:
    to(run, None)
    write_trace(run.loop.trace, data)
    registry().end(run.id)
    app = visit("traces", trace=run.id, message="3")
    assert len(app.dataframe) == 1
    app.session_state[f"tabs-{run.id}"] = "Request"
    drawn(app)
    assert len(app.dataframe) == 2
    assert len(app.dataframe[1].value) == 2
    app.session_state[f"tabs-{run.id}"] = "Tools"
    assert "● id: integer (required)" in texts(drawn(app), "text")
