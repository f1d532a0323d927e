"""Logs of Inspect AI: what each sample said, cost and scored, whatever the log keeps elsewhere."""

import io
import json

import pytest
from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces import read_file
from traces.summary import summarise
from traces.zips import zipfile


def model_event(message, usage, start, end, **more):
    output = {"model": "m-1", "choices": [{"message": message, "stop_reason": "tool_calls"}], "usage": usage}
    times = {"timestamp": f"2026-01-05T10:00:{start}+00:00", "completed": f"2026-01-05T10:00:{end}+00:00"}
    return {"event": "model", "model": "maker/m-1", "input": [], "tools": [], "output": output, **times, **more}


ASK = {
    "id": "a1",
    "role": "assistant",
    "content": [{"type": "reasoning", "reasoning": "I should look."}, {"type": "text", "text": "Looking."}],
    "tool_calls": [{"id": "c1", "function": "look", "arguments": {"where": "hall"}}],
}
USED = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "input_tokens_cache_read": 64}
SAMPLE = {
    "id": "door",
    "epoch": 1,
    "input": "Is the door open?",
    "target": "yes",
    "messages": [
        {"id": "u1", "role": "user", "content": "Is the door open?", "source": "input"},
        ASK,
        {"id": "t1", "role": "tool", "content": "attachment://77", "tool_call_id": "c1", "function": "look"},
        {"id": "a2", "role": "assistant", "content": "Yes."},
    ],
    "output": {"model": "m-1", "choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
    "scores": {"match": {"value": "C", "answer": "Yes."}, "style": {"value": 0.4}},
    "events": [
        model_event(ASK, USED, "01", "03", tools=[{"name": "look", "description": "Looks.", "parameters": {}}]),
        {
            "event": "tool",
            "id": "c1",
            "function": "look",
            "timestamp": "2026-01-05T10:00:03+00:00",
            "completed": "2026-01-05T10:00:03.500000+00:00",
        },
        model_event({"id": "a2", "role": "assistant", "content": "Yes."}, USED, "04", "05"),
        model_event({"id": "g1", "role": "assistant", "content": "GRADE: C"}, USED, "05", "06"),
    ],
    "attachments": {"77": "The door is open."},
    "model_usage": {"maker/m-1": {"input_tokens": 300, "output_tokens": 60, "total_tokens": 360}},
    "total_time": 6.5,
}
LOG = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "doors",
        "model": "maker/m-1",
        "dataset": {"sample_ids": ["door", "gate"]},
        "config": {"epochs": 2},
    },
    "plan": {},
    "results": {"scores": [{"name": "match", "metrics": {"accuracy": {"name": "accuracy", "value": 1.0}}}]},
}


def trace_of(**changes):
    return opened({**LOG, "samples": [{**SAMPLE, **changes}]}).traces[0]


def test_a_sample_is_a_conversation_with_the_times_and_tokens_of_its_events():
    trace = trace_of()
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert trace.messages[1].reasoning == "I should look."
    assert trace.messages[2].text == "The door is open."
    first, second = trace.steps
    assert (first.latency_ms, first.usage.cached_tokens, first.finish_reason) == (2000, 64, "tool_calls")
    assert (first.tools[0].message, first.tools[0].latency_ms, first.tools[0].ok) == (2, 500, None)
    assert second.latency_ms == 1000
    assert (trace.model.provider, trace.model.name) == ("maker", "m-1")
    assert trace.tools[0]["function"]["name"] == "look"


def test_what_the_log_states_stands_beside_the_sum_and_the_grader_is_told():
    trace = trace_of()
    summary = summarise(trace)
    assert (summary.tokens.prompt_tokens, summary.reported.prompt_tokens) == (200, 300)
    assert summary.duration_s == 6.5
    assert any("no part of its final conversation: 1" in warning for warning in summary.warnings)


def test_scores_are_checks_and_a_degree_is_neither_yes_nor_no():
    evidence = {item.check: item.ok for item in trace_of().outcome.evidence}
    assert evidence == {"match": True, "style": None}
    assert trace_of(scores={"match": {"value": "I"}}).outcome.verified is False


@pytest.mark.parametrize(
    ("usage", "prompt", "completion"),
    [
        ({"input_tokens": 90, "output_tokens": 10, "total_tokens": 100, "input_tokens_cache_read": 60}, 90, 10),
        ({"input_tokens": 30, "output_tokens": 10, "total_tokens": 100, "input_tokens_cache_read": 60}, 90, 10),
        ({"input_tokens": 30, "output_tokens": 10, "input_tokens_cache_read": 60}, 90, 10),
        ({"input_tokens": 90, "output_tokens": 4, "total_tokens": 100, "reasoning_tokens": 6}, 90, 10),
        ({"input_tokens": 90, "output_tokens": 10, "total_tokens": 100, "reasoning_tokens": 6}, 90, 10),
    ],
)
def test_the_total_decides_what_the_input_and_the_output_hold(usage, prompt, completion):
    events = [model_event(ASK, usage, "01", "02")]
    step = trace_of(events=events).steps[0]
    assert (step.usage.prompt_tokens, step.usage.completion_tokens) == (prompt, completion)


def test_events_without_ids_belong_to_the_message_that_says_the_same():
    def plain(message):
        return {key: value for key, value in message.items() if key != "id"}

    messages = [plain(message) for message in SAMPLE["messages"]]
    events = [
        {**SAMPLE["events"][0], "output": {**SAMPLE["events"][0]["output"], "choices": [{"message": plain(ASK)}]}}
    ]
    trace = trace_of(messages=messages, events=[], transcript={"events": events})
    assert trace.steps[0].usage.prompt_tokens == 100
    assert trace.steps[1].usage is None


def test_answers_that_came_from_a_cache_under_the_same_id_count_each():
    again = {**ASK, "tool_calls": [{**ASK["tool_calls"][0], "id": "c2"}]}
    events = [model_event(ASK, USED, "01", "03"), model_event(again, {**USED, "input_tokens": 7}, "04", "05")]
    trace = trace_of(messages=[SAMPLE["messages"][0], ASK, SAMPLE["messages"][2], again], events=events)
    assert [step.usage.completion_tokens for step in trace.steps] == [20, 20]
    assert [step.latency_ms for step in trace.steps] == [2000, 1000]


def test_a_sample_without_messages_is_what_its_last_model_call_held():
    event = {**SAMPLE["events"][2], "input_refs": [[0, 1], [2, 3]]}
    pool = [SAMPLE["messages"][0], ASK, {"role": "user", "content": "And now?"}]
    trace = trace_of(messages=[], events=[event], events_data={"messages": pool, "calls": []})
    assert [message.text for message in trace.messages] == ["Is the door open?", "And now?", "Yes."]


def test_limits_and_errors_say_how_it_ended():
    assert trace_of(limit={"type": "token", "limit": 500}).outcome.reason == "token_budget"
    outcome = trace_of(error={"message": "no sandbox", "traceback": "..."}).outcome
    assert (outcome.reason, outcome.detail) == ("error", "no sandbox")
    failed = trace_of(messages=[], events=[], error={"message": "no sandbox"})
    assert failed.messages == []
    assert failed.outcome.detail == "no sandbox"


def test_a_tool_error_is_an_error_and_its_words_are_the_result():
    error = {"type": "timeout", "message": "it took too long"}
    result = {**SAMPLE["messages"][2], "content": "", "error": error}
    trace = trace_of(messages=[*SAMPLE["messages"][:2], result])
    run = trace.steps[0].tools[0]
    assert (run.ok, run.decision, trace.messages[2].text) == (False, "timed_out", "it took too long")


def test_images_and_files_are_parts_and_an_unknown_block_is_kept():
    blocks = [
        {"type": "image", "image": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "document", "document": "https://files.invalid/a.pdf", "filename": "a.pdf"},
        {"type": "hologram", "beam": 3},
    ]
    report = opened({**LOG, "samples": [{**SAMPLE, "messages": [{"role": "user", "content": blocks}]}]})
    assert [part["type"] for part in report.traces[0].messages[0].content] == ["image_url", "file", "hologram"]
    assert report.unread == ["a content block of the type hologram"]
    assert report.traces[0].entries[0].raw["content"] == blocks


def archive(*, header=True, samples=(), packing=zipfile.ZIP_STORED, cut=None):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", packing) as file:
        file.writestr("_journal/start.json", json.dumps(LOG))
        for sample in samples:
            file.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        if header:
            file.writestr("header.json", json.dumps(LOG))
    packed = data.getvalue()
    return read_file(packed if cut is None else packed.replace(*cut), "log.eval")


def test_samples_of_an_archive_come_in_the_order_of_the_data_set():
    names = [("gate", 2), ("gate", 1), ("door", 2), ("door", 1), ("in: out", 1)]
    report = archive(samples=[{**SAMPLE, "id": name, "epoch": epoch} for name, epoch in names])
    assert [trace.title for trace in report.traces] == [
        "doors: sample door, epoch 1",
        "doors: sample door, epoch 2",
        "doors: sample gate, epoch 1",
        "doors: sample gate, epoch 2",
        "doors: sample in: out, epoch 1",
    ]


def test_a_log_that_is_still_written_opens_and_one_without_samples_says_so():
    report = archive(header=False, samples=[SAMPLE])
    assert len(report.traces) == 1
    assert "still running" in report.warnings[0]
    empty = opened(LOG)
    assert (empty.format, empty.traces) == ("inspect-ai", [])
    assert "match accuracy 1.0" in empty.warnings[0]


def test_logs_packed_with_zstandard_open_and_a_damaged_member_costs_itself():
    assert len(archive(samples=[SAMPLE], packing=zipfile.ZIP_ZSTANDARD).traces) == 1
    magic = b"\x28\xb5\x2f\xfd"
    report = archive(samples=[SAMPLE], packing=zipfile.ZIP_ZSTANDARD, cut=(magic, b"\0\0\0\0", 1))
    assert len(report.traces) == 1
    assert "_journal/start.json cannot be unpacked" in report.warnings[0]


@given(damaged({**LOG, "samples": [SAMPLE]}))
def test_damage_costs_a_part_and_never_the_file(value):
    survives(value, "inspect-ai")
