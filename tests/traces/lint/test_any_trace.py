"""The linter never fails, whatever a file holds, and its time grows with the length of a trace and no faster."""

from __future__ import annotations

import json
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import InputError
from agent.trace import Trace
from tests.traces.lint.talk import asks, call, result, says, talk, user
from traces.carry import carried
from traces.composition import composition
from traces.lint import RULES, lint
from traces.opening import open_trace

ids = st.sampled_from(["", "a", "b", "c"])
texts = st.sampled_from(
    ["", "x", "42", "Error: no", "Observation: x", "I have saved it to a.txt.", "\ud800", "是否完成"]
)
arguments = st.sampled_from(["{}", '{"a": 1}', "[]", "{", '{"a": NaN}', '{"a": 1e999}', "null"])
calls = st.builds(
    lambda i, n, a: {"id": i, "function": {"name": n, "arguments": a}}, ids, st.sampled_from(["f", "g", ""]), arguments
)
messages = st.one_of(
    st.builds(lambda t: {"role": "user", "content": t}, texts),
    st.builds(lambda t, c: {"role": "assistant", "content": t, "tool_calls": c}, texts, st.lists(calls, max_size=3)),
    st.builds(lambda t, i: {"role": "tool", "content": t, "tool_call_id": i}, texts, ids),
    st.builds(lambda t: {"role": "system", "content": [{"type": "text", "text": t}]}, texts),
    st.builds(lambda r: {"role": r, "content": None}, st.sampled_from(["function", "developer", "nobody"])),
)  # fmt: skip
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["a"]}}},
    {"type": "function", "function": {"name": "g", "parameters": 7}},
    {"type": "function", "function": None},
]


@settings(max_examples=150, deadline=None)
@given(st.lists(messages, max_size=14), st.booleans())
def test_any_list_of_messages(given_messages: list[dict[str, Any]], with_tools: bool) -> None:
    check(talk(*given_messages, tools=TOOLS if with_tools else []))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_of_a_trace_of_ours(data: st.DataObject) -> None:
    made = talk(user("go"), asks(call("f", a=1)), result("x"), says("x"), tools=TOOLS[:1])
    sound = json.loads(json.dumps(made.to_dict()))
    place: Any = sound
    for _ in range(data.draw(st.integers(0, 4))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)):
            place[key] = data.draw(json_values)
            break
        place = place[key]
    try:
        traces = open_trace(json.dumps(sound).encode())
    except InputError:
        return
    for trace in traces:
        check(trace)


def check(trace: Trace) -> None:
    for finding in lint(trace):
        assert RULES[finding.rule.name] is finding.rule
        assert finding.sentence
        assert json.dumps(finding.to_dict())
        assert all(0 <= at < len(trace.messages) for at in finding.evidence)
    for step in composition(trace).steps:
        assert sum(step.tokens) == step.total
    assert len(carried(trace)) == len(trace.messages)


def test_ten_times_the_messages_take_about_ten_times_as_long() -> None:
    def seconds(count: int) -> float:
        trace = talk(user("go"), *(m for n in range(count) for m in (asks(call("f", a=n % 7)), result(f"x{n % 3}"))))
        start = time.perf_counter()
        lint(trace)
        return time.perf_counter() - start

    seconds(100)
    assert min(seconds(5000) for _ in range(3)) < 40 * min(seconds(500) for _ in range(3))
