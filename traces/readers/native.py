"""``agent-trace/1``: the format of this project, written by ``agent``."""

from __future__ import annotations

from agent.trace import SCHEMA
from traces.container import Document
from traces.importing import ImportBuilder
from traces.native import is_native, read_trace

NAME = SCHEMA


def matches(document: Document) -> bool:
    """The document, or its first record, has our schema."""
    return bool(document.records) and is_native(document.records[0])


def read(document: Document, out: ImportBuilder) -> None:
    """Read one trace, or one a record."""
    for record in document.records:
        if is_native(record):
            out.add(read_trace(record, out))
        else:
            out.unread("a record that is no native trace")
