"""Read, keep and explain traces: ours and other people's."""

from agent.trace import Trace
from traces.opening import open_trace, read_file
from traces.report import ImportReport

__all__ = ["ImportReport", "Trace", "open_trace", "read_file"]
