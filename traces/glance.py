"""What the list shows of a trace of ours, read from its JSON without building the trace.

A first listing of thousands of files costs little more than parsing them. Whatever is not exactly as ``agent`` writes
it is left to the full reading, so there is one answer only: that of :func:`traces.summary.summarise`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.journal import SAFE_ID
from agent.trace import SCHEMA
from agent.usage import MOST_TOKENS
from traces.billing import Bill
from traces.decoding import plain
from traces.lineage import fork_point
from traces.native import LARGEST_AMOUNT
from traces.stated import KEY as STATED
from traces.times import timestamp

HEAD = 100
"""Bytes at the begin of a file of ours among which its schema stands."""


class _Odd(Exception):
    """Something is not as we write it."""


@dataclass(slots=True)
class Glance:
    """The numbers of one native trace, as in :class:`traces.summary.TraceSummary`."""

    trace_id: str
    title: str
    task: str
    created: str | None
    models: list[str]
    steps: int
    messages: int
    tool_calls: int
    errors: int
    tokens: int | None
    cost: float | None
    bill: str | None
    duration_s: float | None
    outcome: str | None
    parent: str | None
    at: str | None


def glance(data: bytes) -> Glance | None:
    """The numbers of a native trace file; None where the full reading has to decide."""
    if SCHEMA.encode() not in data[:HEAD]:
        return None
    try:
        return _read(plain(data))
    except (_Odd, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


def _read(data: dict[str, Any]) -> Glance:
    if data["schema"] != SCHEMA or not SAFE_ID.fullmatch(data["trace_id"]) or STATED in data:
        raise _Odd
    messages, entries, steps = _list(data["messages"]), _list(data["entries"]), _list(data["steps"])
    name, source = data["model"].get("name"), data["source"]
    counted, times = _Counted(name), _Times()
    for step in steps:
        counted.add(step)
        times.add(step)
    if times.moments:
        times.add_ends([entry["at"] for entry in entries])
    parent, at = fork_point(source.get("parent"), source.get("at"))
    outcome = data["outcome"].get("reason") and _text(data["outcome"]["reason"])
    return Glance(
        trace_id=data["trace_id"],
        title=_text(data["title"]),
        task=_text(data["task"]),
        created=data.get("created") and _text(data["created"]),
        models=list(counted.models) or ([_text(name)] if name else []),
        steps=len(steps),
        messages=len(messages),
        tool_calls=counted.calls,
        errors=counted.errors + (outcome == "model_error"),
        tokens=counted.tokens,
        cost=counted.cost,
        bill=counted.bill.text(),
        duration_s=round(max(times.moments) - min(times.moments), 3) if times.moments else None,
        outcome=outcome,
        parent=parent,
        at=at,
    )


class _Counted:
    """What the steps add up to.

    Args:
        model: the model that was asked, for steps that name none.
    """

    def __init__(self, model: str | None) -> None:
        self._model = model
        self.tokens: int | None = None
        self.cost: float | None = None
        self.bill = Bill()
        self.calls = self.errors = 0
        self.models: dict[str, None] = {}

    def add(self, step: dict[str, Any]) -> None:
        """One step."""
        usage, price = step.get("usage"), step.get("cost")
        if usage is not None and (count := _total(usage)) is not None:
            self.tokens = (self.tokens or 0) + count
        if price is not None:
            self.cost = (self.cost or 0) + _number(price)
        elif usage is None:
            self.bill.add(None, None, None)
        else:
            counts = [None if (n := usage.get(name)) is None else _count(n) for name in _BILLED]
            self.bill.add(step.get("model") or self._model, *counts)
        if model := step.get("model"):
            self.models[_text(model)] = None
        tools = _list(step["tools"])
        self.calls += len(tools)
        self.errors += len(_list(step["retries"])) + sum(run["ok"] is False for run in tools)


_BILLED = ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens")


def _total(usage: dict[str, Any]) -> int | None:
    total = usage.get("total_tokens")
    if total is None:
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        return None if prompt is None or completion is None else _count(prompt) + _count(completion)
    return _count(total)


class _Times:
    """The moments of a run. All times are written alike, so a date is worked out once for each minute."""

    def __init__(self) -> None:
        self.moments: list[float] = []
        self._minutes: dict[str, float] = {}

    def add(self, step: dict[str, Any]) -> None:
        """The begin and the end of a step's model call."""
        started = step.get("started")
        if started is not None:
            start = self._at(started)
            latency = step.get("latency_ms")
            self.moments += (start, start if latency is None else start + _number(latency) / 1000)

    def add_ends(self, times: list[str]) -> None:
        """The first and the last of many times: where all are as long, their order is that of their letters."""
        if len(set(map(len, times))) == 1:
            self.moments += (self._at(min(times)), self._at(max(times)))
        elif times:
            raise _Odd

    def _at(self, text: str) -> float:
        if len(text) != _TIME_LENGTH or text[-1] != "Z":
            raise _Odd
        minute = self._minutes.get(text[:_MINUTE])
        if minute is None:
            minute = timestamp(f"{text[:_MINUTE]}00Z")
            if minute is None:
                raise _Odd
            self._minutes[text[:_MINUTE]] = minute
        return minute + float(text[_MINUTE:-1])


_TIME_LENGTH = len("2026-11-29T12:00:00.123Z")
_MINUTE = len("2026-11-29T12:00:")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _Odd
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Odd
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < LARGEST_AMOUNT:
        raise _Odd
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MOST_TOKENS:
        raise _Odd
    return value
