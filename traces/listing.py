"""The lines of the list of traces: what one file gives."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from agent import jsontext
from agent.errors import InputError
from agent.trace import SCHEMA, Trace
from traces.billing import bill_of
from traces.glance import HEAD, Glance, glance
from traces.index import INTERRUPTED, Stamp, TraceInfo
from traces.lineage import fork_point
from traces.opening import read_file
from traces.readers import journal
from traces.summary import summarise
from traces.text import cell

Lines = list[TraceInfo]

_LARGEST = 2**63 - 1
_TASK = 200
"""Characters of a task that are kept."""


def lines_of(path: str, stamp: Stamp, kind: str) -> Lines:
    """The lines of one file. No file, however odd, keeps the others from being listed.

    Args:
        path: the file.
        stamp: how it looks now.
        kind: bundled or saved; a journal is interrupted all the same.
    """
    try:
        return _read(path, stamp, kind)
    except InputError as error:
        return [_no_trace(path, stamp, kind, None, str(error))]
    except Exception as error:
        return [_no_trace(path, stamp, kind, None, f"it could not be read ({type(error).__name__}: {error})")]


def _read(path: str, stamp: Stamp, kind: str) -> Lines:
    if seen := _glanced(path):
        return [_info(seen, SCHEMA, 0, path, stamp, kind)]
    report = read_file(path)
    if not report.traces:
        reason = report.unread[0] if report.unread else "there is no conversation in it"
        return [_no_trace(path, stamp, kind, report.format, reason, report.id)]
    if report.format == journal.NAME:
        kind = INTERRUPTED
    return [
        _info(_glance_of(trace), report.format, number, path, stamp, kind) for number, trace in enumerate(report.traces)
    ]


def _glanced(path: str) -> Glance | None:
    """The numbers of a file of ours; of any other no more than the first bytes are read here."""
    with Path(path).open("rb") as file:
        head = file.read(HEAD)
        return glance(head + file.read()) if SCHEMA.encode() in head else None


def _glance_of(trace: Trace) -> Glance:
    summary = summarise(trace)
    parent, at = fork_point(trace.source.parent, trace.source.at)
    return Glance(
        trace_id=trace.trace_id,
        title=trace.title,
        task=trace.task,
        created=trace.created,
        models=summary.models,
        steps=summary.steps,
        messages=summary.messages,
        tool_calls=summary.tool_calls,
        errors=summary.errors,
        tokens=summary.tokens.total,
        cost=summary.cost,
        bill=bill_of(trace, summary.cost),
        duration_s=summary.duration_s,
        outcome=summary.outcome,
        parent=parent,
        at=at,
    )


def _info(seen: Glance, format: str | None, number: int, path: str, stamp: Stamp, kind: str) -> TraceInfo:
    return TraceInfo(
        id=seen.trace_id,
        title=jsontext.clean(seen.title if seen.title.strip() else Path(path).name),
        task=jsontext.clean(cell(seen.task, _TASK)),
        format=format,
        model=jsontext.clean(", ".join(seen.models)) or None,
        steps=seen.steps,
        messages=seen.messages,
        tool_calls=seen.tool_calls,
        errors=seen.errors,
        tokens=seen.tokens if seen.tokens is None or seen.tokens <= _LARGEST else None,
        cost=seen.cost,
        bill=seen.bill,
        duration_s=seen.duration_s,
        outcome=seen.outcome and jsontext.clean(seen.outcome),
        created=jsontext.clean(seen.created) if seen.created else _time(stamp),
        parent=seen.parent,
        at=seen.at,
        path=jsontext.clean(path),
        number=number,
        kind=kind,
        error=None,
    )


def _no_trace(path: str, stamp: Stamp, kind: str, format: str | None, reason: str, file_id: str = "") -> TraceInfo:
    return TraceInfo(
        id=file_id,
        title=jsontext.clean(Path(path).name),
        task="",
        format=format,
        model=None,
        steps=0,
        messages=0,
        tool_calls=0,
        errors=0,
        tokens=None,
        cost=None,
        bill=None,
        duration_s=None,
        outcome=None,
        created=_time(stamp),
        parent=None,
        at=None,
        path=jsontext.clean(path),
        number=-1,
        kind=kind,
        error=jsontext.clean(reason),
    )


def _time(stamp: Stamp) -> str | None:
    try:
        return datetime.fromtimestamp(stamp.mtime_ns / 1e9, UTC).isoformat(timespec="seconds")[:-6] + "Z"
    except (OverflowError, ValueError, OSError):
        return None
