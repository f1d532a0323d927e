"""Faults on the page: chosen before a run or in it, taken back, and told when they have struck."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from agent import Limits, Loop, Phase, ToolCall, tool
from agent.faults import FAULTS, Fault
from agent.recovery import recover
from agent.scripts import load_script, scenarios
from pages.parts.runs import OpenRun, registry
from pages.parts.words import translate_loop_words
from traces.noticed import CHECKS, noticed

QUICK = {"provider_429": {"wait_s": 0}, "tool_times_out": {"timeout_s": 0.02}}


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


TURNS = [[ToolCall("c1", "echo", {"text": "one"})], "done"]


def panels() -> None:
    """A page of nothing but the two panels, for the run in its address."""
    import streamlit as st

    from pages.parts.faults import arm_chosen, faults_panel, noticed_panel
    from pages.parts.notices import notices
    from pages.parts.runs import registry

    run = registry().find(st.query_params.get("run", ""))
    if run is not None and "made" in st.query_params:
        arm_chosen(run)
    with st.sidebar:
        faults_panel(run)
    notices()
    if run is not None:
        noticed_panel(run.trace())


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(panels, default_timeout=30)
    app.query_params.update(query)
    return settled(app.run())


def settled(app: AppTest) -> AppTest:
    assert not app.exception
    return app


def arm(app: AppTest, kind: str) -> AppTest:
    app.selectbox(key="fault-kind").select(kind).run()
    return settled(app.button(key="fault-arm").click().run())


def shown(app: AppTest) -> str:
    return "\n".join(str(each.value) for kind in ("markdown", "text", "caption") for each in app.get(kind))


def label(app: AppTest) -> str:
    return str(app.sidebar.expander[0].label)


def test_every_fault_can_be_chosen_and_says_what_will_happen() -> None:
    app = opened(lang="en")
    choice = app.selectbox(key="fault-kind")
    assert len(choice.options) == len(FAULTS) == 15
    assert choice.options[0] == "A tool: raises an error"
    for kind, about in FAULTS.items():
        choice.select(kind).run()
        assert about.sentence in shown(app)


def test_what_is_armed_in_a_run_is_shown_to_every_session_and_can_be_taken_back(
    open_run: Callable[..., OpenRun],
) -> None:
    run = open_run(TURNS, [echo])
    app = arm(arm(opened(run=run.id, lang="en"), "tool_raises"), "wrong_call_id")
    assert run.loop.run.faults == [Fault("tool_raises"), Fault("wrong_call_id")]
    assert label(app) == "Faults: 2"
    other = opened(run=run.id, lang="en")
    assert "A tool message: wrong call id" in shown(other)
    settled(other.button(key="fault-disarm-tool_raises").click().run())
    assert run.loop.run.faults == [Fault("wrong_call_id")]
    assert label(app.run()) == "Faults: 1"


def test_an_armed_fault_is_on_the_disk(open_run: Callable[..., OpenRun], tmp_path: Path) -> None:
    run = open_run(TURNS, [echo], journal=tmp_path)
    arm(opened(run=run.id), "cut_off_reply")
    assert recover(tmp_path / f"{run.id}.jsonl")["faults"] == [{"kind": "cut_off_reply", "params": {}}]


def test_what_is_chosen_before_a_run_goes_over_to_it_once(open_run: Callable[..., OpenRun]) -> None:
    app = arm(arm(arm(opened(lang="en"), "tool_raises"), "unknown_tool"), "tool_raises")
    assert label(app) == "Faults: 2"
    settled(app.button(key="fault-disarm-unknown_tool").click().run())
    run = open_run(TURNS, [echo])
    app.query_params["run"], app.query_params["made"] = run.id, "1"
    settled(app.run())
    assert run.loop.run.faults == [Fault("tool_raises")]
    del app.query_params["run"]
    assert label(settled(app.run())) == "Faults: 0"


def test_a_run_that_moves_has_to_be_paused_first(open_run: Callable[..., OpenRun]) -> None:
    entered, leave = threading.Event(), threading.Event()

    @tool
    def slow() -> str:
        """Wait for the test."""
        entered.set()
        leave.wait(20)
        return "ok"

    run = open_run([[ToolCall("c1", "slow", {})], "done"], [slow])
    run.runner.resume()
    assert entered.wait(10)
    try:
        app = arm(opened(run=run.id, lang="en"), "tool_raises")
        assert "The run moves at the moment. Pause it first." in shown(app)
        assert run.loop.run.faults == []
    finally:
        leave.set()
        assert run.runner.wait(10)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits.guarded(), ["Noticed by: the guard against repeated calls", "the run ended: repeated_call"]),
        (Limits(), ["No check noticed it", "the call was run 3 times"]),
    ],
)
def test_what_noticed_a_fault_is_told_with_its_place(
    open_run: Callable[..., OpenRun], limits: Limits, told: list[str]
) -> None:
    run = open_run(TURNS, [echo], limits=limits)
    app = arm(opened(run=run.id, lang="en"), "repeated_calls")
    assert not app.main.expander, "nothing has struck yet"
    run.runner.resume()
    assert run.runner.wait(10)
    text = shown(settled(app.run()))
    assert app.main.expander[0].label == "Faults that struck: 1"
    for words in ("The reply: repeated call", "step 1, call", *told):
        assert words in text
    assert label(app) == "Faults: 0"


def test_a_fault_that_never_struck_is_told_at_the_end(open_run: Callable[..., OpenRun]) -> None:
    run = open_run(["done"], [echo])
    app = arm(opened(run=run.id, lang="en"), "tool_raises")
    assert not app.main.expander
    run.runner.resume()
    assert run.runner.wait(10)
    text = shown(settled(app.run()))
    assert app.main.expander[0].label == "Faults that struck: 0"
    assert "A tool: raises an error" in text
    assert "It was armed, and the run ended before it could strike" in text


def test_the_panels_speak_chinese(open_run: Callable[..., OpenRun]) -> None:
    run = open_run(TURNS, [echo])
    app = arm(opened(run=run.id, lang="zh"), "tool_returns_nothing")
    assert label(app) == "故障：1"
    assert "下一个运行的工具什么都不返回。" in shown(app)
    run.runner.resume()
    assert run.runner.wait(10)
    text = shown(settled(app.run()))
    for words in ("工具：什么都不返回", "第 1 步", "没有检查发现它", "4 个字符的结果像别的结果一样写进了消息列表"):
        assert words in text


def test_a_name_out_of_a_trace_is_drawn_as_plain_text(open_run: Callable[..., OpenRun]) -> None:
    run = open_run(TURNS, [echo])
    run.loop.finish()
    before = {"allow": [], "deny": [], "ask": []}
    strike = {"kind": "permission_check_removed", "params": {"before": before}, "step": 1, "phase": "![x](http://x)"}
    run.loop.trace.interventions.append(strike)
    run.loop.trace.steps[0].tools[0].name = "![y](http://y)"
    app = opened(run=run.id, lang="en")
    assert "http" not in "".join(str(each.value) for each in app.markdown)
    assert "![y](http://y) ran, which the policy denies" in [each.value for each in app.text]


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in translate_loop_words(text, "zh"))


def test_every_fault_and_every_check_has_its_chinese() -> None:
    words = [text for about in FAULTS.values() for text in (about.name, about.sentence)]
    assert [text for text in (*words, *CHECKS) if not is_chinese(text)] == []


def played(loop: Loop, task: str, kind: str, before: Phase = Phase.PREPARE) -> Loop:
    loop.start(task)
    while loop.phase not in (None, before):
        loop.advance()
    loop.arm(Fault(kind, QUICK.get(kind, {})))
    loop.finish()
    return loop


@pytest.mark.parametrize("kind", FAULTS)
def test_whatever_came_of_a_fault_is_told_in_chinese(kind: str) -> None:
    choices: list[dict[str, Any]] = [{}, {"limits": Limits.guarded(failing_steps=1)}, {"max_steps": 1}]
    for info in scenarios():
        script = load_script(info.path)
        for options in choices:
            for each in noticed(played(script.loop(pace=0, **options), script.task, kind).trace):
                assert [text for text in (each.check, *each.did) if text and not is_chinese(text)] == []


def test_a_failure_of_the_provider_that_was_put_in_is_told_in_chinese() -> None:
    script = load_script("calc")
    detail = played(script.loop(pace=0), script.task, "provider_500").trace.outcome.detail
    assert translate_loop_words(detail, "zh") == "模型服务器返回 500：内部错误（布置的故障）。"


def test_a_fault_chosen_on_a_fresh_page_strikes_in_the_run_that_is_started_there(
    visit: Callable[..., AppTest], press: Callable[..., AppTest]
) -> None:
    app = arm(visit(lang="en"), "tool_raises")
    app = press(app, "continue")
    (run,) = registry().listed()
    assert [item["kind"] for item in run.loop.trace.interventions] == ["tool_raises"]
    assert "the tool broke down" in run.loop.messages[3].text
    app = press(app, "reset")
    app = press(app, "continue")
    assert registry().listed()[0].loop.trace.interventions == [], "it was for one run"
