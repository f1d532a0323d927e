"""Spans in the words of OpenInference, as Arize Phoenix exports them: objects, lines, or rows of a table."""

from __future__ import annotations

from traces.container import Document
from traces.importing import ImportBuilder
from traces.spans import records
from traces.spans.conversations import read_spans

NAME = "openinference"
_LOOKED_AT = 50


def matches(document: Document) -> bool:
    """The file holds spans outside of OTLP, and some of the first ones have attributes of OpenInference."""
    found = records.first_records(document)
    in_otlp = any(records.is_otlp(record) for record in document.records[:_LOOKED_AT])
    return not in_otlp and any(records.is_openinference(record) for record in found)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every span of the file."""
    read_spans(records.spans_of(document, out), out)
