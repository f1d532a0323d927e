"""Policy and people: what happens to a call before it runs, and what the model is told about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent import (
    CapabilityPolicy,
    Decision,
    FakeModel,
    InputError,
    Limits,
    Loop,
    Phase,
    Tool,
    ToolCall,
)
from agent.recovery import recover


def tools(ran: list[Any]) -> list[Tool]:
    def make(name: str, **options: Any) -> Tool:
        def act(**arguments: Any) -> str:
            ran.append((name, arguments))
            return f"{name} done"

        return Tool(name=name, description="", parameters={"type": "object"}, func=act, **options)

    return [make("read"), make("write"), make("pay", idempotent=False)]


def waiting_loop(ran: list[Any], calls: list[ToolCall], *more: Any, **options: Any) -> Loop:
    loop = Loop(FakeModel([calls, *more, "done"]), tools(ran), policy=CapabilityPolicy(ask=["write"]), **options)
    loop.start("go")
    while not loop.waiting:
        loop.advance()
    return loop


WRITE = [ToolCall("c1", "write", {"path": "a"})]


@pytest.mark.parametrize("name", ["write", "functions.write", "write<|channel|>commentary"])
def test_the_policy_judges_the_registered_name_behind_any_spelling(name: str) -> None:
    ran: list[Any] = []
    loop = Loop(FakeModel([[ToolCall("c1", name, {})], "done"]), tools(ran), policy=CapabilityPolicy(allow={"read"}))
    types = [event.type for event in loop.events("go")]
    assert not ran
    assert "tool.denied" in types
    assert loop.trace.steps[0].tools[0].decision == "denied"


@pytest.mark.parametrize("name", ["Write", "WRITE", "nothing"])
def test_what_resolves_to_no_tool_never_runs(name: str) -> None:
    ran: list[Any] = []
    loop = Loop(FakeModel([[ToolCall("c1", name, {})], "done"]), tools(ran), policy=CapabilityPolicy(allow={"read"}))
    list(loop.events("go"))
    assert not ran
    error = json.loads(loop.messages[2].text)
    assert "read" in error["error"], "the error lists the tools that there are"


def test_an_allowed_call_under_another_spelling_runs() -> None:
    ran: list[Any] = []
    loop = Loop(
        FakeModel([[ToolCall("c1", "functions.read", {})], "done"]), tools(ran), policy=CapabilityPolicy(["read"])
    )
    list(loop.events("go"))
    assert ran == [("read", {})]
    assert loop.messages[1].tool_calls[0].name == "functions.read", "the model's words stay as they were"
    assert loop.trace.steps[0].tools[0].name == "read"


def test_a_person_may_let_it_run() -> None:
    ran: list[Any] = []
    loop = waiting_loop(ran, WRITE)
    assert loop.advance() == []
    loop.decide(0, Decision.run())
    loop.finish()
    assert ran == [("write", {"path": "a"})]
    assert loop.trace.steps[0].tools[0].decision == "run"


def test_edited_arguments_run_and_the_history_keeps_the_models_own() -> None:
    ran: list[Any] = []
    loop = waiting_loop(ran, WRITE)
    loop.decide(0, Decision.edit({"path": "b"}))
    loop.finish()
    assert ran == [("write", {"path": "b"})]
    assert loop.messages[1].tool_calls[0].arguments == {"path": "a"}
    assert "changed the arguments" in loop.messages[2].text
    assert loop.messages[2].text.endswith("write done")
    assert loop.trace.steps[0].tools[0].arguments == {"path": "b"}


@pytest.mark.parametrize(
    ("decision", "told", "maker"),
    [
        (Decision.mock({"ok": 1}), 'the tool did not run.]\n{"ok": 1}', "user"),
        (Decision.skip("later"), "later", "code"),
        (Decision.reject("too risky"), "too risky", "user"),
    ],
)
def test_what_did_not_run_says_so(decision: Decision, told: str, maker: str) -> None:
    ran: list[Any] = []
    loop = waiting_loop(ran, WRITE)
    loop.decide(0, decision)
    loop.finish()
    assert not ran
    assert told in loop.messages[2].text
    assert loop.trace.entries[2].maker == maker
    assert loop.trace.steps[0].tools[0].decision == decision.kind


def test_siblings_are_answered_once_each() -> None:
    ran: list[Any] = []
    loop = waiting_loop(ran, [*WRITE, ToolCall("c2", "write", {"path": "b"}), ToolCall("c3", "read", {})])
    loop.decide(0, Decision.reject("no"))
    assert loop.waiting
    loop.decide(1, Decision.run())
    loop.finish()
    assert sorted(ran) == [("read", {}), ("write", {"path": "b"})]
    assert [m.tool_call_id for m in loop.messages if m.role == "tool"] == ["c1", "c2", "c3"]


def test_a_rejected_call_made_again_is_refused_without_asking() -> None:
    ran: list[Any] = []
    again = [ToolCall("c9", "write", {"path": "a"})]
    loop = waiting_loop(ran, WRITE, again)
    loop.decide(0, Decision.reject("no"))
    loop.finish()
    assert not ran
    assert "rejected before" in loop.messages[4].text


def test_a_rejection_is_remembered_after_a_crash(tmp_path: Path) -> None:
    ran: list[Any] = []
    again = [ToolCall("c9", "write", {"path": "a"})]
    loop = waiting_loop(ran, WRITE, again, journal=tmp_path)
    loop.decide(0, Decision.reject("no"))
    for _ in range(3):
        loop.advance()
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    resumed = Loop.resume(snapshot, model=FakeModel([WRITE, again, "done"]), tools=tools(ran))
    resumed.finish()
    assert not ran
    assert "rejected before" in resumed.messages[4].text


def test_an_approval_holds_for_the_call_it_was_given_for_only(tmp_path: Path) -> None:
    ran: list[Any] = []
    loop = waiting_loop(ran, WRITE, journal=tmp_path)
    loop.decide(0, Decision.run())
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    function = snapshot["pending"][0]["call"]["function"]
    function["arguments"] = '{"path": "/etc/passwd"}'
    tampered = Loop.resume(snapshot, model=FakeModel([WRITE, "done"]), tools=tools(ran))
    tampered.finish()
    assert not ran
    assert "another call" in tampered.messages[2].text


def test_without_anybody_to_ask_the_call_is_denied() -> None:
    ran: list[Any] = []
    loop = Loop(FakeModel([WRITE, "done"]), tools(ran), policy=CapabilityPolicy(ask=["write"]))
    types = [event.type for event in loop.events("go")]
    assert not ran
    assert "tool.denied" in types
    assert "nobody" in loop.messages[2].text


def test_more_calls_than_allowed_in_one_reply_are_answered_not_run() -> None:
    ran: list[Any] = []
    calls = [ToolCall(f"c{n}", "read", {"n": n}) for n in range(4)]
    loop = Loop(FakeModel([calls, "done"]), tools(ran), limits=Limits(calls_per_step=2))
    list(loop.events("go"))
    assert len(ran) == 2
    assert ["not run" in m.text for m in loop.messages if m.role == "tool"] == [False, False, True, True]


def test_equal_calls_of_a_tool_that_must_not_run_twice_run_once() -> None:
    ran: list[Any] = []
    calls = [ToolCall(f"c{n}", "pay", {"sum": 5}) for n in range(3)]
    loop = Loop(FakeModel([calls, "done"]), tools(ran))
    list(loop.events("go"))
    assert ran == [("pay", {"sum": 5})]
    assert ["duplicate of call 1" in m.text for m in loop.messages if m.role == "tool"] == [False, True, True]


@pytest.mark.parametrize(
    ("decision", "says"),
    [(Decision.mock({2, 1}), "[1, 2]"), (Decision.edit({"path": {Path("b")}}), "write done")],
)
def test_a_decision_may_hold_any_value_and_the_run_can_still_be_saved(
    decision: Decision, says: str, tmp_path: Path
) -> None:
    loop = waiting_loop([], WRITE, journal=tmp_path)
    loop.decide(0, decision)
    again = Loop.resume(
        json.loads(json.dumps(loop.snapshot())), model=FakeModel([WRITE, "done"]), tools=tools([]), journal=tmp_path
    )
    again.finish()
    assert says in again.messages[2].text
    assert again.trace.outcome.reason == "final"


def test_changed_arguments_must_be_an_object() -> None:
    with pytest.raises(InputError, match="must be an object"):
        Decision.edit(["a"])  # type: ignore[arg-type]


def call(**arguments: object) -> list[ToolCall]:
    return [ToolCall("c1", "act", arguments)]


def test_the_policy_that_holds_is_that_of_the_moment_of_execution(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    ran: list[Any] = []
    loop = started(call(), "done", tools=[make_tool(ran=ran)], to=Phase.EXECUTE)
    strict = Loop.resume(
        loop.snapshot(),
        model=FakeModel([[], "done"]),
        tools=[make_tool(ran=ran)],
        policy=CapabilityPolicy(deny=["act"]),
    )
    strict.finish()
    assert not ran
    assert strict.trace.steps[0].tools[0].decision == "denied"
    loop.extend(policy=CapabilityPolicy(ask=["act"]))
    loop.finish()
    assert not ran, "what now needs a person was approved by none"


def test_a_person_cannot_overrule_a_denial(make_tool: Callable[..., Tool], started: Callable[..., Loop]) -> None:
    ran: list[Any] = []
    loop = started(call(), "done", tools=[make_tool(ran=ran)], policy=CapabilityPolicy(deny=["act"]), to=Phase.APPROVE)
    loop.decide(0, Decision.run())
    loop.finish()
    assert not ran


def test_there_must_be_a_call_to_decide_about(started: Callable[..., Loop]) -> None:
    loop = started(call(), "done")
    with pytest.raises(InputError, match="no call"):
        loop.decide(0, Decision.run())
    while loop.phase is not Phase.APPROVE:
        loop.advance()
    with pytest.raises(InputError, match="no call 6"):
        loop.decide(5, Decision.run())


def test_what_the_policy_denies_is_denied_at_approve_whatever_a_person_said_before(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    ran: list[Any] = []
    tools, policy = [make_tool(ran=ran)], CapabilityPolicy(deny=["act"])
    for said in (Decision.run(), Decision.edit({"n": 2})):
        loop = started(call(), "done", tools=tools, policy=policy, to=Phase.APPROVE)
        loop.decide(0, said)
        denied = Decision("denied", "policy", "the policy denies the tool 'act'")
        assert loop.foreseen()[0].decision == denied
        loop.advance()
        assert (loop.phase, loop.run.pending[0].decision) == (Phase.EXECUTE, denied)
        loop.finish()
        assert loop.trace.interventions == []
    mocked = started(call(), "done", tools=tools, policy=policy, to=Phase.APPROVE)
    mocked.decide(0, Decision.mock("given"))
    mocked.finish()
    assert mocked.messages[2].text.endswith("given"), "a result that a person gives runs nothing"
    assert not ran


def test_a_denial_that_came_between_approve_and_the_result_is_there_after_a_crash(
    make_tool: Callable[..., Tool], started: Callable[..., Loop], tmp_path: Path
) -> None:
    tools = [make_tool()]
    loop = started(call(), "done", tools=tools, journal=tmp_path, to=Phase.APPROVE)
    loop.decide(0, Decision.edit({"n": 2}))
    loop.advance()
    loop.extend(policy=CapabilityPolicy(deny=["act"]))
    loop.advance()
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    again = Loop.resume(snapshot, model=FakeModel([call(), "done"]), tools=tools)
    for each in (loop, again):
        each.finish()
        assert each.trace.steps[0].tools[0].decision == "denied"
        assert "the policy denies" in each.messages[2].text
        assert [item["kind"] for item in each.trace.interventions] == ["extended"]


def test_who_takes_a_rejection_back_is_believed(make_tool: Callable[..., Tool], started: Callable[..., Loop]) -> None:
    ran: list[Any] = []
    loop = started(call(), call(), "done", tools=[make_tool(ran=ran)], to=Phase.APPROVE)
    loop.decide(0, Decision.reject("no"))
    loop.decide(0, Decision.run())
    loop.finish()
    assert len(ran) == 2, "the same call is not refused either when it is made again"


def test_a_call_that_was_decided_before_approve_counts_as_the_tool_that_it_means(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    loop = started([ToolCall("c1", "functions.act", {})], "done", tools=[make_tool()], to=Phase.APPROVE)
    loop.decide(0, Decision.run())
    loop.finish()
    assert loop.trace.steps[0].tools[0].name == "act"
    assert loop.trace.entries[2].maker == "environment"
