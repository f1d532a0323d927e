"""TRAIL: traces of OpenInference spans with what people found wrong in them.

Rows of the data set hold the trace and its labels as JSON inside text; durations are ISO 8601, counts are text, and
labels may hold commas where JSON has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agent.trace import Evidence
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.repair import as_text
from traces.spans import records
from traces.spans.conversations import read_spans
from traces.unfold import object_in, unfold
from traces.wire.parts import listed

NAME = "trail"
_LOOKED_AT = 20
_LATE_COMMA = re.compile(r",(?=\s*[}\]])")


def matches(document: Document) -> bool:
    """Some of the first records are traces of nested spans, or rows that hold one."""
    return any(_trace_of(record) is not None for record in document.records[:_LOOKED_AT])


def _trace_of(record: Any) -> Mapping[str, Any] | None:
    if not isinstance(record, dict):
        return None
    inner = record.get("trace")
    body = object_in(inner) if isinstance(inner, str) or "labels" in record else record
    spans = unfold(body.get("spans"))
    nested = any("child_spans" in span and "span_attributes" in span for span in listed(spans)[:_LOOKED_AT])
    return body if nested else None


def read(document: Document, out: ImportBuilder) -> None:
    """Read every trace, and put its labels beside it."""
    for number, record in enumerate(document.records):
        body = _trace_of(record)
        if body is None:
            out.unread("a record that is no trace of nested spans")
            continue
        line = document.line_of(number)
        spans = [records.span_of(each, line) for each in records.records_in(unfold(body.get("spans")))]
        labels = _labels(record)
        names = {span.id: span.name for span in spans}
        for builders in read_spans(spans, out).values():
            if builders and labels:
                _label(builders[0], labels, names)
                labels = {}


def _labels(record: Mapping[str, Any]) -> Mapping[str, Any]:
    labels = record.get("labels")
    return object_in(_LATE_COMMA.sub("", labels) if isinstance(labels, str) else labels)


def _label(trace: TraceBuilder, labels: Mapping[str, Any], names: Mapping[str, str]) -> None:
    for error in listed(labels.get("errors")):
        location = as_text(error.get("location") or "")
        where = f" in {names[location]}" if names.get(location) else ""
        impact = f", impact {error['impact']}" if isinstance(error.get("impact"), str) else ""
        said = as_text(error.get("description") or error.get("evidence") or "")
        trace.note("mistake", f"{as_text(error.get('category') or 'error')}{where}{impact}: {said}")
    for scores in listed(labels.get("scores")):
        checks = [Evidence(check=key, ok=None, detail=as_text(value)) for key, value in scores.items()]
        trace.outcome(checks=[check for check in checks if not check.check.endswith("reasoning")])
