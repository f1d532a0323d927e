"""Forks of a run as it stands: with a batch that is half done, with messages that a budget left out, after its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent import CapabilityPolicy, ContextBudget, Decision, FakeModel, InputError, Loop, Phase, Tool, ToolCall
from agent.evidence import AnswerContains
from agent.fork import Changes, fork
from agent.moments import moments
from agent.recovery import recover
from agent.request import request_of

BATCH = [ToolCall("a", "act", {"n": 1}), ToolCall("b", "dies", {})]
SCRIPT = [BATCH, "done"]


@pytest.fixture
def half_done(make_tool: Callable[..., Tool], tmp_path: Path) -> Loop:
    """A run that was killed in the second call of a batch; the first one has its result."""
    left: list[dict[str, Any]] = []
    dies = make_tool(lambda: left.append(recover(next(tmp_path.glob("*.jsonl")))), name="dies")
    loop = Loop(FakeModel(SCRIPT), [make_tool("first"), dies], parallel=False, journal=tmp_path)
    loop.start("go")
    loop.finish()
    return Loop.resume(left[0], model=FakeModel(SCRIPT), tools=loop.tools)


def test_the_calls_of_a_batch_that_is_half_done_cannot_be_changed(half_done: Loop) -> None:
    here, reply = moments(half_done.trace, half_done.phase)[-1], half_done.messages[1]
    other = replace(reply.tool_calls[1], arguments={"x": 1}, text=None)
    for calls in ((reply.tool_calls[0], other), reply.tool_calls[:1], ()):
        with pytest.raises(InputError, match="some calls of message 2 have begun: only its text can be changed now"):
            fork(half_done.run, here, Changes({1: replace(reply, tool_calls=calls)}))


def test_its_text_can_be_changed_and_what_is_done_is_kept(half_done: Loop, make_tool: Callable[..., Tool]) -> None:
    here = moments(half_done.trace, half_done.phase)[-1]
    ran: list[Any] = []
    tools = [make_tool(ran=ran), make_tool(ran=ran, name="dies")]
    new = Loop.resume(fork(half_done.run, here, Changes({1: "let me see"})), model=FakeModel(SCRIPT), tools=tools)
    assert new.waiting, "nobody knows what became of the second call"
    new.decide(1, Decision.run())
    new.finish()
    assert [message.text for message in new.messages[1:]] == ["let me see", "first", "ok", "done"]
    assert [name for name, _ in ran] == ["dies"]


def test_a_call_that_was_answered_without_running_keeps_its_answer(make_tool: Callable[..., Tool]) -> None:
    policy = CapabilityPolicy(deny=["act"])
    loop = Loop(FakeModel(SCRIPT), [make_tool(), make_tool(name="dies")], policy=policy, parallel=False)
    loop.on_event = lambda event: loop.stop() if event.type == "tool.denied" else None
    loop.start("go")
    while loop.phase is not Phase.APPEND:
        loop.advance()
    here, reply = moments(loop.trace, loop.phase)[-1], loop.messages[1]
    snapshot = fork(loop.run, here, Changes({1: replace(reply, content="so")}))
    assert [pending["result"] is not None for pending in snapshot["pending"]] == [True, True]


@pytest.mark.parametrize(("before", "after", "shift"), [("Be brief.", "", -1), ("", "Be exact.", 1)])
def test_what_the_budget_left_out_stays_left_out_when_the_system_text_comes_or_goes(
    make_tool: Callable[..., Tool], before: str, after: str, shift: int
) -> None:
    script = [[ToolCall(f"c{n}", "act", {"n": n})] for n in range(6)] + ["done"]
    loop = Loop(FakeModel(script), [make_tool("word " * 60)], system=before, context=ContextBudget(300))
    loop.start("go")
    loop.finish()
    dropped = loop.run.context.dropped
    assert dropped
    here = [moment for moment in moments(loop.trace) if moment.phase is Phase.DECIDE][-1]
    snapshot = fork(loop.trace, here, Changes(system=after))
    assert snapshot["context"]["dropped"] == [[start + shift, end + shift] for start, end in dropped]
    new = Loop.resume(snapshot, model=FakeModel([*script[:6], "", "more"]), tools=loop.tools)
    kept = [message.text for message in request_of(new.trace, new.trace.steps[-1])]
    assert kept == [message.text for message in request_of(loop.trace, loop.trace.steps[-1])]


def test_what_was_proved_about_the_answer_is_not_said_of_another_one() -> None:
    loop = Loop(FakeModel(["it is 5"]), evidence=[AnswerContains("5")])
    loop.start("go")
    loop.finish()
    assert (loop.trace.outcome.verified, len(loop.trace.outcome.evidence)) == (True, 1)
    end = moments(loop.trace)[-1]
    for changes, verified, checks in ((Changes(), True, 1), (Changes({1: "it is 6"}), None, 0)):
        outcome = fork(loop.trace, end, changes)["trace"]["outcome"]
        assert (outcome["verified"], len(outcome["evidence"])) == (verified, checks)
