"""Codex CLI rollouts: one line an item of the OpenAI Responses API, and events beside them.

What is said stands in ``response_item`` lines alone: the events repeat it. Of the events only numbers are used: running
totals of tokens, how long commands took and how they ended. Source: openai/codex, ``codex-rs/protocol`` (RolloutItem).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.codex_story import Record, Story
from traces.readers.fields import moment, text
from traces.wire import responses
from traces.wire.parts import kind_of, mapping

NAME = "codex-rollout"
_LOOKED_AT = 20
_KINDS = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))


def matches(document: Document) -> bool:
    """Some of the first lines are rollout items; in the oldest files, a session before bare items."""
    return any(map(_is_item, document.records[:_LOOKED_AT])) or _old_items(document) is not None


def read(document: Document, out: ImportBuilder) -> None:
    """Read the file as one conversation: a session that was resumed or forked repeats its head in the middle."""
    records = list(_records(document, out))
    if not records:
        return
    names = [text(record.payload.get("thread_name")) for record in records if record.event == "thread_name_updated"]
    head = next((record.payload for record in records if record.kind == "session_meta"), {})
    trace = out.trace(names[-1] if names else "", {"session_meta": dict(head)} if head else {})
    trace.model(None, head.get("model_provider"))
    Story(trace, out).tell(records)


def _is_item(record: Any) -> bool:
    return kind_of(record) in _KINDS and isinstance(record.get("payload"), Mapping)


def _old_items(document: Document) -> list[Any] | None:
    """The items of the oldest files: behind a first line with the session, or ``{"session", "items"}``."""
    value = document.value
    if isinstance(value, Mapping):
        items = value.get("items")
        return [value["session"], *items] if isinstance(items, list) and "id" in mapping(value.get("session")) else None
    records = document.records
    head = mapping(records[0]) if records else {}
    is_head = {"id", "timestamp"} <= head.keys() and {"type", "role", "messages"}.isdisjoint(head)
    return records if is_head and any(map(responses.is_item, records[1:_LOOKED_AT])) else None


def _records(document: Document, out: ImportBuilder) -> Iterator[Record]:
    old = _old_items(document)
    for number, record in enumerate(document.records if old is None else old):
        line = document.line_of(number) if document.lines else None
        at = moment(mapping(record).get("timestamp"))
        if not isinstance(record, Mapping):
            out.unread("a line that is no object")
        elif old is not None:
            yield Record("response_item" if number else "session_meta", record, at, line)
        elif isinstance(payload := record.get("payload"), Mapping):
            yield Record(kind_of(record), payload, at, line)
        else:
            out.unread("a line that is no item of a session")
