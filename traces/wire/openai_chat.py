"""OpenAI Chat Completions on the wire: a request's messages and tools, a response, streamed chunks, SSE text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agent.models.connection import EventLines
from agent.models.streams import StreamedReply
from agent.usage import Usage, reported_cost
from traces.decoding import loads, whole_characters
from traces.reply import Reply
from traces.times import time_of

NAME = "openai-chat"
REQUEST_KEYS = frozenset(("messages", "tools", "functions", "available_tools", "model"))


def is_request(value: Any) -> bool:
    """Whether ``value`` is a request body: it holds a message list."""
    return isinstance(value, dict) and messages_of(value) is not None


def is_response(value: Any) -> bool:
    """Whether ``value`` is a response body, or one chunk of a streamed one."""
    return isinstance(value, dict) and isinstance(value.get("choices"), list)


def is_piece(value: Any) -> bool:
    """Whether ``value`` is a chunk of a streamed response that more chunks follow."""
    return is_response(value) and any(isinstance(choice, dict) and "delta" in choice for choice in value["choices"])


def is_last(piece: Mapping[str, Any]) -> bool:
    """Whether a stream ends with this chunk: the usage comes behind all choices."""
    return isinstance(piece.get("usage"), dict)


def messages_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The message list of a request or of a row of a data set; None where there is none.

    Some exports keep the list as JSON text.
    """
    messages = body.get("messages")
    if isinstance(messages, str):
        messages = decoded(messages)
    return messages if is_message_list(messages) else None


def is_message_list(value: Any) -> bool:
    """Whether ``value`` is a list of messages; an empty list is one."""
    return isinstance(value, list) and all(is_message(item) for item in value[:_LOOKED_AT])


_LOOKED_AT = 20
_CONTENT_KEYS = frozenset(("content", "tool_calls", "function_call", "refusal", "reasoning", "reasoning_content"))


def is_message(value: Any) -> bool:
    """Whether ``value`` is one message: a role, and something that this role says."""
    return isinstance(value, dict) and isinstance(value.get("role"), str) and not _CONTENT_KEYS.isdisjoint(value)


def tools_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools on offer, in OpenAI form; data sets also call them ``available_tools`` or the older ``functions``."""
    for key in ("tools", "available_tools", "functions"):
        tools = body.get(key)
        if isinstance(tools, str):
            tools = decoded(tools)
        if isinstance(tools, list) and tools:
            tools = [tool for tool in tools if isinstance(tool, dict)]
            return [tool if "function" in tool else {"type": "function", "function": tool} for tool in tools]
    return []


def decoded(text: str) -> Any:
    """The JSON in ``text``; None where it is none."""
    try:
        return loads(whole_characters(text.encode()).decode())
    except ValueError:
        return None


# -- responses -----------------------------------------------------------------------------------------------------


def read_response(body: Mapping[str, Any]) -> Reply:
    """Read a response body: its first choice, or its error."""
    listed = body.get("choices")
    choices = [choice for choice in listed if isinstance(choice, dict)] if isinstance(listed, list) else []
    usage = body.get("usage")
    common: dict[str, Any] = {
        "usage": Usage.from_openai(usage),
        "model": body["model"] if isinstance(body.get("model"), str) else None,
        "at": time_of(body.get("created")),
        "cost": reported_cost(usage),
    }
    if not choices:
        return Reply(error=error_text(body.get("error")), **common)
    message, reason = choices[0].get("message"), choices[0].get("finish_reason")
    unread = ("a further choice of a response",) * (len(choices) - 1)
    if not isinstance(message, dict):
        return Reply(error="the response holds no message", unread=unread, **common)
    return Reply(message=message, finish_reason=reason if isinstance(reason, str) else None, unread=unread, **common)


def error_text(error: Any) -> str:
    """The provider's words about a failed call."""
    if isinstance(error, dict):
        error = error.get("message") or json.dumps(error, ensure_ascii=False, default=str)
    return error if isinstance(error, str) and error else "the response holds no message"


# -- streams -------------------------------------------------------------------------------------------------------


def read_sse(text: str) -> list[Mapping[str, Any]] | None:
    """The chunks of a body of server-sent events (``data: {...}``); None where ``text`` is something else."""
    lines = EventLines()
    events = [*lines.feed(text.encode(errors="replace")), *lines.end()]
    # A log that lost its empty lines holds several chunks where one event should be.
    chunks = [decoded(line) for event in events for line in event.decode().split("\n")]
    return [chunk for chunk in chunks if isinstance(chunk, dict)] or None


def join_pieces(pieces: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The response body that a stream of chunks adds up to; an error that came instead of them is kept."""
    reply = StreamedReply()
    about: dict[str, Any] = {}
    has_choices = False
    for chunk in pieces:
        about.update({key: chunk[key] for key in _BESIDE if chunk.get(key) is not None})
        if isinstance(chunk.get("choices"), list):
            has_choices = has_choices or bool(chunk["choices"])
            reply.add(chunk)
    return {**about, **reply.to_dict()} if has_choices else about


_BESIDE = ("created", "provider", "error")
"""Keys of a chunk that say something about the whole response."""
