"""The replay of a trace: walking, playing by the clock, and going on from any moment as a new run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from agent import FakeModel, Loop, Message, ToolCall, Trace, tool
from agent.journal import write_trace
from agent.moments import moments
from pages.parts.chosen_script import kept_name, scripts
from pages.parts.continuing import beginning, script_of_trace
from pages.parts.opened import read_kept
from pages.parts.player import Reel
from pages.parts.resuming import continued
from pages.parts.runs import OpenRun, registry
from pages.parts.setup import Setup
from tests.pages.conftest import refused, texts
from tests.pages.provider import Provider
from traces import open_trace

Visit = Callable[..., AppTest]
Press = Callable[..., AppTest]
KINDS = ("markdown", "text", "code", "caption", "warning", "error")


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@pytest.fixture
def saved(data: Path) -> Trace:
    """A run of two steps: echo, then the answer."""
    loop = Loop(FakeModel([[ToolCall("c1", "echo", {"text": "hello"})], "done"]), [echo], title="two steps")
    loop.start("a task")
    loop.finish()
    write_trace(loop.trace, data)
    return loop.trace


@pytest.fixture
def slow(saved: Trace, data: Path) -> Trace:
    """The same run, whose first call and tool took 1,000 seconds each: played as recorded, it stays where it is."""
    step = saved.steps[0]
    step.latency_ms, step.tools[0].latency_ms = 1e6, 1e6
    write_trace(saved, data)
    return saved


def replay(visit: Visit, trace: Trace, **query: str) -> AppTest:
    return visit("replay", trace=trace.trace_id, **query)


def place(app: AppTest) -> int:
    """The moment that the page shows, from 1."""
    return int(app.slider[0].value)


def click(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def enabled(app: AppTest) -> set[str]:
    names = ("start", "back", "play", "pause", "step", "step_over", "next_call", "end")
    return {name for name in names if not app.button(key=f"player-{name}").disabled}


def ways(app: AppTest, trace: Trace, way: str = "script") -> AppTest:
    """Open the tab with the ways on, and choose one."""
    app.session_state[f"replay-tabs-{trace.trace_id}"] = "Continue from here"
    app.run()
    app.radio(key="continue-way").set_value(way).run()
    assert not app.exception
    return app


def go_on(visit: Visit, app: AppTest) -> tuple[OpenRun, AppTest]:
    """Press the button; gives the new run and, as a session that comes to it, the Run page that it leads to."""
    before = {run.id for run in registry().listed()}
    click(app, "continue-here")
    (run,) = (run for run in registry().listed() if run.id not in before)
    assert app.query_params["run"] == run.id
    return run, visit(run=run.id)


def edited(app: AppTest, run: OpenRun, press: Press) -> OpenRun:
    """Change the result at message 3 by a fork, and let that go on to its end."""
    app.session_state[f"tabs-{run.id}"] = "Edit and fork"
    app.run()
    app.text_area(key=f"fork-text-{run.id}-2-0").input("another result").run()
    press(click(app, "fork"), "continue")
    (forked,) = (each for each in registry().listed() if each.id != run.id)
    return forked


# ---- walking ----


def test_it_begins_at_the_first_moment_and_steps_phase_by_phase(visit: Visit, saved: Trace) -> None:
    app = replay(visit, saved)
    assert (place(app), enabled(app)) == (1, {"play", "step", "step_over", "next_call", "end"})
    assert "Next: **prepare**" in texts(app, *KINDS)
    click(app, "player-step")
    click(app, "player-step")
    assert (place(app), app.query_params["at"]) == (3, "3")
    assert "Next: **approve**" in texts(app, *KINDS)
    assert list(app.dataframe[0].value["added"]) == ["", "＋"]
    click(app, "player-back")
    assert place(app) == 2


def test_step_over_call_and_ends(visit: Visit, saved: Trace) -> None:
    phases = [moment.phase for moment in moments(saved)]
    app = click(replay(visit, saved), "player-next_call")
    assert phases[place(app) - 1] == "call"
    click(app, "player-step_over")
    assert phases[place(app) - 1] == "prepare"
    click(app, "player-end")
    assert place(app) == len(phases)
    assert "The model answered and asked for nothing more." in texts(app, *KINDS)
    assert enabled(app) == {"start", "back", "play"}
    click(app, "player-start")
    assert (place(app), "at" in app.query_params) == (1, False)


def test_quick_presses_all_count(visit: Visit, saved: Trace) -> None:
    app = replay(visit, saved)
    for _ in range(4):
        app.button(key="player-step").click()
        app.run()
    assert place(app) == 5


def test_the_slider_leads_to_any_moment(visit: Visit, saved: Trace) -> None:
    app = replay(visit, saved)
    app.slider[0].set_value(4).run()
    assert (place(app), app.query_params["at"]) == (4, "4")
    key = app.slider[0].key
    app.slider[0].set_value(6).run()
    assert (place(app), app.slider[0].key) == (6, key)  # it keeps the focus of the keyboard
    click(app, "player-back")
    assert (place(app), app.slider[0].key != key) == (5, True)


def stale_slider() -> None:
    """A page on which the browser still tells the value of a slider that is gone, then that of a moved one."""
    import streamlit as st

    from pages.parts import address_replay

    gone = address_replay.slider_key(3)
    address_replay.look(4)
    here = address_replay.slider_key(4)
    address_replay.slide(gone, 3)
    st.text(st.query_params["at"])
    address_replay.slide(here, 6)
    st.text(st.query_params["at"])


def test_what_a_slider_showed_that_is_gone_leads_nowhere() -> None:
    app = AppTest.from_function(stale_slider).run()
    assert [each.value for each in app.text] == ["5", "7"]


def test_a_link_to_a_moment_that_is_not_there_shows_the_last(visit: Visit, saved: Trace) -> None:
    count = len(moments(saved))
    assert place(replay(visit, saved, at="999")) == count
    assert place(replay(visit, saved, at="x")) == 1


def test_every_moment_shows_what_the_run_held_then(saved: Trace) -> None:
    reel = Reel(saved)
    views = [reel.view(at) for at in range(len(reel.moments))]
    assert [len(view.trace.messages) for view in views] == [moment.messages for moment in reel.moments]
    assert views[-1].trace.outcome == saved.outcome
    assert [view.number for view in views] == list(range(1, len(views) + 1))


def test_nothing_is_called_and_no_run_is_made(visit: Visit, saved: Trace, data: Path) -> None:
    before = sorted(path.name for path in data.rglob("*") if "index" not in path.name)
    app = replay(visit, saved)
    for key in ("player-play", "player-pause", "player-end"):
        click(app, key)
    assert registry().listed() == []
    assert sorted(path.name for path in data.rglob("*") if "index" not in path.name) == before


# ---- playing ----


def ago(seconds: float) -> str:
    return str(int((time.time() - seconds) * 1000))


def test_where_it_plays_follows_from_the_time_alone(visit: Visit, slow: Trace) -> None:
    assert place(replay(visit, slow, tempo="1x", since=ago(500))) == 2
    app = replay(visit, slow, tempo="1x", since=ago(1500))
    assert place(app) == 4
    assert enabled(app) >= {"pause"}
    assert "play" not in enabled(app)


def test_a_reload_goes_on_where_it_plays(visit: Visit, slow: Trace) -> None:
    app = click(replay(visit, slow, tempo="1x", at="2"), "player-play")
    again = visit("replay", **app.query_params)
    assert (place(again), "pause" in enabled(again)) == (2, True)


def test_pause_stays_where_it_is(visit: Visit, slow: Trace) -> None:
    app = replay(visit, slow, tempo="1x", since=ago(1500))
    click(app, "player-pause")
    assert (place(app), app.query_params["at"], "since" in app.query_params) == (4, "4", False)


def test_it_ends_by_itself_at_the_last_moment(visit: Visit, saved: Trace) -> None:
    count = len(moments(saved))
    app = replay(visit, saved, since=ago(count + 1))
    assert (place(app), app.query_params["at"], "since" in app.query_params) == (count, str(count), False)
    assert enabled(app) == {"start", "back", "play"}


def test_play_at_the_end_begins_anew(visit: Visit, saved: Trace) -> None:
    app = click(replay(visit, saved, at="999"), "player-play")
    assert (place(app), "pause" in enabled(app)) == (1, True)


def test_an_old_link_does_not_jump_to_the_end(visit: Visit, saved: Trace) -> None:
    app = replay(visit, saved, at="3", since=ago(3600))
    assert (place(app), "pause" in enabled(app)) == (3, False)


def test_the_browsers_back_does_not_play_on_what_was_paused(visit: Visit, slow: Trace) -> None:
    app = click(replay(visit, slow, tempo="1x", at="2"), "player-play")
    since = app.query_params["since"]
    click(app, "player-pause")
    app.query_params["since"] = since
    app.run()
    assert "pause" not in enabled(app)


@pytest.mark.parametrize("since", ["x", "-5", "9" * 300, "9" * 5000, "٣"])
def test_a_damaged_address_rests(visit: Visit, saved: Trace, since: str) -> None:
    app = replay(visit, saved, at="2", since=since, tempo="7y", cut="many")
    assert (place(app), "pause" in enabled(app)) == (2, False)
    assert app.selectbox(key="player-tempo").value == "1s"


def test_a_new_pace_goes_on_from_the_moment_at_hand(visit: Visit, slow: Trace) -> None:
    app = replay(visit, slow, tempo="1x", since=ago(1500))
    app.selectbox(key="player-tempo").select("2x").run()
    assert (place(app), app.query_params["tempo"], "pause" in enabled(app)) == (4, "2x", True)


def test_long_waits_can_be_cut_where_the_pace_is_the_recorded_one(visit: Visit, saved: Trace) -> None:
    app = replay(visit, saved)
    assert app.selectbox(key="player-cut").disabled
    app.selectbox(key="player-tempo").select("5x").run()
    app.selectbox(key="player-cut").select(10).run()
    assert (app.query_params["tempo"], app.query_params["cut"]) == ("5x", "10")


def test_the_clock_of_the_recording_is_shown(visit: Visit, saved: Trace) -> None:
    app = replay(visit, saved, at="999")
    assert f"recorded {saved.entries[-1].at[:10]}" in texts(app, "markdown")


def test_a_title_and_a_message_stay_text(visit: Visit, data: Path) -> None:
    hostile = "![t](https://evil.example/p) <img src=x onerror=alert(1)>"
    trace = Trace(title=hostile)
    trace.add(Message("user", hostile), "user")
    write_trace(trace, data)
    app = replay(visit, trace, at="999")
    assert hostile in texts(app, "text")
    assert "evil.example" not in texts(app, "markdown", "caption")


def test_a_trace_that_is_not_here_is_told(visit: Visit) -> None:
    assert "There is no trace" in texts(visit("replay", trace="nothing"), "text")
    assert "Choose a trace" in texts(visit("replay"), "caption")


def test_a_trace_that_went_away_while_it_was_shown_is_told_at_the_next_press(
    visit: Visit, saved: Trace, data: Path
) -> None:
    app = replay(visit, saved)
    (data / f"{saved.trace_id}.json").unlink()
    for key in ("player-step", "player-play"):
        app.button(key=key).click()
    app.run()
    assert not app.exception
    assert "This trace cannot be replayed." in texts(app, "error")


def test_a_trace_without_a_message_can_be_looked_at(visit: Visit, data: Path) -> None:
    trace = Trace(title="empty")
    write_trace(trace, data)
    assert "moment 1 of 1" in texts(replay(visit, trace), "markdown")


# ---- continuing ----


def test_continue_with_the_script_reaches_the_recorded_end(visit: Visit, press: Press, saved: Trace) -> None:
    run, app = go_on(visit, ways(replay(visit, saved, at="3"), saved))
    assert "Next: **approve**" in texts(app, *KINDS)
    source = run.loop.trace.source
    assert (source.kind, source.parent, source.at) == ("fork", saved.trace_id, {"step": 1, "phase": "approve"})
    press(app, "continue")
    assert run.loop.messages == saved.messages
    assert (run.loop.trace.outcome.reason, run.loop.trace.outcome.final) == ("final", "done")


def test_back_from_the_run_leads_to_the_moment_of_the_replay(visit: Visit, saved: Trace) -> None:
    app = ways(replay(visit, saved, at="4"), saved)
    run, _ = go_on(visit, app)
    app.switch_page("pages/replay.py")
    app.query_params["run"] = run.id  # what the framework leaves in the browser's history on the way out
    app.run()
    assert place(app) == 4
    assert app.query_params["trace"] == saved.trace_id
    assert "run" not in app.query_params


def test_a_second_press_makes_no_second_run(visit: Visit, saved: Trace) -> None:
    app = ways(replay(visit, saved, at="3"), saved)
    click(app, "continue-here")
    assert len(registry().listed()) == 1


def test_one_script_a_trace_and_one_that_was_changed_is_left_alone(saved: Trace, data: Path) -> None:
    first = script_of_trace(saved)
    assert script_of_trace(saved) == first
    scripts().save("", scripts().read(first).replace("done", "other"), first)
    second = script_of_trace(saved)
    assert second != first
    assert "other" in scripts().read(first)
    assert len(scripts().list()) == 2


def test_strict_stops_at_a_changed_request_and_names_the_difference(visit: Visit, press: Press, saved: Trace) -> None:
    run, app = go_on(visit, ways(replay(visit, saved, at="6"), saved))
    forked = edited(app, run, press)
    assert forked.loop.trace.outcome.reason == "script_exhausted"
    assert len(forked.loop.messages) == 3
    assert "message 3 (tool)" in texts(app, "text")
    assert "another result" in texts(app, "text")


def test_lenient_notes_the_difference_and_goes_on(visit: Visit, press: Press, saved: Trace) -> None:
    app = ways(replay(visit, saved, at="6"), saved)
    app.radio(key="continue-replay-script").set_value("lenient").run()
    run, app = go_on(visit, app)
    forked = edited(app, run, press)
    assert forked.loop.trace.outcome.final == "done"
    assert any("another result" in warning for warning in forked.loop.trace.steps[-1].warnings)


def test_real_tools_run_where_they_are_here(visit: Visit, press: Press, data: Path) -> None:
    wrong = {"role": "tool", "tool_call_id": "c1", "content": "6"}
    asked = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}
    said = [{"role": "user", "content": "2 + 3?"}, {"role": "assistant", "content": None, "tool_calls": [asked]}, wrong]
    (data / "log.json").write_text(json.dumps({"messages": [*said, {"role": "assistant", "content": "6"}]}))
    trace = read_kept(str(data / "log.json")).report.traces[0]
    app = ways(replay(visit, trace), trace, "tools")
    assert "They are here: add." in "".join(str(app.radio(key="continue-way").proto.captions))
    run, app = go_on(visit, app)
    press(app, "continue")
    assert [message.text for message in run.loop.messages] == ["2 + 3?", "", "5", "6"]


def test_a_live_model_goes_on_from_the_moment(visit: Visit, press: Press, saved: Trace, provider: Provider) -> None:
    provider.says = "a live answer"
    app = ways(replay(visit, saved, at="7"), saved, "model")
    click(app, "continue-here")
    assert "Name the live model" in texts(app, "text")
    ways(app, saved, "model")
    app.text_input(key="model_name").input("m").run()
    app.text_input(key="base_url").input(provider.url).run()
    run, _ = go_on(visit, app)
    run.runner.resume()
    assert run.runner.wait(10)
    assert run.loop.messages[:3] == saved.messages[:3]
    assert run.loop.trace.outcome.final == "a live answer"
    assert len(provider.asked) == 1


def test_where_the_run_is_over_the_new_one_begins_before_its_last_model_call(visit: Visit, saved: Trace) -> None:
    app = ways(replay(visit, saved, at="999"), saved)
    assert "before its last model call" in texts(app, "caption")
    run, _ = go_on(visit, app)
    assert (run.loop.phase, len(run.loop.trace.steps)) == ("prepare", 1)


def test_after_a_restart_it_opens_again_with_its_script(visit: Visit, press: Press, saved: Trace) -> None:
    run, _ = go_on(visit, ways(replay(visit, saved, at="3"), saved))
    registry().end(run.id)  # as a server that was ended leaves it: a journal on disk
    press(visit(run=run.id), "continue")
    again = registry().find(run.id)
    assert again is not None
    assert again is not run
    assert again.loop.messages == saved.messages


def test_where_its_script_is_gone_the_page_says_what_to_do(visit: Visit, saved: Trace) -> None:
    run, _ = go_on(visit, ways(replay(visit, saved, at="3"), saved))
    registry().end(run.id)
    for info in scripts().list():
        scripts().delete(info.id)
    app = visit(run=run.id)
    assert "The script of this run is not here any more" in texts(app, "text")
    assert "Replay the trace and continue from there" in texts(app, "text")
    assert refused(app)
    app = click(ways(replay(visit, run.loop.trace), run.loop.trace), "continue-here")
    assert not registry().find(app.query_params["run"]).asleep


# ---- imports ----


def answered(number: int, result: str) -> list[dict[str, Any]]:
    function = {"name": "look_up", "arguments": json.dumps({"n": number})}
    call = {"id": f"c{number}", "type": "function", "function": function}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [asked, {"role": "tool", "tool_call_id": f"c{number}", "content": result}]


def openai_list(turns: int) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "rules"}]
    for turn in range(turns):
        messages += [{"role": "user", "content": f"question {turn}"}, *answered(2 * turn, "one")]
        messages += [*answered(2 * turn + 1, "two"), {"role": "assistant", "content": f"answer {turn}"}]
    return json.dumps({"messages": messages}).encode()


def claude_code() -> bytes:
    def line(kind: str, number: int, **message: Any) -> str:
        parent = f"u{number - 1}" if number else None
        head = {"type": kind, "uuid": f"u{number}", "parentUuid": parent, "sessionId": "s"}
        stamp = f"2026-05-01T10:00:{number:02}.000Z"
        return json.dumps({**head, "timestamp": stamp, "message": {"role": kind, **message}})

    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}
    lines = [
        line("user", 0, content="List the files."),
        line("assistant", 1, id="m1", model="claude-x", content=[{"type": "text", "text": "I look."}, call]),
        line("user", 2, content=[result]),
        line("assistant", 3, id="m2", model="claude-x", content=[{"type": "text", "text": "a.py"}]),
        line("user", 4, content="Thanks. Anything else?"),
        line("assistant", 5, id="m3", model="claude-x", content=[{"type": "text", "text": "No."}]),
    ]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    "data_of_file", [openai_list(1), openai_list(3), claude_code()], ids=["OpenAI list", "several turns", "Claude Code"]
)
def test_an_import_goes_on_at_its_right_turn_from_every_moment(data_of_file: bytes) -> None:
    (trace,) = open_trace(data_of_file)
    scenario = kept_name(script_of_trace(trace))
    reel = Reel(trace)
    said = [message.text for message in trace.messages]
    for at in range(len(reel.moments)):
        run = continued(trace, beginning(reel, at), Setup(scenario, replay="strict"))
        play_on(run.loop)
        assert [message.text for message in run.loop.messages] == said, reel.moments[at]
        assert len(run.loop.trace.steps) == len(trace.steps)


def play_on(loop: Loop) -> None:
    loop.finish()
    while loop.more:
        loop.advance()
        loop.finish()
