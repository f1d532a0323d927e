"""What of a run may be shown while it goes on: what will be saved, so nothing that repeats the key in use.

The run itself goes on with the real values. A server may echo the key that it was sent, and a tool may print it; the
page is seen by others than the one who typed it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from agent import jsontext
from agent.messages import Message
from agent.redact import may_hold_secret, redact
from agent.trace import Entry, Outcome, Trace, TraceStep

Record = TypeVar("Record", Message, Entry, TraceStep, Outcome)


def shown(trace: Trace, secrets: Iterable[str]) -> Trace:
    """A trace without secrets; ``trace`` itself where there is none to hide.

    Args:
        trace: what the run holds; never changed.
        secrets: exact values, such as the key in use.
    """
    secrets = tuple(secrets)
    if not secrets:
        return trace
    return replace(
        trace,
        tools=redact(trace.tools, secrets),
        config=redact(trace.config, secrets),
        interventions=redact(trace.interventions, secrets),
        messages=[_clean(message, secrets) for message in trace.messages],
        entries=[_clean(entry, secrets) for entry in trace.entries],
        steps=[_clean(step, secrets) for step in trace.steps],
        outcome=_clean(trace.outcome, secrets),
        notes=redact(trace.notes, secrets),
    )


def _clean(record: Record, secrets: tuple[str, ...]) -> Record:
    data = record.to_dict()
    if not may_hold_secret(jsontext.dumps(data, compact=True), secrets):
        return record
    return type(record).from_dict(redact(data, secrets))
