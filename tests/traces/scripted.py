"""Recorded runs and imports for the tests of scripts, and the question whether a replay is the recorded run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agent import (
    FakeModel,
    Loop,
    Tool,
    ToolCall,
    Trace,
)
from agent.scripts import parse_script, play
from traces import open_trace
from traces.scripting import replay, script_data, script_text

ASK = [ToolCall("c1", "add", {"a": 2, "b": 3})]


def run_of(said: Sequence[Any], tools: Sequence[Tool] = (), words: Any = "go", **more: Any) -> Trace:
    """A finished run of ours."""
    loop = Loop(FakeModel(said), tools, **more)
    loop.start(words)
    loop.finish()
    return loop.trace


def imported(chat: list[dict[str, Any]], save: Callable[..., Any]) -> Trace:
    """The trace that a reader makes of these messages."""
    (trace,) = open_trace(save({"messages": chat}))
    return trace


def is_same(trace: Trace) -> None:
    """The replay is the recorded run, also a strict one of what was written to a file."""
    replayed = replay(trace)
    assert [str(difference) for difference in replayed.differences] == []
    data = script_data(trace)
    for as_json in (False, True):
        text, ending = script_text(data, as_json=as_json)
        script = parse_script(text, f"x{ending}")
        loop = script.loop(pace=0)
        play(loop, script)
        assert data["replay"]["mode"] == "strict"
        assert [message.role for message in loop.messages] == [message.role for message in trace.messages]
        assert loop.trace.outcome.reason == trace.outcome.reason
    ran = [[(tool.name, tool.arguments, tool.ok) for tool in step.tools] for step in trace.steps]
    assert ran == [[(tool.name, tool.arguments, tool.ok) for tool in step.tools] for step in replayed.trace.steps]


def call(call_id: str, name: str = "add", arguments: str = '{"a": 1}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
