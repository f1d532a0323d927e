"""The Anthropic Messages API: blocks become messages, calls, results, thoughts and media; nothing is counted twice."""

import json

import pytest

from traces import open_trace, read_file

ASK = {"role": "user", "content": [{"type": "text", "text": "What is 2+3 and 4+5?"}]}
TOOLS = [{"name": "add", "description": "Add.", "input_schema": {"type": "object"}}]


def thinks(text="Two sums."):
    return {"type": "thinking", "thinking": text, "signature": "c2ln"}


def uses(call_id, **arguments):
    return {"type": "tool_use", "id": call_id, "name": "add", "input": arguments}


def gives(call_id, content, **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def response(*blocks, stop="end_turn", **usage):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x-1",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": {"input_tokens": 10, "output_tokens": 5, **usage},
    }


def request(*messages, **more):
    body = {"model": "claude-x", "max_tokens": 100, "system": "Be brief.", "tools": TOOLS, "messages": list(messages)}
    return {**body, **more}


def as_bytes(value):
    return json.dumps(value).encode()


CALLS = {"role": "assistant", "content": [thinks(), {"type": "text", "text": "Let me add."}, uses("t1", a=2, b=3)]}
CALLS["content"].append(uses("t2", a=4, b=5))
RESULTS = {
    "role": "user",
    "content": [gives("t1", "5"), gives("t2", "no", is_error=True), {"type": "text", "text": "Be quick."}],
}
DONE = {"type": "text", "text": "5 and 9."}


def log():
    first = response(*CALLS["content"], stop="tool_use", cache_read_input_tokens=100, cache_creation_input_tokens=7)
    return [
        {"request": request(ASK), "response": first, "status": 200},
        {"request": request(ASK, CALLS, RESULTS), "response": response(DONE), "status": 200},
    ]


def test_a_growing_log_is_one_conversation():
    report = read_file(as_bytes(log()))
    (trace,) = report.traces
    assert (report.format, report.unread, report.repaired) == ("anthropic-messages", [], [])
    assert [message.role for message in trace.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
    ]
    calls = trace.messages[2]
    assert (calls.text, calls.reasoning) == ("Let me add.", "Two sums.")
    assert [(run.name, run.arguments, run.message, run.ok) for run in trace.steps[0].tools] == [
        ("add", {"a": 2, "b": 3}, 3, None),
        ("add", {"a": 4, "b": 5}, 4, False),
    ]
    assert trace.messages[5].text == "Be quick."
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "5 and 9.")
    assert trace.tools[0]["function"]["parameters"] == {"type": "object"}
    assert trace.model.name == "claude-x"
    assert [step.model for step in trace.steps] == ["claude-x-1"] * 2


def test_cached_tokens_are_part_of_the_prompt():
    usage = open_trace(as_bytes(log()))[0].steps[0].usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.cache_write_tokens) == (117, 100, 7)
    assert (usage.completion_tokens, usage.total) == (5, 122)
    plain = open_trace(as_bytes(log()))[0].steps[1].usage
    assert (plain.prompt_tokens, plain.cached_tokens, plain.cache_write_tokens) == (10, None, None)


@pytest.mark.parametrize(
    "shape",
    [
        lambda: request(ASK, CALLS, RESULTS),
        lambda: [ASK, CALLS, RESULTS],
        lambda: {"history": [ASK, CALLS, RESULTS]},
        lambda: [[ASK, CALLS, RESULTS]],
        lambda: [{"custom_id": "1", "params": request(ASK, CALLS, RESULTS)}],
        lambda: {"request": {"method": "POST", "body": json.dumps(request(ASK, CALLS, RESULTS))}},
    ],
)
def test_the_same_conversation_in_other_wrappings(shape):
    report = read_file(as_bytes(shape()))
    assert (report.format, report.unread) == ("anthropic-messages", [])
    (trace,) = report.traces
    assert [message.role for message in trace.messages if message.role != "system"] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert len(trace.steps[0].tools) == 2


def test_a_list_in_lines_keeps_the_line_of_each_message():
    text = "\n".join(json.dumps(message) for message in (ASK, CALLS, RESULTS))
    (trace,) = open_trace(text.encode())
    assert [entry.line for entry in trace.entries] == [1, 2, 3, 3, 3]


def test_media_are_parts_and_never_text():
    png = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0"}}
    link = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    pdf = {
        "type": "document",
        "title": "a.pdf",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
    }
    words = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain words"}}
    stored = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    result = {"role": "user", "content": [gives("t1", [{"type": "text", "text": "Here:"}, png])]}
    asked = {"role": "user", "content": [link, pdf, words, stored]}
    (trace,) = open_trace(as_bytes([asked, CALLS, result]))
    assert trace.messages[0].content == [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"}},
        {"type": "text", "text": "plain words"},
        {"type": "file", "file": {"file_id": "file_1"}},
    ]
    assert trace.messages[2].content == [
        {"type": "text", "text": "Here:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0"}},
    ]


def test_tools_that_ran_at_the_provider_are_parts_that_nobody_answers():
    ran = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]}
    cited = [{"type": "text", "text": "It is "}, {"type": "text", "text": "so.", "citations": [{}]}]
    answer = response(ran, found, *cited)
    again = {"role": "assistant", "content": [ran, *cited]}
    (trace,) = open_trace(
        as_bytes(
            [
                {"request": request(ASK), "response": answer},
                {"request": request(ASK, again, ASK), "response": response(DONE)},
            ]
        )
    )
    assert trace.messages[2].content == [ran, found, {"type": "text", "text": "It is so."}]
    assert [step.tools for step in trace.steps] == [[], []]


def test_blocks_in_messages_of_openai_chat_lose_no_call():
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    mixed = {"role": "assistant", "content": [thinks("Hm."), {"type": "text", "text": "So."}], "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "5"}
    (trace,) = open_trace(as_bytes({"messages": [ASK, mixed, result]}))
    assert [(run.name, run.message) for run in trace.steps[0].tools] == [("add", 2)]
    assert (trace.messages[1].text, trace.messages[1].reasoning) == ("So.", "Hm.")


def test_hidden_thoughts_are_told_apart_from_none():
    hidden = {"type": "redacted_thinking", "data": "ZW5j"}
    (trace,) = open_trace(as_bytes({"request": request(ASK), "response": response(hidden, DONE)}))
    assert trace.messages[-1].extra["reasoning_details"] == [{"type": "reasoning.encrypted", "data": "ZW5j"}]
    assert trace.messages[-1].text == "5 and 9."


EVENTS = [
    {"type": "message_start", "message": {**response(), "stop_reason": None, "usage": {"input_tokens": 12}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Let me "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "add."}},
    {"type": "content_block_start", "index": 2, "content_block": {**uses("t1"), "input": {}}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a": '}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "2}"}},
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]
SSE = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in EVENTS)


@pytest.mark.parametrize("recorded", [SSE, EVENTS, {"status_code": 200, "body": SSE}])
def test_a_recorded_stream_is_one_answer(recorded):
    (trace,) = open_trace(as_bytes({"request": request(ASK), "response": recorded}))
    answer, step = trace.messages[-1], trace.steps[0]
    assert (answer.text, answer.reasoning, step.tools[0].arguments) == ("Let me add.", "Hm.", {"a": 2})
    assert (step.usage.prompt_tokens, step.usage.completion_tokens) == (12, 9)
    assert step.finish_reason == "tool_use"


def test_the_events_of_streams_in_lines_are_one_answer_each():
    text = "\n".join(json.dumps(event) for event in [*EVENTS[:-1], *EVENTS])
    report = read_file(text.encode())
    assert (report.format, report.unread) == ("anthropic-messages", [])
    assert [len(trace.messages) for trace in report.traces] == [1, 1]


def test_an_error_is_an_attempt_of_the_step_that_follows():
    busy = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    records = [{"request": request(ASK), "response": busy, "status": 529}, log()[0]]
    (trace,) = open_trace(as_bytes(records))
    assert [(retry["error"], retry["status"]) for retry in trace.steps[0].retries] == [("Overloaded", 529)]


def test_the_answers_of_a_batch_are_conversations_of_their_own():
    rows = [{"custom_id": str(n), "result": {"type": "succeeded", "message": response(DONE)}} for n in range(2)]
    report = read_file("\n".join(json.dumps(row) for row in rows).encode())
    assert (report.format, [trace.outcome.final for trace in report.traces]) == ("anthropic-messages", ["5 and 9."] * 2)


def test_arguments_that_were_cut_off_stay_as_text():
    cut = [*EVENTS[:9], *EVENTS[11:]]
    (trace,) = open_trace(as_bytes({"request": request(ASK), "response": cut}))
    call = trace.messages[-1].tool_calls[0]
    assert (call.text, call.problem is not None) == ('{"a": ', True)
