"""LangChain: messages in the three forms in which they are saved."""

import json

import pytest
from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives

CALL = {"id": "c1", "name": "add", "args": {"a": 2}, "type": "tool_call"}
RAW = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}
FLAT = [
    {"type": "system", "content": "You add."},
    {"type": "human", "content": [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": "x"}}]},
    {
        "type": "ai",
        "content": [{"type": "thinking", "thinking": "Add."}, {"type": "tool_use", "id": "c1", "name": "add"}],
        "tool_calls": [CALL],
        "invalid_tool_calls": [{"id": "c2", "name": "add", "args": "{oops", "error": "no JSON"}],
        "additional_kwargs": {"tool_calls": [RAW]},
        "usage_metadata": {
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 15,
            "input_token_details": {"cache_read": 4},
            "output_token_details": {"reasoning": 3},
        },
        "response_metadata": {"model_name": "m", "finish_reason": "tool_calls"},
    },
    {"type": "tool", "content": "5", "tool_call_id": "c1", "name": "add", "status": "success"},
    {"type": "tool", "content": "no JSON", "tool_call_id": "c2", "status": "error", "artifact": None},
    {
        "type": "ai",
        "content": "It is 5.",
        "response_metadata": {"token_usage": {"prompt_tokens": 20, "completion_tokens": 4}, "stop_reason": "end_turn"},
    },
]
CLASSES = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessageChunk", "tool": "ToolMessage"}


def without_type(message):
    return {key: value for key, value in message.items() if key != "type"}


DATA = [{"type": message["type"], "data": message} for message in FLAT]
DUMPED = [
    {"lc": 1, "type": "constructor", "id": ["langchain", CLASSES[m["type"]]], "kwargs": without_type(m)} for m in FLAT
]


@pytest.mark.parametrize(
    "file",
    [
        FLAT,
        DATA,
        DUMPED,
        tuple(FLAT),
        {"messages": DATA},
        {"values": {"messages": FLAT}},
        {"messages": json.dumps(FLAT)},
    ],
    ids=["flat", "data", "dumped", "lines", "object", "state", "text"],
)
def test_every_form_gives_the_same_messages(file):
    report = opened(file)
    (trace,) = report.traces
    assert report.format == "langchain"
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    asked = trace.messages[2]
    assert [(call.id, call.arguments, bool(call.problem)) for call in asked.tool_calls] == [
        ("c1", {"a": 2}, False), ("c2", {}, True)
    ]  # fmt: skip
    assert (asked.reasoning, asked.content, trace.messages[1].content[1]["type"]) == ("Add.", None, "image_url")
    assert [(run.message, run.ok) for run in trace.steps[0].tools] == [(3, None), (4, False)]
    usage = trace.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.reasoning_tokens) == (30, 9, 4, 3)
    assert (trace.model.name, trace.outcome.reason) == ("m", "final")


def test_raw_calls_count_where_there_are_no_parsed_ones():
    message = {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [RAW], "reasoning_content": "Add."}}
    (trace,) = opened([message]).traces
    assert ([call.arguments for call in trace.messages[0].tool_calls], trace.messages[0].reasoning) == (
        [{"a": 2}],
        "Add.",
    )


def test_lists_in_lines_are_conversations_of_their_own():
    report = opened(({"messages": FLAT}, {"messages": FLAT[:2]}, {"other": 1}))
    assert ([len(trace.messages) for trace in report.traces], len(report.unread)) == ([6, 2], 1)


def test_files_of_every_provider_become_content_parts():
    blocks = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "iVBORw0KGgo="},
        {"type": "file", "source_type": "url", "mime_type": "application/pdf", "url": "https://example.org/a.pdf"},
    ]
    (trace,) = opened([{"type": "human", "content": blocks}]).traces
    first, second, third = trace.messages[0].content
    assert first == second == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    assert third["file"]["file_url"] == "https://example.org/a.pdf"


@given(damaged(FLAT))
def test_damaged_messages_never_bring_the_reader_down(value):
    survives(value, "langchain")


@given(damaged(DUMPED))
def test_damaged_dumps_never_bring_the_reader_down(value):
    survives(value, "langchain")
