"""The log of a recording whose program was killed: whatever is left of it opens."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import InputError
from tests.traces.readers.damage import damaged
from traces import read_file
from traces.summary import summarise

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}
RUN = {"tool_call_id": "c1", "name": "add", "arguments": {"a": 2, "b": 3}}
LINES = [
    {
        "schema": "agent-recording/1",
        "head": {"trace_id": "abc", "title": "mine", "source": {"kind": "run", "format": "recording"}, "notes": []},
        "messages": [
            {"role": "user", "content": "What is 2+3?"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
        ],
        "entries": [{"maker": "user"}, {"maker": "model", "step": 1}],
        "steps": [{"index": 1, "reply": 1, "request": {"upto": 1}, "tools": [RUN], "latency_ms": 5}],
    },
    {
        "head": {"title": "changed"},
        "messages": [
            {"role": "tool", "tool_call_id": "c1", "content": "5"},
            {"role": "assistant", "content": "It is 5."},
        ],
        "entries": [{"maker": "environment", "step": 1}, {"maker": "model", "step": 2}],
        "steps": [
            {"index": 1, "reply": 1, "request": {"upto": 1}, "tools": [{**RUN, "message": 2}], "latency_ms": 5},
            {"index": 2, "reply": 3, "request": {"upto": 3}, "usage": {"prompt_tokens": 7}},
        ],
    },
]


def log(lines):
    return "\n".join(map(json.dumps, lines)).encode()


def test_the_lines_make_the_trace_as_it_stood():
    report = read_file(log(LINES) + b"\0" * 4096)
    (trace,) = report.traces
    assert report.format == "agent-recording/1"
    assert (trace.trace_id, trace.title) == ("abc", "changed")
    summary = summarise(trace)
    assert (summary.messages, summary.steps, summary.tool_calls, summary.unpaired_calls) == (4, 2, 1, 0)
    assert trace.usage.prompt_tokens == 7
    assert "before its recording was closed" in report.warnings[0]


def test_a_torn_last_line_costs_that_line():
    report = read_file(log(LINES)[:-40])
    (trace,) = report.traces
    assert [message.role for message in trace.messages] == ["user", "assistant"]
    assert len(report.bad_lines) == 1


@given(damaged(LINES), st.integers(0, 60))
@settings(max_examples=150, deadline=None)
def test_damage_never_raises_more_than_a_sentence(lines, torn):
    data = log(lines if isinstance(lines, list) else [lines])
    try:
        report = read_file(data[: len(data) - torn], format="agent-recording/1")
    except InputError as error:
        assert str(error)
        return
    for trace in report.traces:
        summarise(trace)
