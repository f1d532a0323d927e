"""A trace of ours out of its JSON, whatever other hands have done to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from itertools import chain
from typing import Any

import msgspec

from agent.errors import InputError
from agent.journal import SAFE_ID
from agent.messages import Message
from agent.trace import SCHEMA, Entry, Record, Request, ToolRun, Trace, TraceStep
from agent.usage import MOST_TOKENS, Usage
from traces.importing import ImportBuilder
from traces.native_requests import put_request_right
from traces.repair import as_text, repair_message
from traces.times import is_time, time_of

_OBJECTS = ("source", "model", "outcome")
_LISTS = ("messages", "entries", "steps", "tools", "interventions", "notes")
LARGEST_AMOUNT = 1e15
"""No time in milliseconds and no price is as large."""
_DAMAGE = (InputError, TypeError, ValueError, AttributeError, KeyError, OverflowError, RecursionError)


def is_native(value: Any) -> bool:
    """Whether ``value`` is a native trace."""
    return isinstance(value, Mapping) and value.get("schema") == SCHEMA


def read_trace(data: Mapping[str, Any], out: ImportBuilder) -> Trace:
    """Read a native trace, however damaged: what has the wrong type becomes "not reported", with a warning.

    Raises:
        InputError: it cannot be read at all.
    """
    for names, kind, word in ((_LISTS, list, "a list"), (_OBJECTS, dict, "an object")):
        for name in names:
            if data.get(name) is not None and not isinstance(data[name], kind):
                raise InputError(f"the native trace is damaged: {name!r} should be {word}")
    try:
        trace, sound = _made(data)
    except _DAMAGE as error:
        raise InputError(f"the native trace is damaged ({error})") from error
    if not isinstance(trace.trace_id, str) or not SAFE_ID.fullmatch(trace.trace_id) or "trace_id" not in data:
        trace.trace_id = out.next_id()
    for problem in _put_right(trace, sound):
        out.warn(f"damaged native trace: {problem}")
    return trace


def _made(data: Mapping[str, Any]) -> tuple[Trace, bool]:
    """The trace, and whether the types of all entries and steps are known to be right."""
    known = _as_we_write(data)
    if known is None:
        return Trace.from_dict(data), False
    trace = Trace.from_dict({key: value for key, value in data.items() if key not in ("messages", "entries", "steps")})
    trace.messages = [Message.from_dict(message) for message in data.get("messages") or ()]
    trace.entries, trace.steps = known
    return trace, True


def _as_we_write(data: Mapping[str, Any]) -> tuple[list[Entry], list[TraceStep]] | None:
    """Entries and steps made by msgspec, in a third of the time; None unless each has just the keys that we write.

    An unknown key would be lost this way, and what has the wrong type is refused.
    """
    messages, entries, steps = (data.get(name) or [] for name in ("messages", "entries", "steps"))
    if len(entries) != len(messages) or not all(isinstance(item, dict) for item in chain(messages, entries, steps)):
        return None
    requests = [request for step in steps if (request := step.get("request"))]
    runs = chain.from_iterable(step.get("tools") or () for step in steps)
    usages = [usage for step in steps if (usage := step.get("usage"))]
    parts = ((Entry, entries), (TraceStep, steps), (Request, requests), (ToolRun, runs), (Usage, usages))
    try:
        if any(set(map(tuple, items)) - {_keys(kind)} for kind, items in parts) or any(r["edits"] for r in requests):
            return None
        counts = list(filter(None, chain.from_iterable(usage.values() for usage in usages)))
        if counts and not 0 < min(counts) <= max(counts) < MOST_TOKENS:
            return None
        return msgspec.convert(entries, list[Entry]), msgspec.convert(steps, list[TraceStep])
    except (TypeError, ValueError):
        return None


@cache
def _keys(kind: type) -> tuple[str, ...]:
    """The keys of a record in our files, in their order."""
    return tuple(field.name for field in fields(kind) if field.name != "extra")


def _put_right(trace: Trace, sound: bool) -> set[str]:
    problems: set[str] = set()
    _typed(trace, problems, str, "title", "task", default="")
    _typed(trace, problems, dict, "config", default={})
    _typed(trace.source, problems, str, "format", "parent")
    _timed(trace, problems, "created")
    _typed(trace.outcome, problems, str, "reason")
    _typed(trace.outcome, problems, str, "final", "detail", "fallback", default="")
    _typed(trace.model, problems, str, "name", "provider")
    for position, message in enumerate(trace.messages):
        content = message.content
        if content is None or content.__class__ is str:
            continue
        if not (isinstance(content, list) and all(isinstance(part, Mapping) for part in content)):
            problems.add("a content is neither text nor a list of parts")
            trace.messages[position] = repair_message(message.to_dict()).message
    del trace.entries[len(trace.messages) :]
    if not sound:
        _put_types_right(trace, problems)
    for entry in trace.entries:
        _timed(entry, problems, "at")
    for number, step in enumerate(trace.steps, 1):
        _put_step_right(step, number, len(trace.messages), problems)
        for run in step.tools:
            _put_run_right(run, len(trace.messages), problems)
    return problems


def _put_types_right(trace: Trace, problems: set[str]) -> None:
    for entry in trace.entries:
        _put_entry_types_right(entry, problems)
    for step in trace.steps:
        _put_step_types_right(step, problems)
        for run in step.tools:
            _put_run_types_right(run, problems)


def _put_entry_types_right(entry: Entry, problems: set[str]) -> None:
    _typed(entry, problems, int, "step", "line")
    _typed(entry, problems, str, "agent")
    _typed(entry, problems, str, "maker", default="")


def _put_step_types_right(step: TraceStep, problems: set[str]) -> None:
    _typed(step, problems, int, "index", default=0)
    _typed(step, problems, int, "reply")
    _typed(step, problems, (int, float), "latency_ms", "first_token_ms", "cost")
    _typed(step, problems, str, "finish_reason", "model")
    _typed(step, problems, list, "warnings", "retries", "tools", default=[])
    _typed(step, problems, Usage, "usage")
    _typed(step, problems, Request, "request")
    if step.request is not None:
        _typed(step.request, problems, int, "upto", default=0)
        _typed(step.request, problems, list, "edits", default=[])
    step.warnings = [as_text(warning) for warning in step.warnings]


def _put_run_types_right(run: ToolRun, problems: set[str]) -> None:
    _typed(run, problems, str, "tool_call_id", "name", default="")
    _typed(run, problems, str, "decision")
    _typed(run, problems, (int, float), "latency_ms")
    _typed(run, problems, bool, "ok")
    _typed(run, problems, dict, "arguments", default={})
    _typed(run, problems, int, "message")


def _put_step_right(step: TraceStep, number: int, messages: int, problems: set[str]) -> None:
    step.index = step.index or number
    _amount(step, problems, "latency_ms", "first_token_ms", "cost")
    _timed(step, problems, "started")
    _in_range(step, "reply", messages, problems)
    if step.request is not None and not put_request_right(step.request, messages):
        problems.add("a request holds what the message list does not")


def _put_run_right(run: ToolRun, messages: int, problems: set[str]) -> None:
    _amount(run, problems, "latency_ms")
    _timed(run, problems, "started")
    _in_range(run, "message", messages, problems)
    if run.decision is None and run.message is not None:
        run.decision = "run"


def _amount(record: Record, problems: set[str], *names: str) -> None:
    """A time or a price that is negative, endless or no number is not known: a clock jumped, or a tool wrote NaN."""
    for name in names:
        value = getattr(record, name)
        if value is not None and not 0 <= value < LARGEST_AMOUNT:
            problems.add(f"{name!r} of a {type(record).__name__} is out of range")
            setattr(record, name, None)


def _timed(record: Record, problems: set[str], name: str) -> None:
    """A number since 1970 becomes the time that it is; what is no time is not known."""
    value = getattr(record, name)
    if value is None or is_time(value):
        return
    setattr(record, name, time_of(value))
    if getattr(record, name) is None:
        problems.add(f"{name!r} of a {type(record).__name__} is no time")


def _typed(record: Record, problems: set[str], kind: type | tuple[type, ...], *names: str, default: Any = None) -> None:
    """Replace values of another type by ``default``. True and false are no numbers."""
    for name in names:
        value = getattr(record, name)
        if value is None and default is None:
            continue
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            problems.add(f"{name!r} of a {type(record).__name__} has the wrong type")
            setattr(record, name, type(default)(default) if isinstance(default, (list, dict)) else default)


def _in_range(record: Record, name: str, messages: int, problems: set[str]) -> None:
    position = getattr(record, name)
    if position is not None and not 0 <= position < messages:
        problems.add(f"{name!r} of a {type(record).__name__} points to no message")
        setattr(record, name, None)
