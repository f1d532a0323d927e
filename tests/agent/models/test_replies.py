"""From a provider's message to ours."""

import re

import pytest

from agent.messages import Message
from agent.models.replies import read_message, visible_text


@pytest.mark.parametrize("missing", [{"id": ""}, {"id": None}, {}])
def test_calls_without_an_id_each_get_one_of_their_own(missing):
    calls = [{**missing, "function": {"name": "w", "arguments": f'{{"c":"{c}"}}'}} for c in "AB"]
    reading = read_message({"content": None, "tool_calls": calls})
    first, second = reading.message.tool_calls
    assert re.fullmatch("[a-zA-Z0-9]{9}", first.id)
    assert first.id != second.id
    assert (first.arguments, second.arguments) == ({"c": "A"}, {"c": "B"})
    assert reading.raw["tool_calls"] == calls
    assert len(reading.warnings) == 2


def test_a_repeated_id_is_changed_and_both_calls_stay(call):
    calls = [call("f", '{"n":1}', id="x"), call("f", '{"n":2}', id="x")]
    reading = read_message({"tool_calls": calls})
    first, second = reading.message.tool_calls
    assert first.id == "x" != second.id
    assert [c.arguments for c in (first, second)] == [{"n": 1}, {"n": 2}]
    assert reading.raw == {"tool_calls": calls}


def test_an_ordinary_message_is_kept_as_it_came_without_a_second_copy(call):
    raw = {"role": "assistant", "content": "Hm.", "tool_calls": [call("add", '{"a": 2}')], "reasoning_content": "think"}
    reading = read_message(raw)
    assert reading.message.to_dict() == raw
    assert (reading.raw, reading.warnings) == (None, ())


def test_unknown_keys_of_message_and_call_go_back_with_them(call):
    signed = call("f", extra_content={"google": {"thought_signature": "abc"}})
    raw = {"role": "assistant", "content": None, "tool_calls": [signed], "reasoning_details": [{"type": "x"}]}
    assert read_message(raw).message.to_dict() == raw


@pytest.mark.parametrize("content", ["", None])
def test_a_turn_that_only_calls_tools_has_null_content(call, content):
    message = read_message({"content": content, "tool_calls": [call("f")]}).message
    assert message.content is None
    assert message.to_dict()["content"] is None


def test_the_old_function_call_becomes_a_call():
    reading = read_message({"content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}})
    (made,) = reading.message.tool_calls
    assert (made.name, made.arguments) == ("f", {"a": 1})
    assert "function_call" not in reading.message.to_dict()
    assert reading.raw


@pytest.mark.parametrize("calls", [None, [], {}, ""])
def test_an_absent_list_of_calls_is_no_call(calls):
    assert read_message({"content": "hi", "tool_calls": calls}).message.tool_calls == ()


@pytest.mark.parametrize(
    "odd", [{"function": None}, {"function": {"name": None}}, {"id": 3, "function": {"name": ["x"]}}]
)
def test_a_call_without_a_name_is_still_a_call_that_gets_an_answer(odd):
    (made,) = read_message({"tool_calls": [odd]}).message.tool_calls
    assert made.id
    assert made.name == ""


def test_an_entry_that_is_no_call_is_left_out_and_told(call):
    reading = read_message({"tool_calls": ["what", call("f")]})
    assert [c.name for c in reading.message.tool_calls] == ["f"]
    assert len(reading.warnings) == 1


def test_repaired_arguments_are_told_with_what_came(call):
    reading = read_message({"tool_calls": [call("f", '{"a":1}<|im_end|>')]})
    assert "<|im_end|>" in reading.warnings[0]
    assert reading.raw["tool_calls"][0]["function"]["arguments"] == '{"a":1}<|im_end|>'
    assert reading.message.tool_calls[0].arguments_text() == '{"a":1}'


@pytest.mark.parametrize("arguments", ['{"path": "a', "", None])
def test_arguments_cut_off_by_the_length_limit_are_a_problem(call, arguments):
    (made,) = read_message({"tool_calls": [call("f", arguments)]}, finish_reason="length").message.tool_calls
    assert "length limit" in made.problem


def test_a_whole_call_before_the_cut_stays_usable(call):
    calls = [call("f", '{"a":1}', id="c1"), call("f", '{"a', id="c2")]
    first, second = read_message({"tool_calls": calls}, finish_reason="length").message.tool_calls
    assert first.problem is None
    assert second.problem


def test_a_refusal_is_kept_where_the_loop_can_see_it():
    message = read_message({"content": None, "refusal": "I can't help"}).message
    assert message.extra["refusal"] == "I can't help"


@pytest.mark.parametrize(
    ("content", "visible"),
    [
        ("It is 5.", "It is 5."),
        ("<think>2+3</think>It is 5.", "It is 5."),
        ("\n<think>\n2+3\n</think>\n\nIt is 5.\n", "It is 5."),
        ("<think>x</think>", ""),
        ("<think>never closed", ""),
        ("thought first\n</think>\n\nIt is 5.", "It is 5."),
        ("Use <think> and </think> around thoughts.", "Use <think> and </think> around thoughts."),
        (None, ""),
        ("  \n", ""),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "5"}], "5"),
    ],
)
def test_the_visible_text_leaves_thoughts_out_and_the_message_keeps_them(content, visible):
    message = Message("assistant", content)
    assert visible_text(message) == visible
    assert message.content == content
