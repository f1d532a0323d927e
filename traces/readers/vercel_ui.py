"""The Vercel AI SDK: UIMessages as apps store them, messages for a model, steps of a result, and streams to a page.

Lists, objects that hold a list, or one a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.reply import Reply
from traces.spans.tree import moment
from traces.times import time_of
from traces.unfold import first, list_in
from traces.wire import vercel, vercel_stream
from traces.wire.parts import listed, mapping, words

NAME = "vercel-ui"
_LOOKED_AT = 20
_LISTS = ("messages", "initialMessages", "uiMessages", "steps")


def matches(document: Document) -> bool:
    """Some of the first records are of this SDK, or hold a list of what is."""
    records = document.records[:_LOOKED_AT]
    return any(_is_ours(record) or _list_in(record) for record in records) or any(map(_is_stream, [records, *records]))


def _is_ours(value: Any) -> bool:
    return vercel.is_ui_message(value) or vercel.is_model_message(value) or vercel.is_step(value)


def _is_stream(value: Any) -> bool:
    """Whether a list holds a stream; many formats have pieces of these types among others."""
    pieces = value[:_LOOKED_AT] if isinstance(value, list) else []
    return any(map(vercel_stream.is_piece, pieces)) and all(map(vercel_stream.belongs, pieces))


def _list_in(value: Any) -> list[Any]:
    return list_in(value, _LISTS, _is_ours)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every message; records that hold lists are conversations of their own."""
    if _is_stream(document.records):
        _read_stream(document.records, out)
        return
    loose: TraceBuilder | None = None
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        if items := _list_in(record):
            trace = out.trace(words(mapping(record).get("title")) or "")
            for item in items:
                _add_any(trace, item, out, line)
        elif _is_stream(record):
            _read_stream(record, out)
        else:
            loose = loose or out.trace()
            _add_any(loose, record, out, line)


def _read_stream(pieces: list[Any], out: ImportBuilder) -> None:
    trace = out.trace()
    for message in vercel_stream.messages_of(listed(pieces)):
        _add(trace, message, None)
        if error := words(message["metadata"].get("error")):
            trace.outcome("model_error", detail=error)


def _add_any(trace: TraceBuilder, item: Any, out: ImportBuilder, line: int | None) -> None:
    """A message of any kind. One without tools is a role and words in version 4, and among messages for a model."""
    if vercel.is_ui_message(item):
        _add(trace, item, line)
    elif vercel.is_step(item):
        _add_step(trace, item, line)
    elif isinstance(item, dict) and isinstance(item.get("role"), str) and isinstance(item.get("content"), (str, list)):
        content = item["content"]
        plain = [{"role": item["role"], "content": content}]
        for message in plain if isinstance(content, str) else vercel.model_messages(item):
            trace.message(message, at=_time(item), line=line)
    else:
        out.unread("an entry that is no message")


def _add_step(trace: TraceBuilder, step: Mapping[str, Any], line: int | None) -> None:
    response = mapping(step.get("response"))
    for message in vercel.model_messages(step):
        trace.message(message, line=line)
        if message.get("role") == "assistant":
            at, model = _time({"createdAt": response.get("timestamp")}), words(response.get("modelId"))
            reason = words(step.get("finishReason"))
            trace.numbers(Reply(usage=_usage(step), model=model, finish_reason=reason, at=at))


def _add(trace: TraceBuilder, item: Mapping[str, Any], line: int | None) -> None:
    at, about = _time(item), mapping(item.get("metadata"))
    for message, run in vercel.ui_messages(item):
        trace.message(message, at=at, line=line)
        if run is not None:
            trace.tool_run(str(message.get("tool_call_id")), decision=_decision(run))
    if item.get("role") == "assistant":
        model = words(first(about, "model", "modelId", "model_id"))
        reason = words(first(about, "finishReason", "finish_reason"))
        trace.numbers(Reply(usage=_usage(about), model=model, finish_reason=reason))


def _decision(run: Mapping[str, Any]) -> str | None:
    return "denied" if run.get("state") == "output-denied" else None


def _time(item: Mapping[str, Any]) -> str | None:
    said = first(item, "createdAt", "created_at", "metadata.createdAt", "metadata.timestamp")
    return time_of(moment(said))


def _usage(about: Mapping[str, Any]) -> Usage | None:
    """Tokens, which are there only where the app put them; those of a message of several steps stand at its last."""
    stated = first(about, "usage", "totalUsage")
    data = mapping(stated) or about
    return Usage.from_openai(
        {
            "prompt_tokens": first(data, "inputTokens", "promptTokens"),
            "completion_tokens": first(data, "outputTokens", "completionTokens"),
            "total_tokens": first(data, "totalTokens"),
            "prompt_tokens_details": {
                "cached_tokens": first(data, "cachedInputTokens", "inputTokenDetails.cacheReadTokens"),
                "cache_write_tokens": first(data, "inputTokenDetails.cacheWriteTokens"),
            },
            "completion_tokens_details": {
                "reasoning_tokens": first(data, "reasoningTokens", "outputTokenDetails.reasoningTokens")
            },
        }
    )
