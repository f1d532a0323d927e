"""Spans of OpenTelemetry in every JSON that they are saved as.

OTLP (``resourceSpans``, ids in hex or base64, numbers as text, enums by name or number), the console exporters of
Python and JavaScript, Phoenix with its flat or nested attributes, Jaeger, Tempo, and bare attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from traces.container import Document
from traces.importing import ImportBuilder
from traces.repair import as_text
from traces.spans.attributes import agent_name, kind_of_span, use_of, words_of
from traces.spans.tree import Span, moment
from traces.unfold import Attributes, first, unfold
from traces.wire.parts import listed, mapping

_GROUPS = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_INSIDE = ("spans", "data", "traces", "trace", "child_spans", "children")
_ID = ("context.span_id", "spanContext.spanId", "spanId", "span_id", "spanID")
_TRACE = ("context.trace_id", "spanContext.traceId", "traceId", "trace_id", "traceID")
_PARENT = ("parent_id", "parentSpanId", "parent_span_id", "parentSpanContext.spanId", "parentId", "parentSpanID")
_START = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "timestamp")
_END = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")
_BARE = ("gen_ai.operation.name", "openinference.span.kind", "gen_ai.request.model", "ai.operationId")
_ERRORS = frozenset(("2", "ERROR", "STATUS_CODE_ERROR", "Error", "StatusCode.ERROR", "error"))
_OPENINFERENCE = ("openinference.span.kind", "llm.model_name", "llm.token_count.prompt", "llm.input_messages")
_DEEPEST = 12
_LOOKED_AT = 50
_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?")


# -- finding -------------------------------------------------------------------------------------------------------


def is_otlp(value: Any) -> bool:
    """Whether ``value`` is an OTLP document."""
    if not isinstance(value, dict):
        return False
    inner = value.get("trace")
    return any(isinstance(each.get(key), list) for each in (value, mapping(inner)) for key in _GROUPS)


def _is_span(value: Any) -> bool:
    """Whether ``value`` is one span in any other form."""
    if not isinstance(value, dict):
        return False
    if any(isinstance(value.get(key), str) for key in _BARE):
        return True
    has_id = first(value, *_ID) is not None or ("id" in value and "traceId" in value)
    named = isinstance(value.get("name") or value.get("span_name") or value.get("operationName"), str)
    kept = ("attributes", "span_attributes", "tags")
    return (has_id and named and any(isinstance(value.get(k), (dict, list, str)) for k in kept)) or _is_row(value)


def _is_row(value: Mapping[str, Any]) -> bool:
    """A row of a table of spans, as data frames are saved."""
    return "context.span_id" in value and any(str(key).startswith("attributes.") for key in value)


def is_openinference(value: Any) -> bool:
    """Whether a span speaks in the words of OpenInference."""
    attributes = attributes_of(value) if isinstance(value, dict) else {}
    return first(attributes, *_OPENINFERENCE) is not None


def records_in(value: Any, most: int | None = None, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """All span records below ``value``, in file order: of documents, lists, and objects that hold lists of spans.

    Args:
        value: any JSON.
        most: how many items of each list to look at; None: all.
        depth: how deep ``value`` lies.
    """
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value[:most]:
            yield from records_in(item, most, depth + 1)
    elif _is_span(value):
        yield value
        for key in ("child_spans", "children"):
            if key in value:
                yield from records_in(value[key], most, depth + 1)
    elif isinstance(value, dict):
        if is_otlp(value):
            yield from _of_otlp(value)
        else:
            inner = [value[key] for key in _INSIDE if key in value] or [v for v in value.values() if _is_list(v)]
            for item in inner:
                yield from records_in(item, most, depth + 1)


def first_records(document: Document) -> list[Mapping[str, Any]]:
    """Some of the first span records of a file; quick, whatever it holds."""
    return list(islice(records_in(document.records[:_LOOKED_AT], _LOOKED_AT), _LOOKED_AT))


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and any(_is_span(item) for item in value[:5])


def _of_otlp(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    body = document if any(key in document for key in _GROUPS) else mapping(document.get("trace"))
    for group in (group for key in _GROUPS for group in listed(body.get(key))):
        for scope in (scope for key in _SCOPES for scope in listed(group.get(key))):
            yield from listed(scope.get("spans"))


def spans_of(document: Document, out: ImportBuilder) -> list[Span]:
    """All spans of a file; records that hold none are counted as unread."""
    spans: list[Span] = []
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        found = [span_of(each, line) for each in records_in(record)]
        if not found:
            out.unread("a record that is no span")
        spans += found
    return spans


# -- reading -------------------------------------------------------------------------------------------------------


def span_of(record: Mapping[str, Any], line: int | None = None) -> Span:
    """One record as a span. What is missing stays unknown; it never raises."""
    record = Attributes(record)
    attributes, events = attributes_of(record), _events(record)
    name = as_text(first(record, "name", "span_name", "operationName") or "")
    kind = kind_of_span(name, attributes)
    started, ended = _times(record)
    return Span(
        id=_id(first(record, *_ID) or record.get("id")),
        trace=_id(first(record, *_TRACE)),
        parent=_id(_parent(record)) or None,
        name=name,
        kind=kind,
        agent=agent_name(name, attributes, kind),
        started=started,
        ended=ended,
        error=_error(record, events),
        read=partial(words_of, attributes, events),
        use=partial(use_of, name, attributes, events),
        line=line,
    )


def _id(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else as_text(value)


def _parent(record: Mapping[str, Any]) -> Any:
    for reference in listed(record.get("references")):
        if reference.get("refType") in ("CHILD_OF", "child-of"):
            return reference.get("spanID")
    return first(record, *_PARENT)


def attributes_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes of a record: an object, OTLP's list of keys and values, or columns of a table."""
    found = next((value for k in ("attributes", "span_attributes", "tags") if (value := unfold(record.get(k)))), None)
    if isinstance(found, list):
        pairs = {item["key"]: _value(item.get("value")) for item in listed(found) if isinstance(item.get("key"), str)}
        return Attributes(pairs)
    if isinstance(found, dict):
        return Attributes(found)
    start = "attributes."
    columns = {k.removeprefix(start): v for k, v in record.items() if isinstance(k, str) and k.startswith(start)}
    return Attributes(columns or record)


def _value(value: Any) -> Any:
    """OTLP's ``AnyValue``."""
    if not isinstance(value, dict):
        return value
    for key, inner in value.items():
        kind = key.lower().replace("_", "")
        if kind in ("stringvalue", "boolvalue", "doublevalue", "bytesvalue"):
            return inner
        if kind == "intvalue":
            return int(inner) if isinstance(inner, str) and inner.lstrip("-").isdecimal() and len(inner) < 20 else inner
        if kind == "arrayvalue":
            return [_value(item) for item in listed(mapping(inner).get("values"))]
        if kind == "kvlistvalue":
            return {
                as_text(item.get("key")): _value(item.get("value")) for item in listed(mapping(inner).get("values"))
            }
    return value or None


def _events(record: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    found = []
    for event in listed(unfold(record.get("events"))):
        name = first(event, "name", "Name", "event.name")
        attributes = attributes_of(event) if "attributes" in event else mapping(event.get("Attributes"))
        found.append((as_text(name or ""), attributes))
    return found


def _times(record: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """``(start, end)``; the end also from a duration: ISO 8601, JavaScript's pair, or microseconds."""
    started, ended = moment(first(record, *_START)), moment(first(record, *_END))
    if ended is None and started is not None and (seconds := _seconds(record.get("duration"))) is not None:
        ended = started + seconds
    return started, ended


def _seconds(duration: Any) -> float | None:
    if isinstance(duration, str) and (found := _DURATION.fullmatch(duration)):
        return sum(float(part or 0) * unit for part, unit in zip(found.groups(), (86400, 3600, 60, 1), strict=True))
    if isinstance(duration, list) and len(duration) == 2 and all(isinstance(part, (int, float)) for part in duration):
        return float(duration[0] + duration[1] / 1e9)
    if isinstance(duration, (int, float)) and not isinstance(duration, bool) and 0 <= duration < 1e15:
        return duration / 1e6
    return None


def _error(record: Mapping[str, Any], events: list[tuple[str, Mapping[str, Any]]]) -> str | None:
    """Why a span failed; None for one that did not."""
    status = record.get("status")
    code = first(status, "code", "status_code") if isinstance(status, dict) else status
    codes = (code, record.get("status_code"))
    if _ERRORS.isdisjoint([str(each) for each in codes if isinstance(each, (str, int))]):
        return None
    said = first(mapping(status), "message", "description") or record.get("status_message")
    said = said or next((a.get("exception.message") for name, a in events if name == "exception"), None)
    return as_text(said or "the span ended with an error")
