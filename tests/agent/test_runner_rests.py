"""A run that stands still where its page asks something first, whatever the move is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent import FakeModel, Loop, Phase, Runner, ToolCall, tool


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


def runner_of(*turns: object) -> Runner:
    loop = Loop(FakeModel(list(turns)), [echo])
    loop.start("a task")
    return Runner(loop)


CALL = [ToolCall("c1", "echo", {"text": "hello"})]
MOVES: dict[str, Callable[[Runner], None]] = {
    "resume": lambda runner: runner.resume(),
    "step over": lambda runner: runner.step_over(),
    "walk": lambda runner: runner.walk(0.01),
    "many steps": lambda runner: runner.resume(20),
}


@pytest.mark.parametrize("move", MOVES)
def test_no_move_goes_past_a_place_where_the_run_rests(move: str) -> None:
    runner = runner_of(CALL, "done")
    runner.rests = lambda: runner.loop.phase is Phase.EXECUTE
    for _ in range(3):
        MOVES[move](runner)
        assert runner.wait(5)
        assert runner.loop.phase is Phase.EXECUTE
    runner.rests = None
    runner.resume()
    assert runner.wait(5) and runner.loop.phase is None


def test_quick_presses_do_not_add_up_to_a_way_past_it() -> None:
    runner = runner_of(CALL, "done")
    runner.rests = lambda: runner.loop.phase is Phase.APPROVE
    for _ in range(20):
        runner.step()
    assert runner.wait(5)
    assert runner.loop.phase is Phase.APPROVE


def test_a_stop_ends_the_run_all_the_same() -> None:
    runner = runner_of(CALL, "done")
    runner.rests = lambda: True
    runner.resume()
    assert runner.wait(5) and runner.loop.phase is Phase.PREPARE
    runner.stop()
    assert runner.wait(5)
    assert runner.loop.phase is None and runner.loop.stop_reason == "stopped_by_user"
