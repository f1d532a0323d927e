"""The further moves of a runner: to the next model call, a slow walk, and breakpoints in all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent import (
    Breakpoint,
    CapabilityPolicy,
    FakeModel,
    FakeTurn,
    InputError,
    Loop,
    Message,
    ModelReply,
    Phase,
    Runner,
    Tool,
    ToolCall,
)
from agent.recovery import recover
from agent.runner import SLOWEST_S

WAIT_S = 10
NEVER_S = SLOWEST_S
"""A pace at which no second phase comes within a test."""


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


def noop() -> Tool:
    return Tool(name="noop", description="", parameters={"type": "object"}, func=lambda **_: "")


def started(turns: int = 3, **options: Any) -> Runner:
    model = FakeModel([[ToolCall("c1", "noop", {"n": n})] for n in range(turns)] + ["done"])
    loop = Loop(model, [noop()], max_steps=turns + 1, **options)
    loop.start("go")
    return Runner(loop)


def done(move: Callable[[], None], runner: Runner) -> tuple[int, Phase | None]:
    """Where the run stands after a move."""
    move()
    assert runner.wait(WAIT_S)
    return len(runner.loop.trace.steps), runner.loop.phase


# ---- to the next model call ----


def test_the_next_call_is_the_next_arrival_before_one() -> None:
    runner = started(turns=2)
    assert done(runner.next_call, runner) == (0, Phase.CALL)
    assert done(runner.next_call, runner) == (1, Phase.CALL)
    assert done(runner.step, runner) == (2, Phase.APPROVE)
    assert done(runner.next_call, runner) == (2, Phase.CALL)
    assert done(runner.next_call, runner) == (3, None)
    assert runner.loop.stop_reason == "final"


def test_the_next_call_waits_for_a_person_where_one_is_asked() -> None:
    runner = started(policy=CapabilityPolicy(ask=["noop"]))
    assert done(runner.next_call, runner) == (0, Phase.CALL)
    assert done(runner.next_call, runner) == (1, Phase.APPROVE)
    assert runner.loop.waiting


# ---- a walk ----


def test_a_walk_does_one_phase_at_once_and_then_waits() -> None:
    runner = started()
    runner.walk(NEVER_S)
    until(lambda: runner.loop.phase is Phase.CALL)
    assert runner.busy
    assert runner.walking
    assert not runner.pausing
    runner.pause()
    assert runner.wait(WAIT_S), "a pause ends the waiting"
    assert (runner.loop.phase, runner.busy, runner.walking) == (Phase.CALL, False, False)


def test_a_walk_goes_to_the_end() -> None:
    runner = started()
    runner.walk(0.001)
    assert runner.wait(WAIT_S)
    assert (runner.loop.stop_reason, runner.walking) == ("final", False)


def test_a_walk_rests_at_once_when_there_is_nothing_more_to_do() -> None:
    loop = Loop(FakeModel(["done"]))
    loop.start("go")
    while loop.phase is not Phase.DECIDE:
        loop.advance()
    runner = Runner(loop)
    assert done(lambda: runner.walk(NEVER_S), runner) == (1, None)


def test_the_pace_changes_while_it_walks() -> None:
    runner = started()
    runner.walk(NEVER_S)
    until(lambda: runner.loop.phase is Phase.CALL)
    runner.pace_s = 0.001
    assert runner.wait(WAIT_S)
    assert runner.loop.stop_reason == "final"


def test_walking_again_with_another_pace_is_the_same() -> None:
    runner = started()
    runner.walk(NEVER_S)
    until(lambda: runner.loop.phase is Phase.CALL)
    runner.walk(0)
    assert runner.wait(WAIT_S)
    assert runner.loop.stop_reason == "final"


@pytest.mark.parametrize("pace", [-1, SLOWEST_S + 1, float("nan"), "fast", True, None])
def test_a_pace_that_is_none_is_refused_and_nothing_moves(pace: Any) -> None:
    runner = started()
    with pytest.raises(InputError, match="number of seconds from 0 to 60"):
        runner.walk(pace)
    assert (runner.busy, runner.loop.phase) == (False, Phase.PREPARE)


def test_a_stop_ends_the_waiting_of_a_walk_and_the_run() -> None:
    runner = started()
    runner.walk(NEVER_S)
    until(lambda: runner.loop.phase is Phase.CALL)
    assert done(runner.stop, runner) == (0, None)
    assert runner.loop.stop_reason == "stopped_by_user"


def test_a_stop_ends_a_model_call_of_a_walk() -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "never")), latency_ms=60_000)
    loop = Loop(FakeModel([slow]))
    loop.start("go")
    runner = Runner(loop)
    runner.walk(0)
    until(lambda: loop.phase is Phase.CALL)
    assert done(runner.stop, runner)[1] is None
    assert loop.stop_reason == "stopped_by_user"


def test_continue_in_a_walk_goes_on_without_waiting() -> None:
    runner = started()
    runner.walk(NEVER_S)
    until(lambda: runner.loop.phase is Phase.CALL)
    assert done(runner.resume, runner) == (4, None)


def test_each_step_pressed_in_a_walk_brings_one_phase_at_once() -> None:
    runner = started()
    runner.walk(NEVER_S)
    until(lambda: runner.loop.phase is Phase.CALL)
    for _ in range(3):
        runner.step()
    until(lambda: runner.loop.phase is Phase.APPEND)
    assert runner.walking
    assert done(runner.pause, runner) == (1, Phase.APPEND)


def held() -> tuple[Loop, threading.Event, threading.Event]:
    """A run of one call and an answer whose model waits: the loop, the event that frees it, and "it was asked"."""
    gate, begun = threading.Event(), threading.Event()

    class Held(FakeModel):
        def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
            begun.set()
            gate.wait(WAIT_S)
            return super().complete(messages, tool_schemas, control=control)

    loop = Loop(Held([[ToolCall("c1", "noop", {})], "done"]), [noop()])
    loop.start("go")
    return loop, gate, begun


@pytest.mark.parametrize("move", ["step_over", "next_call"])
def test_a_move_to_a_place_does_nothing_while_another_move_is_made(move: str) -> None:
    loop, gate, begun = held()
    runner = Runner(loop)
    runner.resume(2)
    assert begun.wait(WAIT_S)
    getattr(runner, move)()
    gate.set()
    assert runner.wait(WAIT_S)
    assert (len(loop.trace.steps), loop.phase) == (1, Phase.APPROVE)


def test_a_walk_takes_over_a_run_that_moves() -> None:
    loop, gate, begun = held()
    runner = Runner(loop)
    runner.resume()
    assert begun.wait(WAIT_S)
    runner.walk(NEVER_S)
    gate.set()
    until(lambda: loop.phase is Phase.APPROVE)
    assert runner.walking
    assert done(runner.pause, runner) == (1, Phase.APPROVE)


def test_a_walk_rests_where_a_person_is_asked() -> None:
    runner = started(policy=CapabilityPolicy(ask=["noop"]))
    assert done(lambda: runner.walk(0), runner) == (1, Phase.APPROVE)
    assert runner.loop.waiting
    assert not runner.walking


def test_pauses_and_walks_in_quick_turns_begin_no_phase_after_the_last_pause() -> None:
    runner = started(turns=40)
    for _ in range(200):
        runner.walk(0)
        runner.pause()
    assert runner.wait(WAIT_S)
    stands = (len(runner.loop.trace.steps), runner.loop.phase, runner.version)
    time.sleep(0.02)
    assert (len(runner.loop.trace.steps), runner.loop.phase, runner.version) == stands
    assert [thread for thread in threading.enumerate() if thread.name == "agent-run"] == []


# ---- breakpoints ----

MOVES: dict[str, Callable[[Runner], None]] = {
    "step": Runner.step,
    "step_over": Runner.step_over,
    "next_call": Runner.next_call,
    "resume": Runner.resume,
    "walk": lambda runner: runner.walk(0),
}


@pytest.mark.parametrize("move", MOVES)
def test_a_breakpoint_ends_every_move_and_is_told_until_the_next(move: str) -> None:
    runner = started()
    runner.breakpoints = (Breakpoint("phase", "approve"),)
    runner.resume(1)
    assert runner.wait(WAIT_S)
    assert done(lambda: MOVES[move](runner), runner) == (1, Phase.APPROVE)
    assert runner.hit
    assert runner.hit.breakpoint == Breakpoint("phase", "approve")
    assert runner.hit.text == "the run stands before approve"
    runner.breakpoints = ()
    done(lambda: MOVES[move](runner), runner)
    assert runner.hit is None
    assert runner.loop.phase is not Phase.APPROVE


def test_a_breakpoint_forgets_the_steps_that_were_still_to_come() -> None:
    runner = started()
    runner.breakpoints = (Breakpoint("phase", "approve"),)
    assert done(lambda: runner.resume(5), runner) == (1, Phase.APPROVE)
    assert done(runner.step, runner) == (1, Phase.EXECUTE)


def test_breakpoints_that_are_set_while_it_moves_hold_at_once() -> None:
    runner = started()
    runner.walk(NEVER_S)
    until(lambda: runner.loop.phase is Phase.CALL)
    runner.breakpoints = (Breakpoint("tool", "noop"),)
    runner.pace_s = 0
    assert runner.wait(WAIT_S)
    assert (len(runner.loop.trace.steps), runner.loop.phase) == (1, Phase.APPROVE)
    assert runner.hit


def test_a_stop_passes_every_breakpoint() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(**_: object) -> str:
        begun.set()
        go_on.wait(WAIT_S)
        return "late"

    tool = Tool(name="work", description="", parameters={"type": "object"}, func=work)
    loop = Loop(FakeModel([[ToolCall("c1", "work", {})], "done"]), [tool])
    loop.start("go")
    runner = Runner(loop)
    runner.breakpoints = (Breakpoint("phase", "append"), Breakpoint("error"), Breakpoint("stop"))
    runner.resume()
    assert begun.wait(WAIT_S)
    runner.stop()
    go_on.set()
    assert runner.wait(WAIT_S)
    assert (loop.stop_reason, runner.hit) == ("stopped_by_user", None)


def test_a_breakpoint_that_was_reached_is_told_after_a_restart_until_the_run_moves(tmp_path: Path) -> None:
    model = FakeModel([[ToolCall("c1", "noop", {})], "done"])
    loop = Loop(model, [noop()], journal=tmp_path)
    loop.start("go")
    runner = Runner(loop)
    runner.breakpoints = [Breakpoint("phase", "execute")]
    runner.resume()
    assert runner.wait(WAIT_S)
    assert runner.hit is not None
    (journal,) = tmp_path.glob("*.jsonl")
    again = Runner(Loop.resume(recover(journal), model=model, tools=[noop()], journal=tmp_path))
    assert again.hit == runner.hit
    again.step()
    assert again.wait(WAIT_S)
    assert again.hit is None
    later = Runner(Loop.resume(recover(journal), model=model, tools=[noop()]))
    assert later.hit is None
