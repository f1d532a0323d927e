"""Which messages the request of each step held: as recorded, else as far as the order of the file says.

Most files keep one list of messages and no requests. Then a call was given everything before its answer, from the last
compaction on where the reader noted one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent.messages import Message
from agent.trace import Edit, Trace, TraceStep

COMPACTION = "compaction"
"""The kind of note that says: from this message on the history before it was no longer sent."""
_SYSTEM = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Held:
    """What one request held of the message list."""

    step: TraceStep
    spans: tuple[tuple[int, int], ...]
    """Positions ``[start, end)`` of the messages that were sent as they stand, in order and without overlap."""
    replaced: tuple[tuple[int, Message], ...] = ()
    """Messages that were sent in another form."""
    inserted: tuple[Message, ...] = ()
    """Messages that are not in the list."""
    assumed: bool = False
    """True where the file does not say what was sent."""


def held_by_steps(trace: Trace) -> Iterator[Held]:
    """What the request of each step held, in the order of the steps. Steps without messages of their own are left out.

    Time is linear in the number of steps and of edits.
    """
    head = _length_of_head(trace)
    cuts = sorted({at for note in trace.notes if (at := _cut(note, len(trace.messages))) is not None})
    upcoming, floor = iter([*cuts, len(trace.messages) + 1]), 0
    following = next(upcoming)
    for step in trace.steps:
        if step.request is not None:
            upto = max(0, min(step.request.upto, len(trace.messages)))
            yield _recorded(step, upto, step.request.edits)
        elif step.reply is not None:
            while following <= step.reply:
                floor, following = following, next(upcoming)
            spans = ((0, step.reply),) if floor <= head else ((0, head), (floor, step.reply))
            yield Held(step, tuple(span for span in spans if span[0] < span[1]), assumed=True)


def _length_of_head(trace: Trace) -> int:
    """How many system messages the list begins with; a compaction leaves them in place."""
    return next((at for at, message in enumerate(trace.messages) if message.role not in _SYSTEM), len(trace.messages))


def _cut(note: Any, count: int) -> int | None:
    if not isinstance(note, dict) or note.get("kind") != COMPACTION:
        return None
    at = note.get("message")
    return at if isinstance(at, int) and not isinstance(at, bool) and 0 <= at < count else None


def _recorded(step: TraceStep, upto: int, edits: list[Edit]) -> Held:
    if not edits:
        return Held(step, ((0, upto),) if upto else ())
    gone: list[tuple[int, int]] = []
    replaced: dict[int, Message] = {}
    inserted: list[Message] = []
    for edit in edits:
        if edit.op == "drop":
            gone.append((edit.message, edit.message + edit.count))
        elif edit.op == "replace":
            replaced[edit.message] = Message.from_dict(edit.with_ or {})
        else:
            inserted.append(Message.from_dict(edit.with_ or {}))
    dropped = {at for start, end in gone for at in range(max(start, 0), min(end, upto))}
    replaced = {at: message for at, message in replaced.items() if at < upto and at not in dropped}
    spans, start = [], 0
    for first, end in sorted([*gone, *((at, at + 1) for at in replaced)]):
        if start < min(first, upto):
            spans.append((start, min(first, upto)))
        start = max(start, end)
    if start < upto:
        spans.append((start, upto))
    return Held(step, tuple(spans), tuple(sorted(replaced.items(), key=lambda item: item[0])), tuple(inserted))
