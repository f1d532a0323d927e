"""Runs and files that the tests of this folder share; all of them are made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent import FakeModel, Loop, Tool, ToolCall, Trace, Usage
from agent.messages import Message
from agent.models.base import ModelReply

PAIR = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}


def _add(a: int, b: int) -> int:
    return a + b


@pytest.fixture
def add() -> Tool:
    return Tool(name="add", description="Adds two numbers.", parameters=PAIR, func=_add)


@pytest.fixture
def new_loop(add: Tool) -> Callable[..., Loop]:
    """A loop that adds once and then answers; ``new_loop(journal=folder)`` writes its journal there."""

    def make(**options: Any) -> Loop:
        ask = Message("assistant", None, (ToolCall("c1", "add", {"a": 2, "b": 3}),))
        turns = [
            ModelReply(ask, usage=Usage(100, 20, 120, cached_tokens=40), finish_reason="tool_calls"),
            ModelReply(Message("assistant", "It is 5."), usage=Usage(130, 6, 136), finish_reason="stop"),
        ]
        loop = Loop(FakeModel(turns), [add], system="You add.", **options)
        loop.start("What is 2+3?")
        return loop

    return make


@pytest.fixture
def trace(new_loop: Callable[..., Loop]) -> Trace:
    """A finished run of our own."""
    loop = new_loop()
    while loop.phase is not None:
        loop.advance()
    return loop.trace


def call(call_id: str | None, name: str = "add", arguments: str = '{"a": 1}') -> dict[str, Any]:
    data: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return data if call_id is None else {"id": call_id, **data}


@pytest.fixture
def chat() -> list[dict[str, Any]]:
    """A conversation of four messages with one call."""
    return [
        {"role": "user", "content": "What is 2+3?"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "5"},
        {"role": "assistant", "content": "It is 5."},
    ]


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write JSON, text or bytes to a file and give its path."""

    def write(content: Any, name: str = "trace.json") -> Path:
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else None
        path.write_bytes(json.dumps(content).encode() if data is None else data)
        return path

    return write
