"""ShareGPT: every box that such data sets come in, calls without ids, and pictures that stand beside the turns."""

import json

import pytest
from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives

TOOLS = json.dumps([{"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}}}])
ASK = {"from": "function_call", "value": '{"name": "add", "arguments": {"a": 2, "b": 3}}'}
ROW = {
    "id": "sum-1",
    "system": "You add.",
    "tools": TOOLS,
    "conversations": [
        {"from": "human", "value": "What is 2+3?"},
        ASK,
        {"from": "observation", "value": '{"sum": 5}'},
        {"from": "gpt", "value": "It is 5."},
    ],
    "reward": 1.0,
}
PARTS = {
    "tools": TOOLS,
    "messages": [
        {"role": "user", "content": [{"type": "text", "value": "Add both."}]},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "value": "Two sums."},
                {"type": "tool_call", "value": '{"name": "add", "arguments": {"a": 1, "b": 1}}'},
                {"type": "tool_call", "value": '{"name": "add", "arguments": {"a": 2, "b": 2}}'},
            ],
        },
        {"role": "tool", "content": [{"type": "text", "value": "[2, 4]"}]},
    ],
}


def test_each_row_is_a_conversation_whose_results_answer_the_calls_before_them():
    report = opened([ROW, ROW])
    trace = report.traces[0]
    assert (report.format, len(report.traces), trace.title) == ("sharegpt", 2, "sum-1")
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    run = trace.steps[0].tools[0]
    assert (run.name, run.arguments, run.message) == ("add", {"a": 2, "b": 3}, 3)
    assert trace.tools[0]["function"]["name"] == "add"
    assert trace.outcome.verified is True


def test_one_result_answers_all_calls_of_its_turn():
    trace = opened((PARTS, PARTS)).traces[1]
    assert [run.message for run in trace.steps[0].tools] == [2, 2]
    assert trace.messages[1].reasoning == "Two sums."


def test_calls_may_be_a_list_or_no_json_at_all():
    both = {"from": "function_call", "value": json.dumps([{"name": "add", "arguments": {}}, {"name": "sub"}])}
    torn = {"from": "function_call", "value": "add(2, 3"}
    trace = opened([{"conversations": [ROW["conversations"][0], both, torn]}]).traces[0]
    assert [[run.name for run in step.tools] for step in trace.steps] == [["add", "sub"], [""]]
    assert trace.messages[2].tool_calls[0].text == "add(2, 3"


def test_calls_and_results_between_tags_are_calls_and_results():
    said = 'I add.\n<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'
    got = '<tool_response>\n{"name": "add", "content": {"sum": 5}}\n</tool_response>'
    turns = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": said}, {"from": "tool", "value": got}]
    trace = opened([{"conversations": turns}]).traces[0]
    assert (trace.messages[1].text, trace.messages[2].text) == ("I add.", '{"sum": 5}')
    assert trace.steps[0].tools[0].message == 2
    assert trace.entries[1].raw["value"] == said


def test_placeholders_become_the_pictures_of_the_row_in_their_order():
    turns = [{"role": "user", "content": "<image>Who? And <image>?"}, {"role": "assistant", "content": "<image> Ann."}]
    trace = opened([{"messages": turns, "images": ["a.jpg", {"path": "b.jpg"}]}]).traces[0]
    assert [part.get("image_url", {}).get("url") for part in trace.messages[0].content] == [
        "a.jpg",
        None,
        "b.jpg",
        None,
    ]
    assert trace.messages[1].content[0] == {"type": "text", "text": "<image>"}


@pytest.mark.parametrize(
    "value",
    [
        ROW["conversations"],
        [ROW["conversations"], ROW["conversations"]],
        {"conversation": ROW["conversations"]},
        ({"messages": [{"role": "human", "content": "hi"}, {"role": "gpt", "content": "hello"}]},),
    ],
)
def test_the_box_around_the_turns_may_be_any(value):
    report = opened(value)
    assert report.format == "sharegpt"
    assert {"user", "assistant"} <= {message.role for message in report.traces[0].messages}


def test_of_a_pair_of_answers_the_chosen_one_ends_the_conversation():
    pair = {
        "conversations": ROW["conversations"][:1],
        "chosen": {"from": "gpt", "value": "5"},
        "rejected": {"from": "gpt", "value": "6"},
    }
    report = opened([pair])
    assert [message.text for message in report.traces[0].messages] == ["What is 2+3?", "5"]
    assert report.unread == ["the rejected answer of a pair"]


@given(damaged([ROW, PARTS]))
def test_damage_costs_a_part_and_never_the_file(value):
    survives(value, "sharegpt")
