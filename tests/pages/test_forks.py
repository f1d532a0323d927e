"""Editing and forking in the Run page: what is changed is told, the new run opens, the old one stays; the family."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from agent import FakeModel, Loop, Phase, Tool, ToolCall, tool
from agent.moments import moments
from pages.parts.drafts import changes_of
from pages.parts.runs import OpenRun, registry
from tests.pages.conftest import refused, texts

Visit = Callable[..., AppTest]
Press = Callable[..., AppTest]


def panel_page() -> None:
    """The panels alone, over the run of the address and the moment that it names."""
    from agent.moments import moments
    from pages.parts import address
    from pages.parts.forks import fork_panel, fork_tree
    from pages.parts.notices import notices
    from pages.parts.opening import current_run

    run = current_run()
    notices()
    if run is not None:
        at = address.looked_at()
        fork_panel(run, moments(run.trace(), run.loop.phase)[-1 if at is None else at])
        fork_tree(run)


def shown(app: AppTest) -> str:
    return texts(app, "markdown", "text", "caption")


class Keyed(FakeModel):
    """A model with a key, so that a page hides what looks like one."""

    secrets = ("sk-0123456789abcdef",)


def panels(run_id: str, at: int | None = None) -> AppTest:
    app = AppTest.from_function(panel_page, default_timeout=30)
    app.query_params["run"] = run_id
    if at is not None:
        app.query_params["at"] = str(at + 1)
    app.run()
    assert not app.exception
    return app


def field(app: AppTest, label: str) -> Any:
    """The field whose label begins so."""
    return next(each for each in (*app.text_area, *app.number_input, *app.multiselect) if each.label.startswith(label))


def click(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def finish(run: OpenRun) -> OpenRun:
    run.runner.resume()
    assert run.runner.wait(10)
    return run


@pytest.fixture
def finished(visit: Visit, press: Press) -> OpenRun:
    """A run of the first scenario that is over."""
    app = press(visit(), "continue")
    run = registry().find(app.query_params["run"])
    assert run is not None
    return run


def at(run: OpenRun, step: int, phase: Phase | None) -> int:
    return next(m.number for m in moments(run.trace(), run.loop.phase) if (m.step, m.phase) == (step, phase))


def opened(app: AppTest) -> OpenRun:
    run = registry().find(app.query_params["run"])
    assert run is not None
    return run


def test_a_fork_of_an_edited_result_opens_and_the_old_run_stays(finished: OpenRun) -> None:
    before = finished.loop.snapshot()
    app = panels(finished.id, at(finished, 2, Phase.PREPARE))
    assert "Nothing is changed" in shown(app)
    assert app.button(key="fork").label == "Fork from here: step 2, before prepare"
    field(app, "Text of message 4").set_value("999").run()
    assert "Message 4 (tool): another text" in shown(app)
    app = click(app, "fork")
    new = opened(app)
    assert new.id != finished.id
    assert [message.text for message in new.loop.messages][-1] == "999"
    assert (new.loop.phase, len(new.loop.messages)) == (Phase.PREPARE, 4)
    assert finished.loop.snapshot() == before
    assert registry().find(finished.id) is finished
    calls = new.loop.run.counters.model_calls
    finish(new)
    assert (calls, new.loop.run.counters.model_calls) == (1, finished.loop.run.counters.model_calls)


def test_several_edits_are_collected_told_and_made_together(finished: OpenRun) -> None:
    app = panels(finished.id, at(finished, 2, Phase.APPROVE))
    field(app, "Arguments of call 1").set_value('{"a": 50, "b": 4}').run()
    app.selectbox(key=f"fork-message-{finished.id}").select(1).run()
    field(app, "Text of message 2").set_value("something else").run()
    field(app, "System text").set_value("").run()
    field(app, "Step limit").set_value(5).run()
    for line in ("Message 2 (user): another text", "Message 5 (assistant): other arguments", "No system text"):
        assert line in shown(app)
    assert "Step limit: 5" in shown(app)
    new = opened(click(app, "fork"))
    assert [message.role for message in new.loop.messages] == ["user", "assistant", "tool", "assistant"]
    assert new.loop.messages[0].text == "something else"
    assert new.loop.run.pending[0].call.arguments == {"a": 50, "b": 4}
    assert (new.loop.settings.max_steps, new.setup.max_steps) == (5, 5)
    kinds = [item["kind"] for item in new.loop.trace.interventions]
    assert kinds == ["message_edited", "message_edited", "system_edited", "settings_changed"]
    finish(new)
    assert new.loop.messages[4].text == "200"


def test_tools_are_taken_away_in_a_fork(finished: OpenRun) -> None:
    app = panels(finished.id, at(finished, 2, Phase.APPROVE))
    field(app, "Tools on offer").set_value(["add"]).run()
    new = opened(click(app, "fork"))
    assert new.loop.tools.names == ("add",)
    finish(new)
    assert "unknown tool" in new.loop.messages[5].text


def test_the_same_point_is_forked_twice_and_a_fork_again(finished: OpenRun) -> None:
    point = at(finished, 2, Phase.APPROVE)
    first, second = (opened(click(panels(finished.id, point), "fork")) for _ in range(2))
    third = opened(click(panels(first.id, at(first, 1, Phase.APPROVE)), "fork"))
    assert len({finished.id, first.id, second.id, third.id}) == 4
    app = panels(third.id)
    assert "Runs that were forked from one another: 4" in shown(app)
    labels = [button.label for button in app.button if button.key and button.key.startswith("fork-open-")]
    assert labels[0].startswith("the first run · 7 messages · over")
    assert [label.strip("\u2003").split(" · ")[0] for label in labels[1:]] == [
        "step 2, before approve",
        "step 1, before approve",
        "step 2, before approve",
    ]
    assert app.button(key=f"fork-open-{third.id}").disabled
    click(app, f"fork-open-{second.id}")
    assert app.query_params["run"] == second.id


def test_edits_can_be_thrown_away_and_taken_back(finished: OpenRun) -> None:
    app = panels(finished.id, at(finished, 2, Phase.PREPARE))
    field(app, "Text of message 4").set_value("999").run()
    field(app, "Text of message 4").set_value("5").run()
    assert "Nothing is changed" in shown(app)
    field(app, "Text of message 4").set_value("999").run()
    app = click(app, "fork-discard")
    assert "Nothing is changed" in shown(app)
    assert field(app, "Text of message 4").value == "5"


def test_an_edit_is_kept_while_other_messages_are_looked_at(finished: OpenRun) -> None:
    app = panels(finished.id, at(finished, 2, Phase.PREPARE))
    field(app, "Text of message 4").set_value("999").run()
    app.selectbox(key=f"fork-message-{finished.id}").select(1).run()
    app.selectbox(key=f"fork-message-{finished.id}").select(3).run()
    assert field(app, "Text of message 4").value == "999"


def test_an_edit_of_what_is_not_there_yet_keeps_the_run_from_being_forked(finished: OpenRun) -> None:
    app = panels(finished.id, at(finished, 2, Phase.PREPARE))
    field(app, "Text of message 4").set_value("999").run()
    app.query_params["at"] = "2"
    app.run()
    assert refused(app, "fork") and len(registry().listed()) == 1
    assert "Message 4 is changed, but it is not there yet at this point." in shown(app)


def test_arguments_that_are_no_json_are_told_before_anything_is_forked(finished: OpenRun) -> None:
    app = panels(finished.id, at(finished, 2, Phase.APPROVE))
    field(app, "Arguments of call 1").set_value('{"a": ').run()
    assert "call 1 (multiply): the arguments are not valid JSON" in shown(app)
    assert refused(app, "fork") and len(registry().listed()) == 1
    field(app, "Arguments of call 1").set_value('{"a": 6, "b": 4}')
    app.button(key="fork").click().run()  # straight from the field to the button
    assert len(registry().listed()) == 2


def test_what_is_typed_right_before_the_press_counts(finished: OpenRun) -> None:
    app = panels(finished.id, at(finished, 2, Phase.APPROVE))
    field(app, "Arguments of call 1").set_value('{"a": ')
    app = click(app, "fork")
    assert "That did not work" in shown(app)
    assert registry().listed() == [finished]
    app = panels(finished.id, at(finished, 2, Phase.APPROVE))
    field(app, "Arguments of call 1").set_value('{"a": 6, "b": 4}')
    new = opened(click(app, "fork"))
    assert new.loop.run.pending[0].call.arguments == {"a": 6, "b": 4}


def test_a_fork_with_edits_where_a_request_is_ready_says_that_it_begins_before_it(finished: OpenRun) -> None:
    app = panels(finished.id, at(finished, 2, Phase.CALL))
    assert app.button(key="fork").label == "Fork from here: step 2, before call"
    same = opened(click(app, "fork"))
    assert (same.loop.phase, same.loop.trace.source.at) == (Phase.CALL, {"step": 2, "phase": "call"})
    app = panels(finished.id, at(finished, 2, Phase.CALL))
    field(app, "Text of message 4").set_value("999").run()
    assert app.button(key="fork").label == "Fork from here: step 2, before prepare"
    new = opened(click(app, "fork"))
    assert (new.loop.phase, new.loop.trace.source.at) == (Phase.PREPARE, {"step": 2, "phase": "prepare"})
    labels = [button.label for button in panels(new.id).button if button.key == f"fork-open-{new.id}"]
    assert labels[0].strip("\u2003").startswith("step 2, before prepare")


def test_a_secret_that_was_not_shown_stays_with_edited_arguments(open_run: Any) -> None:
    call = ToolCall("c1", "look", {"api_key": "abcdef123456", "n": 1})
    run = finish(open_run(Keyed([[call], "done"]), [Tool("look", "", {"type": "object"}, lambda **given: given["n"])]))
    app = panels(run.id, at(run, 1, Phase.APPROVE))
    assert field(app, "Arguments of call 1").value == '{"api_key": "[redacted: api_key]", "n": 1}'
    field(app, "Arguments of call 1").set_value('{"api_key": "[redacted: api_key]", "n": 2}').run()
    changes = changes_of(app.session_state[f"draft-{run.id}"], run.loop, run.trace())
    assert changes.messages[1].tool_calls[0].arguments == {"api_key": "abcdef123456", "n": 2}


def late_page() -> None:
    """The panel of a run as a page shows it that was not drawn again yet."""
    import streamlit as st

    from agent.moments import moments
    from pages.parts.forks import fork_panel
    from pages.parts.runs import registry

    run = registry().find(st.session_state["shown"])
    assert run is not None
    fork_panel(run, moments(run.trace(), run.loop.phase)[-1])


def test_a_second_press_makes_no_second_fork(finished: OpenRun) -> None:
    app = AppTest.from_function(late_page, default_timeout=30)
    app.query_params["run"] = app.session_state["shown"] = finished.id
    app = click(click(app.run(), "fork"), "fork")
    assert len(registry().listed()) == 2
    assert opened(app).loop.trace.source.parent == finished.id


def test_the_edits_of_a_fork_are_made_once(finished: OpenRun) -> None:
    app = panels(finished.id, at(finished, 2, Phase.APPROVE))
    field(app, "Arguments of call 1").set_value('{"a": 6, "b": 4}').run()
    click(app, "fork")
    app.query_params["run"] = finished.id
    app.query_params["at"] = str(at(finished, 2, Phase.APPROVE) + 1)
    app.run()
    assert "Nothing is changed" in shown(app)
    assert field(app, "Arguments of call 1").value == '{"a": 5, "b": 4}'


def test_a_run_that_another_tab_moves_is_not_forked_and_that_is_told(open_run: Any) -> None:
    gate = threading.Event()

    @tool
    def hold() -> str:
        """Wait."""
        gate.wait(10)
        return "done"

    run = open_run([[ToolCall("c1", "hold", {})], "done"], [hold])
    app = panels(run.id)
    run.runner.resume()
    try:
        app = click(app, "fork")
        assert "The run is moving. Pause it to fork it." in shown(app)
        assert registry().listed() == [run]
    finally:
        gate.set()
        assert run.runner.wait(10)


def test_a_server_that_others_reach_shows_no_run_that_this_browser_did_not_open(finished: OpenRun) -> None:
    others = opened(click(panels(finished.id, at(finished, 2, Phase.APPROVE)), "fork"))
    mine = opened(click(panels(others.id, at(others, 1, Phase.APPROVE)), "fork"))
    assert "Runs that were forked from one another: 3" in shown(panels(mine.id))
    config.set_option("server.address", "0.0.0.0")
    try:
        app = panels(mine.id)
        assert "No other run was forked from this one." in shown(app)
        drawn = shown(app) + "".join(button.label for button in app.button)
        assert finished.id[:4] not in drawn
        assert others.id[:4] not in drawn
    finally:
        config.set_option("server.address", "127.0.0.1")


def test_what_a_trace_says_is_never_markdown(finished: OpenRun, open_run: Any) -> None:
    run = open_run(["# big\n![x](http://evil/x.png) [a](http://evil)"], task="**bold** ![y](http://evil/y.png)")
    finish(run)
    app = panels(run.id)
    assert "evil" not in texts(app, "markdown", "caption")
    assert all("evil" not in button.label for button in app.button)


def test_a_finished_run_opens_again_after_a_restart_and_can_be_forked(finished: OpenRun, visit: Visit) -> None:
    run_id, messages = finished.id, [m.to_dict() for m in finished.loop.messages]
    registry().end(run_id)
    app = visit(run=run_id)
    again = registry().find(run_id)
    assert again is not None
    assert again is not finished
    assert [m.to_dict() for m in again.loop.messages] == messages
    assert (again.done, again.loop.stop_reason, again.recovered) == (True, "final", False)
    assert "The model answered and asked for nothing more." in shown(app)
    new = finish(opened(click(panels(run_id, at(again, 2, Phase.CALL)), "fork")))
    assert [m.to_dict() for m in new.loop.messages] == messages


def test_a_run_that_ended_at_its_limit_is_extended_after_a_restart(visit: Visit, press: Press) -> None:
    app = visit()
    app.number_input(key="steps").set_value(1).run()
    app = press(app, "continue")
    run_id = app.query_params["run"]
    registry().end(run_id)
    app = press(visit(run=run_id), "extend")
    run = registry().find(run_id)
    assert run is not None
    assert run.loop.stop_reason == "final"
    assert run.loop.run.counters.model_calls == 3


def test_a_fork_outlives_the_server(finished: OpenRun, visit: Visit, press: Press) -> None:
    new = opened(click(panels(finished.id, at(finished, 2, Phase.APPROVE)), "fork"))
    run_id, parent = new.id, finished.id
    for each in (run_id, parent):
        registry().end(each)
    app = press(visit(run=run_id), "continue")
    run = registry().find(run_id)
    assert run is not None
    assert run is not new
    assert run.loop.trace.source.parent == parent
    assert run.loop.stop_reason == "final"
    registry().end(run_id)
    visit(run=run_id)
    assert registry().find(run_id) is not None
    assert not app.exception


def test_a_fork_of_a_run_that_is_over_begins_before_its_last_model_call(finished: OpenRun, data: Path) -> None:
    app = panels(finished.id)
    assert "before prepare" in app.button(key="fork").label
    new = opened(click(app, "fork"))
    assert new.loop.phase is Phase.PREPARE
    assert len(new.loop.messages) == len(finished.loop.messages) - 1
    assert (data / f"{new.id}.jsonl").is_file()


def test_a_fork_at_a_limit_stands_at_the_limit_and_is_on_the_disk(visit: Visit, press: Press, data: Path) -> None:
    run = opened(press(visit(scenario="noop", guards="off"), "continue"))
    app = panels(run.id)
    assert "at the end" in app.button(key="fork").label
    new = opened(click(app, "fork"))
    assert new.done
    assert (data / f"{new.id}.json").is_file()


def test_a_finished_run_of_another_program_does_not_open(visit: Visit, data: Path) -> None:
    loop = Loop(FakeModel(["hello"]), journal=data)
    loop.start("a task")
    loop.finish()
    app = visit(run=loop.trace.trace_id)
    assert "This run is over and is no longer open here." in shown(app)
    assert registry().listed() == []


def test_a_live_run_is_forked_only_with_its_key(visit: Visit, press: Press) -> None:
    app = visit(scenario="calc", model="live")
    app.text_input(key="model_name").set_value("some-model").run()
    app.text_input(key="base_url").set_value("http://127.0.0.1:9/v1").run()
    app.text_input(key="api_key").set_value("secret-key-123").run()
    app = press(app, "step")
    run = opened(app)
    alone = panels(run.id)
    assert refused(alone, "fork") and len(registry().listed()) == 1
    assert "API key" in shown(alone)
    assert "secret-key-123" not in shown(alone)


def test_a_fork_takes_other_limits_and_says_no_to_those_that_make_no_sense(finished: OpenRun) -> None:
    app = panels(finished.id)
    field = f"fork-repeated_calls-{finished.id}-0"
    app.number_input(key=field).set_value(1).run()
    assert app.number_input(key=field).value == finished.loop.settings.limits.repeated_calls
    app.number_input(key=field).set_value(5).run()
    assert "Other limits" in shown(app)
    new = opened(click(app, "fork"))
    assert new.loop.settings.limits.repeated_calls == 5
    assert new.loop.trace.interventions[-1]["kind"] == "settings_changed"
    assert finished.loop.settings.limits.repeated_calls == 3
