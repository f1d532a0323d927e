"""Spans of made-up runs in the shapes of OpenTelemetry, for the tests of several readers."""

from __future__ import annotations

import json
from typing import Any

T = 1_780_000_000
"""Unix seconds at which the runs begin."""
SYSTEM = {"role": "system", "parts": [{"type": "text", "content": "You add."}]}
ASK = {"role": "user", "parts": [{"type": "text", "content": "What is 2+3?"}]}
CALL = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "add", "arguments": {"a": 2, "b": 3}}]}
RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "5"}]}
ANSWER = {"role": "assistant", "parts": [{"type": "text", "content": "It is 5."}], "finish_reason": "stop"}


def span(number: int, name: str, begin: float, end: float | None, parent: int | None = None, **more: Any) -> Any:
    """One span as Python's console exporter writes it; ``more`` replaces or adds keys."""
    data = {
        "name": name,
        "context": {"trace_id": "0xa1", "span_id": f"0x{number}"},
        "parent_id": None if parent is None else f"0x{parent}",
        "start_time": _time(begin),
        "end_time": None if end is None else _time(end),
        "status": {"status_code": "UNSET"},
        "attributes": {},
        "events": [],
    }
    return {**data, **more}


def _time(seconds: float) -> str:
    return f"2026-05-28T20:{int(seconds) // 60 + 26:02d}:{seconds % 60:09.6f}Z"


def chat(*told: Any, gave: Any = None, tokens: tuple[int, int] = (10, 2), **more: Any) -> dict[str, Any]:
    """Attributes of a model call in the words of ``gen_ai``."""
    data: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.provider.name": "p"}
    data |= {"gen_ai.usage.input_tokens": tokens[0], "gen_ai.usage.output_tokens": tokens[1]}
    if told:
        data["gen_ai.input.messages"] = json.dumps(told)
    if gave:
        data["gen_ai.output.messages"] = json.dumps([gave])
    return {**data, **more}


def tool(**more: Any) -> dict[str, Any]:
    """Attributes of a tool run."""
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add", "gen_ai.tool.call.id": "c1", **more}


def agent(name: str) -> dict[str, Any]:
    """Attributes of the work of an agent, which repeat the tokens of its calls."""
    tokens = {"gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 6}
    return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, **tokens}


RUN = [
    span(4, "chat m", 3, 5, 1, attributes=chat(SYSTEM, ASK, CALL, RESULT, gave=ANSWER, tokens=(20, 4))),
    span(3, "execute_tool add", 2, 2.5, 1, attributes=tool()),
    span(2, "chat m", 1, 2, 1, attributes=chat(SYSTEM, ASK, gave=CALL)),
    span(1, "invoke_agent adder", 0, 6, attributes=agent("adder")),
]
"""One agent, two model calls and one tool run, the last first."""
