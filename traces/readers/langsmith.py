"""LangSmith runs: a tree under ``child_runs``, a flat list by ``parent_run_id``, lines, or the body of a webhook.

Spec: langchain-ai/langsmith-sdk, ``python/langsmith/schemas.py``. LangSmith lists the newest first, and some dumps hold
no parents at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent.trace import Evidence
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.langsmith_runs import said_in, span_of, usage_of_run
from traces.repair import as_text
from traces.spans.conversations import read_spans
from traces.spans.numbers import cost_of
from traces.spans.tree import Span
from traces.unfold import object_in
from traces.wire.parts import listed

NAME = "langsmith"
_LOOKED_AT = 20
_DEEPEST = 200
_RUN_KEYS = ("run_type", "dotted_order", "parent_run_id", "child_runs", "trace_id", "session_id", "execution_order")
_NOTHING: tuple[Any, ...] = (None, "", [], {})


# -- finding -------------------------------------------------------------------------------------------------------


def matches(document: Document) -> bool:
    """Some of the first records are runs, or hold runs."""
    return any(_is_run(record) or _runs_in(record) for record in document.records[:_LOOKED_AT])


def _is_run(value: Any) -> bool:
    """A run has inputs beside its type or its place in the tree; a bare dump at least both of its times.

    The second half of a run, which clients send when it has ended, has outputs instead.
    """
    if not isinstance(value, dict):
        return False
    if not ("inputs" in value or "inputs_s3_urls" in value):
        return "outputs" in value and said_in(value.get("dotted_order")) is not None
    if any(key in value for key in _RUN_KEYS):
        return isinstance(value.get("run_type"), str) or "dotted_order" in value or "child_runs" in value
    return {"id", "name", "start_time", "end_time", "outputs"} <= value.keys()


def _runs_in(value: Any) -> list[Any]:
    """The runs of an object that holds a list of them; of lists some dumps make lists.

    The body of a batch holds two: what has begun, and what has ended.
    """
    if isinstance(value, list):
        return value if any(_is_run(item) for item in value[:_LOOKED_AT]) else []
    if not isinstance(value, dict):
        return []
    lists = [inner for key in ("runs", "data", "items", "post", "patch") if isinstance(inner := value.get(key), list)]
    return [run for inner in lists if any(_is_run(item) for item in inner[:_LOOKED_AT]) for run in inner]


def _put_together(runs: Iterable[tuple[Any, int | None]]) -> Iterator[tuple[Any, int | None]]:
    """Each run once, where a client sent it in two halves: at its begin, and what is new at its end."""
    halves: dict[str, Mapping[str, Any]] = {}
    lines: list[tuple[Any, int | None]] = []
    for run, line in runs:
        key = run.get("id") if _is_run(run) else None
        if isinstance(key, str) and key in halves:
            halves[key] = {**halves[key], **{name: value for name, value in run.items() if value not in _NOTHING}}
            continue
        if isinstance(key, str):
            halves[key] = run
        lines.append((run, line))
    for run, line in lines:
        key = run.get("id") if _is_run(run) else None
        yield (halves[key] if isinstance(key, str) else run), line


def read(document: Document, out: ImportBuilder) -> None:
    """Read every run of the file."""
    spans: list[Span] = []
    roots: dict[str, Mapping[str, Any]] = {}
    for run, line in _put_together(_runs_of(document, out)):
        if not _is_run(run):
            out.unread("an entry of a list of runs that is no run")
            continue
        trace = as_text(run.get("trace_id") or _top(run))
        for inner, parent in _tree(run):
            span = span_of(inner, trace, parent, line)
            spans.append(span)
            if span.parent is None:
                roots.setdefault(trace, inner)
    _join_by_time(spans)
    for trace, builders in read_spans(spans, out).items():
        if builders and trace in roots:
            _finish(builders[0], roots[trace])


def _runs_of(document: Document, out: ImportBuilder) -> Iterator[tuple[Any, int | None]]:
    for number_, record in enumerate(document.records):
        runs = [record] if _is_run(record) else _runs_in(record)
        if not runs:
            out.unread("a record that is no run")
        yield from ((run, document.line_of(number_)) for run in runs)


def _top(run: Mapping[str, Any]) -> str:
    """The trace of a run that does not name it: the first id of its place in the tree."""
    order = said_in(run.get("dotted_order"))
    if order:
        return order.split(".")[0].partition("Z")[2] or order.split(".")[0]
    return "" if _has_no_tree(run) else as_text(run.get("id") or "")


def _has_no_tree(run: Mapping[str, Any]) -> bool:
    return not any(key in run for key in ("parent_run_id", "child_runs", "dotted_order", "trace_id"))


def _tree(run: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str | None]]:
    """A run and all below it, each with its parent's id."""
    stack: list[tuple[Mapping[str, Any], str | None, int]] = [(run, _parent(run), 0)]
    while stack:
        each, parent, depth = stack.pop()
        yield each, parent
        if depth < _DEEPEST:
            own = as_text(each.get("id") or "")
            stack += [(child, _parent(child) or own, depth + 1) for child in listed(each.get("child_runs"))]


def _parent(run: Mapping[str, Any]) -> str | None:
    said = said_in(run.get("parent_run_id"))
    order = said_in(run.get("dotted_order"))
    if said is None and order and "." in order:
        said = order.split(".")[-2].partition("Z")[2]
    return said or None


def _join_by_time(spans: list[Span]) -> None:
    """Runs of a dump without a tree: each belongs to the shortest run that lies round it in time."""
    loose = [span for span in spans if span.trace == "" and span.parent is None and span.latency_ms is not None]
    loose.sort(key=lambda span: (span.started or 0.0, -(span.ended or 0.0)))
    open_runs: list[Span] = []
    for span in loose:
        while open_runs and (open_runs[-1].ended or 0.0) < (span.ended or 0.0):
            open_runs.pop()
        if open_runs:
            span.parent, span.trace = open_runs[-1].id, open_runs[-1].trace
        else:
            span.trace = span.id
        open_runs.append(span)


def _finish(builder: TraceBuilder, run: Mapping[str, Any]) -> None:
    """What the outermost run says of the whole: its sums, its error, its feedback."""
    builder.reported(usage=usage_of_run(run), cost=cost_of(run.get("total_cost")))
    if (error := said_in(run.get("error"))) is not None:
        builder.outcome(detail=error.strip().splitlines()[0][:500])
    for name, stats in object_in(run.get("feedback_stats")).items():
        detail = as_text(stats.get("avg") if isinstance(stats, dict) else stats)
        builder.outcome(checks=[Evidence(check=name, ok=None, detail=detail)])
