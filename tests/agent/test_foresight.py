"""What is said before approve and decide is what they then do, and saying it changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import (
    CapabilityPolicy,
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
from agent.faults import LIMIT_REMOVED, PERMISSION_CHECK_REMOVED, Fault
from agent.scripts import load_script, scenarios
from agent.state import PendingCall


def foretold(loop: Loop, decisions: Any = None) -> Loop:
    """Play a run to its end; before each phase ask what it will do, and see that it does just that."""
    while loop.phase is not None:
        before = loop.snapshot()
        stop, ahead = loop.about_to_stop(), loop.foreseen()
        assert loop.snapshot() == before, "to look changes nothing"
        phase, calls = loop.phase, loop.run.pending
        loop.advance()
        if phase is Phase.DECIDE:
            outcome = loop.trace.outcome
            assert (stop and (stop.reason, stop.detail)) == (
                (outcome.reason, outcome.detail) if loop.phase is None else None
            )
        elif phase is Phase.APPROVE:
            assert [said(call) for call in ahead] == [said(call) for call in calls]
        if loop.waiting:
            decision = next(decisions) if decisions else Decision.run()
            for position, pending in enumerate(loop.run.pending):
                if pending.decision is None:
                    loop.decide(position, decision)
    assert loop.about_to_stop() is None
    return loop


def said(pending: PendingCall) -> tuple[str | None, Decision | None, str]:
    return pending.name, pending.decision, pending.question


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda info: info.name)
def test_every_scenario_is_foretold(scenario: Any) -> None:
    script = load_script(scenario.path)
    loop = script.loop(pace=0)
    loop.start(script.task)
    assert foretold(loop).stop_reason


def reply(text: str | None, *calls: ToolCall, finish: str | None = None) -> ModelReply:
    return ModelReply(Message("assistant", text, tool_calls=calls), finish_reason=finish)


CALLS = st.builds(ToolCall, st.just("c"), st.sampled_from(["act", "bad", "gone"]), st.sampled_from([{}, {"n": 1}]))
TURNS = st.one_of(
    st.lists(CALLS, min_size=1, max_size=3).map(
        lambda calls: reply(None, *(ToolCall(f"c{n}", c.name, c.arguments) for n, c in enumerate(calls)))
    ),
    st.sampled_from(
        [
            reply(""),
            reply("done"),
            reply("half", finish="length"),
            reply(None, ToolCall("c", "act", {}, '{"n"', "it was cut off"), finish="length"),
            reply("", finish="content_filter"),
            ModelError("The model server answered 500: no explanation"),
        ]
    ),
)
LIMITS = st.builds(
    Limits,
    repeated_calls=st.sampled_from([None, 2, 3]),
    failing_steps=st.sampled_from([None, 1, 2]),
    total_tokens=st.sampled_from([None, 1, 60]),
    deadline_s=st.sampled_from([None, 1e-9]),
    calls_per_step=st.sampled_from([None, 1]),
    nudges=st.integers(0, 2),
)
POLICIES = st.none() | st.builds(
    CapabilityPolicy,
    allow=st.none() | st.sets(st.sampled_from(["act", "bad"])),
    deny=st.sets(st.sampled_from(["act", "bad"]), max_size=1),
    ask=st.sets(st.sampled_from(["act", "bad"])),
)
DECISIONS = [
    Decision.run(),
    Decision.mock({"n": 1}),
    Decision.skip("no"),
    Decision.reject(),
    Decision.reject(stop=True),
]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(TURNS, max_size=6),
    LIMITS,
    POLICIES,
    st.sampled_from([1, 2, 5, None]),
    st.lists(st.sampled_from(DECISIONS), min_size=1, max_size=4),
    st.sets(st.sampled_from([LIMIT_REMOVED, PERMISSION_CHECK_REMOVED])),
)
def test_every_script_is_foretold(
    turns: list[Any],
    limits: Limits,
    policy: CapabilityPolicy | None,
    max_steps: int | None,
    decisions: list[Decision],
    faults: set[str],
) -> None:
    def bad(**_: object) -> None:
        raise ValueError("no")

    tools = [
        Tool(name="act", description="", parameters={"type": "object"}, func=lambda **_: "ok"),
        Tool(name="bad", description="", parameters={"type": "object"}, func=bad),
    ]
    loop = Loop(FakeModel(turns), tools, max_steps=max_steps, limits=limits, policy=policy)
    loop.start("go")
    for kind in sorted(faults):
        loop.arm(Fault(kind))

    def taken_in_turn() -> Any:
        while True:
            yield from decisions

    assert foretold(loop, taken_in_turn()).stop_reason


def test_each_verdict_of_policy_and_limits_is_known_before_approve(
    started: Callable[..., Loop], make_tool: Callable[..., Tool]
) -> None:
    names = ("free", "denied", "asked", "free", "free")
    calls = [ToolCall(f"c{n}", name, {"n": n}) for n, name in enumerate(names)]
    policy = CapabilityPolicy(deny=["denied"], ask=["asked"])
    loop = started(
        [ToolCall("c0", "asked", {"again": True})],
        [*calls[:3], ToolCall("c3", "asked", {"again": True}), calls[4]],
        tools=[make_tool(name=name) for name in ("free", "denied", "asked")],
        policy=policy,
        limits=Limits(calls_per_step=4),
        to=Phase.APPROVE,
    )
    loop.advance()
    loop.decide(0, Decision.reject("not this"))
    while len(loop.trace.steps) < 2:
        loop.advance()
    free, denied, asked, rejected, skipped = loop.foreseen()
    assert free.decision and free.decision.kind == "run"
    assert denied.decision == Decision("denied", "policy", "the policy denies the tool 'denied'")
    assert (asked.decision, asked.question) == (None, "the policy asks a person before 'asked' runs")
    assert rejected.decision == Decision("rejected", "user", "the same call was rejected before")
    assert skipped.decision == Decision("skipped", reason="not run: at most 4 calls in one reply")
    assert all(pending.decision is None and not pending.question for pending in loop.run.pending)


def test_what_a_person_decided_before_approve_stays_in_what_is_foreseen(started: Callable[..., Loop]) -> None:
    loop = started([ToolCall("c1", "act", {}), ToolCall("c2", "act", {})], "done", to=Phase.APPROVE)
    loop.decide(0, Decision.mock("given"))
    kinds = [pending.decision and pending.decision.kind for pending in loop.foreseen()]
    assert kinds == ["mocked", "run"]
    assert loop.run.pending[1].decision is None


def test_a_limit_or_a_check_that_a_fault_will_remove_is_not_foretold(started: Callable[..., Loop]) -> None:
    turns = [[ToolCall("c1", "act", {"n": n})] for n in range(2)]
    loop = started(*turns, "done", policy=CapabilityPolicy(deny=["act"]), max_steps=1, to=Phase.APPROVE)
    loop.arm(Fault(PERMISSION_CHECK_REMOVED))
    (ahead,) = loop.foreseen()
    assert ahead.decision and ahead.decision.kind == "run"
    while loop.phase is not Phase.DECIDE:
        loop.advance()
    assert (stop := loop.about_to_stop()) and stop.reason == "max_iterations"
    loop.arm(Fault(LIMIT_REMOVED))
    assert loop.about_to_stop() is None
    assert foretold(loop).stop_reason == "final"
