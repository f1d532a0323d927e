"""``agent-trace/1``, the file that this project writes itself: nothing is lost."""

from __future__ import annotations

from agent.journal import trace_bytes
from agent.trace import Trace

NAME = "native"
SUFFIX = ".json"
MIME = "application/json"


def losses(trace: Trace) -> list[str]:
    """Nothing."""
    return []


def write(trace: Trace, language: str = "en") -> bytes:
    """Strict JSON that reads back as the same trace."""
    return trace_bytes(trace)
