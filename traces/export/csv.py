"""A table of the messages for spreadsheets: one row a message, every text in full."""

from __future__ import annotations

from typing import Any

from agent.messages import Message
from agent.trace import ToolRun, Trace, TraceStep
from agent.usage import Usage
from traces.lookup import runs_by_result, steps_by_reply
from traces.spreadsheet import table
from traces.text import message_text

NAME = "csv"
SUFFIX = ".csv"
MIME = "text/csv"

COLUMNS = (
    "number", "step", "role", "maker", "agent", "time", "text", "reasoning", "tool_calls", "answers_call", "tool", "ok",
    "decision", "model", "finish_reason", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens",
    "total_tokens", "estimated", "latency_ms", "first_token_ms", "cost_usd",
)  # fmt: skip
"""Tokens, model and cost stand on the answer of their model call; ``latency_ms`` on a result is that of the tool."""


def losses(trace: Trace) -> list[str]:
    """What the form has no place for."""
    lists = any(isinstance(message.content, list) for message in trace.messages)
    return ["images and files are named with their type and size only"] if lists else []


def write(trace: Trace, language: str = "en") -> bytes:
    """UTF-8 with the mark that spreadsheets need to see that it is."""
    runs = runs_by_result(trace.steps)
    steps = steps_by_reply(trace.steps)
    rows = (
        _row(trace, position, message, steps.get(position), runs.get(position))
        for position, message in enumerate(trace.messages)
    )
    return table(COLUMNS, rows)


def _row(trace: Trace, position: int, message: Message, step: TraceStep | None, run: ToolRun | None) -> list[Any]:
    entry = trace.entries[position]
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments_text()} for call in message.tool_calls]
    usage = (step and step.usage) or Usage()
    known = {
        "number": position + 1,
        "step": entry.step,
        "role": message.role,
        "maker": entry.maker,
        "agent": entry.agent,
        "time": entry.at,
        "text": message_text(message),
        "reasoning": message.reasoning or None,
        "tool_calls": calls or None,
        "answers_call": message.tool_call_id,
        "tool": run and run.name,
        "ok": run and run.ok,
        "decision": run and run.decision,
        "model": step and step.model,
        "finish_reason": step and step.finish_reason,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "total_tokens": usage.total,
        "estimated": step.usage.estimated if step and step.usage else None,
        "latency_ms": run.latency_ms if run else step and step.latency_ms,
        "first_token_ms": step and step.first_token_ms,
        "cost_usd": step and step.cost,
    }
    return [known[column] for column in COLUMNS]
