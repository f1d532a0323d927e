"""The requests of a native trace from elsewhere: what they leave out, replace and insert must fit a message list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agent.trace import Edit, Request
from traces.repair import repair_message

_OPS = ("drop", "replace", "insert")


def put_request_right(request: Request, messages: int) -> bool:
    """Keep a request within the message list, and of its edits those that can be carried out.

    Args:
        request: the request; it is changed.
        messages: how many messages the trace holds.

    Returns:
        Whether nothing had to be changed.
    """
    upto = min(max(request.upto, 0), messages)
    edits = [right for edit in request.edits if (right := _right(edit, messages)) is not None]
    sound = upto == request.upto and all(map(_same, edits, request.edits)) and len(edits) == len(request.edits)
    request.upto, request.edits = upto, edits
    return sound


def _right(edit: Edit, messages: int) -> Edit | None:
    """The edit itself, a copy that can be carried out, or None where it cannot be told what it should do."""
    position, count = edit.message, edit.count
    if edit.op not in _OPS or type(position) is not int or not 0 <= position <= messages:
        return None
    if type(count) is not int or count < 1:
        return None
    by = edit.by if isinstance(edit.by, str) else ""
    most = max(1, messages - position)
    message = edit.with_
    if edit.op != "drop":
        if not isinstance(message, Mapping):
            return None
        made = repair_message(message)
        message = made.message.to_dict() if made.rewritten else edit.with_
    if by is edit.by and count <= most and message is edit.with_:
        return edit
    return replace(edit, by=by, count=min(count, most), with_=message)


def _same(one: Edit, other: Edit) -> bool:
    return one is other
