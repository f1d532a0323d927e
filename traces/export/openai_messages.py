"""A request body of the OpenAI Chat API: model, messages and tools, as ``create(**json.load(file))`` takes them.

The message list keeps the rules of the tool-calling protocol (:mod:`agent.protocol`), whatever the trace looks like:
each call is followed at once by its one result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent import jsontext
from agent.messages import Message, ToolCall
from agent.protocol import interrupted_result, with_own_ids
from agent.trace import Trace
from traces.export.order import answers, counted, placed_results
from traces.repair import as_text
from traces.text import message_text

NAME = "openai"
SUFFIX = ".messages.json"
MIME = "application/json"

_ROLES = {"ai": "assistant", "function": "tool", "human": "user", "model": "assistant"}
_KNOWN_ROLES = frozenset(("system", "developer", "user", "assistant", "tool"))
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_PARTS = frozenset(("text", "image_url", "input_audio", "file", "refusal"))


def losses(trace: Trace) -> list[str]:
    """What the form has no place for."""
    results = answers(trace)
    placed = set(placed_results(results))
    orphans = sum(_role(message) == "tool" for at, message in enumerate(trace.messages) if at not in placed)
    answered = [(at, position + 1 + place) for position, found in results.items() for place, at in enumerate(found)]
    lost = counted(orphans, "result without a call", "left out")
    lost += counted(sum(at is None for at, _ in answered), "call without a result", 'answered with "interrupted"')
    moved = sum(at is not None and at != directly for at, directly in answered)
    lost += counted(moved, "result elsewhere than behind its call", "moved there")
    lost += counted(
        sum(bool(message.extra) for message in trace.messages), "message with further keys", "the keys are left out"
    )
    lost += counted(len(trace.tools) - len(_tools(trace)), "tool run by the provider", "left out")
    if trace.steps:
        lost.append("times, tokens, costs and decisions have no place in a message list")
    return lost


def write(trace: Trace, language: str = "en") -> bytes:
    """Strict JSON, one key a line of indentation, for people and for clients."""
    body: dict[str, Any] = {"model": trace.model.name} if trace.model.name else {}
    body["messages"] = [message.to_dict() for message in _message_list(trace)]
    if tools := _tools(trace):
        body["tools"] = tools
    return jsontext.dumps(body, indent=True).encode() + b"\n"


def _tools(trace: Trace) -> list[dict[str, Any]]:
    """The tools that every provider takes: functions with a name."""
    return [tool for tool in trace.tools if isinstance(_function(tool).get("name"), str)]


def _function(tool: Any) -> Mapping[str, Any]:
    function = tool.get("function") if isinstance(tool, Mapping) and tool.get("type") == "function" else None
    return function if isinstance(function, Mapping) else {}


def _message_list(trace: Trace) -> list[Message]:
    """The messages of a trace as they may be sent to any provider."""
    results = answers(trace)
    placed = set(placed_results(results))
    made: list[Message] = []
    for position, message in enumerate(trace.messages):
        if position in placed or _role(message) == "tool":
            continue
        plain = with_own_ids(_plain(message))
        made.append(plain)
        for place, at in enumerate(results.get(position, ())):
            call_id = plain.tool_calls[place].id
            made.append(interrupted_result(call_id) if at is None else _result(trace.messages[at], call_id))
    return made


def _role(message: Message) -> str:
    """The role that every provider takes for it."""
    role = _ROLES.get(message.role, message.role)
    if message.tool_calls and role != "tool":  # nobody else may ask for tools
        return "assistant"
    return role if role in _KNOWN_ROLES else "user"


def _plain(message: Message) -> Message:
    """The message with the keys that every provider takes."""
    role = _role(message)
    calls = tuple(_call(call) for call in message.tool_calls) if role == "assistant" else ()
    content = _content(message)
    if content is None and not calls:
        content = ""
    name = message.name if role != "tool" and message.name and not _NO_NAME.search(message.name) else None
    return Message(role, content, calls, name=name)


def _content(message: Message) -> str | list[Any] | None:
    content = message.content
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") in _PARTS for part in content):
        return content
    return message_text(message) if isinstance(content, list) else as_text(content)


def _result(message: Message, call_id: str) -> Message:
    """A result holds text: of images and files, which a tool message may not hold, their type and size."""
    content = message.content
    return Message("tool", content if isinstance(content, str) else message_text(message), tool_call_id=call_id)


def _call(call: ToolCall) -> ToolCall:
    name = _NO_NAME.sub("_", call.name)[:64] or "unknown"
    return replace(call, name=name, extra={})
