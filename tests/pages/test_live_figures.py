"""The lines about a model call: while it goes on, when it is over, and what can be done about it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent import Loop, Message, ModelReply, Runner, ToolCall, Usage, tool
from agent.models.base import CallControl
from agent.trace import Trace, TraceStep
from pages.parts.live_figures import call_line, in_flight_words, step_line, thought_line
from pages.parts.runs import OpenRun
from pages.parts.setup import Setup


class Streaming:
    """A model whose reply comes when the test says so."""

    secrets = ("sk-secret-value-of-a-key",)

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.asked, self.release = threading.Event(), threading.Event()
        self.control: CallControl | None = None

    def complete(self, messages: Any, tool_schemas: Any, *, control: CallControl) -> ModelReply:
        self.control = control
        self.asked.set()
        self.release.wait(10)
        done = messages[-1].role == "tool"
        return ModelReply(Message("assistant", "ok", () if done else tuple(self.calls)))

    def say(self, **delta: str) -> None:
        assert self.control is not None
        self.control.emit("model.delta", delta)


@pytest.fixture
def model() -> Iterator[Streaming]:
    model = Streaming()
    yield model
    model.release.set()


def in_call(model: Streaming, tools: Any = (), *, live: bool = False) -> OpenRun:
    """A run in the middle of its model call."""
    loop = Loop(model, tools)
    loop.start("go")
    run = OpenRun(Runner(loop), Setup(kind="live" if live else "scripted"))
    run.runner.resume()
    assert model.asked.wait(10)
    return run


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_live_call_tells_its_time_its_first_token_and_its_speed(model: Streaming) -> None:
    run = in_call(model, live=True)
    line = call_line(run)
    assert line is not None
    assert line.startswith("call: 0.")
    assert line.endswith("no token yet")
    assert "cannot be taken back" in in_flight_words(run)
    model.say(reasoning="Let me see. ")
    assert thought_line(run) == "The model is thinking: Let me see. "
    model.say(text="It is five, and that is all. ")
    until(lambda: "tokens/s" in (call_line(run) or ""))
    assert "first token after 0." in (call_line(run) or "")
    assert thought_line(run) is None
    assert in_flight_words(run).startswith("Pause waits for the rest of the reply")
    model.release.set()
    assert run.runner.wait(10)
    assert (call_line(run), in_flight_words(run)) == (None, "")


def test_a_thought_never_shows_the_key_in_use(model: Streaming) -> None:
    run = in_call(model, live=True)
    model.say(reasoning=f"{'so ' * 200}The key is {model.secrets[0]}")
    thought = thought_line(run) or ""
    assert model.secrets[0] not in thought
    assert thought.startswith("The model is thinking: …")


def test_a_scripted_call_leaves_nothing_behind(model: Streaming) -> None:
    run = in_call(model)
    assert (call_line(run) or "").startswith("call: ")
    assert "no token" not in (call_line(run) or "")
    assert "nothing goes on unseen" in in_flight_words(run)


def test_a_tool_that_cannot_be_ended_is_named(model: Streaming) -> None:
    begun, gate = threading.Event(), threading.Event()

    @tool
    def slow() -> str:
        """Take long."""
        begun.set()
        gate.wait(10)
        return "done"

    model.calls = [ToolCall("c1", "slow", {})]
    run = in_call(model, [slow])
    model.release.set()
    assert begun.wait(10)
    assert in_flight_words(run).startswith("slow: a tool that has begun cannot be ended from outside.")
    gate.set()
    assert run.runner.wait(10)
    assert in_flight_words(run) == ""


def step(index: int, **fields: Any) -> TraceStep:
    return TraceStep(index=index, **fields)


def test_the_newest_finished_step_has_its_figures() -> None:
    usage = Usage(completion_tokens=40)
    timed = step(1, latency_ms=2400.0, first_token_ms=400.0, usage=usage)
    assert step_line(Trace(steps=[timed, step(2)])) == "step 1: call 2.40 s · first token after 0.40 s · 20 tokens/s"


def test_an_estimate_is_marked_and_what_was_not_reported_is_left_out() -> None:
    usage = Usage(completion_tokens=9, estimated=True)
    guessed = step(1, latency_ms=2000.0, first_token_ms=500.0, usage=usage)
    assert (step_line(Trace(steps=[guessed])) or "").endswith("about 6.0 tokens/s (estimated)")
    assert step_line(Trace(steps=[step(3, latency_ms=120.0)])) == "step 3: call 0.12 s"
    assert step_line(Trace(steps=[step(1)])) is None
