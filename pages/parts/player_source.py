"""What a replay shows: the conversation that the address names, in a file of the library or of this machine."""

from __future__ import annotations

from agent.errors import InputError
from pages.parts import address
from pages.parts.data import private, store
from pages.parts.following import where_it_went
from pages.parts.opened import Opened, followed, read_kept
from pages.parts.player import Reel, reel_of
from pages.parts.words import t
from traces.index import INTERRUPTED


def named_reel() -> Reel | None:
    """The conversation that the address names, moment by moment; None where it names nothing.

    Raises:
        InputError: what it names is not here, or holds no conversation.
        OSError: the file is not there any more.
    """
    number = 0
    if (trace_id := address.trace_id()) is not None:
        opened, number = _of_library(trace_id)
    elif (path := address.file_path()) is not None:
        opened = _of_machine(path)
    else:
        return None
    traces = opened.report.traces
    if not traces:
        raise InputError(t("This file holds no conversation to replay."))
    return reel_of(traces[address.conversation(len(traces), max(number, 0))])


def _of_library(trace_id: str) -> tuple[Opened, int]:
    """The file of a trace, and its position there."""
    info = store().find(trace_id)
    if info is None:
        raise InputError(t("There is no trace with the id in the address."))
    if info.kind == INTERRUPTED:  # a journal grows within room that was reserved, without a change of its size
        return followed(info.path).opened(address.format_override()), info.number
    return read_kept(info.path, address.format_override()), info.number


def _of_machine(path: str) -> Opened:
    if not private():
        raise InputError(t("Files are opened by their path only where no other machine can reach the server."))
    return followed(where_it_went(path)).opened(address.format_override())
