"""The JSON-action protocol: what each reply means, and what the model is given."""

from __future__ import annotations

import time

import pytest

from agent import FakeModel, JsonActionModel, Message, ToolCall, run
from agent.models.json_action import parse_action, to_chat


def add(a: int, b: int) -> int:
    """a + b"""
    return a + b


def test_a_thought_before_the_object_is_no_part_of_the_action() -> None:
    said = [
        '<think>I should {add}.</think>\n{"action": "tool", "tool": "add", "params": {"a": 2, "b": 3}}',
        '<think>done</think>```json\n{"action": "final", "response": "5"}\n```',
    ]
    result = run(JsonActionModel(FakeModel(said)), [add], "2+3?")
    assert [str(step) for step in result.steps] == ["[0] tool_call add({'a': 2, 'b': 3}) -> 5", "[1] final     5"]
    assert result.messages[1].extra["json_action"] == said[0]


@pytest.mark.parametrize("said", ['{"action": "final"}', '{"action": "final", "response": null}'])
def test_a_final_action_without_a_response_is_an_empty_answer(said: str) -> None:
    result = run(JsonActionModel(FakeModel([said])), [add], "2+3?")
    assert (result.final, result.reason) == ("", "empty_answer")


def test_words_around_the_object_make_the_whole_reply_the_final_answer() -> None:
    action = parse_action('Sure! {"action": "tool", "tool": "add", "params": {}}')
    assert (action.action, action.thought, action.parsed) == ("final", "parse failed", False)


def test_a_thought_that_only_sounds_like_a_failure_is_none() -> None:
    said = '{"thought": "parse failed", "action": "final", "response": "5"}'
    assert run(JsonActionModel(FakeModel([said])), [add], "?").trace.steps[0].warnings == []


def test_a_result_is_named_after_the_call_of_its_own_block() -> None:
    messages = [
        Message("user", "?"),
        Message("assistant", None, (ToolCall("1", "add", {}), ToolCall("2", "multiply", {}))),
        Message("tool", "20", tool_call_id="2"),
        Message("tool", "5", tool_call_id="1"),
        Message("assistant", None, (ToolCall("1", "divide", {}),)),
        Message("tool", "7", tool_call_id="1"),
        Message("user", "and?"),
        Message("tool", "8", tool_call_id="1"),
    ]
    told = [message.text for message in to_chat(messages, []) if message.text.startswith("Result")]
    assert told == ["Result of multiply: 20", "Result of add: 5", "Result of divide: 7", "Result: 8"]


def test_a_long_history_is_translated_in_one_pass() -> None:
    block = [Message("assistant", None, (ToolCall("c", "add", {}),)), Message("tool", "5", tool_call_id="c")]
    started = time.monotonic()
    assert len(to_chat([message for _ in range(20_000) for message in block], [])) == 40_001
    assert time.monotonic() - started < 3
