"""Whatever a file holds: a report or one clear sentence, never a traceback."""

import contextlib
import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.errors import InputError
from traces import read_file
from traces.figures import latency_per_step, tokens_per_step
from traces.summary import summarise
from traces.tables import messages_frame, runs_frame, steps_frame

KEYS = [
    "schema", "messages", "role", "content", "tool_calls", "function", "function_call", "name", "arguments", "id",
    "request", "response", "choices", "message", "usage", "prompt_tokens", "total_tokens", "error", "status", "seconds",
    "contents", "parts", "text", "candidates", "usageMetadata", "functionCall", "args", "client_chunks", "delta",
    "index", "tool_call_id", "trace_id", "steps", "entries", "outcome", "snapshot", "trace", "created", "model",
    "tools", "reply", "type", "image_url", "url", "finish_reason", "prompt_tokens_details", "reasoning_details",
]  # fmt: skip
WORDS = [
    "user",
    "assistant",
    "tool",
    "function",
    "agent-trace/1",
    "agent-journal/1",
    "data: {}",
    "{}",
    "[1",
    "",
    "\ud800",
]
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=30,
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": scalars | values},
    optional={"tool_calls": values, "tool_call_id": scalars, "function_call": values, "name": scalars},
)
conversations = st.lists(messages, max_size=6)
requests = st.fixed_dictionaries({"messages": conversations}, optional={"tools": values, "model": scalars})
responses = st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"message": messages | values}) | values, max_size=2)},
    optional={"usage": values, "model": scalars, "created": scalars, "error": values},
)
exchanges = st.fixed_dictionaries(
    {"request": requests | values, "response": responses | values},
    optional={"status": scalars, "seconds": scalars, "client_chunks": values},
)
natives = st.fixed_dictionaries(
    {"schema": st.sampled_from(["agent-trace/1", "agent-journal/1"])},
    optional={
        "messages": conversations | values,
        "entries": st.lists(st.fixed_dictionaries({"maker": scalars}) | values, max_size=3),
        "steps": st.lists(st.fixed_dictionaries({"index": scalars, "reply": scalars}) | values, max_size=3),
        "outcome": values,
        "snapshot": values,
        "trace_id": scalars,
    },
)


def look_at(data: bytes) -> None:
    with contextlib.suppress(InputError):
        report = read_file(data, "x")
        for trace in report.traces:
            json.dumps(summarise(trace).to_dict())
            messages_frame(trace)
            steps = steps_frame(trace)
            tokens_per_step(steps)
            latency_per_step(steps, runs_frame(trace))


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(data):
    look_at(data)


@settings(max_examples=150, deadline=None)
@given(values | conversations | st.lists(exchanges, max_size=4) | natives | st.lists(requests | responses, max_size=3))
@example([{"request": {"messages": []}, "response": {"choices": []}}, {"request": {}, "response": {"choices": 1}}])
def test_any_json(value):
    look_at(json.dumps(value).encode())


@settings(deadline=None)
@given(st.lists(messages | exchanges | natives | scalars, min_size=1, max_size=6), st.integers(0, 200))
def test_any_lines_cut_off_anywhere(values, cut):
    data = "\n".join(map(json.dumps, values)).encode()
    look_at(data[: max(0, len(data) - cut)])
