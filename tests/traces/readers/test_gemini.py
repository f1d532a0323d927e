"""Google Gemini: parts become text, thoughts, calls, results and media, in the API's spelling and in Python's."""

import json

import pytest

from traces import open_trace, read_file

ASK = {"role": "user", "parts": [{"text": "What is 2+3 and 4+5?"}]}
CALLS = {
    "role": "model",
    "parts": [
        {"text": "Two sums.", "thought": True},
        {"functionCall": {"name": "add", "args": {"a": 2}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "add", "args": {"a": 4}}},
    ],
}
RESULTS = {
    "role": "user",
    "parts": [
        {"functionResponse": {"name": "add", "response": {"output": "5"}}},
        {"functionResponse": {"name": "add", "response": {"error": "no"}}},
    ],
}
USAGE = {"promptTokenCount": 20, "candidatesTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 32}


def response(*parts, finish="STOP", **more):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    candidate |= {"finishReason": finish} if finish else {}
    return {"candidates": [candidate], "modelVersion": "gemini-x", "usageMetadata": USAGE, **more}


def request(*contents):
    tools = [{"functionDeclarations": [{"name": "add", "parametersJsonSchema": {"type": "object"}}]}]
    tools.append({"googleSearch": {}})
    return {"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": list(contents), "tools": tools}


def opened(value):
    return read_file(json.dumps(value).encode())


def test_a_growing_log_is_one_conversation():
    report = opened(
        [
            {"request": request(ASK), "response": response(*CALLS["parts"])},
            {"request": request(ASK, CALLS, RESULTS), "response": response({"text": "5 and 9."})},
        ]
    )
    (trace,) = report.traces
    assert (report.format, report.unread) == ("gemini-contents", [])
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert trace.messages[2].reasoning == "Two sums."
    assert [(run.arguments, run.message, run.ok) for run in trace.steps[0].tools] == [
        ({"a": 2}, 3, None),
        ({"a": 4}, 4, False),
    ]
    assert trace.messages[3].text == "5"
    usage = trace.steps[0].usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens, usage.total) == (20, 12, 7, 32)
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "5 and 9.")
    assert trace.tools[0]["function"] == {"name": "add", "parameters": {"type": "object"}}
    assert trace.tools[1]["name"] == "googleSearch"


@pytest.mark.parametrize(
    "shape",
    [
        lambda: [ASK, CALLS, RESULTS],
        lambda: {"contents": [ASK, CALLS, RESULTS]},
        lambda: {"history": [ASK, CALLS, RESULTS]},
        lambda: [{"contents": [ASK, CALLS, RESULTS]}],
    ],
)
def test_the_same_conversation_in_other_wrappings(shape):
    report = opened(shape())
    (trace,) = report.traces
    assert report.format == "gemini-contents"
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "tool"]


def snake(value):
    names = {
        "functionCall": "function_call",
        "functionResponse": "function_response",
        "usageMetadata": "usage_metadata",
        "promptTokenCount": "prompt_token_count",
        "candidatesTokenCount": "candidates_token_count",
        "thoughtsTokenCount": "thoughts_token_count",
        "totalTokenCount": "total_token_count",
        "finishReason": "finish_reason",
        "modelVersion": "model_version",
        "systemInstruction": "system_instruction",
        "functionDeclarations": "function_declarations",
        "parametersJsonSchema": "parameters_json_schema",
    }
    if isinstance(value, dict):
        return {names.get(key, key): snake(item) for key, item in value.items()}
    return [snake(item) for item in value] if isinstance(value, list) else value


def test_the_spelling_of_the_python_library():
    records = [
        {"request": request(ASK), "response": response(*CALLS["parts"])},
        {"request": request(ASK, CALLS, RESULTS), "response": response({"text": "5 and 9."})},
    ]
    (camel,), (other,) = opened(records).traces, opened(snake(records)).traces
    assert [message.to_dict() for message in other.messages] == [message.to_dict() for message in camel.messages]
    assert [step.usage for step in other.steps] == [step.usage for step in camel.steps]
    assert other.steps[1].finish_reason == "STOP"


CHUNKS = [
    response({"text": "Hm.", "thought": True}, finish=None),
    response({"text": "It is "}, finish=None, usageMetadata={"promptTokenCount": 20}),
    response({"text": "5."}, finish="STOP", usageMetadata={**USAGE, "cachedContentTokenCount": 4}),
]


@pytest.mark.parametrize(
    "recorded",
    [
        {"request": request(ASK), "response": CHUNKS},
        {"request": request(ASK), "response": "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in CHUNKS)},
        {"request": request(ASK), "response": json.dumps(CHUNKS)},
        CHUNKS,
    ],
)
def test_a_recorded_stream_is_one_answer_with_the_last_counts(recorded):
    report = opened(recorded)
    (trace,) = report.traces
    assert report.format == "gemini-contents"
    assert (trace.messages[-1].text, trace.messages[-1].reasoning) == ("It is 5.", "Hm.")
    usage = trace.usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.total) == (20, 4, 12, 32)


def test_a_recording_of_answers_alone_is_one_run():
    records = [
        {"method": "generateContentStream", "response": [response(*CALLS["parts"])]},
        {"method": "countTokens", "response": {"totalTokens": 3}},
        {"method": "generateContent", "response": response({"text": "5."})},
    ]
    report = read_file("\n".join(json.dumps(record) for record in records).encode())
    (trace,) = report.traces
    assert [len(step.tools) for step in trace.steps] == [2, 0]
    assert trace.usage.total == 64
    assert len(report.unread) == 1


def test_media_are_parts_and_never_text():
    asked = {
        "role": "user",
        "parts": [
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0"}},
            {"file_data": {"mime_type": "application/pdf", "file_uri": "gs://a/b.pdf"}},
            {"inlineData": {"mimeType": "audio/wav", "data": "UklG"}},
        ],
    }
    ran = {"role": "model", "parts": [{"executableCode": {"code": "1+1"}}, {"codeExecutionResult": {"output": "2"}}]}
    shot = {"functionResponse": {"name": "see", "response": {"output": "ok"}, "parts": [asked["parts"][0]]}}
    calls = {"role": "model", "parts": [{"functionCall": {"name": "see", "args": {}}}]}
    (trace,) = opened([asked, ran, ASK, calls, {"role": "user", "parts": [shot]}]).traces
    assert trace.messages[0].content == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0"}},
        {"type": "file", "file": {"file_url": "gs://a/b.pdf"}},
        {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
    ]
    assert [part["type"] for part in trace.messages[1].content] == ["gemini", "gemini"]
    assert [part["type"] for part in trace.messages[4].content] == ["text", "image_url"]


def test_a_blocked_prompt_is_an_error():
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}}
    (trace,) = opened({"request": request(ASK), "response": blocked}).traces
    assert (trace.outcome.reason, trace.outcome.detail) == ("model_error", "the prompt was blocked: SAFETY")


@pytest.mark.parametrize("finish", [("MAX_TOKENS", "truncated"), ("SAFETY", "refused"), ("OTHER", None)])
def test_how_an_answer_ended(finish):
    (trace,) = opened({"request": request(ASK), "response": response({"text": "x"}, finish=finish[0])}).traces
    assert trace.outcome.reason == finish[1]


def test_a_message_of_typed_parts_is_of_another_format():
    assert opened([{"role": "user", "parts": [{"type": "text", "text": "hi"}]}]).format != "gemini-contents"


def test_an_empty_question_is_kept():
    (trace,) = open_trace(json.dumps([{"role": "user", "parts": [{"text": ""}]}, CALLS]).encode())
    assert [message.role for message in trace.messages] == ["user", "assistant"]
