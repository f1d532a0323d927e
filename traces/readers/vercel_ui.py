"""UIMessages of the Vercel AI SDK, as apps store them: lists, chats that hold a list, or one message a line."""

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
from traces.wire import vercel
from traces.wire.parts import mapping, words

NAME = "vercel-ui"
_LOOKED_AT = 20
_LISTS = ("messages", "initialMessages", "uiMessages")


def matches(document: Document) -> bool:
    """Some of the first records are UIMessages, or hold a list of them."""
    return any(vercel.is_ui_message(record) or _list_in(record) for record in document.records[:_LOOKED_AT])


def _list_in(value: Any) -> list[Any]:
    return list_in(value, _LISTS, vercel.is_ui_message)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every UIMessage; records that hold lists are conversations of their own."""
    loose: TraceBuilder | None = None
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        if vercel.is_ui_message(record):
            loose = loose or out.trace()
            _add(loose, record, line)
        elif items := _list_in(record):
            trace = out.trace(words(mapping(record).get("title")) or "")
            for item in items:
                if vercel.is_ui_message(item):
                    _add(trace, item, line)
                else:
                    _add_other(trace, item, out, line)
        else:
            out.unread("a record that is no UIMessage and holds none")


def _add_other(trace: TraceBuilder, item: Any, out: ImportBuilder, line: int | None) -> None:
    """A message of version 4 without tools is a role and a text."""
    if isinstance(item, dict) and isinstance(item.get("role"), str) and isinstance(item.get("content"), str):
        trace.message({"role": item["role"], "content": item["content"]}, at=_time(item), line=line)
    else:
        out.unread("an entry of a message list that is no UIMessage")


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
            "prompt_tokens_details": {"cached_tokens": first(data, "cachedInputTokens")},
            "completion_tokens_details": {"reasoning_tokens": first(data, "reasoningTokens")},
        }
    )
