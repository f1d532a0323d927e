"""Which call does a result answer? In order, inside one run.

The newest block of calls comes first, because ids may repeat between turns; within a block the oldest open call wins.
An id decides where both sides have one. Formats without ids are paired by the tool's name, then by position.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.messages import Message, ToolCall
from agent.trace import ToolRun


@dataclass(slots=True, eq=False)
class OpenCall:
    """A call that waits for its result."""

    run: ToolRun
    message: int
    """Position of the assistant message that asks for it."""
    place: int
    """Its place among the calls of that message, from 0."""
    has_id: bool
    """False where the file gave no id and ours stands in its place."""
    closed: bool = field(default=False, init=False)


class OpenCalls:
    """The calls of one run that have no result yet."""

    def __init__(self) -> None:
        self._block, self._older = _Queues(), _Queues()

    def new_block(self) -> None:
        """The next calls belong to a new turn of the model."""
        self._older.take_over(self._block)
        self._block = _Queues()

    def add(self, call: OpenCall) -> None:
        """A call was asked for."""
        self._block.add(call)

    def answer(self, call_id: str, name: str | None) -> OpenCall | None:
        """The call that a result with this id and tool name answers; it is open no more. None: no call fits.

        Args:
            call_id: the result's id, ``""`` where it has none. A result with an id never answers a call with another.
            name: the tool's name, where the result gives it. A result with a name never answers another tool's call.
        """
        for key in _keys(call_id, name):
            for queues in (self._block, self._older):
                if call := queues.take(key):
                    return call
        return None


_Key = tuple[str, str]


def _keys(call_id: str, name: str | None) -> list[_Key]:
    among = "without id" if call_id else "any"
    keys = [("id", call_id)] if call_id else []
    return [*keys, (f"{among}, name", name) if name else (among, "")]


class _Queues:
    """Open calls in their order, under every key by which they may be asked for."""

    def __init__(self) -> None:
        self._queues: defaultdict[_Key, deque[OpenCall]] = defaultdict(deque)

    def add(self, call: OpenCall) -> None:
        name = call.run.name
        keys = [("any", ""), ("any, name", name)]
        keys += [("id", call.run.tool_call_id)] if call.has_id else [("without id", ""), ("without id, name", name)]
        for key in keys:
            self._queues[key].append(call)

    def take(self, key: _Key) -> OpenCall | None:
        queue = self._queues.get(key)
        while queue:
            call = queue.popleft()
            if not call.closed:
                call.closed = True
                return call
        return None

    def take_over(self, other: _Queues) -> None:
        for call in other._queues.get(("any", ""), ()):
            if not call.closed:
                self.add(call)


def waits(run: ToolRun, asked: Message | None) -> bool:
    """Whether a call has no result.

    A run that is known by its times alone, because what was said was not recorded, was answered when it ended: neither
    its call nor its result is a message.

    Args:
        run: the call.
        asked: the message of its step; None where the step has none.
    """
    if run.message is not None:
        return False
    known = run.latency_ms is not None or run.ok is not None
    return not known or (asked is not None and any(call.id == run.tool_call_id for call in asked.tool_calls))


def is_error(message: Message, data: Mapping[str, Any]) -> bool:
    """Whether a tool message says that the tool failed: a flag, or a JSON object with an ``error``."""
    if data.get("is_error") is True or data.get("status") == "error":
        return True
    text = message.text.lstrip()
    if not text.startswith("{") or '"error"' not in text:
        return False
    value = ToolCall.from_dict({"function": {"arguments": text}}).arguments
    return bool(value.get("error"))
