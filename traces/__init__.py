"""Read, keep and explain traces: ours and other people's."""

from agent.journal import write_trace as save_trace
from agent.trace import Trace
from traces.index import TraceInfo
from traces.opening import open_trace, read_file
from traces.report import ImportReport
from traces.store import Store

__all__ = ["ImportReport", "Store", "Trace", "TraceInfo", "open_trace", "read_file", "save_trace"]
