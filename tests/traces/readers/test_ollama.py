"""Ollama: streams of lines, nanoseconds, calls without ids and results that name the tool."""

import json

import pytest

from traces import read_file

COUNTS = {
    "total_duration": 2_000_000_000,
    "load_duration": 100_000_000,
    "prompt_eval_count": 26,
    "prompt_eval_duration": 300_000_000,
    "eval_count": 30,
    "eval_duration": 1_500_000_000,
}
ASK = {"role": "user", "content": "What is 2+3?"}
CALLS = {"role": "assistant", "content": "", "thinking": "Hm."}
CALLS["tool_calls"] = [{"function": {"name": "add", "arguments": {"a": 2}}}]
RESULT = {"role": "tool", "tool_name": "add", "content": "5"}


def response(message, **more):
    at = {"created_at": "2026-01-02T03:04:05.123456Z"}
    return {"model": "m:8b", **at, "message": message, "done": True, "done_reason": "stop", **COUNTS, **more}


def request(*messages):
    return {"model": "m:8b", "messages": list(messages), "options": {"num_ctx": 2048}}


def opened(*records):
    return read_file("\n".join(json.dumps(record) for record in records).encode())


def test_a_growing_log_is_one_conversation():
    report = opened(
        {"request": request(ASK), "response": response(CALLS)},
        {"request": request(ASK, CALLS, RESULT), "response": response({"role": "assistant", "content": "5."})},
    )
    (trace,) = report.traces
    assert (report.format, report.unread) == ("ollama", [])
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert trace.messages[1].reasoning == "Hm."
    assert [(run.name, run.arguments, run.message) for run in trace.steps[0].tools] == [("add", {"a": 2}, 2)]
    step = trace.steps[1]
    assert (step.latency_ms, step.first_token_ms, step.started) == (2000.0, 400.0, "2026-01-02T03:04:03.123Z")
    assert (step.usage.prompt_tokens, step.usage.completion_tokens, step.usage.total) == (26, 30, 56)
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "5.")


LINES = [
    {"model": "m:8b", "message": {"role": "assistant", "content": "", "thinking": "Hm."}, "done": False},
    {"model": "m:8b", "message": {"role": "assistant", "content": "It is "}, "done": False},
    {"model": "m:8b", "message": {"role": "assistant", "content": "5."}, "done": False},
    {"model": "m:8b", "created_at": "2026-01-02T03:04:05Z", "done": True, **COUNTS},
]


@pytest.mark.parametrize(
    "records",
    [
        LINES,
        [{"request": request(ASK), "response": LINES}],
        [{"request": request(ASK), "response": "\n".join(json.dumps(line) for line in LINES)}],
    ],
)
def test_a_stream_is_one_answer_with_the_counts_of_its_last_line(records):
    report = opened(*records)
    (trace,) = report.traces
    assert report.format == "ollama"
    assert (trace.messages[-1].text, trace.messages[-1].reasoning) == ("It is 5.", "Hm.")
    assert (trace.usage.total, trace.steps[0].latency_ms) == (56, 2000.0)


def test_two_streams_after_each_other_are_two_answers():
    assert [trace.messages[0].text for trace in opened(*LINES, *LINES).traces] == ["It is 5.", "It is 5."]


def test_a_stream_that_was_cut_off_is_kept():
    (trace,) = opened(*LINES[:2]).traces
    assert (trace.messages[0].text, trace.usage.total) == ("It is ", None)


def test_images_are_parts_with_their_kind():
    asked = {"role": "user", "content": "Look.", "images": ["iVBORw0KGgo", "/9j/4AAQ"]}
    (trace,) = opened({"model": "m", "messages": [asked]}).traces
    urls = [part["image_url"]["url"][:22] for part in trace.messages[0].content[1:]]
    assert urls == ["data:image/png;base64,", "data:image/jpeg;base64"]


def test_a_plain_generation():
    body = {"model": "m:8b", "system": "Be brief.", "prompt": "2+3?", "options": {}}
    answer = {"model": "m:8b", "response": "5.", "done": True, "context": [1, 2], **COUNTS}
    (trace,) = opened({"request": body, "response": answer}).traces
    assert [(message.role, message.text) for message in trace.messages] == [
        ("system", "Be brief."),
        ("user", "2+3?"),
        ("assistant", "5."),
    ]


def test_an_error_is_told():
    (trace,) = opened({"request": request(ASK), "response": {"error": "model not found"}, "status": 404}).traces
    assert (trace.outcome.reason, trace.outcome.detail) == ("model_error", "model not found")
