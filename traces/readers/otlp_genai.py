"""Spans of OpenTelemetry: OTLP JSON, and what the console exporters of Python and JavaScript write."""

from __future__ import annotations

from itertools import islice

from traces import span_records
from traces.container import Document
from traces.importing import ImportBuilder
from traces.span_conversations import read_spans

NAME = "otlp-genai"
_LOOKED_AT = 20


def matches(document: Document) -> bool:
    """Some of the first records are OTLP documents or spans."""
    if any(span_records.is_otlp(record) or span_records.is_span(record) for record in document.records[:_LOOKED_AT]):
        return True
    return any(True for _ in islice(span_records.records_in(document.records[:_LOOKED_AT]), 1))


def read(document: Document, out: ImportBuilder) -> None:
    """Read every span of the file."""
    read_spans(span_records.spans_of(document, out), out)
