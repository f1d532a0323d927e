"""The one worker thread: never two phases at once, whatever is clicked, and an error is kept for the page."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from agent import (
    Breakpoint,
    CapabilityPolicy,
    FakeModel,
    FakeTurn,
    Loop,
    Message,
    ModelReply,
    Phase,
    Runner,
    Tool,
    ToolCall,
)

WAIT_S = 10


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


class Crowded(FakeModel):
    """Notes how many calls are in flight at once."""

    def __init__(self, turns: Any, gate: threading.Event | None = None) -> None:
        super().__init__(turns)
        self.now = self.most = self.made = 0
        self.gate = gate

    def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
        self.now += 1
        self.made += 1
        self.most = max(self.most, self.now)
        if self.gate:
            self.gate.wait(WAIT_S)
        else:
            time.sleep(0.005)
        self.now -= 1
        return super().complete(messages, tool_schemas, control=control)


def noop() -> Tool:
    return Tool(name="noop", description="", parameters={"type": "object"}, func=lambda **_: "")


def started(turns: int = 5, gate: threading.Event | None = None) -> tuple[Runner, Crowded]:
    model = Crowded([[ToolCall("c1", "noop", {"n": n})] for n in range(turns)] + ["done"], gate)
    loop = Loop(model, [noop()], max_steps=turns + 1)
    loop.start("go")
    return Runner(loop), model


def test_step_performs_one_phase() -> None:
    runner, _ = started()
    for expected in ("call", "approve", "execute", "append", "decide", "prepare"):
        runner.step()
        assert runner.wait(WAIT_S)
        assert runner.loop.phase == expected


def test_steps_that_are_pressed_during_a_phase_are_all_performed() -> None:
    gate = threading.Event()
    runner, model = started(gate=gate)
    runner.resume(2)
    until(lambda: model.now == 1)
    for _ in range(3):
        runner.step()
    gate.set()
    assert runner.wait(WAIT_S)
    assert runner.loop.phase is Phase.DECIDE


def test_a_pause_forgets_the_steps_that_were_still_to_come() -> None:
    gate = threading.Event()
    runner, model = started(gate=gate)
    runner.resume(2)
    until(lambda: model.now == 1)
    runner.step()
    runner.pause()
    gate.set()
    assert runner.wait(WAIT_S)
    assert (runner.loop.phase, model.made) == (Phase.APPROVE, 1)


def test_step_over_goes_to_the_end_of_the_step() -> None:
    runner, model = started()
    runner.step_over()
    assert runner.wait(WAIT_S)
    assert (runner.loop.phase, len(runner.loop.trace.steps), model.made) == (Phase.PREPARE, 1, 1)
    runner.step()
    assert runner.wait(WAIT_S)
    runner.step_over()
    assert runner.wait(WAIT_S)
    assert (runner.loop.phase, len(runner.loop.trace.steps)) == (Phase.PREPARE, 2)


def test_resume_goes_to_the_end() -> None:
    runner, model = started()
    runner.resume()
    assert runner.wait(WAIT_S)
    assert (runner.loop.stop_reason, model.made, runner.busy) == ("final", 6, False)


def test_pause_in_a_model_call_keeps_the_finished_call() -> None:
    gate = threading.Event()
    runner, model = started(gate=gate)
    runner.resume()
    until(lambda: model.now == 1)
    runner.pause()
    assert runner.busy
    assert runner.pausing
    gate.set()
    assert runner.wait(WAIT_S)
    assert (model.made, runner.loop.phase, runner.pausing) == (1, Phase.APPROVE, False)
    runner.resume()
    assert runner.wait(WAIT_S)
    assert (runner.loop.stop_reason, model.made) == ("final", 6)


def test_a_storm_of_clicks_never_makes_two_calls_at_once_and_loses_none() -> None:
    runner, model = started(turns=30)
    dice = random.Random(7)
    everywhere = tuple(Breakpoint("phase", phase) for phase in Phase)
    actions: list[Callable[[], None]] = [
        runner.resume,
        runner.pause,
        runner.step,
        runner.step_over,
        runner.next_call,
        lambda: runner.resume(2),
        lambda: runner.walk(0),
        lambda: setattr(runner, "breakpoints", dice.choice([(), everywhere])),
    ]

    def click() -> None:
        for _ in range(60):
            dice.choice(actions)()
            time.sleep(0.001)

    clickers = [threading.Thread(target=click) for _ in range(4)]
    for clicker in clickers:
        clicker.start()
    for clicker in clickers:
        clicker.join()
    runner.breakpoints = ()
    runner.resume()
    assert runner.wait(WAIT_S)
    assert model.most == 1
    assert model.made == 31
    assert len(runner.loop.trace.steps) == 31
    assert runner.loop.stop_reason == "final"


def test_stop_ends_a_model_call_in_flight() -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "never")), latency_ms=60_000)
    loop = Loop(FakeModel([slow]))
    loop.start("go")
    runner = Runner(loop)
    runner.resume()
    until(lambda: loop.phase is Phase.CALL)
    begun = time.monotonic()
    runner.stop()
    assert runner.wait(WAIT_S)
    assert time.monotonic() - begun < 1
    assert loop.stop_reason == "stopped_by_user"


def test_stop_ends_a_tool_with_a_time_limit_in_flight() -> None:
    begun = threading.Event()

    def hang() -> None:
        begun.set()
        time.sleep(60)

    tool = Tool(name="hang", description="", parameters={}, func=hang, timeout=50)
    loop = Loop(FakeModel([[ToolCall("c1", "hang", {})], "done"]), [tool])
    loop.start("go")
    runner = Runner(loop)
    runner.resume()
    assert begun.wait(WAIT_S)
    runner.stop()
    assert runner.wait(WAIT_S)
    assert loop.stop_reason == "stopped_by_user"
    assert "interrupted" in loop.messages[-1].text


def test_a_waiting_run_rests_and_can_still_be_stopped() -> None:
    loop = Loop(FakeModel([[ToolCall("c1", "noop", {})], "done"]), [noop()], policy=CapabilityPolicy(ask=["noop"]))
    loop.start("go")
    runner = Runner(loop)
    runner.resume()
    assert runner.wait(WAIT_S)
    assert loop.waiting
    assert not runner.busy
    runner.stop()
    assert runner.wait(WAIT_S)
    assert (loop.stop_reason, loop.messages[-1].role) == ("stopped_by_user", "tool")


def test_an_error_of_the_program_ends_the_thread_and_is_kept() -> None:
    def defect(event: object) -> None:
        if getattr(event, "type", "") == "model.completed":
            raise RuntimeError("a defect")

    loop = Loop(FakeModel(["done"]), on_event=defect)
    loop.start("go")
    runner = Runner(loop)
    runner.resume()
    assert runner.wait(WAIT_S)
    assert isinstance(runner.error, RuntimeError)
    assert not runner.busy


def test_streamed_text_is_there_while_it_comes_and_gone_after() -> None:
    loop = Loop(FakeModel([FakeTurn(ModelReply(Message("assistant", "one two three")), latency_ms=300)]))
    loop.start("go")
    runner = Runner(loop)
    runner.resume()
    until(lambda: runner.partial.startswith("o"))
    assert runner.wait(WAIT_S)
    assert runner.partial == ""
    assert loop.trace.outcome.final == "one two three"


def test_a_retry_starts_the_streamed_text_anew() -> None:
    go_on = threading.Event()

    class Retrying:
        def complete(self, messages: Any, tool_schemas: Any, *, control: Any) -> ModelReply:
            control.emit("model.delta", {"text": "half an ans"})
            control.emit("model.retry", {"attempt": 1, "error": "cut", "wait_s": 0})
            control.emit("model.delta", {"text": "whole"})
            go_on.wait(WAIT_S)
            return ModelReply(Message("assistant", "whole"))

    loop = Loop(Retrying())
    loop.start("go")
    runner = Runner(loop)
    runner.resume()
    until(lambda: runner.partial == "whole")
    go_on.set()
    assert runner.wait(WAIT_S)


def test_nothing_changes_while_it_rests() -> None:
    runner, _ = started()
    runner.step_over()
    assert runner.wait(WAIT_S)
    version = runner.version
    time.sleep(0.05)
    assert runner.version == version
    assert [thread for thread in threading.enumerate() if thread.name == "agent-run"] == []


@pytest.mark.parametrize("action", ["step", "step_over", "resume"])
def test_a_run_that_is_done_stays_done(action: str) -> None:
    loop = Loop(FakeModel(["done"]))
    loop.start("go")
    loop.finish()
    runner = Runner(loop)
    getattr(runner, action)()
    assert runner.wait(WAIT_S)
    assert not runner.busy
