"""The Vercel AI SDK beside UIMessages: messages for a model, the steps of a result, and the stream to a page."""

import json

import pytest
from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces import read_file
from traces.summary import summarise

CALL = {"type": "tool-call", "toolCallId": "c1", "toolName": "add", "input": {"a": 2}}
OTHER = {**CALL, "toolCallId": "c2"}
SAID = [{"type": "reasoning", "text": "Add."}, {"type": "text", "text": "I add."}, CALL, OTHER]
SUM = {"type": "json", "value": {"s": 5}}
IMAGE = {"type": "media", "data": "iVBORw0KGgo=", "mediaType": "image/png"}
MODEL = [
    {"role": "system", "content": "You add."},
    {"role": "user", "content": [{"type": "text", "text": "What is 2+3?"}]},
    {"role": "assistant", "content": SAID},
    {
        "role": "tool",
        "content": [
            {"type": "tool-result", "toolCallId": "c1", "toolName": "add", "output": SUM},
            {"type": "tool-result", "toolCallId": "c2", "toolName": "add",
             "output": {"type": "content", "value": [{"type": "text", "text": "See:"}, IMAGE]}},
        ],
    },
    {"role": "assistant", "content": "It is 5."},
]  # fmt: skip
ROLES = ["system", "user", "assistant", "tool", "tool", "assistant"]


@pytest.mark.parametrize("file", [MODEL, tuple(MODEL), {"messages": MODEL}], ids=["list", "lines", "object"])
def test_messages_for_a_model_are_read_with_their_calls(file):
    report = opened(file)
    (trace,) = report.traces
    assert (report.format, [message.role for message in trace.messages]) == ("vercel-ui", ROLES)
    asked = trace.messages[2]
    assert (asked.text, asked.reasoning, [call.arguments for call in asked.tool_calls]) == (
        "I add.", "Add.", [{"a": 2}, {"a": 2}]
    )  # fmt: skip
    assert (trace.messages[3].text, [part["type"] for part in trace.messages[4].content]) == (
        '{"s": 5}', ["text", "image_url"]
    )  # fmt: skip
    assert [run.message for run in trace.steps[0].tools] == [3, 4]


USED = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15, "inputTokenDetails": {"cacheReadTokens": 4}}
USED |= {"outputTokenDetails": {"reasoningTokens": 3}}
GAVE = {"type": "tool-result", "toolCallId": "c1", "toolName": "add", "input": {"a": 2}, "output": {"s": 5}}
FAILED = {"type": "tool-error", "toolCallId": "c2", "toolName": "add", "error": "no such number"}
AT = "2026-05-28T20:26:01.000Z"
STEPS = [
    {"content": [*SAID, GAVE, FAILED], "finishReason": "tool-calls", "usage": USED,
     "response": {"modelId": "m", "timestamp": AT}},
    {"content": [{"type": "text", "text": "It is 5."}], "finishReason": "stop", "usage": USED, "response": {}},
]  # fmt: skip


@pytest.mark.parametrize("file", [STEPS, {"text": "It is 5.", "steps": STEPS}], ids=["list", "result"])
def test_steps_of_a_result_are_read_with_their_numbers(file):
    (trace,) = opened(file).traces
    assert [message.role for message in trace.messages] == ["assistant", "tool", "tool", "assistant"]
    assert [(run.message, run.ok) for run in trace.steps[0].tools] == [(1, None), (2, False)]
    usage = trace.usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.reasoning_tokens, usage.total) == (20, 8, 6, 30)
    assert (trace.model.name, trace.outcome.reason, trace.messages[2].text) == ("m", "final", "no such number")


PIECES = [
    {"type": "start", "messageId": "a1"},
    {"type": "start-step"},
    {"type": "reasoning-start", "id": "r"},
    {"type": "reasoning-delta", "id": "r", "delta": "Add."},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "I "},
    {"type": "text-delta", "id": "t", "delta": "add."},
    {"type": "tool-input-start", "toolCallId": "c1", "toolName": "add"},
    {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"a": 2}'},
    {"type": "tool-input-available", "toolCallId": "c1", "toolName": "add", "input": {"a": 2}},
    {"type": "tool-input-available", "toolCallId": "c2", "toolName": "add", "input": {"a": 2}},
    {"type": "tool-output-error", "toolCallId": "c2", "errorText": "no such number"},
    {"type": "tool-output-available", "toolCallId": "c1", "output": {"s": 5}},
    {"type": "finish-step"},
    {"type": "start-step"},
    {"type": "data-weather", "data": {"sky": "blue"}},
    {"type": "text-delta", "id": "t2", "delta": "It is 5."},
    {"type": "finish-step"},
    {"type": "finish", "finishReason": "stop", "messageMetadata": {"usage": USED, "model": "m"}},
]


def test_a_stream_is_what_the_page_makes_of_it():
    served = "".join(f"data: {json.dumps(piece)}\n\n" for piece in PIECES) + "data: [DONE]\n\n"
    for report in (opened(PIECES), opened(tuple(PIECES)), read_file(served.encode(), "stream")):
        (trace,) = report.traces
        assert (report.format, [message.role for message in trace.messages]) == (
            "vercel-ui", ["assistant", "tool", "tool", "assistant"]
        )  # fmt: skip
        asked = trace.messages[0]
        assert (asked.text, asked.reasoning, asked.tool_calls[0].arguments) == ("I add.", "Add.", {"a": 2})
        assert [(run.name, run.message, run.ok) for run in trace.steps[0].tools] == [
            ("add", 1, None),
            ("add", 2, False),
        ]
        assert (trace.usage.total, trace.model.name, trace.messages[3].text) == (15, "m", "It is 5.")


def test_several_streams_of_one_file_and_one_that_was_cut_off_are_kept_apart_from_nothing():
    (trace,) = opened([*PIECES, *PIECES[:9]]).traces
    assert [message.role for message in trace.messages][-2:] == ["assistant", "assistant"]
    assert (trace.messages[-1].tool_calls[0].arguments, summarise(trace).unpaired_calls) == ({"a": 2}, 1)


def test_an_error_of_a_stream_is_how_it_ended():
    (trace,) = opened([*PIECES[:7], {"type": "error", "errorText": "busy"}]).traces
    assert (trace.outcome.reason, trace.outcome.detail) == ("model_error", "busy")


@given(damaged(MODEL))
def test_damaged_messages_never_bring_the_reader_down(value):
    survives(value, "vercel-ui")


@given(damaged([STEPS, *STEPS]))
def test_damaged_steps_never_bring_the_reader_down(value):
    survives(value, "vercel-ui")


@given(damaged(PIECES))
def test_damaged_streams_never_bring_the_reader_down(value):
    survives(value, "vercel-ui")
