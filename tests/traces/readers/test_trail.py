"""TRAIL: nested spans, and what people found wrong in them."""

import json

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise

CALL = {
    "timestamp": "2026-05-28T20:26:01.000000Z",
    "trace_id": "t",
    "span_id": "2",
    "parent_span_id": "1",
    "span_name": "LiteLLMModel.__call__",
    "span_attributes": {
        "openinference.span.kind": "LLM",
        "llm.model_name": "m",
        "llm.token_count.prompt": "10",
        "llm.token_count.completion": "2",
        "llm.token_count.total": "12",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "What is 2+3?\u0000",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "It is 6.",
    },
    "duration": "PT1M24.5S",
    "status_code": "Unset",
    "events": [],
    "logs": [],
    "child_spans": [],
}
ROOT = {**CALL, "span_id": "1", "parent_span_id": None, "span_name": "main", "span_attributes": {}, "duration": "PT2M"}
TRACE = {"trace_id": "t", "spans": [{**ROOT, "child_spans": [CALL]}]}
LABELS = """{"errors": [{"category": "Wrong sum", "location": "2", "evidence": "6", "description": "It is 5.",
 "impact": "HIGH"},], "scores": [{"reliability_score": 1, "reliability_reasoning": "no", "overall": 2.5}]}"""


def test_nested_spans_are_a_conversation():
    report = opened(TRACE)
    (trace,) = report.traces
    assert (report.format, trace.title) == ("trail", "main")
    assert [message.role for message in trace.messages] == ["user", "assistant"]
    assert (summarise(trace).tokens.total, trace.steps[0].latency_ms) == (12, 84_500)
    assert summarise(trace).duration_s == 120


def test_rows_of_the_data_set_hold_json_as_text_and_labels_stand_beside_the_trace():
    (trace,) = opened(({"trace": json.dumps(TRACE), "labels": LABELS},)).traces
    (note,) = trace.notes
    assert (note["kind"], note["text"]) == ("mistake", "Wrong sum in LiteLLMModel.__call__, impact HIGH: It is 5.")
    assert [(check.check, check.detail) for check in trace.outcome.evidence] == [
        ("reliability_score", "1"), ("overall", "2.5")
    ]  # fmt: skip


@given(damaged({"trace": TRACE, "labels": json.loads(LABELS.replace("},]", "}]"))}))
def test_damaged_traces_never_bring_the_reader_down(value):
    survives(value, "trail")
