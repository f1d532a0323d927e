"""Dumps of LangChain messages: ``messages_to_dict``, ``model_dump`` or ``dumpd``, alone or under ``messages``.

Also what a graph gives while it runs: its state again and again, what each of its nodes adds, or events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers import langchain_events
from traces.unfold import unfold
from traces.wire import langchain, langchain_chunks
from traces.wire.parts import mapping, words

NAME = "langchain"
_LOOKED_AT = 20
_LISTS = ("messages", "history", "chat_history", "conversation", "values", "channel_values", "state", "checkpoint")
"""Keys under which chains and graphs keep their messages, or an object that does."""


def matches(document: Document) -> bool:
    """Some of the first records are messages of LangChain, or hold a list of them."""
    records = document.records[:_LOOKED_AT]
    return any(map(langchain_events.is_event, records)) or any(
        langchain.is_message(record) or _list_in(record) is not None or _updates_in(record) for record in records
    )


def _list_in(value: Any, depth: int = 0) -> list[Any] | None:
    value = unfold(value)
    if isinstance(value, list):
        return value if any(langchain.is_message(item) for item in value[:_LOOKED_AT]) else None
    if isinstance(value, dict) and depth < 4:
        for key in _LISTS:
            if key in value and (found := _list_in(value[key], depth + 1)) is not None:
                return found
    return None


def _updates_in(value: Any) -> list[tuple[str, list[Any]]]:
    """``(node, messages)`` of each node of a graph that said something new; nothing for any other record."""
    if (
        not isinstance(value, dict)
        or not value
        or not all(item is None or isinstance(item, dict) for item in value.values())
    ):
        return []
    lists = ((node, mapping(said).get("messages")) for node, said in value.items())
    return [(node, items) for node, items in lists if isinstance(items, list) and any(map(langchain.is_message, items))]


def read(document: Document, out: ImportBuilder) -> None:
    """Read every message. Records that hold lists are conversations of their own, or states of one that grows."""
    if any(map(langchain_events.is_event, document.records[:_LOOKED_AT])):
        langchain_events.read(document, out)
        return
    loose: TraceBuilder | None = None
    states: list[tuple[TraceBuilder, list[Any]]] = []
    records = [(record, document.line_of(number)) for number, record in enumerate(document.records)]
    for record, line in _whole(records):
        if langchain.is_message(record):
            loose = loose or out.trace()
            _add(loose, record, line)
        elif (found := _list_in(record)) is not None:
            _grow(states, found, _title(record), line, out)
        elif updates := _updates_in(record):
            loose = loose or out.trace()
            for node, items in updates:
                _add_all(loose, items, line, out, node)
        else:
            out.unread("a record that is no message of LangChain and holds none")


def _whole(records: list[tuple[Any, int | None]]) -> Iterator[tuple[Any, int | None]]:
    """The records; pieces of one message as one, at the line of the first."""
    lines = {id(record): line for record, line in records}
    line: int | None = None
    for record in langchain_chunks.joined(record for record, _ in records):
        line = lines.get(id(record), line)
        yield record, line


def _grow(
    states: list[tuple[TraceBuilder, list[Any]]], items: list[Any], title: str, line: int | None, out: ImportBuilder
) -> None:
    """A list of messages: what is new of a conversation whose state it is, else one of its own."""
    for place, (trace, known) in enumerate(states):
        if known and items[: len(known)] == known:
            states[place] = (trace, items)
            _add_all(trace, items[len(known) :], line, out)
            return
    trace = out.trace(title)
    states.append((trace, items))
    _add_all(trace, items, line, out)


def _add_all(trace: TraceBuilder, items: list[Any], line: int | None, out: ImportBuilder, node: str = "") -> None:
    for item in langchain_chunks.joined(items):
        if langchain.is_message(item):
            _add(trace, item, line, node)
        else:
            out.unread("an entry of a message list that is no message of LangChain")


def _title(record: Any) -> str:
    about = mapping(record)
    return next((text for key in ("title", "name", "thread_id") if (text := words(about.get(key)))), "")


def _add(trace: TraceBuilder, item: Mapping[str, Any], line: int | None, node: str = "") -> None:
    message = langchain.message(item)
    trace.message(message, line=line, agent=node if node and message.get("role") == "assistant" else None)
    if message.get("role") == "assistant":
        trace.numbers(langchain.reply_of(item))
