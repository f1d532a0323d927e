"""Runs that go every way a run can go, for the tests of moments and of going back: scripts, and what a person does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

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
    Usage,
)
from agent.faults import Fault
from agent.noting import step_number

QUICK = {
    "provider_429": {"wait_s": 0},
    "tool_times_out": {"timeout_s": 0.02},
    "tool_returns_too_much": {"characters": 9},
}
"""Parameters with which a fault takes no time."""
TIMES = {"at", "started", "finished", "created", "latency_ms", "first_token_ms", "active_s", "trace_id", "parent"}
"""What differs between two runs that do the same."""
Standing = tuple[int, Phase | None, int]
"""Step, phase and number of messages."""
TOOLS = ("act", "fail", "risky", "banned", "missing", "functions.act")


def fault(kind: str) -> Fault:
    """A fault that takes no time."""
    return Fault(kind, QUICK.get(kind, {}))


def without_times(value: Any) -> Any:
    """JSON data without what differs between two runs that do the same."""
    if isinstance(value, Mapping):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def left(loop: Loop) -> Any:
    """What a run left behind, without its times."""
    return without_times(loop.snapshot())


def standing(loop: Loop) -> Standing:
    """Where the run stands now."""
    return step_number(loop.run), loop.phase, len(loop.messages)


def tools() -> list[Tool]:
    """One that works, one that fails, one that a person is asked about and one that is denied."""

    def fail(**arguments: object) -> None:
        raise ValueError("no")

    def made(name: str, func: Callable[..., Any]) -> Tool:
        return Tool(name=name, description="", parameters={"type": "object"}, func=func)

    def act(n: int = 0) -> str:
        return f"{n} " + "word " * (30 * n)

    return [made("act", act), made("fail", fail), made("risky", act), made("banned", act)]


def calls() -> st.SearchStrategy[list[ToolCall]]:
    """What one reply asks for."""
    named = st.lists(st.tuples(st.sampled_from(TOOLS), st.integers(0, 3)), min_size=1, max_size=3)
    return named.map(
        lambda found: [ToolCall(f"c{at}", name, {"n": n} if n else {}) for at, (name, n) in enumerate(found)]
    )


def turns() -> st.SearchStrategy[list[Any]]:
    """What a model says in a run, and how it fails."""
    usages = st.none() | st.integers(20, 400).map(lambda n: Usage(n, 10, n + 10))

    def reply(said: list[ToolCall] | str, usage: Usage | None, cost: float | None) -> ModelReply:
        message = Message("assistant", said) if isinstance(said, str) else Message("assistant", None, tuple(said))
        return ModelReply(message, usage, finish_reason="stop", cost=cost)

    replies = st.builds(
        reply, calls() | st.sampled_from(["", "done", "all done"]), usages, st.sampled_from([None, 0.1])
    )
    errors = st.builds(ModelError, st.just("no"), kind=st.sampled_from(["context_overflow", "context_overflow", ""]))
    return st.lists(calls() | replies | errors, min_size=1, max_size=8)


def options() -> st.SearchStrategy[dict[str, Any]]:
    """Settings under which a run goes."""
    return st.fixed_dictionaries(
        {
            "system": st.sampled_from(["", "Be brief."]),
            "max_steps": st.sampled_from([1, 2, 4, 8]),
            "policy": st.sampled_from([None, CapabilityPolicy(ask=["risky"], deny=["banned"])]),
            "limits": st.sampled_from([Limits(), Limits(nudges=1), Limits.guarded(nudges=2, calls_per_step=2)]),
            "context": st.sampled_from([None, ContextBudget(250), ContextBudget(350, max_result_tokens=60)]),
        }
    )


PRESSES = ("advance", "advance", "advance", "advance", "stop", "start", "extend", "limit")
DECISIONS = (
    Decision.run(),
    Decision.edit({"n": 2}),
    Decision.mock("given"),
    Decision.skip("no need"),
    Decision.reject("not now"),
)


@dataclass
class Walk:
    """A run that is really advanced, and every moment that it stood at."""

    loop: Loop
    stood: list[Standing] = field(default_factory=list)
    look: Callable[[Loop], None] = lambda loop: None
    """Called at every moment."""

    def note(self) -> None:
        """The run stands at its next moment."""
        self.stood.append(standing(self.loop))
        self.look(self.loop)


def walk(
    script: list[Any], options: dict[str, Any], presses: list[Any], look: Callable[[Loop], None] = lambda loop: None
) -> Walk:
    """Advance a run and do to it what a person may do, then let it come to its end."""
    loop = Loop(FakeModel(script), tools(), **options)
    done = Walk(loop, look=look)
    loop.start("go 1")
    done.note()
    for press in presses:
        _press(done, press)
    while loop.phase is not None:
        _press(done, "advance")
    return done


def _press(done: Walk, press: Any) -> None:
    loop, before = done.loop, done.loop.phase
    if press == "start":
        loop.start(f"go {len(loop.messages)}")
        done.note()
    elif press == "stop" and before is not None:
        loop.stop()
    elif press in ("extend", "limit"):
        loop.extend(**({"max_steps": 3} if press == "limit" else {}))
        if before is None:
            done.note()
    elif press == "advance" and before is not None:
        _answer(loop)
        loop.advance()
        if loop.phase is not Phase.APPROVE or before is not Phase.APPROVE:
            done.note()  # a run that waits for a person stands where it stood


def _answer(loop: Loop) -> None:
    for position, pending in enumerate(loop.run.pending if loop.waiting else ()):
        if pending.decision is None:
            loop.decide(position, DECISIONS[(len(loop.messages) + position) % len(DECISIONS)])
