"""OpenCode: exported sessions, and the events that ``opencode run --format json`` prints.

A session has messages, a message has parts; a tool's call and its result are one part. Tokens are counted per message:
those of the ``step-finish`` parts are the same once more, and count only where one message holds several steps.
Source: OpenCode, ``packages/opencode/src/session/message-v2.ts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers import opencode_messages
from traces.readers.fields import duration, text
from traces.wire.parts import listed, mapping

NAME = "opencode"
_LOOKED_AT = 20


def matches(document: Document) -> bool:
    """Some of the first records are sessions, messages with parts, or printed events of a session."""
    kinds = (_is_session, _is_flat, _is_message, _is_event)
    return any(is_kind(item) for item in document.records[:_LOOKED_AT] for is_kind in kinds)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every session; messages without one, and events, belong together by their session."""
    known: dict[str, str] = {}
    loose: dict[str, list[Mapping[str, Any]]] = {}
    for number, record in enumerate(document.records):
        if _is_session(record):
            _read_session(record, out, document.line_of(number), known)
        elif _is_flat(record):
            _read_session(_raised(record), out, document.line_of(number), known)
        elif _is_message(record):
            loose.setdefault(text(record["info"].get("sessionID")), []).append(record)
        elif _is_event(record):
            _add_event(record, loose.setdefault(record["sessionID"], []), out)
        else:
            out.unread("a record that is no session, message or event")
    for session_id, messages in loose.items():
        info = {"id": session_id} if session_id else {}
        _read_session({"info": info, "messages": messages}, out, None, known)


def _is_session(value: Any) -> bool:
    session = mapping(value)
    return text(mapping(session.get("info")).get("id")).startswith("ses_") and isinstance(session.get("messages"), list)


def _is_flat(value: Any) -> bool:
    """A session as other programs write it: what ``info`` and a tool's ``state`` should hold stands beside them."""
    session = mapping(value)
    messages = session.get("messages")
    return (
        text(session.get("id")).startswith("ses_")
        and isinstance(messages, list)
        and any(isinstance(mapping(item).get("info"), Mapping) for item in messages[:_LOOKED_AT])
    )


def _is_message(value: Any) -> bool:
    message = mapping(value)
    info = mapping(message.get("info"))
    return isinstance(message.get("parts"), list) and isinstance(info.get("role"), str) and "sessionID" in info


def _is_event(value: Any) -> bool:
    event = mapping(value)
    return text(event.get("sessionID")).startswith("ses_") and isinstance(event.get("type"), str)


def _add_event(event: Mapping[str, Any], messages: list[Mapping[str, Any]], out: ImportBuilder) -> None:
    """Put the part of an event to the message that it belongs to."""
    part = mapping(event.get("part"))
    if event["type"] == "error":
        messages.append({"info": {"role": "assistant", "error": event.get("error")}, "parts": []})
    elif not part:
        out.unread(f"an event without a part: {event['type']}"[:200])
    else:
        message_id = part.get("messageID")
        if not messages or messages[-1]["info"].get("id") != message_id:
            info = {"id": message_id, "role": "assistant", "time": {"created": event.get("timestamp")}}
            messages.append({"info": info, "parts": []})
        messages[-1]["parts"].append(part)


def _raised(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Such a session as OpenCode writes it."""
    messages = [
        {"info": _raised_info(mapping(message["info"])), "parts": [*map(_raised_part, listed(message.get("parts")))]}
        if isinstance(message, Mapping) and isinstance(message.get("info"), Mapping)
        else message
        for message in flat["messages"]
    ]
    return {"info": {key: value for key, value in flat.items() if key != "messages"}, "messages": messages}


def _raised_info(info: Mapping[str, Any]) -> dict[str, Any]:
    return {"time": {"created": info.get("timestamp")}, "modelID": info.get("model_id"), **info}


def _raised_part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    if part.get("type") != "tool" or isinstance(part.get("state"), Mapping):
        return part
    state = {key: part.get(key) for key in ("status", "output", "error", "metadata", "time")}
    return {**part, "state": {**state, "input": part.get("args", part.get("input"))}}


def _read_session(session: Mapping[str, Any], out: ImportBuilder, line: int | None, known: dict[str, str]) -> None:
    """Read one session.

    Args:
        session: its ``info`` and its ``messages``.
        out: takes the conversation.
        line: its line in the file.
        known: the trace of each session that was read; a session of a sub-agent names that which called it.
    """
    info = mapping(session["info"])
    trace = out.trace(text(info.get("title")), {"session": dict(info)}, parent=known.get(text(info.get("parentID"))))
    known[text(info.get("id"))] = trace.trace_id
    for message in session["messages"]:
        if _is_message(message) or (isinstance(message, Mapping) and isinstance(message.get("info"), Mapping)):
            opencode_messages.read_message(message, trace, out, line)
        else:
            out.unread("a message without info")
    trace.reported(duration_s=duration(_times(session)))


def _times(session: Mapping[str, Any]) -> Iterator[Any]:
    for holder in (session, *listed(session["messages"])):
        yield from mapping(mapping(holder.get("info")).get("time")).values()
