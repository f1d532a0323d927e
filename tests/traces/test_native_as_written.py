"""A native file that is just as we write it is read by a shorter way, and to the same trace."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import InputError
from agent.trace import Trace
from traces import read_file

STEP = {
    "index": 1, "started": "2026-11-29T12:00:00.000Z", "reply": 1, "request": {"upto": 1, "edits": []},
    "finish_reason": "tool_calls", "latency_ms": 812, "first_token_ms": None, "cost": 0.25, "model": None,
    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "cached_tokens": None,
              "cache_write_tokens": None, "reasoning_tokens": 0, "estimated": False},
    "tools": [{"tool_call_id": "c1", "name": "add", "arguments": {"a": {"b": [1]}}, "message": 2, "started": None,
               "latency_ms": 0.5, "ok": True, "decision": "run"}],
    "retries": [], "warnings": ["slow"],
}  # fmt: skip
ENTRY = {"maker": "user", "at": "2026-11-29T12:00:00.000Z", "step": None, "agent": None, "raw": None, "line": None}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": {"b": [1]}}'}}
TRACE = {
    "schema": "agent-trace/1",
    "trace_id": "t1",
    "created": "2026-11-29T12:00:00.000Z",
    "messages": [
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
    ],
    "entries": [ENTRY, {**ENTRY, "maker": "model", "step": 1}, {**ENTRY, "maker": "environment", "step": 1}],
    "steps": [STEP],
}


def read(value):
    """The trace and the warnings; the error where it is refused."""
    try:
        report = read_file(json.dumps(value).encode(), "x")
    except InputError as error:
        return None, str(error)
    return report.traces[0].to_dict(), report.warnings


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*path, key))


def changed(path, new):
    value = copy.deepcopy(TRACE)
    place = value
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return value


def test_it_is_the_trace_that_was_written():
    assert Trace.from_dict(TRACE).to_dict() == read(TRACE)[0]


@pytest.mark.parametrize("where", [("entries", 0), ("steps", 0), ("steps", 0, "tools", 0), ("steps", 0, "request")])
def test_an_unknown_key_is_kept_and_changes_nothing_else(where):
    plain, _ = read(TRACE)
    odd, warnings = read(changed((*where, "new"), {"x": 1}))
    place = odd
    for key in where:
        place = place[key]
    assert place.pop("new") == {"x": 1}
    assert odd == plain
    assert warnings == []


def test_a_known_key_that_is_missing_beside_an_unknown_one_takes_its_default():
    step = {key: value for key, value in STEP.items() if key != "model"}
    odd, _ = read({**TRACE, "steps": [{**step, "new": 1}]})
    assert odd["steps"][0] == {**STEP, "new": 1}


@pytest.mark.parametrize("count", [-5, 10**30, 1.5, "7", True, [], {}])
def test_what_is_no_count_of_tokens_is_not_reported(count):
    odd, _ = read(changed(("steps", 0, "usage", "cached_tokens"), count))
    assert odd["steps"][0]["usage"]["cached_tokens"] in (None, int(count) if count == 1.5 else None)
    assert odd["steps"][0]["usage"]["prompt_tokens"] == 100


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([path for path in places(TRACE) if len(path) > 2 and path[0] != "messages"]),
    st.sampled_from([None, True, 0, -1, 3, 10**30, 0.5, float("nan"), "", "x", [], [1], ["x"], {}, {"a": 1}]),
)
def test_a_wrong_value_is_read_the_same_by_both_ways(path, new):
    """An unknown key beside it closes the shorter way."""
    value = changed(path, new)
    short, short_warnings = read(value)
    value["entries"] = [{**entry, "new": 1} if isinstance(entry, dict) else entry for entry in value["entries"]]
    long, long_warnings = read(value)
    for entry in long["entries"] if long else ():
        entry.pop("new", None)
    assert short == long
    assert short_warnings == long_warnings
