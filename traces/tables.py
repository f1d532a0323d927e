"""A trace as data frames: one row a message, one row a step. Every cell is safe to show as it is.

Missing means "not reported" and is ``<NA>``, never 0 and never ``""`` for a number. Texts are cut to
:data:`traces.text.CELL_LENGTH` characters; images and other base64 data appear as their type and size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from agent.messages import Message
from agent.trace import ToolRun, Trace, TraceStep
from agent.usage import Usage
from traces.pairing import waits
from traces.repair import TOOL_ROLES, as_text
from traces.text import cell, hide_data, message_text, readable_json
from traces.times import timestamp

MESSAGE_COLUMNS = {
    "number": "int64",
    "role": "string",
    "maker": "string",
    "step": "Int64",
    "text": "string",
    "tool_calls": "string",
    "call_id": "string",
    "prompt_tokens": "Int64",
    "completion_tokens": "Int64",
    "latency_ms": "Float64",
    "paired": "Int64",
    "note": "string",
}
"""``number``: of the message, from 1. ``maker``: user, model, code or environment. ``step``: the
step that made the message, from 1. ``text``: the words. ``tool_calls``: the calls as ``add({"a": 1})``, one a line.
``call_id``: of a result, the call that it answers. ``prompt_tokens``, ``completion_tokens``, ``latency_ms``: on an
assistant message those of its model call, ``latency_ms`` on a result that of the tool. ``paired``: the number of the
partner: on a result the message that asked for it, on an assistant message its first result. ``note``: what is odd, as
codes with a blank between them: ``no_result``, ``orphan_result``, ``error_result``, or what was decided instead of
running the call (``denied``, ``rejected``, ``skipped``, ``mocked``, ``edited``, ``timed_out``)."""

STEP_COLUMNS = {
    "step": "int64",
    "prompt_uncached": "Int64",
    "cached": "Int64",
    "completion": "Int64",
    "reasoning": "Int64",
    "other": "Int64",
    "total": "Int64",
    "model_ms": "Float64",
    "first_token_ms": "Float64",
    "tools_ms": "Float64",
    "tools": "string",
    "finish_reason": "string",
    "estimated": "bool",
    "message": "Int64",
}
"""Tokens of the step's model call, in parts that never overlap: ``prompt_uncached + cached`` is the prompt,
``completion + reasoning`` the answer, ``other`` what only the reported total counts (hidden thoughts), and all five
are ``total``.
``model_ms``: of the model call. ``tools_ms``: wall time of the step's tools, which may run at once. ``tools``: their
names. ``estimated``: some count is ours, not the provider's. ``message``: position of the message to look at."""

_LARGEST = 2**63 - 1
_NOTES = {"denied", "rejected", "skipped", "mocked", "edited", "timed_out"}


RUN_COLUMNS = {"step": "int64", "tool": "string", "latency_ms": "Float64", "ok": "boolean", "message": "Int64"}
"""``step``: number of the step, from 1. ``ok``: <NA> where the file does not say. ``message``: position of the result,
of an unanswered call that of the message that asked."""


def messages_frame(trace: Trace, rows: Sequence[int] | None = None) -> pd.DataFrame:
    """One row a message, in the order of the trace; columns and types as in :data:`MESSAGE_COLUMNS`.

    Args:
        trace: the trace.
        rows: positions of the messages wanted, ascending; None: all of them.
    """
    return _frame(message_columns(trace, rows), MESSAGE_COLUMNS)


def message_columns(trace: Trace, rows: Sequence[int] | None = None) -> dict[str, list[Any]]:
    """The same as plain lists with None for what is missing: of a few messages a frame costs ten times as much."""
    rows = range(len(trace.messages)) if rows is None else rows
    results: dict[int, tuple[ToolRun, int | None]] = {}
    by_reply: dict[int, TraceStep] = {}
    for step in trace.steps:
        if step.reply is not None:
            by_reply[step.reply] = step
        for run in step.tools:
            if run.message is not None:
                results[run.message] = (run, step.reply)
    messages = [trace.messages[row] for row in rows]
    entries = [trace.entries[row] for row in rows]
    steps = [by_reply.get(row) for row in rows]
    usages = [step.usage or _NO_USAGE if step else _NO_USAGE for step in steps]
    return {
        "number": [row + 1 for row in rows],
        "role": [cell(message.role, 40) for message in messages],
        "maker": [entry.maker for entry in entries],
        "step": [_integer(entry.step) for entry in entries],
        "text": [cell(message_text(message)) for message in messages],
        "tool_calls": [calls_cell(message) for message in messages],
        "call_id": [_call_id(message) for message in messages],
        "prompt_tokens": [_integer(usage.prompt_tokens) for usage in usages],
        "completion_tokens": [_integer(usage.completion_tokens) for usage in usages],
        "latency_ms": [_latency(step, results.get(row)) for row, step in zip(rows, steps, strict=True)],
        "paired": [_partner(step, results.get(row)) for row, step in zip(rows, steps, strict=True)],
        "note": [
            _note(message, step, results.get(row)) for row, message, step in zip(rows, messages, steps, strict=True)
        ],
    }


def steps_frame(trace: Trace) -> pd.DataFrame:
    """One row a step, in the order of the trace; columns and types as in :data:`STEP_COLUMNS`."""
    parts = [_token_parts(step.usage or _NO_USAGE) for step in trace.steps]
    columns: dict[str, list[Any]] = {
        "step": [_integer(step.index) or number for number, step in enumerate(trace.steps, 1)],
        **{name: [part[name] for part in parts] for name in _TOKEN_PARTS},
        "model_ms": [_number(step.latency_ms) for step in trace.steps],
        "first_token_ms": [_number(step.first_token_ms) for step in trace.steps],
        "tools_ms": [_tools_ms(step.tools) for step in trace.steps],
        "tools": [cell(", ".join(run.name for run in step.tools)) or None for step in trace.steps],
        "finish_reason": [step.finish_reason and cell(step.finish_reason, 80) for step in trace.steps],
        "estimated": [bool(step.usage and step.usage.estimated) for step in trace.steps],
        "message": [step.message for step in trace.steps],
    }
    return _frame(columns, STEP_COLUMNS)


def runs_frame(trace: Trace) -> pd.DataFrame:
    """One row a tool call, in the order of the trace; columns and types as in :data:`RUN_COLUMNS`."""
    runs = [(step, number, run) for number, step in enumerate(trace.steps, 1) for run in step.tools]
    columns: dict[str, list[Any]] = {
        "step": [_integer(step.index) or number for step, number, _ in runs],
        "tool": [cell(run.name, 100) for _, _, run in runs],
        "latency_ms": [_number(run.latency_ms) for _, _, run in runs],
        "ok": [run.ok for _, _, run in runs],
        "message": [step.reply if run.message is None else run.message for step, _, run in runs],
    }
    return _frame(columns, RUN_COLUMNS)


_NO_USAGE = Usage()
_TOKEN_PARTS = ("prompt_uncached", "cached", "completion", "reasoning", "other", "total")


def _frame(columns: Mapping[str, list[Any]], types: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(columns[name], dtype=kind) for name, kind in types.items()})


# -- cells ---------------------------------------------------------------------------------------------------------


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 1e300 else None


def calls_cell(message: Message) -> str | None:
    """The calls of a message as a table cell, ``add({"a": 1})`` one a line; None where there are none."""
    if not message.tool_calls:
        return None
    return cell(
        "\n".join(f"{call.name}({hide_data(readable_json(call.arguments_text()))})" for call in message.tool_calls)
    )


def _call_id(message: Message) -> str | None:
    return None if message.tool_call_id is None else cell(as_text(message.tool_call_id), 100)


_Result = tuple[ToolRun, int | None]


def _latency(step: TraceStep | None, result: _Result | None) -> float | None:
    if result is not None:
        return _number(result[0].latency_ms)
    return _number(step.latency_ms) if step else None


def _partner(step: TraceStep | None, result: _Result | None) -> int | None:
    if result is not None:
        return None if result[1] is None else result[1] + 1
    found = [run.message + 1 for run in step.tools if run.message is not None] if step else []
    return min(found, default=None)


def _note(message: Message, step: TraceStep | None, result: _Result | None) -> str | None:
    if result is not None:
        notes = [result[0].decision] if result[0].decision in _NOTES else []
        return " ".join([*notes, "error_result"] if result[0].ok is False else notes) or None
    if message.role in TOOL_ROLES:
        return "orphan_result"
    return "no_result" if step and any(waits(run, message) for run in step.tools) else None


def _token_parts(usage: Usage) -> dict[str, int | None]:
    """The tokens of one model call in parts that never overlap and add up to the total."""
    prompt, completion = _integer(usage.prompt_tokens), _integer(usage.completion_tokens)
    cached, reasoning, total = (
        _integer(usage.cached_tokens),
        _integer(usage.reasoning_tokens),
        _integer(usage.total),
    )
    rest = None
    if total is not None and prompt is not None and completion is not None:
        rest = max(0, total - prompt - completion)
    return {
        "prompt_uncached": _without(prompt, cached),
        "cached": cached,
        "completion": _without(completion, reasoning),
        "reasoning": reasoning,
        "other": rest or None,
        "total": total,
    }


def _without(whole: int | None, part: int | None) -> int | None:
    return None if whole is None else max(0, whole - (part or 0))


def _tools_ms(runs: list[ToolRun]) -> float | None:
    """Wall time of a batch. Of several calls without start times it is unknown, for they may have run at once."""
    times = [(timestamp(run.started), _number(run.latency_ms)) for run in runs]
    if len(times) == 1:
        return times[0][1]
    known = [(start, start + latency / 1000) for start, latency in times if start is not None and latency is not None]
    if not known or len(known) < len(times):
        return None
    return round((max(end for _, end in known) - min(start for start, _ in known)) * 1000, 3)
