"""Injected faults of tools, and what is left where the program ends while one strikes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent import (
    AgentEvent,
    Decision,
    FakeModel,
    Loop,
    Phase,
    Tool,
)
from agent.faults import Fault
from agent.recovery import recover
from agent.striking import struck
from tests.agent.struck import call, hit, results, strike_of

Started = Callable[..., Loop]
MakeTool = Callable[..., Tool]


# ---- tools ----


@pytest.mark.parametrize(
    ("kind", "params", "ok", "text"),
    [
        (
            "tool_raises",
            {},
            False,
            '{"error": "RuntimeError: the tool broke down (an injected fault)", "retryable": true}',
        ),
        ("tool_returns_nothing", {}, True, "null"),
        ("tool_returns_too_much", {"characters": 12}, True, "A line of a "),
        (
            "tool_times_out",
            {"timeout_s": 0.05},
            False,
            '{"error": "timed out after 0.05 s; its outcome is unknown", "retryable": true}',
        ),
    ],
)
def test_a_tool_goes_wrong_once_and_is_itself_again(
    make_tool: MakeTool, kind: str, params: dict[str, Any], ok: bool, text: str
) -> None:
    ran: list[Any] = []
    loop = Loop(FakeModel([call(), call(), "done"]), [make_tool("fine", ran=ran)])
    loop.start("go")
    hit(loop, kind, **params)
    assert results(loop) == [text, "fine"]
    assert [run.ok for step in loop.trace.steps for run in step.tools] == [ok, True]
    assert len(ran) == 1, "where a fault stood in its place, the tool itself did not run"
    strike = strike_of(loop)
    assert (strike["step"], strike["phase"], strike["by"]) == (1, "execute", "user")
    assert (strike["params"]["call"], strike["params"]["tool"]) == ("c1", "act")


def test_a_tool_returns_fifty_thousand_characters(started: Started) -> None:
    (text,) = results(hit(started(call(), "done"), "tool_returns_too_much"))
    assert len(text) == 50_000


def test_a_fault_of_a_tool_takes_one_call_of_a_batch(make_tool: MakeTool) -> None:
    ran: list[Any] = []
    batch = [*call(number=1, n=1), *call(number=2, n=2)]
    loop = Loop(FakeModel([batch, "done"]), [make_tool("fine", ran=ran)])
    loop.start("go")
    loop.arm(Fault("tool_returns_nothing"))
    loop.finish()
    assert (results(loop), len(ran)) == (["null", "fine"], 1)


def test_two_faults_take_two_calls_of_a_batch(make_tool: MakeTool) -> None:
    batch = [*call(number=1, n=1), *call(number=2, n=2), *call(number=3, n=3)]
    loop = Loop(FakeModel([batch, "done"]), [make_tool("fine")])
    loop.start("go")
    loop.arm(Fault("tool_returns_nothing"))
    loop.arm(Fault("tool_times_out", {"timeout_s": 0.05}))
    loop.finish()
    first, second, third = results(loop)
    assert (first, third) == ("null", "fine")
    assert "timed out" in second


def test_wrong_arguments_are_met_by_their_own_check_and_leave_the_fault_armed() -> None:
    def double(n: int) -> int:
        return n * 2

    loop = Loop(FakeModel([call("double", n="two"), call("double", n=2), "done"]), [double])
    loop.start("go")
    hit(loop, "tool_returns_nothing")
    assert "wrong arguments" in results(loop)[0]
    assert results(loop)[1] == "null"
    assert strike_of(loop)["step"] == 2


def test_a_hanging_tool_lets_go_of_its_thread_when_nobody_waits_for_it(started: Started) -> None:
    before = set(threading.enumerate())
    hit(started(call(), "done"), "tool_times_out", timeout_s=0.05)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
    assert set(threading.enumerate()) <= before


@dataclass
class Slow:
    """Arguments that take longer to be read than the tool may take."""

    name: str

    def __post_init__(self) -> None:
        time.sleep(0.5)


def test_a_tool_that_was_waited_for_in_vain_has_struck_even_if_it_was_not_called_yet() -> None:
    def visit(place: Slow) -> str:
        return place.name

    loop = Loop(FakeModel([call("visit", place={"name": "Oslo"}), "done"]), [visit])
    loop.start("go")
    hit(loop, "tool_times_out", timeout_s=0.05)
    assert "timed out" in results(loop)[0]


def test_a_stop_ends_the_wait_for_a_hanging_tool(started: Started) -> None:
    loop = started(call(), "done", to=Phase.EXECUTE)
    loop.arm(Fault("tool_times_out", {"timeout_s": 60}))
    threading.Timer(0.1, loop.stop).start()
    begun = time.monotonic()
    loop.finish()
    assert time.monotonic() - begun < 10
    assert loop.stop_reason == "stopped_by_user"
    assert strike_of(loop)["kind"] == "tool_times_out"


# ---- a crash while a fault strikes ----


@pytest.mark.parametrize(
    ("kind", "event", "asks"), [("tool_returns_nothing", "tool.started", True), ("provider_429", "model.retry", False)]
)
def test_a_fault_whose_effect_was_not_written_yet_is_still_armed_after_a_crash(
    make_tool: MakeTool, tmp_path: Path, kind: str, event: str, asks: bool
) -> None:
    left: list[dict[str, Any]] = []

    def note(happened: AgentEvent) -> None:
        if happened.type == event:
            left.append(recover(next(tmp_path.glob("*.jsonl"))))

    turns = [call(), "done"]
    loop = Loop(FakeModel(turns), [make_tool()], journal=tmp_path, on_event=note)
    loop.start("go")
    hit(loop, kind, **({"wait_s": 0} if kind == "provider_429" else {}))
    (snapshot,) = left
    assert snapshot["faults"][0]["kind"] == kind
    assert struck(snapshot["trace"]["interventions"]) == []
    again = Loop.resume(snapshot, model=FakeModel(turns), tools=[make_tool()])
    assert again.waiting is asks, "nobody knows whether the tool ran, so a person is asked"
    if asks:
        again.decide(0, Decision.run())
    again.finish()
    assert (again.run.faults, results(again)) == ([], results(loop))
    assert strike_of(again) == strike_of(loop)


def test_a_strike_that_is_written_does_not_come_again_after_a_crash(make_tool: MakeTool, tmp_path: Path) -> None:
    batch = [*call(number=1, n=1), *call(number=2, n=2)]
    left: list[dict[str, Any]] = []

    def second(n: int) -> str:
        if n == 2:
            left.append(recover(next(tmp_path.glob("*.jsonl"))))
        return "fine"

    loop = Loop(FakeModel([batch, "done"]), [make_tool(second)], journal=tmp_path, parallel=False)
    loop.start("go")
    hit(loop, "tool_returns_nothing")
    (snapshot,) = left
    assert snapshot["faults"] == []
    again = Loop.resume(snapshot, model=FakeModel([batch, "done"]), tools=[make_tool("fine")])
    again.decide(1, Decision.run())
    again.finish()
    assert results(again) == ["null", "fine"]
    assert strike_of(again)["params"]["call"] == "c1"
