"""``agent-journal/1``: the journal of a run of ours that has no trace file yet. It opens as an interrupted run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agent.errors import InputError
from agent.events import Maker
from agent.messages import Message
from agent.trace import Entry, Trace
from traces.container import Document
from traces.importing import ImportBuilder
from traces.native import read_trace

if TYPE_CHECKING:
    from agent.state import PendingCall

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
    from agent.state import PendingCall

    try:
        snapshot = recover(document.data)
        pending = [PendingCall.from_dict(call) for call in snapshot["pending"]]
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError) as error:
        raise InputError(f"the journal is damaged ({type(error).__name__}: {error})") from error
    trace = read_trace(snapshot["trace"], out)
    _add_pending(trace, pending)
    if trace.outcome.reason is None:
        out.warn("the run was interrupted; this is what its journal holds")
    out.add(trace)


def _add_pending(trace: Trace, calls: Sequence[PendingCall]) -> None:
    """Show the calls of the step in flight as they stand.

    Results that were kept but not yet written into the message list stand at its end.
    """
    for call, run in zip(calls, trace.steps[-1].tools if trace.steps else (), strict=False):
        if run.message is not None:
            continue
        if call.result is None:
            if call.decision and call.decision.kind != "run":
                run.decision = call.decision.kind
            continue
        text = (call.decision.notice() if call.decision else "") + call.result.text
        message = Message("tool", text, tool_call_id=call.call.id)
        maker = _MAKERS.get(run.decision, Maker.ENVIRONMENT)
        trace.messages.append(message)
        trace.entries.append(Entry(maker=maker, at=call.finished, step=trace.steps[-1].index))
        run.message = len(trace.messages) - 1


_MAKERS: dict[str | None, Maker] = {
    "mocked": Maker.USER,
    "rejected": Maker.USER,
    "denied": Maker.CODE,
    "skipped": Maker.CODE,
}
"""Who answered a call that did not run."""
