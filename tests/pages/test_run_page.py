"""The Run page: set up, step, pause between phases, end, go on; one run for every session that has its id."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from agent import CapabilityPolicy, FakeModel, Limits, Loop, Message, ModelReply, Runner, ToolCall, tool
from pages.parts.runs import OpenRun, registry
from pages.parts.setup import Setup
from pages.parts.status import LIVE_TAIL
from tests.pages.conftest import refused

Visit = Callable[..., AppTest]
Press = Callable[..., AppTest]


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@tool
def broken() -> str:
    """Always fails."""
    raise RuntimeError("no such thing")


def rows(app: AppTest) -> pd.DataFrame:
    return app.dataframe[0].value


def roles(app: AppTest) -> list[str]:
    return [badge[0].split()[-1] for badge in rows(app)["role"]]


def shown(app: AppTest) -> str:
    return "\n".join(str(each.value) for kind in ("markdown", "text", "code", "caption") for each in app.get(kind))


def open_tab(app: AppTest, name: str) -> AppTest:
    """Open a tab below the message table; only that one is drawn."""
    app.session_state[f"tabs-{app.query_params['run']}"] = name
    return app.run()


def test_nothing_runs_before_a_button_is_pressed(visit: Visit, data: Path) -> None:
    app = visit()
    assert roles(app) == ["system", "user"]
    assert registry().listed() == []
    assert list(data.iterdir()) == []


def test_step_performs_one_phase(visit: Visit, press: Press) -> None:
    app = press(visit(), "step")
    assert "Next: **call**" in shown(app)
    app = press(app, "step")
    assert "Next: **approve**" in shown(app)
    assert roles(app) == ["system", "user", "assistant"]
    app = press(app, "step")
    assert "Next: **execute**" in shown(app)
    assert roles(app) == ["system", "user", "assistant"]


def test_step_over_goes_to_the_next_model_call(visit: Visit, press: Press) -> None:
    app = press(visit(), "step_over")
    assert "Next: **prepare**" in shown(app)
    assert roles(app) == ["system", "user", "assistant", "tool"]


def test_continue_goes_to_the_end_and_saves_the_trace(visit: Visit, press: Press, data: Path) -> None:
    app = press(visit(), "continue")
    assert roles(app) == ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert list(rows(app)["text"].fillna(""))[-1] == "计算结果是 20。"
    assert "The model answered and asked for nothing more." in shown(app)
    assert "All checks hold." in shown(app)
    (saved,) = data.glob("*.json")
    assert json.loads(saved.read_text(encoding="utf-8"))["outcome"]["final"] == "计算结果是 20。"


def test_makers_tell_model_code_and_environment_apart(visit: Visit, press: Press) -> None:
    app = press(visit(), "step_over")
    assert [badge[0].split()[-1] for badge in rows(app)["maker"]] == ["code", "user", "model", "environment"]


def test_a_finished_run_can_only_be_left(visit: Visit, press: Press) -> None:
    app = press(visit(), "continue")
    enabled = [key for key in ("step", "step_over", "continue", "pause", "stop") if not app.button(key=key).disabled]
    assert enabled == []
    app = press(app, "reset")
    assert roles(app) == ["system", "user"]
    assert not app.button(key="step").disabled
    assert "run" not in app.query_params


def test_changing_a_setting_after_a_run_sets_up_a_new_one(visit: Visit, press: Press) -> None:
    app = press(visit(), "continue")
    app.selectbox(key="scenario").select("atlantis").run()
    assert roles(app) == ["system", "user"]
    assert app.number_input(key="steps").value == 5
    assert app.query_params["scenario"] == "atlantis"


def test_a_run_is_found_again_by_its_address_in_another_session(visit: Visit, press: Press) -> None:
    first = press(visit(), "step_over")
    run_id = first.query_params["run"]
    second = visit(run=run_id)
    assert roles(second) == roles(first)
    press(second, "continue")
    first.run()
    assert roles(first) == roles(second)


def test_a_run_goes_on_from_its_journal_after_a_restart(visit: Visit, press: Press) -> None:
    app = press(visit(), "step_over")
    run_id = app.query_params["run"]
    registry().end(run_id)
    again = visit(run=run_id)
    assert roles(again) == ["system", "user", "assistant", "tool"]
    again = press(again, "continue")
    assert roles(again) == ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"]


def test_a_press_on_a_page_that_outlived_its_server_goes_on_with_the_same_run(visit: Visit, press: Press) -> None:
    app = press(visit(), "step_over")
    registry().end(app.query_params["run"])
    app = press(app, "step_over")
    assert roles(app) == ["system", "user", "assistant", "tool", "assistant", "tool"]


def test_a_run_of_another_program_is_not_continued_with_a_guessed_model(visit: Visit, data: Path) -> None:
    loop = Loop(FakeModel(["hello"]), journal=data)
    loop.start("a task")
    app = visit(run=loop.trace.trace_id)
    assert "This run was not started in the app" in shown(app)
    assert registry().listed() == []


def test_another_session_sees_the_settings_of_the_run(visit: Visit, press: Press) -> None:
    app = press(visit(scenario="weather"), "step")
    other = visit(run=app.query_params["run"])
    assert other.selectbox(key="scenario").value == "weather"


def test_an_unknown_run_is_told_and_not_looked_for_outside_the_folder(visit: Visit, data: Path) -> None:
    (data.parent / "secret.jsonl").write_text("{}", encoding="utf-8")
    for wrong in ("0123456789ab", "../secret"):
        app = visit(run=wrong)
        assert "This server has no run with the id in the address." in shown(app)
        assert roles(app) == ["system", "user"]


def test_a_limit_can_be_extended_and_the_same_run_goes_on(visit: Visit, press: Press, open_run: Any) -> None:
    turns = [[ToolCall(f"c{n}", "echo", {"text": str(n)})] for n in range(3)]
    run = open_run([*turns, "done"], [echo], max_steps=2)
    app = press(visit(run=run.id), "continue")
    assert "The step limit was reached." in shown(app)
    app = press(app, "extend")
    assert run.loop.trace.outcome.final == "done"
    assert "The model answered and asked for nothing more." in shown(app)


def test_a_failed_model_call_can_be_tried_again(visit: Visit, press: Press, open_run: Any) -> None:
    run = open_run([RuntimeError("down"), "done"])
    app = press(visit(run=run.id), "continue")
    assert "The model call failed." in shown(app)
    assert app.button(key="extend").label == "Try again"
    app = press(app, "extend")
    assert "The model answered and asked for nothing more." in shown(app)
    assert run.loop.trace.outcome.final == "done"


def test_another_step_limit_and_guards_hold_for_the_paused_run(visit: Visit, press: Press) -> None:
    app = press(visit(), "step_over")
    address = app.query_params["run"]
    app.number_input(key="steps").set_value(1).run()
    app.toggle(key="guards").set_value(False).run()
    assert app.query_params["run"] == address
    assert "This holds for the run at hand" in app.toast[0].value
    (run,) = registry().listed()
    assert run.loop.settings.max_steps == 1
    assert run.loop.settings.limits.repeated_calls is None
    app = press(app, "continue")
    assert "The step limit was reached." in shown(app)


def test_a_changed_limit_survives_a_restart(visit: Visit, press: Press) -> None:
    app = press(visit(), "step_over")
    app.number_input(key="steps").set_value(20).run()
    registry().end(app.query_params["run"])
    again = visit(run=app.query_params["run"])
    assert again.number_input(key="steps").value == 20
    assert registry().listed()[0].loop.settings.max_steps == 20


def test_a_step_limit_above_the_cap_is_refused_and_told(visit: Visit, press: Press) -> None:
    app = visit()
    app.number_input(key="steps").set_value(9999).run()
    assert "The step limit on the left can be at most 100." in shown(app)
    assert refused(app) and not registry().listed()
    app.number_input(key="steps").set_value(100)
    press(app, "continue")  # straight from the field to the button
    assert registry().listed()[0].done


def test_a_run_out_of_the_open_ones_comes_with_its_address_and_its_settings(visit: Visit, press: Press) -> None:
    app = press(visit(scenario="weather"), "step_over")
    first = app.query_params["run"]
    app.number_input(key="steps").set_value(7).run()
    app.selectbox(key="scenario").select("calc").run()
    app = press(app, "step")
    assert app.query_params["run"] != first
    assert app.button(key=f"open-{first}").label.startswith("The weather in Shanghai: waiting")
    app = app.button(key=f"open-{first}").click().run()
    assert app.query_params["run"] == first
    assert app.selectbox(key="scenario").value == "weather"
    assert app.query_params["scenario"] == "weather"
    assert app.number_input(key="steps").value == 7
    assert len(rows(app)) == len(registry().find(first).loop.messages)


def test_failing_tools_are_remarked_in_the_table(visit: Visit, press: Press, open_run: Any) -> None:
    run = open_run([[ToolCall("c1", "broken")], "sorry"], [broken], limits=Limits.guarded())
    app = press(visit(run=run.id), "continue")
    assert list(rows(app)["note"]) == ["", "", "error result", ""]


def test_a_call_that_waits_for_a_person_runs_only_when_approved(visit: Visit, press: Press, open_run: Any) -> None:
    turns = [[ToolCall("c1", "echo", {"text": "hello"})], "done"]
    run = open_run(turns, [echo], policy=CapabilityPolicy(ask={"echo"}))
    app = press(visit(run=run.id), "continue")
    assert run.loop.waiting
    assert app.button(key="step").disabled
    assert "hello" in shown(app)
    app = press(app, f"run-{run.id}-1-0")
    assert run.loop.trace.messages[2].content == "hello"
    assert run.loop.trace.outcome.final == "done"


def test_a_rejected_call_does_not_run(visit: Visit, press: Press, open_run: Any) -> None:
    turns = [[ToolCall("c1", "echo", {"text": "hello"})], "done"]
    run = open_run(turns, [echo], policy=CapabilityPolicy(ask={"echo"}))
    app = press(visit(run=run.id), "continue")
    app.segmented_control(key=f"other-{run.id}-1-0").select("rejected").run()
    app = press(app, f"decide-{run.id}-1-0")
    assert run.loop.trace.steps[0].tools[0].decision == "rejected"
    assert list(rows(app)["note"])[2].startswith("rejected by a person")


def test_a_live_model_needs_a_name_and_a_task_of_ones_own_needs_words(visit: Visit) -> None:
    app = visit(scenario="own")
    assert app.multiselect(key="tools").value == ["add", "multiply"]
    assert refused(app)
    app.text_area(key="task").input("What is 2 + 2?").run()
    assert refused(app)
    app.text_input(key="base_url").input("http://127.0.0.1:9/v1").run()
    assert refused(app)
    app.text_input(key="model_name").input("some-model")
    app.button(key="step").click().run()  # straight from the field to the button
    assert len(registry().listed()) == 1
    assert rows(app)["text"].tolist() == ["What is 2 + 2?"]


def test_a_key_is_in_no_address_and_no_file(visit: Visit, press: Press, data: Path) -> None:
    secret = "sk-test-1234567890abcdef"
    app = visit(model="live")
    app.text_input(key="model_name").input("some-model")
    app.text_input(key="base_url").input("http://127.0.0.1:9/v1")
    app.text_input(key="api_key").input(secret).run()
    app = press(app, "continue")
    assert "The model call failed." in shown(app)
    assert secret not in shown(app)
    assert secret not in json.dumps(dict(app.query_params), default=list)
    assert "127.0.0.1" not in json.dumps(dict(app.query_params), default=list)
    assert [path.name for path in data.iterdir() if secret in path.read_text(encoding="utf-8", errors="replace")] == []


def test_a_wrong_server_address_is_explained(visit: Visit, press: Press) -> None:
    app = visit(model="live")
    app.text_input(key="model_name").input("some-model")
    app.text_input(key="base_url").input("not a url").run()
    app = app.button(key="step").click().run()
    assert "That did not work" in shown(app)
    assert roles(app) == ["system", "user"]


def test_settings_survive_a_visit_to_the_other_page(visit: Visit) -> None:
    app = visit(scenario="weather", model="live")
    app.text_input(key="model_name").input("some-model")
    app.text_input(key="base_url").input("http://127.0.0.1:9/v1")
    app.text_input(key="api_key").input("typed").run()
    app.switch_page("pages/traces.py").run()
    app.switch_page("pages/run.py").run()
    assert app.selectbox(key="scenario").value == "weather"
    assert app.text_input(key="model_name").value == "some-model"
    assert app.text_input(key="base_url").value == "http://127.0.0.1:9/v1"
    assert app.text_input(key="api_key").value == ""


def test_an_address_with_nonsense_in_it_gives_the_defaults(visit: Visit) -> None:
    app = visit(scenario="<script>", steps="-3", lang="xx", model="evil")
    assert app.selectbox(key="scenario").value == "calc"
    assert app.number_input(key="steps").value == 8


def test_the_page_speaks_chinese(visit: Visit, press: Press) -> None:
    app = press(visit(lang="zh"), "step")
    assert app.button(key="step").label == "单步"
    assert "调用模型" in shown(app)
    assert [badge[0].split()[-1] for badge in rows(app)["role"]] == ["系统", "用户"]


def test_a_request_that_was_cut_short_is_noted(visit: Visit, press: Press) -> None:
    app = press(visit(scenario="long_results"), "continue")
    (run,) = registry().listed()
    note = next(note for note in run.loop.trace.notes if note["kind"] == "context")
    assert f"Step {note['step']}: {note['text']}" in shown(open_tab(app, "Notes and faults"))


def test_granted_steps_stand_in_the_step_limit(visit: Visit, press: Press) -> None:
    app = press(visit(steps="1"), "continue")
    app = press(app, "extend")
    assert app.number_input(key="steps").value == 6
    (run,) = registry().listed()
    assert run.loop.trace.outcome.reason == "final"
    assert visit(run=run.id).number_input(key="steps").value == 6


def test_steps_that_were_granted_are_noted(visit: Visit, press: Press) -> None:
    app = press(visit(), "step_over")
    app.number_input(key="steps").set_value(20).run()
    assert 'Step 1: extended: {"max_steps": 20' in shown(open_tab(app, "Notes and faults"))


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "× check fails: get_weather succeeded (it gave only errors)"),
        ("zh", "× 检查未通过：get_weather 成功（它只给出错误）"),
    ],
)
def test_a_check_that_does_not_hold_says_so_before_what_it_claims(
    visit: Visit, press: Press, language: str, line: str
) -> None:
    app = press(visit(scenario="atlantis", lang=language), "continue")
    assert line in shown(app).splitlines()


def test_only_runs_that_have_not_ended_are_open(visit: Visit, press: Press, open_run: Any) -> None:
    waits, ends = open_run(["never said"]), open_run(["said"])
    press(visit(run=ends.id), "continue")
    app = visit()
    assert [button.key for button in app.button if button.key.startswith("open-")] == [f"open-{waits.id}"]
    assert "Open runs: 1" in [expander.label for expander in app.expander]


class Halfway:
    """Streams a text, then keeps the reply back until it is told to go on."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.streamed, self.go_on = threading.Event(), threading.Event()

    def complete(self, messages: Any, tool_schemas: Any, *, control: Any) -> ModelReply:
        control.emit("model.delta", {"text": self.text})
        self.streamed.set()
        self.go_on.wait(10)
        return ModelReply(Message("assistant", self.text))


@pytest.mark.parametrize(
    ("text", "tail"), [("one two", "one two"), ("x" + "y" * LIVE_TAIL, "…" + "y" * LIVE_TAIL)], ids=["whole", "cut"]
)
def test_a_streamed_reply_begins_with_an_ellipsis_only_where_it_was_cut(visit: Visit, text: str, tail: str) -> None:
    model = Halfway(text)
    loop = Loop(model)
    loop.start("a task")
    run = registry().open(loop.trace.trace_id, lambda: OpenRun(Runner(loop), Setup()))
    run.runner.resume()
    assert model.streamed.wait(10)
    assert f"The model is writing: {tail}" in shown(visit(run=run.id)).splitlines()
    model.go_on.set()


def test_the_table_has_a_column_for_notes_only_where_there_is_one(visit: Visit, press: Press) -> None:
    def hidden(scenario: str) -> list[str]:
        columns = json.loads(press(visit(scenario=scenario), "continue").dataframe[0].proto.columns)
        return [name for name, column in columns.items() if column.get("hidden")]

    assert "note" in hidden("calc")
    assert "note" not in hidden("atlantis")
