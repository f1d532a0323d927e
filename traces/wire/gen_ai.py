"""Messages as OpenTelemetry's ``gen_ai`` conventions write them: roles with typed parts, or one event a message.

Both are documented in open-telemetry/semantic-conventions, ``docs/gen-ai``. pydantic-ai and Microsoft's agent framework
write the same parts into other tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from traces.repair import as_text
from traces.unfold import unfold
from traces.wire import pydantic_ai
from traces.wire.parts import Parts, file, kind_of, linked, media, words

_PARTS = frozenset(("tool_call", "tool_call_response", "reasoning", "thinking", "blob", "uri", "binary", "file"))
_PARTS |= frozenset(("image-url", "audio-url", "video-url", "document-url", "server_tool_call"))
_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}


def is_message(value: Any) -> bool:
    """Whether ``value`` is a message with parts of these conventions."""
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list):
        return False
    return any(kind_of(part) in _PARTS or (kind_of(part) == "text" and "text" not in part) for part in value["parts"])


def is_event(value: Any) -> bool:
    """Whether ``value`` is a message in the form of an event."""
    return isinstance(value, dict) and isinstance(value.get("event.name"), str) and value["event.name"] in _EVENTS


def messages_of(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One message with parts as messages in OpenAI Chat form: each tool response becomes a tool message."""
    parts, results = Parts(), list[Mapping[str, Any]]()
    for part in value["parts"]:
        if isinstance(part, str):
            parts.text(part)
            continue
        if not isinstance(part, dict):
            continue
        kind = kind_of(part)
        if kind == "tool_call":
            parts.call(part.get("id"), part.get("name"), part.get("arguments", part.get("args")))
        elif kind == "tool_call_response":
            results.append(_result(part))
        elif kind in ("reasoning", "thinking") or kind.endswith("ReasoningContent"):
            content = part.get("content")
            parts.thought(as_text(content.get("text") or "" if isinstance(content, dict) else content or ""))
        elif kind == "text" and isinstance(text := part.get("content", part.get("text", "")), str):
            if text:  # a program that keeps what was said to itself writes parts without content
                parts.text(text)
        else:
            parts.add(_medium(part))
    role = value.get("role")
    return [*results, parts.message(role if isinstance(role, str) else "unknown")] if parts or not results else results


def event_message(name: str, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The message of an event; None where it is of another kind.

    Args:
        name: the event's name.
        body: its attributes.
    """
    role = _EVENTS.get(name)
    if role is None:
        return None
    inner = unfold(body.get("message"))
    if isinstance(inner, (str, list)):
        inner = {"content": inner}
    source = inner if isinstance(inner, dict) else body
    message: dict[str, Any] = {"role": source.get("role") or body.get("role") or role, "content": source.get("content")}
    calls = unfold(source.get("tool_calls"))
    if isinstance(calls, list):
        message["tool_calls"] = calls
    if name == "gen_ai.tool.message":
        message |= {"role": "tool", "tool_call_id": body.get("id"), "name": body.get("name")}
    if message["content"] is not None and not isinstance(message["content"], (str, list)):
        message["content"] = as_text(message["content"])
    return message


def _result(part: Mapping[str, Any]) -> Mapping[str, Any]:
    value = part.get("response", part.get("result", part.get("content")))
    inner = unfold(value)
    if isinstance(inner, dict) and inner.get("type") == "function_result":
        value = inner.get("result")
    content = None if value is None else pydantic_ai.returned(value)
    return {"role": "tool", "tool_call_id": part.get("id"), "name": part.get("name"), "content": content}


def _medium(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """An image, a file or a link as a content part; what has no known shape as it is."""
    url = words(part.get("uri")) or words(part.get("url"))
    mime = words(part.get("mime_type")) or words(part.get("media_type"))
    is_image = part.get("modality") == "image" or kind_of(part) == "image-url"
    if url:
        return linked(url, mime or (None if is_image else kind_of(part) or "unknown"))
    data = words(part.get("content")) or words(part.get("data"))
    if data and (mime or is_image):
        return media(mime, data)
    return file(file_id=part["file_id"]) if words(part.get("file_id")) else part
