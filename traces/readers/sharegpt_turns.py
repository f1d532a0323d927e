"""One turn of a ShareGPT conversation as messages in OpenAI Chat form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from traces.readers.fields import text
from traces.repair import as_text
from traces.wire.openai_chat import decoded
from traces.wire.parts import Parts, linked, listed, mapping

ROLES = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "assistant": "assistant",
    "function_call": "assistant",
    "tool_call": "assistant",
    "observation": "tool",
    "tool": "tool",
    "function": "tool",
    "function_response": "tool",
    "tool_response": "tool",
}
"""The speakers of such data sets in our words."""
_CALLERS = ("function_call", "tool_call")
_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


@dataclass(slots=True)
class Turn:
    """One message that a turn holds."""

    data: dict[str, Any]
    changed: bool = False
    """Whether the words differ from those of the file."""
    for_all: bool = False
    """Whether it answers every call before it that has no answer yet."""
    unknown: list[str] = field(default_factory=list)
    """Types of parts that OpenAI Chat has no word for."""


def turns_of(turn: Mapping[str, Any]) -> list[Turn]:
    """The messages of one turn: one, or one for each result that its text holds."""
    speaker = as_text(turn.get("from", turn.get("role")) or "")
    content = turn.get("value") if "from" in turn else turn.get("content", turn.get("value"))
    role = ROLES.get(speaker.lower(), speaker)
    if isinstance(content, list):
        return [_of_parts(role, content)]
    if role == "assistant" and speaker.lower() in _CALLERS:
        calls = _calls(content)
        return [Turn({"role": role, "content": None, "tool_calls": calls}, changed=True)]
    if role == "assistant" and isinstance(content, str) and "<tool_call>" in content:
        return [_with_calls(content)]
    if role == "tool":
        return _results(content)
    kept = {key: value for key, value in turn.items() if key in ("tool_calls", "name", "tool_call_id")}
    return [Turn({"role": role, "content": content, **kept})]


def _calls(value: Any) -> list[dict[str, Any]]:
    """The calls in JSON text, or in an object: one ``{name, arguments}`` or a list of them."""
    found = decoded(value) if isinstance(value, str) else value
    calls = listed(found) if isinstance(found, list) else [found] if isinstance(found, Mapping) else []
    if not calls:
        return [{"function": {"name": "", "arguments": as_text(value)}}]
    return [_call(call) for call in calls]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    inner = mapping(call.get("function")) or call
    arguments = inner.get("arguments", inner.get("parameters"))
    return {"id": call.get("id"), "function": {"name": inner.get("name"), "arguments": arguments}}


def _with_calls(content: str) -> Turn:
    """Calls between tags within the text, as models of the Hermes family write them."""
    calls = [call for found in _CALL.finditer(content) for call in _calls(found[1])]
    if not calls:
        return Turn({"role": "assistant", "content": content})
    words = _CALL.sub("", content).strip()
    return Turn({"role": "assistant", "content": words or None, "tool_calls": calls}, changed=True)


def _results(content: Any) -> list[Turn]:
    tagged = [found[1] for found in _RESPONSE.finditer(content)] if isinstance(content, str) else []
    if not tagged:
        return [Turn({"role": "tool", "content": as_text(content)}, for_all=True)]
    return [_result(words) for words in tagged]


def _result(words: str) -> Turn:
    data = mapping(decoded(words))
    named = {"name": data["name"]} if isinstance(data.get("name"), str) and "content" in data else {}
    content = as_text(data["content"]) if named else words
    return Turn({"role": "tool", "content": content, **named}, changed=True)


def _of_parts(role: str, content: list[Any]) -> Turn:
    """Parts of ``{type, value}``, the newer form."""
    parts, turn = Parts(), Turn({}, changed=True, for_all=role == "tool")
    for part in content:
        kind, value = text(mapping(part).get("type")), mapping(part).get("value")
        if not isinstance(part, Mapping):
            parts.text(as_text(part))
        elif kind == "text":
            parts.text(as_text(part.get("text") if value is None else value))
        elif kind == "reasoning":
            parts.thought(as_text(value))
        elif kind == "tool_call":
            for call in _calls(value):
                parts.call(call.get("id"), call["function"]["name"], call["function"]["arguments"])
        elif kind in ("image", "video", "audio") and isinstance(value, str):
            parts.add(linked(value, None if kind == "image" else f"{kind}/*"))
        else:
            parts.add(part)
            if kind != "image_url":
                turn.unknown.append(kind or "unknown")
    turn.data = parts.message(role)
    return turn
