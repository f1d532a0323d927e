"""OpenHands: event streams of both generations, saved trajectories and rows of its evaluation.

A file is a list of events (also as lines, one file an event in an archive, or ``{"trajectory": [...]}``), or rows with
the events under ``history``. Events of version 0 have an ``action`` or an ``observation``; those of the SDK a ``kind``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.trace import Evidence
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers import openhands_sdk, openhands_v0
from traces.readers.fields import amount, text
from traces.wire import litellm
from traces.wire.parts import listed, mapping

NAME = "openhands"
_LOOKED_AT = 20
_LISTS = ("trajectory", "history", "events", "items", "json")
"""Keys under which files, rows, and recorded answers of its server hold events."""


def matches(document: Document) -> bool:
    """Some of the first records are events with an id or a source, or hold a list of events."""
    return any(_is_event(record) or _events_of(record) is not None for record in _records(document)[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read loose events as one conversation, and each record that holds a list of events as one of its own."""
    loose: list[Mapping[str, Any]] = []
    lines: list[int | None] = []
    for number, record in enumerate(_records(document)):
        line = None if document.members else document.line_of(number)
        if (events := _events_of(record)) is not None:
            _read_row(record, events, line, out)
        elif isinstance(record, Mapping):
            loose.append(record)
            lines.append(line)
        else:
            out.unread("a record that is no event")
    if loose:
        state, trace = _state_of(document), out.trace()
        trace.model(openhands_sdk.model_of(state))
        _read_events(loose, lines, trace, out, openhands_sdk.metrics_of(mapping(state.get("stats"))))


def _state_of(document: Document) -> Mapping[str, Any]:
    """What an archive keeps of a conversation beside its events: the agent, and what it used."""
    states = (mapping(member.value) for member in document.members)
    return next((state for state in states if "stats" in state and "agent" in state), {})


def _records(document: Document) -> list[Any]:
    """The records of a file; of an archive, the events that are its members, in the order of their names."""
    if not document.members:
        return document.records
    members = sorted(document.members, key=lambda member: member.name)
    return [member.value for member in members if _is_event(member.value)]


def _is_event(value: Any) -> bool:
    if not isinstance(value, Mapping) or "role" in value:
        return False
    if openhands_sdk.is_event(value):
        return True
    return openhands_v0.is_event(value) and "source" in value and ("id" in value or "timestamp" in value)


def _events_of(record: Any) -> list[Mapping[str, Any]] | None:
    """The events of a row, or None. Older rows hold pairs of an action and its observation."""
    if not isinstance(record, Mapping):
        return None
    for key in _LISTS:
        if not isinstance(items := record.get(key), list):
            continue
        flat = [event for item in items for event in (item if isinstance(item, list) else [item])]
        events = [_bare(event) for event in listed(flat)]
        if (
            events
            and all("role" not in event for event in events[:_LOOKED_AT])
            and any(openhands_sdk.is_event(event) or _is_row_event(event, record) for event in events[:_LOOKED_AT])
        ):
            return events
    return None


def _bare(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event inside an envelope of the server."""
    data = event.get("data")
    return {**event, **data} if isinstance(data, Mapping) and openhands_v0.is_event(data) else event


def _is_row_event(event: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether it is an event of version 0: SWE-agent's steps hold an action and its observation in one."""
    return openhands_v0.is_event(event) and not {"action", "observation"} <= event.keys() and "steps" not in record


def _read_events(
    events: list[Mapping[str, Any]],
    lines: list[int | None],
    trace: TraceBuilder,
    out: ImportBuilder,
    metrics: Mapping[str, Any] | None = None,
) -> None:
    is_new = any(map(openhands_sdk.is_event, events[:_LOOKED_AT]))
    story = (openhands_sdk.Story if is_new else openhands_v0.Story)(trace, out, metrics or {}, events)
    for event, line in zip(events, lines, strict=True):
        story.add(event, line)
    story.end()


def _read_row(row: Mapping[str, Any], events: list[Mapping[str, Any]], line: int | None, out: ImportBuilder) -> None:
    about = {key: value for key, value in row.items() if key not in _LISTS}
    title = text(row.get("instance_id")) or text(mapping(row.get("issue")).get("title"))
    trace = out.trace(title, about)
    metrics = mapping(row.get("metrics"))
    _read_events(events, [line] * len(events), trace, out, metrics)
    trace.reported(
        usage=litellm.read_usage(metrics.get("accumulated_token_usage")),
        cost=amount(metrics.get("accumulated_cost")),
    )
    trace.outcome("error" if row.get("error") else None, detail=text(row.get("error")), checks=_checks(row))


def _checks(row: Mapping[str, Any]) -> list[Evidence]:
    """What the row says about whether the task was done."""
    found = {"success": row.get("success"), "resolved": mapping(row.get("report")).get("resolved")}
    detail = text(row.get("result_explanation"))
    return [Evidence(check=name, ok=ok, detail=detail) for name, ok in found.items() if isinstance(ok, bool)]
