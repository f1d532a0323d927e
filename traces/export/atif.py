"""ATIF 1.7, the trajectory format of Harbor and Terminal-Bench 2: one step a message, results beside their calls.

Source: harbor, ``docs/rfcs/0001-trajectory-format.md``. Objects there are closed, so what has no key of its own stands
in ``extra``. Prompt tokens hold the cached ones, completion tokens the reasoning, as here.
"""

from __future__ import annotations

import mimetypes
from typing import Any

from agent import jsontext
from agent.messages import Message
from agent.trace import Entry, Trace, TraceStep
from agent.usage import Usage
from traces.export.order import answers, counted, placed_results
from traces.lookup import steps_by_reply
from traces.repair import TOOL_ROLES, as_text
from traces.summary import summarise
from traces.text import message_text

NAME = "atif"
SUFFIX = ".atif.json"
MIME = "application/json"

_SOURCES = {"system": "system", "developer": "system", "user": "user", "assistant": "agent", "ai": "agent"}
_BY_MAKER = {"model": "agent", "code": "system", "environment": "system"}
_STEP_FACTS = ("latency_ms", "first_token_ms", "finish_reason")


def losses(trace: Trace) -> list[str]:
    """What the form has no place for."""
    placed = set(placed_results(answers(trace)))
    orphans = sum(m.role in TOOL_ROLES for n, m in enumerate(trace.messages) if n not in placed)
    lost = counted(orphans, "result without a call", "kept as an observation of the system")
    lost += counted(sum(step.reply is None for step in trace.steps), "call of the model without an answer", "left out")
    if any(step.request and step.request.edits for step in trace.steps):
        lost.append("what requests held beside the message list is left out")
    return lost


def write(trace: Trace, language: str = "en") -> bytes:
    """Strict JSON."""
    results = answers(trace)
    placed = set(placed_results(results))
    steps = steps_by_reply(trace.steps)
    made: list[dict[str, Any]] = []
    for position in range(len(trace.messages)):
        if position not in placed:
            step = _step(trace, position, steps.get(position), results.get(position, []))
            made.append({"step_id": len(made) + 1, **step})
    return (
        jsontext.dumps({**_head(trace), "steps": made, "final_metrics": _totals(trace)}, indent=True).encode() + b"\n"
    )


def _head(trace: Trace) -> dict[str, Any]:
    agent: dict[str, Any] = {"name": trace.source.format or "agent-loop-lab", "version": "unknown"}
    if trace.model.name:
        agent["model_name"] = trace.model.name
    if trace.tools:
        agent["tool_definitions"] = trace.tools
    extra = {
        "title": trace.title,
        "created": trace.created,
        "outcome": trace.outcome.reason and {"reason": trace.outcome.reason, "final": trace.outcome.final},
    }
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": trace.trace_id,
        "trajectory_id": trace.trace_id,
        "agent": agent,
        "extra": {key: value for key, value in extra.items() if value},
    }


def _step(trace: Trace, position: int, step: TraceStep | None, results: list[int | None]) -> dict[str, Any]:
    message, entry = trace.messages[position], trace.entries[position]
    if message.role in TOOL_ROLES:
        observed = {"content": _content(message), "extra": {"answers": message.tool_call_id}}
        return {**_when(entry), "source": "system", "message": "", "observation": {"results": [observed]}}
    source = "agent" if message.tool_calls else _SOURCES.get(message.role) or _BY_MAKER.get(entry.maker, "user")
    data: dict[str, Any] = {**_when(entry), "source": source, "message": _content(message)}
    if source != "agent":
        return data
    if model := (step and step.model) or trace.model.name:
        data["model_name"] = model
    if message.reasoning:
        data["reasoning_content"] = message.reasoning
    if message.tool_calls:
        data["tool_calls"] = [
            {
                "tool_call_id": call.id or f"call_{position + 1}_{place + 1}",
                "function_name": call.name,
                "arguments": call.arguments if call.problem is None else {"unreadable": call.text},
            }
            for place, call in enumerate(message.tool_calls)
        ]
        if observed_results := _results(trace, data["tool_calls"], results):
            data["observation"] = {"results": observed_results}
    return data | (_measured(step) if step else {})


def _results(trace: Trace, calls: list[dict[str, Any]], results: list[int | None]) -> list[dict[str, Any]]:
    made = []
    for call, at in zip(calls, results, strict=True):
        if at is not None:
            result = {"source_call_id": call["tool_call_id"], "content": _content(trace.messages[at])}
            when = trace.entries[at].at
            made.append({**result, "extra": {"timestamp": when}} if when else result)
    return made


def _when(entry: Entry) -> dict[str, str]:
    return {"timestamp": entry.at} if entry.at else {}


def _content(message: Message) -> str | list[dict[str, Any]]:
    """Text, or parts where there are images."""
    if not isinstance(message.content, list):
        return message.content if isinstance(message.content, str) else message_text(message)
    parts = [
        _image(part) or {"type": "text", "text": message_text(Message("user", [part]))} for part in message.content
    ]
    return parts if any(part["type"] == "image" for part in parts) else message_text(message)


def _image(part: Any) -> dict[str, Any] | None:
    image = part.get("image_url") if isinstance(part, dict) else None
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        return None
    kind = url[5:].partition(";")[0] if url.startswith("data:") else mimetypes.guess_type(url.partition("?")[0])[0]
    return {"type": "image", "source": {"media_type": kind or "image/png", "path": url}}


def _measured(step: TraceStep) -> dict[str, Any]:
    usage = step.usage or Usage()
    metrics: dict[str, Any] = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost_usd": step.cost,
    }
    extra = {name: getattr(step, name) for name in _STEP_FACTS}
    extra |= {"reasoning_tokens": usage.reasoning_tokens, "cache_write_tokens": usage.cache_write_tokens}
    extra |= {"total_tokens": usage.total_tokens, "estimated": usage.estimated or None}
    known = {key: value for key, value in metrics.items() if value is not None}
    more = {
        key: as_text(value) if key == "finish_reason" else value for key, value in extra.items() if value is not None
    }
    if more:
        known["extra"] = more
    return {"metrics": known} if known else {}


def _totals(trace: Trace) -> dict[str, Any]:
    summary = summarise(trace)
    totals = {
        "total_prompt_tokens": summary.tokens.prompt_tokens,
        "total_completion_tokens": summary.tokens.completion_tokens,
        "total_cached_tokens": summary.tokens.cached_tokens,
        "total_cost_usd": summary.cost,
        "total_steps": summary.steps,
    }
    return {key: value for key, value in totals.items() if value is not None}
