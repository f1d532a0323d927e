"""After a crash at a bad moment: nothing is done twice unasked, nothing that was decided is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent import (
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    Limits,
    Loop,
    Message,
    ModelError,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
)
from agent.recovery import recover


def left_behind(folder: Path) -> dict[str, Any]:
    """What would be left of the only run of this folder, if the process ended now."""
    (journal,) = folder.glob("*.jsonl")
    return recover(journal)


def call(number: int = 1, /, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", "act", arguments)]


def test_edited_arguments_survive_a_crash_in_the_tool(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path
) -> None:
    left: list[dict[str, Any]] = []
    crashing = make_tool(lambda path: left.append(left_behind(tmp_path)))
    policy = CapabilityPolicy(ask=["act"])
    loop = started(call(path="/everything"), "done", tools=[crashing], policy=policy, journal=tmp_path)
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.edit({"path": "/tmp/one"}))
    loop.finish()

    ran: list[Any] = []
    (snapshot,) = left
    again = Loop.resume(snapshot, model=FakeModel([[], "done"]), tools=[make_tool(ran=ran)])
    assert again.waiting
    again.decide(0, Decision.run())
    again.finish()
    assert ran == [("act", {"path": "/tmp/one"})]
    assert again.trace.steps[0].tools[0].decision == "edited"


@pytest.mark.parametrize(("setting", "ran_again"), [("run", 1), ("skip", 0)])
def test_a_setting_decides_about_unknown_outcomes(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], setting: Any, ran_again: int, tmp_path: Path
) -> None:
    left: list[dict[str, Any]] = []
    crashing = make_tool(lambda: left.append(left_behind(tmp_path)))
    started(call(), "done", tools=[crashing], journal=tmp_path).finish()
    ran: list[Any] = []
    (snapshot,) = left
    again = Loop.resume(snapshot, model=FakeModel([[], "done"]), tools=[make_tool(ran=ran)], unknown=setting)
    assert not again.waiting
    again.finish()
    assert (len(ran), again.stop_reason) == (ran_again, "final")


def test_a_tool_that_was_interrupted_does_not_run_again_unasked(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    ran: list[Any] = []

    def interrupt() -> str:
        raise KeyboardInterrupt

    loop = started(call(), "done", tools=[make_tool(interrupt, ran=ran)], to=Phase.EXECUTE)
    with pytest.raises(KeyboardInterrupt):
        loop.advance()
    loop.advance()
    assert loop.waiting
    assert len(ran) == 1
    loop.decide(0, Decision.skip())
    loop.finish()
    assert loop.stop_reason == "final"


def test_a_model_call_that_was_interrupted_is_the_same_step_when_it_is_made_again(
    tmp_path: Path,
) -> None:
    class Interrupted(FakeModel):
        def complete(self, *_: Any, **__: Any) -> ModelReply:
            raise KeyboardInterrupt

    loop = Loop(Interrupted([]), journal=tmp_path)
    loop.start("go")
    loop.advance()
    with pytest.raises(KeyboardInterrupt):
        loop.advance()
    recovered = left_behind(tmp_path)
    again = Loop.resume(recovered, model=FakeModel(["done"]))
    again.finish()
    loop = Loop.resume(loop.snapshot(), model=FakeModel(["done"]))
    loop.finish()
    for run in (loop, again):
        assert [(step.index, step.reply) for step in run.trace.steps] == [(1, 1)]
        assert (run.run.iteration, run.stop_reason) == (1, "final")


def overflowing() -> list[Any]:
    return [call(1, n=1), call(2, n=2), ModelError("too long", kind="context_overflow"), "done"]


def test_a_retry_with_a_shorter_request_survives_a_crash(make_tool: Callable[..., Tool], tmp_path: Path) -> None:
    made: list[int] = []

    class Counting(FakeModel):
        def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
            made.append(control.number)
            return super().complete(messages, tool_schemas, control=control)

    big = make_tool("lorem ipsum " * 150)
    loop = Loop(Counting(overflowing()), [big], context=ContextBudget(5000), journal=tmp_path)
    loop.start("go")
    while len(made) < 3:
        loop.advance()
    assert loop.phase is Phase.PREPARE
    snapshot = left_behind(tmp_path)
    assert snapshot["phase"] == Phase.PREPARE
    again = Loop.resume(snapshot, model=Counting(overflowing()), tools=[big])
    again.finish()
    assert made == [0, 1, 2, 3]
    assert (again.stop_reason, len(again.trace.steps)) == ("final", 3)


def test_a_failed_call_is_not_made_again_after_a_crash(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path
) -> None:
    loop = started(call(), ModelError("503"), "never", journal=tmp_path, to=Phase.CALL)
    for _ in range(7):
        loop.advance()
    assert loop.phase is Phase.DECIDE
    snapshot = left_behind(tmp_path)
    again = Loop.resume(snapshot, model=FakeModel([call(), ModelError("503"), "never"]), tools=[make_tool()])
    again.finish()
    assert (again.stop_reason, len(again.trace.steps)) == ("model_error", 2)


def test_a_nudge_is_counted_once_whenever_the_process_ends(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path
) -> None:
    empty = ModelReply(Message("assistant", ""))
    turns = [empty, empty, "done"]
    loop = started(*turns, limits=Limits(nudges=2), journal=tmp_path, to=Phase.DECIDE)
    loop.advance()
    snapshot = left_behind(tmp_path)
    again = Loop.resume(snapshot, model=FakeModel(turns), tools=[make_tool()])
    assert again.run.counters.nudges == 1
    again.finish()
    assert (again.stop_reason, [m.role for m in again.messages].count("user")) == ("final", 3)
