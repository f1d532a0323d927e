"""Runs under interventions: a tool that is hidden, and what is switched off stays off, however the run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent import (
    CapabilityPolicy,
    ContextBudget,
    FakeModel,
    Intervention,
    Limits,
    Loop,
    Message,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
    Trace,
)
from agent.fork import Changes, fork
from agent.interventions import KINDS
from agent.limits import HARD_CAP
from agent.moments import moments
from agent.protocol import violations
from agent.request import request_of
from agent.rewind import rewind
from agent.scripts import parse_script
from agent.settings import Settings

Started = Callable[..., Loop]
MakeTool = Callable[..., Tool]


def asks(name: str = "act", call_id: str = "c", **arguments: Any) -> list[ToolCall]:
    return [ToolCall(call_id, name, arguments)]


def results(loop: Loop) -> list[str]:
    return [message.text for message in loop.messages if message.role == "tool"]


def names(trace: Trace) -> list[str]:
    return [schema["function"]["name"] for schema in trace.tools]


class Watch(FakeModel):
    """Keeps what it is given."""

    def __init__(self, turns: list[Any]) -> None:
        super().__init__(turns)
        self.given: list[list[Message]] = []
        self.offered: list[list[str]] = []

    def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
        self.given.append(list(messages))
        self.offered.append([schema["function"]["name"] for schema in tool_schemas])
        return super().complete(messages, tool_schemas, control=control)


HIDDEN = Intervention("hide_tool", {"tool": "act"})


# ---- a hidden tool ----


@pytest.mark.parametrize("spelt", ["act", "functions.act", " act"])
def test_a_hidden_tool_is_not_on_offer_and_unknown(started: Started, make_tool: MakeTool, spelt: str) -> None:
    ran: list[Any] = []
    tools = [make_tool(ran=ran), make_tool(name="other")]
    loop = started(asks(spelt), "done", tools=tools, interventions=[HIDDEN])
    loop.finish()
    assert names(loop.trace) == ["other"]
    (text,) = results(loop)
    assert "unknown tool" in text
    assert text.endswith('available: other", "retryable": false}')
    assert ran == []
    assert loop.trace.interventions[0]["params"] == {"tool": "act"}


def test_a_model_is_not_told_of_a_hidden_tool(make_tool: MakeTool) -> None:
    model = Watch([asks("other"), "done"])
    loop = Loop(model, [make_tool(), make_tool(name="other")], interventions=[HIDDEN])
    loop.start("go")
    loop.finish()
    assert model.offered == [["other"], ["other"]]


SCRIPT = """
task: go
tools: [{name: act, results: [{result: from the list}]}]
turns:
  - calls: [{name: act, result: beside the call}, {name: nobody, result: canned}]
  - calls: [{name: act, arguments: {n: 1}}]
  - done
"""


def test_no_answer_of_a_script_stands_in_for_a_hidden_tool() -> None:
    script = parse_script(SCRIPT)
    loop = script.loop(pace=0, interventions=(HIDDEN,))
    loop.start(script.task)
    loop.finish()
    act, nobody, again = results(loop)
    assert "unknown tool 'act'" in act
    assert nobody == "canned"
    assert "unknown tool 'act'" in again


def test_a_tool_is_offered_again_when_the_intervention_ends(started: Started) -> None:
    loop = started(asks(), asks(n=2), "done", to=Phase.CALL, interventions=[HIDDEN])
    while len(results(loop)) < 1:
        loop.advance()
    loop.extend(interventions=())
    loop.finish()
    assert "unknown tool" in results(loop)[0]
    assert results(loop)[1] == "ok"
    assert names(loop.trace) == ["act"]
    assert [item["kind"] for item in loop.trace.interventions] == ["extended"]


def test_a_tool_is_hidden_from_then_on(started: Started, make_tool: MakeTool) -> None:
    loop = started(asks(), asks(n=2), "done")
    while len(results(loop)) < 1:
        loop.advance()
    model = FakeModel([asks(), asks(n=2), "done"])
    resumed = Loop.resume(loop.snapshot(), model=model, tools=[make_tool()], interventions=(HIDDEN,))
    resumed.finish()
    assert results(resumed)[0] == "ok"
    assert "unknown tool" in results(resumed)[1]
    again = Loop.resume(resumed.snapshot(), model=FakeModel([]), tools=[make_tool()])
    assert names(again.trace) == []


# ---- what is switched off ----

ASKED = Settings(
    max_steps=3,
    policy=CapabilityPolicy(deny=["act"]),
    limits=Limits(repeated_calls=2, failing_steps=1, calls_per_step=4),
    context=ContextBudget(500),
)
OFF: dict[str, dict[str, Any]] = {
    "no_step_limit": {"max_steps": None},
    "no_guards": {"limits": Limits(calls_per_step=4)},
    "no_policy": {"policy": None},
    "no_context_budget": {"context": None},
}


def options(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in ("max_steps", "policy", "limits", "context")}


def under(*kinds: str) -> Loop:
    """A run that stands before its third step, under settings of which these switches take some away."""
    changes = [Intervention(kind) for kind in kinds]
    tool = Tool("act", "", {"type": "object"}, lambda n: n)
    loop = Loop(FakeModel([asks(n=n) for n in range(9)]), [tool], interventions=changes, **options(ASKED))
    loop.start("go")
    while loop.phase is not None and not (len(loop.trace.steps) == 2 and loop.phase is Phase.DECIDE):
        loop.advance()
    return loop


def test_every_switch_is_tried() -> None:
    assert OFF.keys() == {kind for kind, about in KINDS.items() if about.group == "switch"}


@pytest.mark.parametrize("kind", OFF)
def test_what_is_switched_off_stays_off(kind: str) -> None:
    loop = under(kind, "no_guards")
    expected = options(ASKED) | OFF["no_guards"] | OFF[kind]
    snapshot = loop.snapshot()
    tools = [Tool("act", "", {"type": "object"}, lambda n: n)]
    resumed = Loop.resume(snapshot, model=FakeModel([]), tools=tools, **options(ASKED))
    forked = Loop.resume(fork(loop.trace, moments(loop.trace, loop.phase)[3]), model=FakeModel([]), tools=tools)
    loop.extend(**options(ASKED))
    for each in (loop, resumed, forked):
        assert options(each.settings) == expected
        assert each.trace.config["interventions"] == [Intervention(k).to_dict() for k in (kind, "no_guards")]
    back = rewind(loop.trace, moments(loop.trace, loop.phase)[2])
    assert options(Settings.from_config(back.trace.config)) == expected
    assert [item["kind"] for item in back.trace.interventions[:2]] == [kind, "no_guards"]


@pytest.mark.parametrize("kind", OFF)
def test_a_fork_that_asks_for_something_else_does_not_get_what_is_off(kind: str) -> None:
    loop = under(kind)
    changes = Changes(settings={"max_steps": 5})
    forked = Loop.resume(
        fork(loop.trace, moments(loop.trace, loop.phase)[0], changes), model=FakeModel([]), max_steps=5
    )
    assert options(forked.settings) == options(ASKED) | {"max_steps": 5} | OFF[kind]


def test_without_a_step_limit_the_hard_cap_stays(make_tool: MakeTool) -> None:
    loop = Loop(
        FakeModel([asks(n=n) for n in range(HARD_CAP + 9)]),
        [make_tool()],
        max_steps=2,
        limits=Limits.guarded(),
        interventions=[Intervention("no_step_limit"), Intervention("no_guards")],
    )
    loop.start("go")
    loop.finish()
    assert (loop.stop_reason, len(loop.trace.steps)) == ("max_iterations", HARD_CAP)


def test_without_guards_equal_and_failing_calls_go_on(started: Started, make_tool: MakeTool) -> None:
    tools = [make_tool(ValueError("no"))]
    turns = [*[asks()] * 5, "done"]
    held = started(*turns, tools=tools, limits=Limits.guarded())
    held.finish()
    free = started(*turns, tools=tools, limits=Limits.guarded(), interventions=[Intervention("no_guards")])
    free.finish()
    assert held.stop_reason in ("repeated_call", "consecutive_errors")
    assert (free.stop_reason, len(free.trace.steps)) == ("final", 6)


def test_without_a_policy_nothing_is_denied(started: Started) -> None:
    loop = started(asks(), "done", policy=CapabilityPolicy(deny=["act"]), interventions=[Intervention("no_policy")])
    loop.finish()
    assert results(loop) == ["ok"]


def test_without_a_context_budget_nothing_is_left_out_or_cut(started: Started, make_tool: MakeTool) -> None:
    long = make_tool("word " * 400)
    turns = [asks(n=1), asks(n=2), "done"]
    off = [Intervention("no_context_budget")]
    loop = started(*turns, tools=[long], context=ContextBudget(300, 100), interventions=off)
    loop.finish()
    assert [len(text) for text in results(loop)] == [2000, 2000]
    assert [step.request.edits for step in loop.trace.steps if step.request] == [[], [], []]


# ---- requests of real runs ----


@pytest.mark.parametrize("kind", [kind for kind, about in KINDS.items() if about.change is not None])
def test_the_trace_keeps_what_the_model_was_given(make_tool: MakeTool, kind: str) -> None:
    change = Intervention(kind, {"find": "answer"} if kind == "replace_results" else {})
    both = [*asks(n=1), *asks("fail", "d")]
    model = Watch([both, asks(n=2), both, "done"])
    tools = [make_tool(lambda n: f"answer {n} " * 40), make_tool(ValueError("no"), name="fail")]
    loop = Loop(model, tools, system="Look.", interventions=[change])
    loop.start("go")
    loop.finish()
    whole = [message.to_dict() for message in loop.messages]
    assert model.given == [list(request_of(loop.trace, step)) for step in loop.trace.steps]
    assert [message["role"] for message in whole].count("tool") == 5
    assert violations(loop.messages) == []
    if not change.breaks_protocol:
        assert all(violations(request) == [] for request in model.given)
    assert {edit.by for step in loop.trace.steps if step.request for edit in step.request.edits} <= {kind}
    assert loop.trace.interventions == [change.to_dict()]
