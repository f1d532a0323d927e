"""What counts as an answer: nothing that is cut off, empty or a refusal, and what is done about it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from agent import (
    FakeModel,
    Limits,
    Loop,
    Message,
    ModelReply,
    RunResult,
    Tool,
    ToolCall,
    Usage,
    run,
)


def call(**arguments: object) -> list[ToolCall]:
    return [ToolCall("c1", "act", arguments)]


def reply(content: str | None, finish: str | None = "stop", *calls: ToolCall, **extra: object) -> ModelReply:
    return ModelReply(Message("assistant", content, calls, extra=extra), finish_reason=finish)


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens"])
def test_a_cut_off_answer_is_not_an_answer(go: Callable[..., RunResult], finish: str) -> None:
    result = go([reply("The capital of", finish)])
    assert (result.reason, result.final) == ("truncated", "")
    assert result.trace.outcome.fallback == "The capital of"


def test_a_call_cut_off_in_its_arguments_is_answered_and_stops(
    make_tool: Callable[..., Tool], go: Callable[..., RunResult]
) -> None:
    ran: list[object] = []
    cut = ToolCall("c1", "act", {}, text='{"city": "Os', problem="the arguments are not valid JSON")
    result = go([reply(None, "length", cut), "done"], make_tool(lambda **_: ran.append(1)))
    assert result.reason == "truncated"
    assert not ran
    assert "error" in json.loads(result.messages[-1].text)


def test_broken_arguments_without_a_cut_go_back_to_the_model(go: Callable[..., RunResult]) -> None:
    broken = ToolCall("c1", "act", {}, text='{"a":1}{"a":2}', problem="more than one object")
    result = go([reply(None, "tool_calls", broken), "done"])
    assert result.reason == "final"
    assert '{\\"a\\":1}' in result.messages[2].text or '{"a":1}' in result.messages[2].text


@pytest.mark.parametrize("text", [None, "", "  \n", "<think>only a thought</think>"])
def test_an_empty_answer_is_never_a_success(go: Callable[..., RunResult], text: str | None) -> None:
    result = go([call(), reply(text)])
    assert (result.reason, result.final) == ("empty_answer", "")


def test_reasoning_alone_is_an_empty_answer(go: Callable[..., RunResult]) -> None:
    assert go([reply("", reasoning_content="hmm")]).reason == "empty_answer"


def test_a_finish_reason_tool_calls_without_calls_is_empty_not_asked_again(go: Callable[..., RunResult]) -> None:
    result = go([reply(None, "tool_calls")] * 9)
    assert (result.reason, len(result.trace.steps)) == ("empty_answer", 1)


def test_the_text_beside_the_last_call_is_kept_as_a_fallback(go: Callable[..., RunResult]) -> None:
    save = Message("assistant", "Here is the report.", (ToolCall("c1", "act", {}),))
    result = go([ModelReply(save), reply("")])
    assert (result.reason, result.final) == ("empty_answer", "")
    assert result.trace.outcome.fallback == "Here is the report."


def test_a_nudge_is_one_visible_message_and_off_by_default(go: Callable[..., RunResult]) -> None:
    result = go([reply(""), "better now"], limits=Limits(nudges=1))
    assert (result.reason, result.final) == ("final", "better now")
    assert [message.role for message in result.messages] == ["user", "assistant", "user", "assistant"]
    assert result.trace.entries[2].maker == "code"
    assert go([reply(""), reply(""), "too late"], limits=Limits(nudges=1)).reason == "empty_answer"


def test_only_one_final_event_comes_out_of_a_nudged_run() -> None:
    loop = Loop(FakeModel([reply(""), "ok"]), limits=Limits(nudges=1))
    ends = [event.type for event in loop.events("go") if event.type in ("turn.completed", "turn.failed")]
    assert ends == ["turn.completed"]


def test_nudges_keep_every_limit() -> None:
    empty = ModelReply(Message("assistant", ""), usage=Usage(10, 1, 11))
    for options in ({"max_steps": 1}, {"limits": Limits(nudges=2, total_tokens=10)}):
        limits = options.get("limits", Limits(nudges=2))
        result = run(FakeModel([empty] * 5), [], "go", max_steps=options.get("max_steps", 8), limits=limits)
        assert (result.reason, len(result.trace.steps)) == ("empty_answer", 1)


@pytest.mark.parametrize(
    "refusal",
    [reply(None, "stop", refusal="I can't help"), reply("", "stop", refusal="no"), reply("", "content_filter")],
)
def test_a_refusal_is_told_and_not_retried(go: Callable[..., RunResult], refusal: ModelReply) -> None:
    result = go([refusal, "never said"])
    assert (result.reason, len(result.trace.steps)) == ("refused", 1)
    assert result.trace.outcome.detail


def test_presence_of_calls_decides_not_the_finish_reason(go: Callable[..., RunResult]) -> None:
    for finish in ("stop", "", None, "function_call"):
        assert go([reply("", finish, ToolCall("c1", "act", {})), "done"]).reason == "final"


def test_a_thought_at_the_head_is_not_part_of_the_answer(go: Callable[..., RunResult]) -> None:
    assert go([reply("<think>easy</think>It is 4.")]).final == "It is 4."
