"""Logs of model calls in the wrappings of different recorders, and of several providers at once."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.traces.readers.damage import damaged, survives
from traces import read_file

ASK = {"role": "user", "content": "What is 2+3?"}
OPENAI = {"model": "m", "messages": [ASK]}, {"choices": [{"message": {"role": "assistant", "content": "5."}}]}
ANTHROPIC = (
    {"model": "c", "max_tokens": 9, "system": "s", "messages": [ASK]},
    {"type": "message", "content": [{"type": "text", "text": "5."}], "stop_reason": "end_turn", "usage": {}},
)
RESPONSES = (
    {"model": "r", "input": [ASK]},
    {"object": "response", "id": "r1", "status": "completed", "output": [{"role": "assistant", "content": "5."}]},
)
GEMINI = (
    {"contents": [{"role": "user", "parts": [{"text": "What is 2+3?"}]}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "5."}]}, "finishReason": "STOP"}]},
)
BEDROCK = (
    {"messages": [{"role": "user", "content": [{"text": "What is 2+3?"}]}], "inferenceConfig": {}},
    {"output": {"message": {"role": "assistant", "content": [{"text": "5."}]}}, "stopReason": "end_turn"},
)
OLLAMA = (
    {"model": "o", "messages": [ASK], "options": {}},
    {"model": "o", "message": {"role": "assistant", "content": "5."}, "done": True, "total_duration": 5},
)
PROVIDERS = {
    "openai-chat": OPENAI,
    "anthropic-messages": ANTHROPIC,
    "openai-responses": RESPONSES,
    "gemini-contents": GEMINI,
    "bedrock-converse": BEDROCK,
    "ollama": OLLAMA,
}
WRAPPINGS = {
    "exchange": lambda request, response: [{"request": request, "response": response}],
    "as text": lambda request, response: [{"request": json.dumps(request), "response": json.dumps(response)}],
    "bodies": lambda request, response: [{"request_body": request, "response_body": response}],
    "flat": lambda request, response: {**request, "response": response},
    "with headers": lambda request, response: {
        "request": {"method": "POST", "headers": {}, "body": request},
        "response": {"status_code": 200, "body": response},
    },
    "nock": lambda request, response: [
        {"scope": "https://api.example.org:443", "method": "POST", "path": "/v1", "body": request, "response": response}
    ],
    "HAR": lambda request, response: {
        "log": {
            "version": "1.2",
            "entries": [
                {"request": {"url": "https://example.org/a.css"}, "response": {"content": {"text": "body {}"}}},
                {
                    "startedDateTime": "2026-01-02T03:04:05Z",
                    "request": {"postData": {"text": json.dumps(request)}},
                    "response": {"status": 200, "content": {"text": json.dumps(response)}},
                },
            ],
        }
    },
    "VCR": lambda request, response: {
        "interactions": [
            {
                "request": {"uri": "https://example.org", "body": json.dumps(request)},
                "response": {"status": {"code": 200}, "body": {"string": json.dumps(response)}},
            }
        ]
    },
}


def opened(value):
    return read_file(json.dumps(value).encode())


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_each_provider_is_read_from_each_wrapping(provider, wrapping):
    report = opened(WRAPPINGS[wrapping](*PROVIDERS[provider]))
    (trace,) = report.traces
    said = [message.text for message in trace.messages if message.role != "system"]
    assert (report.format, said) == (provider, ["What is 2+3?", "5."])


@pytest.mark.parametrize("last", PROVIDERS)
def test_a_log_of_several_providers_is_of_the_format_of_its_last_call(last):
    order = [name for name in PROVIDERS if name != last] + [last]
    records = [{"request": PROVIDERS[name][0], "response": PROVIDERS[name][1]} for name in order]
    report = opened(records)
    assert (report.format, report.unread) == (last, [])
    assert len(report.traces) == len(PROVIDERS)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_request_without_its_answer_and_an_answer_without_its_request(provider):
    request, response = PROVIDERS[provider]
    asked, answered = opened(request), opened(response)
    assert (asked.format, answered.format) == (provider, provider)
    assert [message.text for message in asked.traces[0].messages][-1:] == ["What is 2+3?"]
    assert [message.text for message in answered.traces[0].messages] == ["5."]


def test_the_time_of_a_record_is_that_of_its_end():
    record = {"request": GEMINI[0], "response": GEMINI[1], "timestamp": "2026-01-02T03:04:05Z", "duration_ms": 1500}
    step = opened(record).traces[0].steps[0]
    assert (step.started, step.latency_ms) == ("2026-01-02T03:04:03.500Z", 1500.0)


def test_the_settings_of_a_request_are_kept_and_what_stands_beside_it_is_not():
    request = {**ANTHROPIC[0], "temperature": 0.5}
    nested = opened({"request": request, "response": ANTHROPIC[1]}).traces[0]
    flat = opened({**request, "response": ANTHROPIC[1], "status": 200}).traces[0]
    assert nested.config == flat.config == {"request": {"max_tokens": 9, "temperature": 0.5}}


def test_events_beside_a_body_are_told_as_unread():
    first = {"type": "response.create", "model": "r", "input": []}
    connection = {"body": RESPONSES[0], "ws_events": [first, RESPONSES[0] | {"type": "response.create"}]}
    report = opened({"request": connection, "response": {"status": 101, "body": RESPONSES[1], "ws_events": []}})
    assert len(report.traces) == len(report.unread) == 1


def test_an_answer_to_something_else_is_no_call():
    records = [{"request": OPENAI[0], "response": {"embeddings": []}}, {"request": OPENAI[0], "response": OPENAI[1]}]
    report = opened(records)
    assert (len(report.traces), len(report.unread)) == (1, 1)


def test_what_was_asked_is_shown_where_the_answer_is_of_no_known_form():
    report = opened([{"request": OPENAI[0], "response": {"message": "5.", "cost": {}}, "status": 200}])
    (trace,) = report.traces
    assert (report.format, [message.text for message in trace.messages]) == ("openai-chat", ["What is 2+3?"])
    assert (len(report.unread), trace.outcome.reason) == (1, None)
    assert opened([{"request": RESPONSES[0], "response": {"data": [], "object": "list"}}]).format is None


def test_words_that_are_used_for_much_else_do_not_make_a_call():
    for value in ({"input": "a", "output": "b"}, {"result": "x"}, {"input": {"a": 1}, "output": {"error": "x"}}):
        assert opened(value).format is None


CHUNK = {"id": "1", "choices": [{"delta": {"content": "It is "}}]}
STREAMS = {
    "openai-chat": [CHUNK, {"id": "1", "choices": [{"delta": {"content": "5."}}], "usage": {"total_tokens": 9}}],
    "anthropic-messages": [
        {"type": "message_start", "message": {"usage": {"input_tokens": 4}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It is 5."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ],
    "openai-responses": [
        {"type": "response.created", "response": {"object": "response"}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "It is 5."},
        {"type": "response.completed", "response": {"object": "response", "output": [], "usage": {"total_tokens": 9}}},
    ],
    "gemini-contents": [
        {"candidates": [{"content": {"parts": [{"text": "It is "}]}}]},
        {
            "candidates": [{"content": {"parts": [{"text": "5."}]}, "finishReason": "STOP"}],
            "usageMetadata": {"totalTokenCount": 9},
        },
    ],
}


@pytest.mark.parametrize("provider", STREAMS)
def test_a_stream_saved_as_it_came_is_one_answer(provider):
    pieces = STREAMS[provider]
    text = "".join(f"event: {piece.get('type')}\ndata: {json.dumps(piece)}\n\n" for piece in pieces)
    for data in (text + "data: [DONE]\n\n", "\n".join(json.dumps(piece) for piece in pieces)):
        report = read_file(data.encode())
        (trace,) = report.traces
        assert (report.format, report.unread, report.bad_lines) == (provider, [], [])
        assert (trace.messages[0].text, trace.usage.total) == ("It is 5.", 9)


EXCHANGES = [{"request": request, "response": response} for request, response in PROVIDERS.values()]


@settings(max_examples=120, deadline=None)
@given(damaged(EXCHANGES), st.sampled_from([None, *PROVIDERS]), st.none() | st.integers(1, 900))
def test_damage_to_a_log_costs_a_part_and_never_the_file(value, format, cut):
    survives(value, format, cut)


TOOL_USE = [
    {
        "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"text": 1}]}]}
        ]
    },
    {"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]},
    {"input": [{"type": "mcp_call", "id": "c"}, {"type": "shell_call_output", "call_id": "c", "output": [{}]}]},
    {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}, "parts": [{}]}}]}]},
    {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"json": 1}]}}]}]},
    [{"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{"}}],
    [{"contentBlockDelta": {"delta": {"toolUse": {"input": "{"}}, "contentBlockIndex": 0}}],
    [{"type": "response.output_item.done", "item": {"type": "reasoning", "summary": [{"text": "x"}]}}],
    [{"model": "m", "message": {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}, "done": False}],
]


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(TOOL_USE).flatmap(damaged), st.sampled_from([None, *PROVIDERS]))
def test_damage_to_blocks_costs_a_part_and_never_the_file(value, format):
    survives(value, format)
