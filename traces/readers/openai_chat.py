"""OpenAI Chat Completions: message lists, requests, responses, logs of both, and data sets of one conversation a row.

Every server that speaks this API leaves such files: OpenAI, DeepSeek, OpenRouter, Groq, vLLM, llama.cpp and many more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from traces import lookalikes
from traces.builder import TraceBuilder
from traces.container import Document
from traces.growth import Conversations, Exchange
from traces.importing import ImportBuilder
from traces.reply import Reply
from traces.wire import gemini, openai_chat

NAME = "openai-chat"
_LOOKED_AT = 20
_REQUEST_KEYS = ("messages", "contents", "tools", "functions", "available_tools", "model")


def matches(document: Document) -> bool:
    """Some of the first records are messages, conversations, responses or exchanges of this API."""
    kinds = {_kind(record) for record in document.records[:_LOOKED_AT]}
    return bool(kinds & _OURS) or ("message" in kinds and lookalikes.name_of(document) is None)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every record; what has no known shape is counted as unread."""
    log = Conversations(out)
    loose: TraceBuilder | None = None
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        kind = _kind(record)
        if kind == "message":
            loose = loose or out.trace()
            loose.message(record, line=line)
        elif kind == "conversation":
            _read_conversation(record, out, line)
        elif kind in ("exchange", "other exchange"):
            log.add(_exchange(record, line))
        elif kind == "response":
            log.add(Exchange(messages=(), reply=openai_chat.read_response(record), line=line))
        else:
            out.unread("a record that is no message, conversation, response or exchange of this format")


_OURS = frozenset(("conversation", "exchange", "response"))
"""Records that each say by themselves what they are; single messages are looked at together."""


def _kind(record: Any) -> str | None:
    """message, conversation, exchange, response; ``other exchange``: one of another API that such a log can hold."""
    if lookalikes.name_of_record(record):
        return None
    if isinstance(record, list):
        return "conversation" if record and openai_chat.is_message_list(record) else None
    if not isinstance(record, dict):
        return None
    if "role" in record and "messages" not in record:
        return "message" if openai_chat.is_message(record) else None
    if "request" in record:
        return _exchange_kind(_body(record["request"]), record)
    messages = openai_chat.messages_of(record)
    if messages is not None:
        return "exchange" if any(_is_answer(record.get(key)) for key in ("response", "choices")) else "conversation"
    return "response" if openai_chat.is_response(record) else None


def _exchange_kind(request: Any, record: Mapping[str, Any]) -> str | None:
    if gemini.is_request(request):
        return "other exchange"
    if not openai_chat.is_request(request) or lookalikes.name_of_record(request):
        return None
    answer = record.get("response") or record.get("client_chunks")
    return "exchange" if answer is None or _is_answer(answer) else None


def _is_answer(value: Any) -> bool:
    if isinstance(value, str):
        return True
    if isinstance(value, list):
        return all(isinstance(item, dict) for item in value[:_LOOKED_AT])
    return isinstance(value, dict) and ("choices" in value or "error" in value)


def _body(value: Any) -> Any:
    return openai_chat.decoded(value) if isinstance(value, str) else value


# -- one conversation a record -------------------------------------------------------------------------------------


def _read_conversation(record: Any, out: ImportBuilder, line: int | None) -> None:
    row: Mapping[str, Any] = record if isinstance(record, dict) else {"messages": record}
    about = {key: value for key, value in row.items() if key not in _REQUEST_KEYS}
    trace = out.trace(_title(row), about)
    trace.model(row.get("model"))
    trace.tools(openai_chat.tools_of(row))
    for message in openai_chat.messages_of(row) or []:
        if isinstance(message, dict):
            trace.message(message, line=line)
        else:
            out.unread("an entry of a message list that is no message")


def _title(row: Mapping[str, Any]) -> str:
    """Data sets name their rows by the task; elsewhere the user's words are the better title."""
    for key in ("title", "instance_id", "task_id"):
        if isinstance(value := row.get(key), str) and value.strip():
            return value.strip()
    return ""


# -- one model call a record ---------------------------------------------------------------------------------------


def _exchange(record: Mapping[str, Any], line: int | None) -> Exchange:
    flat = "request" not in record
    request = record if flat else _body(record["request"])
    api = gemini if gemini.is_request(request) else openai_chat
    body = _response_body(record)
    return Exchange(
        messages=[message for message in api.messages_of(request) or [] if isinstance(message, dict)],
        reply=None if body is None else _reply(body, record),
        tools=api.tools_of(request),
        model=request.get("model"),
        provider=body.get("provider") if isinstance(body, dict) else None,
        settings={} if flat else {key: value for key, value in request.items() if key not in _REQUEST_KEYS},
        line=line,
    )


def _response_body(record: Mapping[str, Any]) -> Any:
    """The response as one body, from JSON, JSON text, event-stream text or chunks; None where there is none."""
    if "request" not in record and "choices" in record:
        return record
    response = record.get("response") or record.get("client_chunks")
    if isinstance(response, str):
        chunks = openai_chat.read_sse(response)
        response = chunks if chunks is not None else openai_chat.decoded(response) or {"error": response}
    if isinstance(response, list):
        return openai_chat.join_chunks(chunk for chunk in response if isinstance(chunk, dict))
    return response


def _reply(body: Any, record: Mapping[str, Any]) -> Reply:
    body = body if isinstance(body, dict) else {"error": body}
    reply = gemini.read_response(body) if gemini.is_response(body) else openai_chat.read_response(body)
    status = record.get("status")
    return replace(reply, status=status if isinstance(status, int) else None, latency_ms=_latency_ms(record))


def _latency_ms(record: Mapping[str, Any]) -> float | None:
    for key, factor in (("latency_ms", 1), ("duration_ms", 1), ("seconds", 1000)):
        value = record.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9:
            return float(value * factor)
    return None
