"""ImportReport: what came out of a file, and what of it could not be used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent.trace import Trace
from traces.lines import BadLine


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What reading one file gave. Nothing is left out without a word here."""

    file: str
    """The file's name as it was given."""
    id: str = ""
    """Of a file without a conversation, the id that its first one would have; else empty."""
    format: str | None = None
    """The name of the format; None when no reader knows the shape."""
    container: str = ""
    """json, jsonl, concatenated, events or zip."""
    traces: list[Trace] = field(default_factory=list)
    bad_lines: list[BadLine] = field(default_factory=list)
    """Lines that are not JSON."""
    unread: list[str] = field(default_factory=list)
    """What was JSON but no part of a conversation, one sentence for each kind."""
    repaired: list[str] = field(default_factory=list)
    """What was put right while reading, one sentence for each kind; the original stands in ``Entry.raw``."""
    warnings: list[str] = field(default_factory=list)
    tree: Any = None
    """The JSON itself where no reader knows its shape, so that it can still be looked at."""
