"""A request body of the OpenAI Chat API: model, messages and tools, as ``create(**json.load(file))`` takes them.

The message list keeps the rules of the tool-calling protocol (:mod:`agent.protocol`), whatever the trace looks like:
each call is followed at once by its one result.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from agent import jsontext
from agent.messages import Message, ToolCall
from agent.protocol import interrupted_result, with_own_ids
from agent.trace import Trace
from traces.export.order import answers, counted
from traces.repair import as_text
from traces.text import message_text

NAME = "openai"
SUFFIX = ".messages.json"
MIME = "application/json"

_ROLES = {"ai": "assistant", "function": "tool", "human": "user", "model": "assistant"}
_KNOWN_ROLES = frozenset(("system", "developer", "user", "assistant", "tool"))
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_PARTS = frozenset(("text", "image_url", "input_audio", "file", "refusal"))


def write(trace: Trace, lost: list[str]) -> bytes:
    """Strict JSON, one key a line of indentation, for people and for clients."""
    body: dict[str, Any] = {"model": trace.model.name} if trace.model.name else {}
    body["messages"] = [message.to_dict() for message in _message_list(trace, lost)]
    if trace.tools:
        body["tools"] = trace.tools
    if trace.steps:
        lost.append("times, tokens, costs and decisions have no place in a message list")
    return jsontext.dumps(body, indent=True).encode() + b"\n"


def _message_list(trace: Trace, lost: list[str]) -> list[Message]:
    """The messages of a trace as they may be sent to any provider."""
    results = answers(trace)
    placed = {at for found in results.values() for at in found if at is not None}
    made: list[Message] = []
    orphans = unanswered = moved = 0
    for position, message in enumerate(trace.messages):
        if position in placed:
            continue
        plain = _plain(message)
        if plain.role == "tool":
            orphans += 1
            continue
        plain = with_own_ids(plain)
        made.append(plain)
        for place, at in enumerate(results.get(position, ())):
            call_id = plain.tool_calls[place].id
            moved += at is not None and at != position + 1 + place
            unanswered += at is None
            made.append(interrupted_result(call_id) if at is None else _result(trace.messages[at], call_id))
    lost += counted(orphans, "result without a call", "left out")
    lost += counted(unanswered, "call without a result", 'answered with "interrupted"')
    lost += counted(moved, "result elsewhere than behind its call", "moved there")
    lost += counted(sum(bool(message.extra) for message in trace.messages), "message with further keys", "left out")
    return made


def _plain(message: Message) -> Message:
    """The message with the keys that every provider takes."""
    role = _ROLES.get(message.role, message.role)
    if message.tool_calls and role != "tool":  # nobody else may ask for tools
        role = "assistant"
    elif role not in _KNOWN_ROLES:
        role = "user"
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
