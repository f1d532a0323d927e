"""pydantic-ai's message history, as ``ModelMessagesTypeAdapter`` writes it, alone or inside another object."""

from __future__ import annotations

from typing import Any

from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.unfold import list_in
from traces.wire import pydantic_ai

NAME = "pydantic-ai"
_LOOKED_AT = 20
_LISTS = ("messages", "message_history", "all_messages", "history", "new_messages")


def matches(document: Document) -> bool:
    """Some of the first records are requests, responses or parts, or hold a list of them."""
    return any(_is_ours(record) or _list_in(record) for record in document.records[:_LOOKED_AT])


def _is_ours(value: Any) -> bool:
    return pydantic_ai.is_message(value) or pydantic_ai.is_part(value)


def _list_in(value: Any) -> list[Any]:
    return list_in(value, _LISTS, _is_ours)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every request and response; lists are conversations of their own."""
    loose: list[tuple[Any, int | None]] = []
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        if _is_ours(record):
            loose.append((record, line))
        elif items := _list_in(record):
            _read_history([(item, line) for item in items], out)
        else:
            out.unread("a record that is neither a request nor a response")
    if loose:
        _read_history(loose, out)


def _read_history(items: list[tuple[Any, int | None]], out: ImportBuilder) -> None:
    trace = out.trace()
    instructions: set[str] = set()
    parts: list[dict[str, Any]] = []
    for item, line in items:
        if pydantic_ai.is_part(item) and _is_said(item):
            parts.append(item)  # some programs keep the parts alone; neighbouring ones are one response
            continue
        _add_parts(trace, parts, line)
        if not _is_ours(item):
            out.unread("an entry of a message history that is neither a request nor a response")
        else:
            _add(trace, {"kind": "request", "parts": [item]} if pydantic_ai.is_part(item) else item, line, instructions)
    _add_parts(trace, parts, items[-1][1])


def _is_said(part: dict[str, Any]) -> bool:
    return part["part_kind"] in ("text", "thinking", "tool-call", "builtin-tool-call", "file")


def _add_parts(trace: TraceBuilder, parts: list[dict[str, Any]], line: int | None) -> None:
    if parts:
        trace.message(pydantic_ai.response_message(parts), line=line)
        parts.clear()


def _add(trace: TraceBuilder, item: dict[str, Any], line: int | None, instructions: set[str]) -> None:
    """One request or response. Each request repeats the instructions; they are said once."""
    said = item.get("instructions")
    for number, (message, at) in enumerate(pydantic_ai.messages_of(item)):
        if number == 0 and isinstance(said, str) and said:
            if said in instructions:
                continue
            instructions.add(said)
        trace.message(message, at=at, line=line)
    if item.get("kind") == "response":
        reply = pydantic_ai.reply_of(item)
        trace.numbers(reply)
        trace.model(reply.model, item.get("provider_name"))
