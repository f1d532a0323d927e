"""Dumps of LangChain messages: ``messages_to_dict``, ``model_dump`` or ``dumpd``, alone or under ``messages``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.unfold import unfold
from traces.wire import langchain
from traces.wire.parts import words

NAME = "langchain"
_LOOKED_AT = 20
_LISTS = ("messages", "history", "chat_history", "conversation", "values", "channel_values", "state", "checkpoint")
"""Keys under which chains and graphs keep their messages, or an object that does."""


def matches(document: Document) -> bool:
    """Some of the first records are messages of LangChain, or hold a list of them."""
    records = document.records[:_LOOKED_AT]
    return any(langchain.is_message(record) or _list_in(record) is not None for record in records)


def _list_in(value: Any, depth: int = 0) -> list[Any] | None:
    value = unfold(value)
    if isinstance(value, list):
        return value if any(langchain.is_message(item) for item in value[:_LOOKED_AT]) else None
    if isinstance(value, dict) and depth < 4:
        for key in _LISTS:
            if key in value and (found := _list_in(value[key], depth + 1)) is not None:
                return found
    return None


def read(document: Document, out: ImportBuilder) -> None:
    """Read every message; records that hold lists are conversations of their own."""
    loose: TraceBuilder | None = None
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        if langchain.is_message(record):
            loose = loose or out.trace()
            _add(loose, record, line)
            continue
        found = _list_in(record)
        if found is None:
            out.unread("a record that is no message of LangChain and holds none")
            continue
        trace = out.trace(_title(record))
        for item in found:
            if langchain.is_message(item):
                _add(trace, item, line)
            else:
                out.unread("an entry of a message list that is no message of LangChain")


def _title(record: Any) -> str:
    about: Mapping[str, Any] = record if isinstance(record, dict) else {}
    return next((text for key in ("title", "name", "thread_id") if (text := words(about.get(key)))), "")


def _add(trace: TraceBuilder, item: Mapping[str, Any], line: int | None) -> None:
    message = langchain.message(item)
    trace.message(message, line=line)
    if message.get("role") == "assistant":
        trace.numbers(langchain.reply_of(item))
