"""What LangChain's ``astream_events`` gives: one event where a run begins, speaks and ends, without any time.

Spec: langchain-ai/langchain, ``libs/core/langchain_core/runnables/schema.py``. A run's begin and end are put together
to what LangSmith would keep of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.langsmith_runs import span_of
from traces.repair import as_text
from traces.spans.conversations import read_spans
from traces.spans.tree import Span
from traces.wire import langchain_chunks
from traces.wire.parts import mapping

_TYPES = {"on_chat_model": "llm", "on_llm": "llm", "on_tool": "tool"}
_STEPS = ("start", "stream", "end", "error")


def is_event(value: Any) -> bool:
    """Whether ``value`` is one event."""
    return _parts_of(value) is not None


def _parts_of(value: Any) -> tuple[str, str, Mapping[str, Any]] | None:
    """``(what, step, event)``, for example ``("on_tool", "end", ...)``; a server wraps events once more."""
    if not isinstance(value, dict):
        return None
    name, data = value.get("event"), value.get("data")
    if name == "events" and isinstance(data, dict):
        return _parts_of(data) if data.get("event") != "events" else None
    if not isinstance(name, str) or not name.startswith("on_") or "run_id" not in value or not isinstance(data, dict):
        return None
    what, _, step = name.rpartition("_")
    return (what, step, value) if step in _STEPS else None


def read(document: Document, out: ImportBuilder) -> None:
    """Read the runs of a stream of events."""
    runs: dict[str, dict[str, Any]] = {}
    lines: dict[str, int | None] = {}
    for number, record in enumerate(document.records):
        found = _parts_of(record)
        if found is None:
            out.unread("a record that is no event")
            continue
        key = as_text(found[2]["run_id"])
        lines.setdefault(key, document.line_of(number))
        _add(runs.setdefault(key, {}), *found)
    read_spans([_span(key, run, lines[key], place) for place, (key, run) in enumerate(runs.items())], out)


def _add(run: dict[str, Any], what: str, step: str, event: Mapping[str, Any]) -> None:
    data, above = event["data"], event.get("parent_ids")
    run.setdefault("run_type", _TYPES.get(what, "chain"))
    run.setdefault("name", event.get("name"))
    run.setdefault("extra", {"metadata": event.get("metadata")})
    run.setdefault("above", above if isinstance(above, list) else None)
    if data.get("input") is not None:
        run.setdefault("inputs", data["input"])
    if step == "stream":
        run.setdefault("pieces", []).append(data.get("chunk"))
    elif step == "end":
        run["outputs"] = data.get("output")
    elif step == "error":
        run["error"] = as_text(data.get("error") or "the run ended with an error")


def _span(key: str, run: dict[str, Any], line: int | None, place: int) -> Span:
    above, pieces = run.pop("above"), run.pop("pieces", [])
    if run.get("outputs") is None and run["run_type"] == "llm" and pieces:
        run["outputs"] = list(langchain_chunks.joined(pieces))[-1]  # the stream was cut off
    trace = as_text(above[0] if above else key) if above is not None else "all"
    parent = as_text(above[-1]) if above else None
    output = run.get("outputs")
    if run["run_type"] == "tool" and not isinstance(mapping(output).get("output"), dict):
        run["outputs"] = {"output": output}
    return span_of({**run, "id": key}, trace, parent, line, place)
