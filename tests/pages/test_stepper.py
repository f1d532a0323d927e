"""The stepper without a browser: decisions at approve, looking back, and presses that come too late."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from agent import AgentEvent, CapabilityPolicy, Limits, Tool, ToolCall, clock, tool
from pages.parts.just_drawn import SEEN_AFTER_S
from pages.parts.runs import OpenRun, registry
from tests.pages.conftest import refused, texts

Visit = Callable[..., AppTest]
Press = Callable[..., AppTest]

CALL = ToolCall("c1", "echo", {"text": "hello"})
TOO_LATE = "Another press was quicker, perhaps in another tab."
KINDS = ("markdown", "text", "code", "caption", "warning", "error")


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@pytest.fixture
def asked(open_run: Any, visit: Visit, press: Press) -> Callable[..., tuple[OpenRun, AppTest]]:
    """A run in which the model has asked for echo, and its page."""

    def make(*calls: ToolCall, **options: Any) -> tuple[OpenRun, AppTest]:
        run = open_run([list(calls) or [CALL], "done"], [echo], **options)
        app = press(visit(run=run.id), "next_call")
        return run, press(app, "step")

    return make


def choose(app: AppTest, run: OpenRun, kind: str, text: str | None = None, position: int = 0) -> AppTest:
    """Choose what is done about a call, and fill in the field of that choice."""
    key = f"{run.id}-1-{position}"
    app.segmented_control(key=f"other-{key}").select(kind).run()
    if text is not None:
        field = app.text_area if kind in ("edited", "mocked") else app.text_input
        field(key=f"{kind}-text-{key}").input(text).run()
    return app


def decide(app: AppTest, run: OpenRun, position: int = 0) -> AppTest:
    return app.button(key=f"decide-{run.id}-1-{position}").click().run()


# ---- at approve ----


def test_the_page_says_that_the_model_only_asked(asked: Any) -> None:
    _, app = asked()
    assert "The model only asked; nothing has run yet." in texts(app, *KINDS)
    assert "the program lets it run" in texts(app, *KINDS)


def test_edited_arguments_run_instead_of_the_models(asked: Any, press: Press) -> None:
    run, app = asked()
    app = decide(choose(app, run, "edited", '{"text": "other"}'), run)
    press(app, "continue")
    assert run.loop.messages[1].tool_calls[0].arguments == {"text": "hello"}
    assert run.loop.messages[2].text.endswith("\nother")
    assert run.loop.trace.steps[0].tools[0].decision == "edited"


def test_a_given_result_is_marked_as_the_users(asked: Any, press: Press) -> None:
    run, app = asked()
    app = decide(choose(app, run, "mocked", "by hand"), run)
    press(app, "continue")
    assert run.loop.messages[2].text.endswith("\nby hand")
    assert run.loop.trace.entries[2].maker == "user"


def test_a_rejection_can_end_the_run(asked: Any, press: Press) -> None:
    run, app = asked()
    app = choose(app, run, "rejected", "too dear")
    app.checkbox(key=f"stop-{run.id}-1-0").check().run()
    press(decide(app, run), "continue")
    assert run.loop.trace.outcome.reason == "rejected_by_user"
    assert "too dear" in run.loop.messages[2].text


@pytest.mark.parametrize("text", ["{", "[1]", "5"])
def test_arguments_that_are_no_object_cannot_be_decided(asked: Any, text: str) -> None:
    run, app = asked()
    app = decide(choose(app, run, "edited", text), run)
    assert "That did not work" in texts(app, *KINDS)
    assert run.loop.run.pending[0].decision is None


def test_what_was_written_counts_though_the_page_was_not_drawn_since(asked: Any, press: Press) -> None:
    run, app = asked()
    app = choose(app, run, "edited")
    app.text_area(key=f"edited-text-{run.id}-1-0").input('{"text": "other"}')
    press(decide(app, run), "continue")
    assert run.loop.messages[2].text.endswith("\nother")


def test_what_is_being_decided_is_not_passed_over(asked: Any, press: Press) -> None:
    run, app = asked()
    app = choose(app, run, "mocked", "by hand")
    for key in ("step", "continue"):
        assert refused(app, key)
    assert app.text_area(key=f"mocked-text-{run.id}-1-0").value == "by hand"
    press(decide(app, run), "continue")
    assert run.loop.messages[2].text.endswith("\nby hand")


def test_a_choice_that_is_taken_back_leaves_the_call_as_asked(asked: Any, press: Press) -> None:
    run, app = asked()
    app = choose(app, run, "mocked", "by hand")
    app.segmented_control(key=f"other-{run.id}-1-0").set_value(None).run()
    press(app, "continue")
    assert run.loop.messages[2].text == "hello"


def test_what_policy_and_limits_will_say_stands_beside_each_call(asked: Any) -> None:
    calls = [ToolCall(f"c{n}", "echo", {"text": str(n)}) for n in range(2)]
    _, app = asked(*calls, policy=CapabilityPolicy(deny={"echo"}), limits=Limits(calls_per_step=1))
    shown = texts(app, *KINDS)
    assert "the program says: denied by the policy" in shown
    assert "the program says: skipped" in shown


def test_what_was_continued_goes_on_when_the_last_question_is_answered(open_run: Any, visit: Visit, press: Any) -> None:
    calls = [ToolCall(f"c{n}", "echo", {"text": str(n)}) for n in range(2)]
    run = open_run([calls, "done"], [echo], policy=CapabilityPolicy(ask={"echo"}))
    app = press(visit(run=run.id), "continue")
    app = press(app, f"run-{run.id}-1-0")
    assert run.loop.waiting
    press(app, f"run-{run.id}-1-1")
    assert run.loop.trace.outcome.final == "done"


def test_a_decision_comes_too_late_where_another_tab_moved_the_run(asked: Any, visit: Visit, press: Press) -> None:
    run, first = asked()
    first = choose(first, run, "skipped")
    press(visit(run=run.id), "step_over")
    decide(first, run)
    assert run.loop.trace.steps[0].tools[0].decision == "run"
    assert run.loop.messages[2].text == "hello"


def test_hostile_arguments_are_shown_as_they_are(asked: Any) -> None:
    evil = "<img src=x onerror=alert(1)> ![t](http://evil.invalid) :red[x] $a$"
    _, app = asked(ToolCall("c1", "echo", {"text": evil}))
    assert any(evil in block.value for block in app.code)
    assert not any("evil.invalid" in block.value for block in app.markdown)


def test_a_late_press_of_a_second_tab_changes_no_decision_of_the_first(asked: Any, visit: Visit, press: Press) -> None:
    run, first = asked()
    second = choose(visit(run=run.id), run, "mocked", "by hand")
    decide(choose(first, run, "rejected", "dangerous"), run)
    second = decide(second, run)
    assert TOO_LATE in texts(second, "text")
    assert run.loop.run.pending[0].decision.kind == "rejected"
    assert "decided: rejected by a person" in texts(second, "markdown")
    assert "dangerous" in texts(second, "text")
    second = decide(second, run)  # now that it was seen
    assert TOO_LATE not in texts(second, "text")
    assert run.loop.run.pending[0].decision.kind == "mocked"


def test_a_late_press_decides_nothing_about_the_call_that_came_since(open_run: Any, visit: Visit, press: Press) -> None:
    replies = [[ToolCall(f"c{n}", "echo", {"text": str(n)})] for n in range(2)]
    run = open_run([*replies, "done"], [echo], policy=CapabilityPolicy(ask={"echo"}))
    first = press(visit(run=run.id), "continue")
    press(press(visit(run=run.id), "stop"), "extend")  # the first call was closed without a word about it
    assert (run.loop.waiting, run.loop.run.pending[0].call.id) == (True, "c1")
    late = first.button(key=f"run-{run.id}-1-0").click().run()
    assert TOO_LATE in texts(late, "text")
    assert run.loop.run.pending[0].decision is None


def test_a_double_click_is_no_other_decision(asked: Any, visit: Visit) -> None:
    run, first = asked()
    key = f"run-{run.id}-1-0"
    second = visit(run=run.id)
    first.button(key=key).click().run()
    assert TOO_LATE not in texts(second.button(key=key).click().run(), "text")
    assert run.loop.run.pending[0].decision.kind == "run"


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("edited", '{"text": "other"}', 'Runs with: {"text": "other"}'),
        ("mocked", "by hand", "The result: by hand"),
        ("skipped", "not needed", "not needed"),
    ],
)
def test_what_was_decided_is_said_in_full(asked: Any, kind: str, text: str, said: str) -> None:
    run, app = asked()
    assert said in texts(decide(choose(app, run, kind, text), run), "text").splitlines()


def test_a_call_that_is_done_keeps_its_result(asked: Any, visit: Visit) -> None:
    run, _ = asked(CALL, ToolCall("c2", "echo", {"text": "again"}))
    run.loop.run.pending[0].result = echo.run(CALL)
    app = visit(run=run.id)
    assert "done, its result is kept" in texts(app, "markdown")
    assert [button.key for button in app.button if str(button.key).startswith("run-")] == [f"run-{run.id}-1-1"]


def test_a_secret_that_was_not_shown_is_not_replaced_by_its_mark(open_run: Any, visit: Visit, press: Press) -> None:
    got: list[dict[str, Any]] = []
    reach = Tool("reach", "", {"type": "object"}, lambda **arguments: got.append(arguments))
    run = open_run([[ToolCall("c1", "reach", {"password": "hunter2hunter2", "n": 1})], "done"], [reach])
    app = press(press(visit(run=run.id), "next_call"), "step")
    app = choose(app, run, "edited", '{"password": "[redacted: password]", "n": 2}')
    press(decide(app, run), "continue")
    assert got == [{"password": "hunter2hunter2", "n": 2}]


# ---- looking back ----


def test_looking_back_runs_nothing_and_shows_the_list_as_it_was(visit: Visit, press: Press) -> None:
    app = press(visit(), "step_over")
    (run,) = registry().listed()
    before = run.loop.snapshot()
    for _ in range(4):
        app = app.button(key="back").click().run()
    assert "Next: **approve**" in texts(app, "markdown")
    assert len(app.dataframe[0].value) == 3
    assert app.query_params["at"] == "3"
    assert run.loop.snapshot() == before
    assert [app.button(key=key).disabled for key in ("step", "step_over", "next_call", "continue", "walk")] == [
        True
    ] * 5
    app = app.button(key="now").click().run()
    assert "at" not in app.query_params
    assert not app.button(key="step").disabled


def test_a_call_that_had_no_result_yet_is_no_fault_of_an_earlier_moment(visit: Visit, press: Press) -> None:
    app = press(visit(), "continue")
    early = visit(run=app.query_params["run"], at="3")
    assert "Next: **approve**" in texts(early, "markdown")
    assert set(early.dataframe[0].value["note"]) == {""}


def test_a_moment_of_a_run_that_another_tab_moves_is_shown_when_it_rests(open_run: Any, visit: Visit) -> None:
    gate = threading.Event()

    @tool
    def wait() -> str:
        """Wait until the test says so."""
        assert gate.wait(20)
        return "waited"

    run = open_run([[ToolCall("c1", "wait", {})], "done"], [wait])
    run.runner.resume()
    app = visit(run=run.id, at="2")
    assert "Looking back" not in texts(app, "markdown")
    assert "Running" in texts(app, "markdown")
    gate.set()
    assert run.runner.wait(10)
    app.run()
    assert "Looking back: moment 2" in texts(app, "markdown")


def test_a_link_to_a_moment_that_is_not_there_shows_the_last_one(visit: Visit, press: Press) -> None:
    app = press(visit(), "step_over")
    again = visit(run=app.query_params["run"], at="999")
    assert "Looking back" not in texts(again, "markdown")
    assert len(again.dataframe[0].value) == 4


def test_a_run_that_is_over_is_looked_back_at_after_a_restart(visit: Visit, press: Press) -> None:
    app = press(visit(), "continue")
    run_id = app.query_params["run"]
    registry().end(run_id)
    again = visit(run=run_id, at="3")
    assert "Next: **approve**" in texts(again, "markdown")
    again = again.button(key="now").click().run()
    assert "The model answered and asked for nothing more." in texts(again, "markdown")


def test_a_run_at_its_limit_goes_on_after_a_restart(visit: Visit, press: Press) -> None:
    app = press(visit(scenario="noop", guards="off"), "continue")
    run_id = app.query_params["run"]
    registry().end(run_id)
    again = press(visit(run=run_id), "extend")
    (run,) = registry().listed()
    assert run.loop.trace.outcome.detail.startswith("stopped by the limit of 7 steps")
    assert len(run.loop.trace.steps) == 7
    assert "The step limit was reached." in texts(again, "markdown")


# ---- limits ----


@contextmanager
def in_another_thread(run: OpenRun, move: Callable[[], object], until: str) -> Iterator[None]:
    """The run is in the middle of a phase that no page has asked for: it has just told this event."""
    inside, leave = threading.Event(), threading.Event()

    def listen(event: AgentEvent) -> None:
        if event.type == until:
            inside.set()
            leave.wait(10)

    run.loop.on_event = listen
    mover = threading.Thread(target=move)
    mover.start()
    try:
        assert inside.wait(10)
        yield
    finally:
        leave.set()
        mover.join(10)


def test_an_extension_that_comes_in_the_middle_of_a_phase_is_told(visit: Visit, press: Press) -> None:
    app = press(visit(scenario="noop", guards="off"), "continue")
    (run,) = registry().listed()

    def further() -> None:
        run.loop.extend(max_steps=3)
        run.loop.finish()

    with in_another_thread(run, further, until="turn.failed"):
        app = app.button(key="extend").click().run()
        assert not app.exception
        assert "the run is being advanced in another thread" in texts(app, "text")
        assert (run.setup.max_steps, app.number_input(key="steps").value) == (2, 2)
    assert run.loop.settings.max_steps == 3


def test_limits_that_come_in_the_middle_of_a_phase_are_told(visit: Visit, press: Press) -> None:
    app = press(visit(scenario="noop", guards="off"), "step")
    (run,) = registry().listed()
    with in_another_thread(run, run.loop.advance, until="model.completed"):
        app = app.number_input(key="steps").set_value(9).run()
        assert not app.exception
        assert "the run is being advanced in another thread" in texts(app, "text")
        assert (run.setup.max_steps, app.number_input(key="steps").value) == (2, 2)
    assert run.loop.settings.max_steps == 2


# ---- moving ----


def test_a_walk_is_paused_between_two_phases(visit: Visit) -> None:
    app = visit()
    app.button(key="walk").click().run()
    (run,) = registry().listed()
    assert run.runner.walking
    app.run()
    app.button(key="pause").click().run()
    assert run.runner.wait(10)
    assert run.loop.phase is not None
    stands = run.loop.phase
    threading.Event().wait(1.2)
    assert run.loop.phase is stands


# ---- presses in two tabs ----


@pytest.mark.parametrize(("waited_s", "moves"), [(0.0, False), (SEEN_AFTER_S + 0.1, True)])
def test_a_press_right_after_another_tab_moved_was_meant_for_what_stood_there_before(
    open_run: Any, visit: Visit, monkeypatch: pytest.MonkeyPatch, waited_s: float, moves: bool
) -> None:
    run = open_run([[CALL], "done"], [echo])
    app = visit(run=run.id)
    run.moved_by = "another tab"
    run.runner.step()
    run.runner.wait(5)
    app.run()
    later = clock.monotonic() + waited_s
    monkeypatch.setattr(clock, "monotonic", lambda: later)
    before = run.loop.phase
    app.button(key="step").click().run()
    run.runner.wait(5)
    assert (run.loop.phase != before) is moves
    assert ("Another tab has moved this run" in texts(app, "text")) is not moves
    app.button(key="step").click().run()
    run.runner.wait(5)
    assert run.loop.phase != before  # once it was told, the next press counts
