"""A trace of ours out of its JSON, whatever other hands have done to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.errors import InputError
from agent.journal import SAFE_ID
from agent.trace import SCHEMA, Record, Request, Trace, TraceStep
from agent.usage import Usage
from traces.importing import ImportBuilder
from traces.repair import as_text, repair_message
from traces.times import time_of, timestamp

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
        trace = Trace.from_dict(data)
    except _DAMAGE as error:
        raise InputError(f"the native trace is damaged ({error})") from error
    if not isinstance(trace.trace_id, str) or not SAFE_ID.fullmatch(trace.trace_id) or "trace_id" not in data:
        trace.trace_id = out.next_id()
    for problem in _put_right(trace):
        out.warn(f"damaged native trace: {problem}")
    return trace


def _put_right(trace: Trace) -> set[str]:
    problems: set[str] = set()
    _typed(trace, problems, str, "title", "task", default="")
    _timed(trace, problems, "created")
    _typed(trace.outcome, problems, str, "reason")
    _typed(trace.outcome, problems, str, "final", "detail", "fallback", default="")
    _typed(trace.model, problems, str, "name", "provider")
    for position, message in enumerate(trace.messages):
        content = message.content
        parts_ok = not isinstance(content, list) or all(isinstance(part, Mapping) for part in content)
        if content is not None and not (isinstance(content, (str, list)) and parts_ok):
            problems.add("a content is neither text nor a list of parts")
            trace.messages[position] = repair_message(message.to_dict()).message
    del trace.entries[len(trace.messages) :]
    for entry in trace.entries:
        _typed(entry, problems, int, "step", "line")
        _timed(entry, problems, "at")
        _typed(entry, problems, str, "agent")
        _typed(entry, problems, str, "maker", default="")
    for number, step in enumerate(trace.steps, 1):
        _put_step_right(step, number, len(trace.messages), problems)
    return problems


def _put_step_right(step: TraceStep, number: int, messages: int, problems: set[str]) -> None:
    _typed(step, problems, int, "index", default=number)
    _typed(step, problems, int, "reply")
    _amount(step, problems, "latency_ms", "first_token_ms", "cost")
    _timed(step, problems, "started")
    _typed(step, problems, str, "finish_reason", "model")
    _typed(step, problems, list, "warnings", "retries", "tools", default=[])
    _typed(step, problems, Usage, "usage")
    _typed(step, problems, Request, "request")
    if step.request is not None:
        _typed(step.request, problems, int, "upto", default=0)
        _typed(step.request, problems, list, "edits", default=[])
    step.warnings = [as_text(warning) for warning in step.warnings]
    _in_range(step, "reply", messages, problems)
    for run in step.tools:
        _typed(run, problems, str, "tool_call_id", "name", default="")
        _typed(run, problems, str, "decision")
        _amount(run, problems, "latency_ms")
        _typed(run, problems, bool, "ok")
        _timed(run, problems, "started")
        _typed(run, problems, dict, "arguments", default={})
        _typed(run, problems, int, "message")
        _in_range(run, "message", messages, problems)
        if run.decision is None and run.message is not None:
            run.decision = "run"


def _amount(record: Record, problems: set[str], *names: str) -> None:
    """A time or a price that is negative, endless or no number is not known: a clock jumped, or a tool wrote NaN."""
    _typed(record, problems, (int, float), *names)
    for name in names:
        value = getattr(record, name)
        if value is not None and not 0 <= value < LARGEST_AMOUNT:
            problems.add(f"{name!r} of a {type(record).__name__} is out of range")
            setattr(record, name, None)


def _timed(record: Record, problems: set[str], name: str) -> None:
    """A number since 1970 becomes the time that it is; what is no time is not known."""
    value = getattr(record, name)
    if value is None or (isinstance(value, str) and timestamp(value) is not None):
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
