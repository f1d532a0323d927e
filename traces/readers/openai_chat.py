"""OpenAI Chat Completions: message lists, requests, responses, logs of both, and data sets of one conversation a row.

Every server that speaks this API leaves such files: OpenAI, DeepSeek, OpenRouter, Groq, vLLM, llama.cpp and many more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from traces import lookalikes
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.call_log import CallLog, plain_records_of, records_of
from traces.readers.calls import call_of
from traces.wire import openai_chat
from traces.wire.parts import words

NAME = openai_chat.NAME
_LOOKED_AT = 20
_ROLES = ("user", "assistant", "tool")
_PLAIN = frozenset(("role", "content", "tool_calls", "tool_call_id"))
"""A record of no other keys in one of these roles is a message of this API."""


def matches(document: Document) -> bool:
    """Some of the first records are messages, conversations, responses or exchanges of this API."""
    kinds = {_kind(record) for record in plain_records_of(document)[:_LOOKED_AT]}
    return bool(kinds & {"conversation", "call"}) or ("message" in kinds and lookalikes.name_of(document) is None)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every record; what has no known shape is counted as unread."""
    log = CallLog(out)
    loose: dict[str | None, TraceBuilder] = {}
    for record, line in records_of(document):
        kind = _kind(record)
        if kind == "message":
            task = words(record.get("task_id"))  # some files hold the messages of several tasks one behind the other
            if task not in loose:
                loose[task] = out.trace()
            loose[task].message(_with_content(record), line=line)
        elif kind == "conversation":
            _read_conversation(record, out, line)
        elif kind is None or not log.add(record, line):
            out.unread("a record that is no message, conversation, response or exchange of this format")
    log.finish()


def _kind(record: Any) -> str | None:
    """message, conversation, or call: one that this API or another was asked for."""
    if record.__class__ is dict and record.keys() <= _PLAIN and _is_plain(record):
        return "message"  # as most records of a long log are
    if lookalikes.name_of_record(record):
        return None
    if isinstance(record, list):
        return "conversation" if record and openai_chat.is_message_list(record) else None
    if not isinstance(record, dict):
        return None
    if "role" in record and "messages" not in record:
        return "message" if openai_chat.is_message(_with_content(record)) else None
    call = call_of(record)
    if call is not None and call.request is record and call.response is None:
        return "conversation"
    return None if call is None else "call"


def _with_content(record: dict[str, Any]) -> dict[str, Any]:
    """The message; Swarm logs what its program runs as a ``tool`` in the place of content."""
    tool = record.get("tool")
    if "content" in record or not isinstance(tool, dict):
        return record
    return {**{key: value for key, value in record.items() if key != "tool"}, "content": [{"type": "tool", **tool}]}


def _is_plain(record: dict[str, Any]) -> bool:
    return record.get("role") in _ROLES and "content" in record and not isinstance(record["content"], list)


# -- one conversation a record -------------------------------------------------------------------------------------


def _read_conversation(record: Any, out: ImportBuilder, line: int | None) -> None:
    row: Mapping[str, Any] = record if isinstance(record, dict) else {"messages": record}
    about = {key: value for key, value in row.items() if key not in openai_chat.REQUEST_KEYS}
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
