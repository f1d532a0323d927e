"""Ollama on the wire: ``/api/chat`` and ``/api/generate``, their answers, and the lines of a streamed one.

Durations are nanoseconds; calls have no id, and results name the tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.usage import Usage
from traces.reply import Reply
from traces.times import time_of, timestamp
from traces.wire import openai_chat
from traces.wire.openai_chat import error_text
from traces.wire.parts import Parts, count, listed, mapping, media, words

NAME = "ollama"
REQUEST_KEYS = frozenset(("messages", "prompt", "system", "images", "tools", "model"))
_COUNTS = frozenset(("total_duration", "eval_count", "prompt_eval_count", "load_duration"))
_NS = 1e6
"""Nanoseconds in a millisecond."""

_LOOKED_AT = 200
"""How many messages are looked at."""


def is_request(value: Any) -> bool:
    """Whether ``value`` is a request body that can be of no other API."""
    if not isinstance(value, dict) or not isinstance(value.get("model"), str):
        return False
    if not isinstance(value.get("messages"), list):
        return isinstance(value.get("prompt"), str) and (_has_settings(value) or "raw" in value)
    return _has_settings(value) or any(is_message(message) for message in value["messages"][:_LOOKED_AT])


def _has_settings(body: Mapping[str, Any]) -> bool:
    return isinstance(body.get("options"), dict) or "keep_alive" in body


def is_message(value: Any) -> bool:
    """Whether ``value`` is a message with keys that only this API has."""
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    images = value.get("images")
    return "tool_name" in value or (isinstance(images, list) and all(isinstance(image, str) for image in images))


def is_response(value: Any) -> bool:
    """Whether ``value`` is a response body, or one line of a streamed one."""
    if not isinstance(value, dict) or not isinstance(value.get("done"), bool):
        return False
    said = isinstance(value.get("message"), dict) or isinstance(value.get("response"), str)
    return said or not _COUNTS.isdisjoint(value)


def is_piece(value: Any) -> bool:
    """Whether ``value`` is a line of a streamed response that more lines follow."""
    return is_response(value) and not is_last(value)


def is_last(piece: Mapping[str, Any]) -> bool:
    """Whether a stream ends with this line."""
    return piece.get("done") is True


# -- requests ------------------------------------------------------------------------------------------------------


def messages_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages of a chat, or the prompt of a plain generation, in OpenAI Chat form."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        system = [{"role": "system", "content": body["system"]}] if isinstance(body.get("system"), str) else []
        asked = {"role": "user", "content": body.get("prompt"), "images": body.get("images")}
        return [*system, *converted(asked)]
    return [each for message in listed(messages) for each in converted(message)]


def converted(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One message in OpenAI Chat form."""
    left = {key: value for key, value in message.items() if key not in ("images", "thinking", "tool_name")}
    if isinstance(thought := message.get("thinking"), str) and thought:
        left["reasoning_content"] = thought
    if isinstance(name := message.get("tool_name"), str):
        left["name"] = name
    images = message.get("images")
    if isinstance(images, list) and images:
        parts = Parts()
        if isinstance(text := message.get("content"), str) and text:
            parts.text(text)
        for image in images:
            if isinstance(image, str):
                parts.add(media(None, image))
        left["content"] = parts.content
    return [left]


def tools_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools on offer, in OpenAI form, which is Ollama's own."""
    return openai_chat.tools_of(body)


# -- responses -----------------------------------------------------------------------------------------------------


def read_response(body: Mapping[str, Any]) -> Reply:
    """Read a response body, or its error."""
    latency, load, prompt = (
        count(body.get(key)) for key in ("total_duration", "load_duration", "prompt_eval_duration")
    )
    at = timestamp(body.get("created_at"))
    common: dict[str, Any] = {
        "usage": Usage.from_openai(
            {"prompt_tokens": body.get("prompt_eval_count"), "completion_tokens": body.get("eval_count")}
        ),
        "model": words(body.get("model")),
        "at": time_of(at),
        "started": time_of(at - latency / 1e9) if at is not None and latency is not None else None,
        "latency_ms": latency / _NS if latency is not None else None,
        "first_token_ms": (load or 0) / _NS + prompt / _NS if prompt is not None else None,
    }
    message = body.get("message")
    if isinstance(text := body.get("response"), str):
        message = {"content": text, "thinking": body.get("thinking")}
    if not isinstance(message, dict) and "done" not in body:
        return Reply(error=error_text(body.get("error")), **common)
    said = converted({**mapping(message), "role": "assistant"})[0]
    return Reply(message={"content": None, **said}, finish_reason=words(body.get("done_reason")), **common)


def join_pieces(pieces: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The response body that the lines of a stream add up to; the last one has the counts, and may have no message."""
    body: dict[str, Any] = {}
    message: dict[str, Any] = {}
    for piece in pieces:
        said = mapping(piece.get("message"))
        for key in ("content", "thinking"):
            _grow(message, key, said.get(key))
        if calls := listed(said.get("tool_calls")):
            message["tool_calls"] = [*message.get("tool_calls", ()), *calls]
        for key in ("response", "thinking"):
            _grow(body, key, piece.get(key))
        body.update({key: value for key, value in piece.items() if key not in ("message", "response", "thinking")})
    return {**body, "message": message} if message else body


def _grow(into: dict[str, Any], key: str, text: Any) -> None:
    if isinstance(text, str):
        into[key] = into.get(key, "") + text
