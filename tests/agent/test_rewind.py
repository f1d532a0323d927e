"""Back to any moment of a run: the run is as it was, goes on as it did, and shares nothing with its trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import (
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    InputError,
    Limits,
    Loop,
    Message,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
    Trace,
    Usage,
)
from agent.faults import LIMIT_REMOVED, PERMISSION_CHECK_REMOVED, Fault
from agent.jsontext import copy_json
from agent.moments import Moment, moments
from agent.rewind import rewind
from tests.agent.walks import PRESSES, options, tools, turns, walk


def parts(data: dict[str, Any]) -> dict[str, Any]:
    """What moves, without the active time, which is not known again."""
    data = copy_json(data)
    data["counters"].pop("active_s")
    return data


def kept(trace: Trace, *, over: bool) -> dict[str, Any]:
    """The trace as it stood, without what a failed call took before it was made again, and without settings."""
    data = copy_json(trace.to_dict())
    for name in ("interventions", "config"):
        data.pop(name)
    data["outcome"].pop("active_s")
    for step in data["steps"]:
        step.pop("extra", None)
        for name in ("started", "latency_ms", "retries") if not over else ():
            step.pop(name)
    return data


@given(turns(), options(), st.lists(st.sampled_from(PRESSES), max_size=40))
@settings(max_examples=200, deadline=None)
def test_every_moment_is_as_it_was(script: list[Any], opts: dict[str, Any], presses: list[str]) -> None:
    seen: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def look(loop: Loop) -> None:
        seen.append((parts(loop.run.moving_parts()), kept(loop.trace, over=loop.phase is None)))

    trace = walk(script, opts, presses, look).loop.trace
    before = json.dumps(trace.to_dict())
    for moment, (moving, held) in zip(moments(trace), seen, strict=True):
        run = rewind(trace, moment)
        assert parts(run.moving_parts()) == moving
        assert kept(run.trace, over=run.phase is None) == held
    assert json.dumps(trace.to_dict()) == before


@given(turns(), options(), st.data())
@settings(max_examples=150, deadline=None)
def test_from_any_moment_it_goes_on_as_it_did(script: list[Any], opts: dict[str, Any], data: st.DataObject) -> None:
    loop = Loop(FakeModel(script), tools(), **opts)
    loop.start("go")
    loop.finish()
    moment = data.draw(st.sampled_from(moments(loop.trace)))
    again = Loop.resume(rewind(loop.trace, moment).to_dict(), model=FakeModel(script), tools=tools())
    assert again.phase is moment.phase
    again.finish()
    assert again.messages == loop.messages
    assert again.stop_reason == loop.stop_reason
    assert again.run.counters.model_calls == loop.run.counters.model_calls
    assert moments(again.trace) == moments(loop.trace)


def call(number: int = 1, name: str = "act", /, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", name, arguments)]


def at(trace: Trace, step: int, phase: Phase | None) -> Moment:
    return next(moment for moment in moments(trace) if (moment.step, moment.phase) == (step, phase))


def test_it_shares_nothing_with_the_trace(started: Callable[..., Loop]) -> None:
    loop = started(call(n=[1]), "done")
    loop.finish()
    run = rewind(loop.trace, at(loop.trace, 1, Phase.APPEND))
    run.trace.messages[1].tool_calls[0].arguments["n"].append(2)
    run.trace.entries[0].maker = "x"
    run.trace.steps[0].tools[0].arguments["n"].append(3)
    run.trace.config["limits"]["nudges"] = 9
    assert loop.messages[1].tool_calls[0].arguments == {"n": [1]}
    assert loop.trace.entries[0].maker == "user"
    assert loop.trace.steps[0].tools[0].arguments == {"n": [1]}
    assert loop.trace.config["limits"]["nudges"] == 0


def test_a_moment_of_another_run_is_refused_in_words(started: Callable[..., Loop]) -> None:
    loop = started("done")
    loop.finish()
    with pytest.raises(InputError, match="never before execute of step 7"):
        rewind(loop.trace, Moment(7, Phase.EXECUTE, 1))


def test_a_finished_trace_file_can_be_extended_in_another_process(
    make_tool: Callable[..., Tool], tmp_path: Path
) -> None:
    script = [call(n=n) for n in range(6)] + ["done"]
    first = Loop(FakeModel(script), [make_tool()], max_steps=3, journal=tmp_path)
    first.start("go")
    first.finish()
    (path,) = tmp_path.iterdir()
    trace = Trace.from_dict(json.loads(path.read_bytes()))
    snapshot = rewind(trace, moments(trace)[-1]).to_dict()
    loop = Loop.resume(snapshot, model=FakeModel(script), tools=[make_tool()], journal=tmp_path)
    assert (loop.phase, loop.stop_reason) == (None, "max_iterations")
    loop.extend(max_steps=10)
    loop.finish()
    assert (loop.stop_reason, len(loop.trace.steps)) == ("final", 7)
    assert loop.run.counters.active_s >= trace.outcome.active_s
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_bytes())["outcome"]["final"] == "done"


@pytest.mark.parametrize(
    ("choice", "decision"),
    [
        (Decision.edit({"n": 5}), "edited"),
        (Decision.mock({"a": 1}), "mocked"),
        (Decision.skip("later"), "skipped"),
        (Decision.reject("never"), "rejected"),
    ],
)
def test_what_a_person_decided_is_decided_again(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], choice: Decision, decision: str
) -> None:
    script = [call(n=1), call(2, n=1), "done"]
    loop = started(*script, policy=CapabilityPolicy(ask=["act"]), to=Phase.APPROVE)
    loop.advance()
    loop.decide(0, choice)
    loop.finish()
    run = rewind(loop.trace, at(loop.trace, 1, Phase.EXECUTE))
    assert run.pending[0].decision == choice.about(loop.messages[1].tool_calls[0])
    again = Loop.resume(run.to_dict(), model=FakeModel(script), tools=[make_tool()])
    again.advance()
    assert again.trace.steps[0].tools[0].decision == decision
    assert [item["kind"] for item in again.trace.interventions] == [decision]


def test_the_context_budget_goes_on_where_it_was(make_tool: Callable[..., Tool], started: Callable[..., Loop]) -> None:
    script = [
        ModelReply(Message("assistant", None, tuple(call(n))), Usage(150 + 90 * n, 5, 155 + 90 * n)) for n in range(9)
    ]
    options: dict[str, Any] = {"context": ContextBudget(500), "max_steps": 9}
    tool = make_tool("word " * 80)
    loop = started(*script, tools=[tool], **options)
    states = []
    while loop.phase is not None:
        states.append(copy_json(loop.run.moving_parts()["context"]))
        loop.advance()
    assert states[-1]["dropped"]
    assert states[-1]["known"]
    for moment, state in zip(moments(loop.trace), states, strict=False):
        assert rewind(loop.trace, moment).moving_parts()["context"] == state


def test_what_a_later_fault_switched_off_is_on_again(make_tool: Callable[..., Tool]) -> None:
    policy = CapabilityPolicy(deny=["act"])
    script = [call(), call(2), "done"]
    loop = Loop(FakeModel(script), [make_tool()], policy=policy, limits=Limits.guarded(), max_steps=4)
    loop.start("go")
    for _ in range(6):
        loop.advance()
    loop.arm(Fault(PERMISSION_CHECK_REMOVED))
    loop.arm(Fault(LIMIT_REMOVED))
    loop.finish()
    assert loop.settings.policy is None
    for step, removed in ((1, False), (3, True)):
        snapshot = rewind(loop.trace, at(loop.trace, step, Phase.DECIDE)).to_dict()
        again = Loop.resume(snapshot, model=FakeModel(script), tools=[make_tool()])
        assert (again.settings.policy is None, again.settings.max_steps is None) == (removed, removed)
        assert (again.settings.limits.repeated_calls is None) == removed


def test_a_moment_of_a_run_that_goes_on(started: Callable[..., Loop]) -> None:
    loop = started(call(), call(2), "done", to=Phase.APPEND)
    found = moments(loop.trace, loop.phase)
    run = rewind(loop.run, found[-1])
    assert run.moving_parts() == loop.run.moving_parts()
    assert run.pending[0].result is not None, "which is not in the trace yet"
    assert run.trace.messages is not loop.messages
    assert [message.role for message in rewind(loop.trace, found[2]).trace.messages] == ["user", "assistant"]


def test_what_the_model_was_asked_with_is_that_of_then(make_tool: Callable[..., Tool]) -> None:
    script = [call(), call(2), "done"]
    first = Loop(FakeModel(script), [make_tool()], max_steps=1)
    first.start("go")
    first.finish()
    loop = Loop.resume(
        first.snapshot(), model=FakeModel(script), tools=[make_tool(), make_tool(name="more")], max_steps=9
    )
    loop.finish()
    for step, names in ((1, ["act"]), (3, ["act", "more"])):
        run = rewind(loop.trace, at(loop.trace, step, Phase.CALL))
        assert [schema["function"]["name"] for schema in run.trace.tools] == names


def test_what_the_guards_had_counted_before_they_were_removed(started: Callable[..., Loop]) -> None:
    loop = started(call(), call(), call(), "done", limits=Limits.guarded())
    counted = []
    while loop.phase is not None:
        counted.append(list(loop.run.counters.signatures))
        if len(loop.trace.steps) == 2:
            loop.arm(Fault(LIMIT_REMOVED))
        loop.advance()
    assert counted[-1]
    assert [rewind(loop.trace, moment).counters.signatures for moment in moments(loop.trace)[:-1]] == counted


def test_the_end_of_a_run_with_a_fault_that_never_struck(started: Callable[..., Loop]) -> None:
    loop = started("done")
    loop.arm(Fault("unknown_tool"))
    loop.arm(Fault("tool_raises"))
    loop.finish()
    assert len(loop.trace.notes) == 2
    assert rewind(loop.trace, moments(loop.trace)[-1]).trace.notes == loop.trace.notes
