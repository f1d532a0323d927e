"""``agent-journal/1``: the journal of a run of ours that has no trace file yet. It opens as an interrupted run."""

from __future__ import annotations

from collections.abc import Mapping

from agent.errors import InputError
from traces.builder import ImportBuilder
from traces.container import Document
from traces.native import read_trace

NAME = "agent-journal/1"


def matches(document: Document) -> bool:
    """The first line has the schema of a journal."""
    first = document.records[0] if document.records else None
    return isinstance(first, Mapping) and first.get("schema") == NAME


def read(document: Document, out: ImportBuilder) -> None:
    """Put the journal together to the trace as it stood when the run stopped.

    Raises:
        InputError: the journal cannot be put together.
    """
    from agent.recovery import recover

    try:
        snapshot = recover(document.data)
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError) as error:
        raise InputError(f"the journal is damaged ({type(error).__name__}: {error})") from error
    trace = read_trace(snapshot["trace"], out)
    if trace.outcome.reason is None:
        out.warn("the run was interrupted; this is what its journal holds")
    out.add(trace)
