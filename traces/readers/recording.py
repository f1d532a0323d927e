"""``agent-recording/1``: what was recorded of another program that was killed before its trace was written."""

from __future__ import annotations

from collections.abc import Mapping

from agent.recording_log import SCHEMA, read_log
from agent.trace import SCHEMA as TRACE_SCHEMA
from traces.container import Document
from traces.importing import ImportBuilder
from traces.native import read_trace

NAME = SCHEMA


def matches(document: Document) -> bool:
    """The first line has the schema of a recording."""
    first = document.records[0] if document.records else None
    return isinstance(first, Mapping) and first.get("schema") == NAME


def read(document: Document, out: ImportBuilder) -> None:
    """Put the lines together to the trace as it stood after the last call.

    Raises:
        InputError: what they give is no trace.
    """
    out.add(read_trace({"schema": TRACE_SCHEMA, **read_log(document.records)}, out))
    out.warn("the program ended before its recording was closed; this is what was recorded")
