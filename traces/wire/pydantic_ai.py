"""pydantic-ai's message history: requests and responses with typed parts.

Spec: pydantic/pydantic-ai, ``pydantic_ai_slim/pydantic_ai/messages.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.usage import Usage
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.parts import Parts, file, linked, mapping, media, words

_RETRY = "Fix the errors and try again."
_MEDIA = ("binary", "image-url", "audio-url", "video-url", "document-url")
_BOOKKEEPING = ("instruction-baseline", "model-settings-delta", "tool-availability-delta", "capability-load-delta")
"""Parts of requests that nobody says."""


def is_message(value: Any) -> bool:
    """Whether ``value`` is a request or a response of the history."""
    return (
        isinstance(value, dict)
        and value.get("kind") in ("request", "response")
        and isinstance(value.get("parts"), list)
    )


def is_part(value: Any) -> bool:
    """Whether ``value`` is one part alone, as some programs save them."""
    return isinstance(value, dict) and isinstance(value.get("part_kind"), str)


def messages_of(value: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], str | None]]:
    """``(message, time)`` of a request or response, in OpenAI Chat form.

    A request gives one message for each of its parts, a response one message for all of them.
    """
    at = words(value.get("timestamp"))
    parts = [part for part in value["parts"] if isinstance(part, dict)]
    if value.get("kind") == "response":
        return [(response_message(parts), at)]
    found: list[tuple[Mapping[str, Any], str | None]] = []
    instructions = value.get("instructions")
    if isinstance(instructions, str) and instructions:
        found.append(({"role": "system", "content": instructions}, at))
    said = [part for part in parts if part.get("part_kind") not in _BOOKKEEPING]
    return found + [(_request_message(part), words(part.get("timestamp")) or at) for part in said]


def _request_message(part: Mapping[str, Any]) -> Mapping[str, Any]:
    kind, content = part.get("part_kind"), part.get("content")
    if kind in ("system-prompt", "instruction-delta"):
        return {"role": "system", "content": as_text(content)}
    if kind == "user-prompt":
        return {"role": "user", "content": _user_content(content)}
    if kind in ("tool-return", "builtin-tool-return") or (kind == "retry-prompt" and part.get("tool_name")):
        return _tool_message(part)
    if kind in ("retry-prompt", "retry-feedback"):
        return {"role": "user", "content": f"{_errors(content)}\n\n{_RETRY}"}
    if kind == "speech":
        return {"role": "user", "content": part.get("transcript")}
    return {"role": "user", "content": as_text(content if content is not None else dict(part))}


def _tool_message(part: Mapping[str, Any]) -> Mapping[str, Any]:
    retried = part.get("part_kind") == "retry-prompt"
    content = _errors(part.get("content")) if retried else returned(part.get("content"))
    message = {"role": "tool", "tool_call_id": part.get("tool_call_id"), "name": part.get("tool_name")}
    failed = retried or part.get("outcome") in ("retried", "failed", "denied")
    return {**message, "content": content, **({"is_error": True} if failed else {})}


def returned(content: Any) -> Any:
    """What a tool gave: text, or content parts where an image or a file is among it."""
    items = content if isinstance(content, list) else [content]
    if not any(map(_is_medium, items)):
        return as_text(content)
    said = Parts()
    for item in items:
        if _is_medium(item):
            said.add(_medium(item))
        else:
            said.text(as_text(item))
    return said.content


def _is_medium(item: Any) -> bool:
    return isinstance(item, dict) and item.get("kind") in _MEDIA and any(words(item.get(k)) for k in ("data", "url"))


def _errors(content: Any) -> str:
    """The reasons of a retry: a text, or pydantic's list of errors."""
    if not isinstance(content, list):
        return as_text(content)
    return "\n".join(
        f"{'.'.join(map(str, error['loc']))}: {as_text(error.get('msg'))}"
        if isinstance(error, dict) and isinstance(error.get("loc"), list)
        else as_text(error)
        for error in content
    )


def response_message(parts: list[Any]) -> Mapping[str, Any]:
    """The parts of a response as one assistant message."""
    said = Parts()
    for part in parts:
        kind = part.get("part_kind")
        if kind == "text":
            said.text(as_text(part.get("content") or ""))
        elif kind == "speech" and words(part.get("transcript")):
            said.text(part["transcript"])
        elif kind == "thinking":
            said.thought(as_text(part.get("content") or ""))
        elif kind == "tool-call":
            said.call(part.get("tool_call_id"), part.get("tool_name"), part.get("args"))
        elif kind == "file":
            said.add(_medium(part.get("content")))
        else:
            said.add({**part, "type": as_text(kind)})  # also what a tool at the provider was asked for, and gave
    return said.message("assistant")


def _user_content(content: Any) -> Any:
    if not isinstance(content, list):
        return content if content is None or isinstance(content, str) else as_text(content)
    said = Parts()
    for item in content:
        if isinstance(item, str):
            said.text(item)
        elif mapping(item).get("kind") == "text-content":
            said.text(as_text(item.get("content") or ""))
        elif mapping(item).get("kind") != "cache-point":
            said.add(_medium(item))
    return said.content


def _medium(item: Any) -> Mapping[str, Any]:
    item = mapping(item)
    mime = words(item.get("media_type"))
    if item.get("kind") == "uploaded-file":
        return file(file_id=item.get("file_id"))
    if url := words(item.get("url")):
        return linked(url, mime or (None if item.get("kind") == "image-url" else as_text(item.get("kind"))))
    return media(mime, data) if (data := words(item.get("data"))) else item


def reply_of(value: Mapping[str, Any]) -> Reply:
    """The numbers of a response."""
    details = mapping(value.get("provider_details") or value.get("vendor_details"))
    reason = value.get("finish_reason") or details.get("finish_reason")
    return Reply(
        usage=_usage(value.get("usage")),
        finish_reason=words(reason),
        model=words(value.get("model_name")),
        at=words(value.get("timestamp")),
    )


def _usage(data: Any) -> Usage | None:
    """Input holds the cached tokens and output the reasoning. Older files name them after requests and responses."""
    if not isinstance(data, dict):
        return None
    details = mapping(data.get("details"))
    into = data.get("input_tokens", data.get("request_tokens"))
    out = data.get("output_tokens", data.get("response_tokens"))
    return Usage.from_openai(
        {
            "prompt_tokens": into,
            "completion_tokens": out,
            "total_tokens": data.get("total_tokens"),
            "prompt_tokens_details": {
                "cached_tokens": data.get("cache_read_tokens", details.get("cached_tokens")),
                "cache_write_tokens": data.get("cache_write_tokens"),
            },
            "completion_tokens_details": {"reasoning_tokens": details.get("reasoning_tokens")},
        }
    )
