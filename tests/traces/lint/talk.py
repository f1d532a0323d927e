"""Traces for the tests of the linter, made the way in which readers make them."""

from __future__ import annotations

import json
from typing import Any

from agent.trace import Trace
from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.lint import Finding, lint
from traces.reply import Reply


def call(name: str, call_id: str = "c", /, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "function": {"name": name, "arguments": json.dumps(arguments)}}


def asks(*calls: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def says(text: str | None) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def result(text: str, call_id: str = "c") -> dict[str, Any]:
    return {"role": "tool", "content": text, "tool_call_id": call_id}


def tool(name: str, **properties: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def talk(*messages: dict[str, Any], tools: list[dict[str, Any]] | None = None, format: str = "openai-chat") -> Trace:
    """A trace of these messages. Keys of an assistant message that begin with ``_`` are numbers of its model call."""
    builder = TraceBuilder("0" * 12, format, "", {})
    builder.tools(tools or [])
    for message in messages:
        numbers = {key[1:]: value for key, value in message.items() if key.startswith("_")}
        at = numbers.pop("at", None)
        builder.message({key: value for key, value in message.items() if not key.startswith("_")}, at=at)
        if numbers:
            builder.numbers(Reply(**numbers))
    return builder.finish()


def used(prompt: int, completion: int = 10, cached: int | None = None) -> Usage:
    return Usage(prompt, completion, prompt + completion, cached)


def found(trace: Trace, rule: str) -> list[Finding]:
    return [finding for finding in lint(trace) if finding.rule.name == rule]


def names(trace: Trace) -> list[str]:
    return [finding.rule.name for finding in lint(trace)]
