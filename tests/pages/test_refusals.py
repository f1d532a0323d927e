"""What agent/ says when it refuses something has its Chinese, and odd files open all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent import AgentError, CapabilityPolicy, Decision, FakeModel, Limits, Loop, Message, OpenAIModel, Tool, ToolCall
from agent.acting import SECRET_LOST, UNKNOWN_OUTCOME
from agent.edited import edited_arguments
from agent.fork import Changes, fork, with_arguments
from agent.moments import Moment, moments
from agent.outgoing import Outgoing
from agent.recovery import recover
from agent.state import RunState
from agent.toolbox import pick
from pages.parts.offered import recorded_tools
from tests.pages.test_words import is_chinese

ACT = Tool("act", "", {"type": "object"}, dict)
ASKED = Message("assistant", None, (ToolCall("c1", "act", {}),))
TURNS = [[ToolCall("c1", "act", {"n": 1}), ToolCall("c0", "act", {"n": 0})], [ToolCall("c2", "act", {"n": 2})], "done"]


def begun(**options: Any) -> Loop:
    """A run before approve."""
    loop = Loop(FakeModel(TURNS), [ACT], **options)
    loop.start("go")
    while loop.phase != "approve":
        loop.advance()
    return loop


def finished() -> Loop:
    loop = begun()
    loop.finish()
    return loop


def forked(**changes: Any) -> None:
    loop = finished()
    fork(loop.trace, moments(loop.trace)[-2], Changes(**changes))


def moved() -> None:
    loop = begun()
    loop.on_event = lambda event: loop.extend(max_steps=9)
    loop.finish()


def sent(*messages: Message) -> None:
    Outgoing(None).preview(messages, 0)


REFUSALS: list[Callable[[], object]] = [
    lambda: begun().decide(4, Decision.run()),
    moved,
    lambda: begun().extend(colour=1),
    lambda: forked(messages={9: "x"}),
    lambda: forked(messages={1: Message("assistant", "x")}),
    lambda: forked(messages={0: "x"}, settings={"colour": 1}),
    lambda: with_arguments(ASKED, {0: "{"}, ASKED),
    lambda: edited_arguments("[1]", "{}", ToolCall("c", "act", {})),
    lambda: edited_arguments('{"n": "[redacted: key]"}', "{}", ToolCall("c", "act", {})),
    lambda: fork(finished().trace, Moment(9, None, 0)),
    lambda: OpenAIModel(" "),
    lambda: OpenAIModel("m", base_url="nowhere"),
    lambda: OpenAIModel("m", base_url="https://api.openai.com/v1", api_key=" "),
    lambda: OpenAIModel("m", base_url="http://127.0.0.1:9/v1", api_key="two words"),
    lambda: pick(["ad"]),
    lambda: pick(["xyzzy"]),
    lambda: recover(b"{}"),
    lambda: RunState.from_dict({}),
    lambda: RunState.from_dict({"schema": "agent-snapshot/1"}),
    lambda: sent(Message("assistant", None, (ToolCall("", "act", {}),))),
]


@pytest.mark.parametrize("refused", REFUSALS, ids=map(str, range(len(REFUSALS))))
def test_what_is_refused_is_said_in_chinese(refused: Callable[[], object]) -> None:
    with pytest.raises(AgentError) as caught:
        refused()
    assert is_chinese(str(caught.value)), str(caught.value)


REASONS: list[tuple[dict[str, Any], str]] = [
    ({"policy": CapabilityPolicy(deny={"act"})}, "denies"),
    ({"policy": CapabilityPolicy(allow={"other"})}, "allows other"),
    ({"policy": CapabilityPolicy(allow=())}, "allows no tool"),
    ({"policy": CapabilityPolicy(ask={"act"})}, "asks a person"),
    ({"limits": Limits(calls_per_step=1)}, "at most 1 calls"),
]


@pytest.mark.parametrize(("options", "words"), REASONS)
def test_why_a_call_does_not_simply_run_is_said_in_chinese(options: dict[str, Any], words: str) -> None:
    *_, call = begun(**options).foreseen()
    reason = call.decision.reason if call.decision else call.question
    assert reason
    assert words in reason
    assert is_chinese(reason)


def test_a_call_that_was_rejected_before_is_refused_in_chinese() -> None:
    loop = Loop(FakeModel([[ToolCall("c1", "act", {})], [ToolCall("c2", "act", {})], "done"]), [ACT])
    loop.start("go")
    while loop.phase != "approve":
        loop.advance()
    loop.decide(0, Decision.reject())
    loop.advance()
    while loop.phase != "approve":
        loop.advance()
    (call,) = loop.foreseen()
    assert call.decision
    assert is_chinese(call.decision.reason)


@pytest.mark.parametrize("words", [UNKNOWN_OUTCOME, SECRET_LOST])
def test_what_a_restart_asks_about_is_said_in_chinese(words: str) -> None:
    assert is_chinese(words)


def test_recorded_tools_that_are_none_are_left_out() -> None:
    named = {"name": "act", "description": "Acts.", "parameters": {"type": "object", "properties": {}}}
    odd: list[Any] = [5, {"type": "x"}, {"function": 3}, {"function": {}}, {"function": {"name": ["a"]}}]
    odd += [{"function": {"name": "b", "parameters": broken}} for broken in ([1], "x", {"type": "array"})]
    tools = recorded_tools([*odd, {"type": "function", "function": named}, {"function": named}])
    assert tools.schemas() == [{"type": "function", "function": named}]
    assert "cannot run" in tools.call(ToolCall("c1", "act", {}))
