"""Amazon Bedrock Converse, and other APIs that Bedrock serves: logs, recordings of HTTP, and invocation logs."""

import base64
import json

import pytest

from traces import read_file

ASK = {"role": "user", "content": [{"text": "What is 2+3 and 4+5?"}]}
CALLS = {
    "role": "assistant",
    "content": [
        {"reasoningContent": {"reasoningText": {"text": "Two sums.", "signature": "c2ln"}}},
        {"text": "Let me add."},
        {"toolUse": {"toolUseId": "t1", "name": "add", "input": {"a": 2}}},
        {"toolUse": {"toolUseId": "t2", "name": "add", "input": {"a": 4}}},
    ],
}
RESULTS = {
    "role": "user",
    "content": [
        {"toolResult": {"toolUseId": "t1", "content": [{"json": {"sum": 5}}], "status": "success"}},
        {"toolResult": {"toolUseId": "t2", "content": [{"text": "no"}], "status": "error"}},
        {"cachePoint": {"type": "default"}},
        {"text": "Be quick."},
    ],
}


def response(*blocks, stop="end_turn", **usage):
    usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15, **usage}
    message = {"role": "assistant", "content": list(blocks)}
    return {"output": {"message": message}, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 120}}


def request(*messages):
    spec = {"name": "add", "inputSchema": {"json": {"type": "object"}}}
    tools = {"tools": [{"toolSpec": spec}, {"cachePoint": {"type": "default"}}]}
    return {"system": [{"text": "Be brief."}], "messages": list(messages), "inferenceConfig": {}, "toolConfig": tools}


def opened(value):
    return read_file(json.dumps(value).encode())


def test_a_growing_log_is_one_conversation():
    report = opened(
        [
            {"request": request(ASK), "response": response(*CALLS["content"], stop="tool_use")},
            {"request": request(ASK, CALLS, RESULTS), "response": response({"text": "5 and 9."})},
        ]
    )
    (trace,) = report.traces
    assert (report.format, report.unread, report.repaired) == ("bedrock-converse", [], [])
    roles = ["system", "user", "assistant", "tool", "tool", "user", "assistant"]
    assert [message.role for message in trace.messages] == roles
    assert (trace.messages[2].text, trace.messages[2].reasoning) == ("Let me add.", "Two sums.")
    assert [(run.message, run.ok) for run in trace.steps[0].tools] == [(3, None), (4, False)]
    assert [trace.messages[at].text for at in (3, 4, 5)] == ['{"sum": 5}', "no", "Be quick."]
    assert [step.latency_ms for step in trace.steps] == [120.0, 120.0]
    assert trace.tools == [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
    assert trace.outcome.reason == "final"


@pytest.mark.parametrize(
    ("reported", "prompt"),
    [
        ({"cacheReadInputTokens": 100, "cacheWriteInputTokens": 7, "totalTokens": 122}, 117),
        ({"cacheReadInputTokens": 100, "cacheWriteInputTokens": 7}, 117),
        ({"cacheReadInputTokens": 8, "inputTokens": 10, "totalTokens": 15}, 10),
        ({"cacheReadInputTokens": 8, "inputTokens": 10, "totalTokens": 23}, 18),
        ({}, 10),
    ],
)
def test_cached_tokens_are_part_of_the_prompt(reported, prompt):
    (trace,) = opened({"request": request(ASK), "response": response({"text": "x"}, **reported)}).traces
    usage = trace.steps[0].usage
    assert (usage.prompt_tokens, usage.cached_tokens) == (prompt, reported.get("cacheReadInputTokens"))


EVENTS = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "Hm."}}, "contentBlockIndex": 0}},
    {"contentBlockDelta": {"delta": {"text": "Let me "}, "contentBlockIndex": 1}},
    {"contentBlockDelta": {"delta": {"text": "add."}, "contentBlockIndex": 1}},
    {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "t1", "name": "add"}}, "contentBlockIndex": 2}},
    {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"a": '}}, "contentBlockIndex": 2}},
    {"contentBlockDelta": {"delta": {"toolUse": {"input": "2}"}}, "contentBlockIndex": 2}},
    {"contentBlockStop": {"contentBlockIndex": 2}},
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}, "metrics": {"latencyMs": 9}}},
]


def test_a_recorded_stream_is_one_answer():
    (trace,) = opened({"request": request(ASK), "response": EVENTS}).traces
    answer, step = trace.messages[-1], trace.steps[0]
    assert (answer.text, answer.reasoning, step.tools[0].arguments) == ("Let me add.", "Hm.", {"a": 2})
    assert (step.usage.total, step.latency_ms, step.finish_reason) == (7, 9.0, "tool_use")


def test_a_thought_that_only_the_provider_can_read_comes_in_pieces_too():
    hidden = [{"reasoningContent": {"redactedContent": piece}} for piece in ("b3Bh", "cXVl")]
    pieces = [{"contentBlockDelta": {"delta": delta, "contentBlockIndex": 1}} for delta in hidden]
    (trace,) = opened({"request": request(ASK), "response": [EVENTS[0], EVENTS[1], *pieces, EVENTS[-1]]}).traces
    assert trace.messages[-1].reasoning == "Hm."
    assert trace.messages[-1].extra["reasoning_details"] == [{"type": "reasoning.encrypted", "data": "b3BhcXVl"}]


def test_other_names_of_the_cache_are_known():
    reported = {"cacheReadInputTokenCount": 100, "cacheWriteInputTokenCount": 7}
    (trace,) = opened({"request": request(ASK), "response": response({"text": "x"}, **reported)}).traces
    assert (trace.steps[0].usage.prompt_tokens, trace.steps[0].usage.cached_tokens) == (117, 100)


def frame(kind, payload):
    """One message of Amazon's binary event stream."""
    names = ((b":event-type", kind.encode()), (b":content-type", b"application/json"))
    headers = b"".join(bytes([len(n)]) + n + b"\x07" + len(v).to_bytes(2, "big") + v for n, v in names)
    body = json.dumps(payload).encode()
    length = (len(headers) + len(body) + 16).to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    return length + b"sum1" + headers + body + b"sum2"


def test_binary_streams_of_converse_and_of_another_api():
    scope = {"scope": "https://bedrock-runtime.us-east-1.amazonaws.com:443", "responseIsBinary": True}
    stream = b"".join(frame(kind, payload) for event in EVENTS for kind, payload in event.items())
    converse = {**scope, "body": request(ASK), "response": stream.hex()}
    events = [
        {"type": "message_start", "message": {"model": "c", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me add."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
    ]
    chunks = [frame("chunk", {"bytes": base64.b64encode(json.dumps(event).encode()).decode()}) for event in events]
    body = {"anthropic_version": "bedrock-2023-05-31", "messages": [{"role": "user", "content": "hi"}]}
    invoke = {**scope, "body": body, "response": b"".join(chunks).hex()}
    for record in (converse, invoke):
        report = opened([record])
        (trace,) = report.traces
        assert report.format == "bedrock-converse"
        assert (trace.messages[-1].text, trace.steps[0].usage.total) == ("Let me add.", 7)
    cut = {**converse, "response": stream.hex()[:-10]}
    assert opened([cut]).traces[0].messages[-1].text == "Let me add."


def test_an_error_of_http_is_told():
    record = {"body": request(ASK), "status": 400, "response": {"message": "The model is unknown."}}
    (trace,) = opened([record]).traces
    assert (trace.outcome.reason, trace.outcome.detail) == ("model_error", "The model is unknown.")


def test_a_recording_of_http_and_an_invocation_log():
    scope = {"scope": "https://bedrock-runtime.us-east-1.amazonaws.com:443", "method": "POST", "path": "/x/converse"}
    recording = [{**scope, "body": request(ASK), "status": 200, "response": response({"text": "9."})}]
    logged = {"schemaType": "ModelInvocationLog", "timestamp": "2026-01-02T03:04:05Z", "modelId": "m-1"}
    logged |= {"input": {"inputBodyJson": request(ASK)}, "output": {"outputBodyJson": response({"text": "9."})}}
    for value in (recording, logged):
        report = opened(value)
        (trace,) = report.traces
        assert report.format == "bedrock-converse"
        assert [message.text for message in trace.messages] == ["Be brief.", "What is 2+3 and 4+5?", "9."]
    assert trace.created == "2026-01-02T03:04:05Z"


def test_another_api_that_bedrock_serves():
    body = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    answer = {"type": "message", "content": [{"type": "text", "text": "ho"}], "stop_reason": "end_turn"}
    recording = {"scope": "https://bedrock-runtime.eu-west-1.amazonaws.com:443", "body": body, "response": answer}
    report = opened([recording])
    assert report.format == "bedrock-converse"
    assert [message.text for message in report.traces[0].messages] == ["hi", "ho"]


def test_media_are_parts_and_never_text():
    asked = {
        "role": "user",
        "content": [
            {"image": {"format": "png", "source": {"bytes": "iVBORw0"}}},
            {"document": {"format": "pdf", "name": "a", "source": {"bytes": "JVBE"}}},
            {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://a/b.mp4"}}}},
            {"guardContent": {"text": {"text": "x"}}},
        ],
    }
    (trace,) = opened({"messages": [asked, CALLS]}).traces
    assert trace.messages[0].content == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0"}},
        {"type": "file", "file": {"filename": "a", "file_data": "data:application/pdf;base64,JVBE"}},
        {"type": "file", "file": {"file_url": "s3://a/b.mp4"}},
        {"type": "bedrock", "guardContent": {"text": {"text": "x"}}},
    ]


def test_a_plain_list_of_messages():
    report = opened([ASK, CALLS, RESULTS])
    assert (report.format, len(report.traces[0].messages)) == ("bedrock-converse", 5)
