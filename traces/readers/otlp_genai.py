"""Spans of OpenTelemetry: OTLP JSON, and what the console exporters of Python and JavaScript write."""

from __future__ import annotations

from traces.container import Document
from traces.importing import ImportBuilder
from traces.spans import records
from traces.spans.conversations import read_spans

NAME = "otlp-genai"
_LOOKED_AT = 20


def matches(document: Document) -> bool:
    """Some of the first records are OTLP documents or spans, or hold spans."""
    has_otlp = any(records.is_otlp(record) for record in document.records[:_LOOKED_AT])
    return has_otlp or bool(records.first_records(document))


def read(document: Document, out: ImportBuilder) -> None:
    """Read every span of the file."""
    read_spans(records.spans_of(document, out), out)
