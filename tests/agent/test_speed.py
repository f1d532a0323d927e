"""How fast a model answers: of the call in flight, and of finished steps."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from agent import FakeModel, Loop, Message, ModelReply, Runner, Usage
from agent.context import ContextBudget
from agent.events import AgentEvent
from agent.models.base import CallControl
from agent.models.fake import FakeTurn
from agent.speed import CallProgress, tokens_per_s
from agent.trace import TraceStep


def step(**fields: Any) -> TraceStep:
    usage = Usage(completion_tokens=40)
    return TraceStep(**{"index": 1, "latency_ms": 2400.0, "first_token_ms": 400.0, "usage": usage, **fields})


def test_the_speed_of_a_step_leaves_the_wait_for_the_first_token_out() -> None:
    assert tokens_per_s(step()) == pytest.approx(20)


@pytest.mark.parametrize(
    "missing",
    [
        {"usage": None},
        {"usage": Usage(prompt_tokens=9)},
        {"usage": Usage(completion_tokens=0)},
        {"latency_ms": None},
        {"first_token_ms": None},
        {"first_token_ms": 2400.0},
        {"retries": [{"attempt": 1, "error": "503", "wait_s": 1.0, "status": 503}]},
    ],
)
def test_a_speed_that_cannot_be_told_is_none(missing: dict[str, Any]) -> None:
    assert tokens_per_s(step(**missing)) is None


def delta(**payload: str) -> AgentEvent:
    return AgentEvent("model.delta", payload)


def test_a_call_in_flight_knows_its_first_token_and_tells_thoughts_from_the_answer() -> None:
    call = CallProgress()
    assert (call.first_token_ms, call.tokens_per_s) == (None, None)
    call.hear(delta(reasoning="Let me add. "))
    call.hear(delta(text="It is "))
    call.hear(delta(text="five."))
    assert (call.reasoning, call.text) == ("Let me add. ", "It is five.")
    first = call.first_token_ms
    assert first is not None
    time.sleep(0.03)
    assert call.first_token_ms == first
    assert (call.tokens_per_s or 0) > 0
    assert call.elapsed_s >= 0.03


def test_a_failed_attempt_leaves_nothing_but_its_number() -> None:
    call = CallProgress()
    call.hear(delta(text="half"))
    call.hear(AgentEvent("model.retry", {"attempt": 1, "error": "cut off", "wait_s": 0.0, "status": None}))
    assert (call.text, call.first_token_ms, call.attempt) == ("", None, 2)


def test_a_runner_has_a_call_only_while_the_model_is_at_work() -> None:
    gate, asked = threading.Event(), threading.Event()

    class Gated:
        def complete(self, messages: Any, tool_schemas: Any, *, control: CallControl) -> ModelReply:
            control.emit("model.delta", {"reasoning": "hm"})
            asked.set()
            gate.wait(10)
            return ModelReply(Message("assistant", "done"))

    loop = Loop(Gated())
    loop.start("go")
    runner = Runner(loop)
    runner.resume()
    assert asked.wait(10)
    assert runner.call is not None
    assert (runner.call.reasoning, runner.partial) == ("hm", "")
    gate.set()
    assert runner.wait(10)
    assert runner.call is None


def test_the_call_for_a_summary_is_a_call_too() -> None:
    told: list[str] = []
    long = FakeTurn(ModelReply(Message("assistant", "word " * 150)))
    summary = FakeTurn(ModelReply(Message("assistant", "in short")), latency_ms=5)
    model = FakeModel([long, summary, "done"])
    loop = Loop(model, context=ContextBudget(200), on_event=lambda event: told.append(runner.partial))
    runner = Runner(loop)
    for question in ("first", "second"):
        loop.start(question)
        runner.resume()
        assert runner.wait(10)
    assert "in short" in told
    assert runner.partial == ""
