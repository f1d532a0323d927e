"""Gemini CLI sessions: one JSON document until 2025, since 2026 lines that change what came before.

A line with a known id replaces that message, ``$set`` changes the head or sets all messages anew, and ``$rewindTo``
takes back a message and all after it. Calls and results stand inside the model's message.
Source: google-gemini/gemini-cli, ``packages/core/src/services/chatRecordingService.ts``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import duration, milliseconds, moment, text
from traces.repair import as_text
from traces.reply import Reply
from traces.wire import gemini
from traces.wire.parts import kind_of, listed, mapping

NAME = "gemini-cli"
_LOOKED_AT = 20
_TYPES = frozenset(("user", "gemini", "model", "info", "error", "warning"))


def matches(document: Document) -> bool:
    """Some of the first records are sessions or their first lines."""
    return any(_is_head(record) or _is_change(record) for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read each session. A new first line begins a new one, unless it names the session that is being read."""
    session: _Session | None = None
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        if _is_head(record) and (session is None or record["sessionId"] != session.head.get("sessionId")):
            if session is not None:
                session.tell()
            session = _Session(out)
        if session is None or not isinstance(record, Mapping):
            out.unread("a line before the session, or none of its own")
        else:
            session.add(record, line)
    if session is not None:
        session.tell()


def _is_head(record: Any) -> bool:
    if not isinstance(record, Mapping) or "sessionId" not in record:
        return False
    messages = listed(record.get("messages"))[:_LOOKED_AT]
    if "projectHash" in record or any(kind_of(message) == "gemini" for message in messages):
        return True
    return any(kind_of(message) == "model" and "role" not in message for message in messages)


def _is_change(record: Any) -> bool:
    return isinstance(record, Mapping) and ("$rewindTo" in record or isinstance(record.get("$set"), Mapping))


class _Session:
    """The lines of one session, applied one after another."""

    def __init__(self, out: ImportBuilder) -> None:
        self.head: dict[str, Any] = {}
        self._out = out
        self._messages: dict[str, tuple[Mapping[str, Any], int | None]] = {}

    def add(self, record: Mapping[str, Any], line: int | None) -> None:
        """Apply one line; the same as Gemini CLI does when it resumes a session."""
        if isinstance(target := record.get("$rewindTo"), str):
            self._rewind(target)
        elif isinstance(changes := record.get("$set"), Mapping):
            self._set(changes, line)
        elif _is_head(record):
            self._set(record, line)
        elif kind_of(record) in _TYPES:
            self._put(record, line)
        else:
            self._out.unread(f"a line that is no message of a session: {kind_of(record) or 'without type'}"[:120])

    def _put(self, message: Mapping[str, Any], line: int | None) -> None:
        key = text(message.get("id")) or f"message {len(self._messages)}"
        self._messages[key] = (message, line)

    def _set(self, changes: Mapping[str, Any], line: int | None) -> None:
        self.head |= {key: value for key, value in changes.items() if key != "messages"}
        messages = changes.get("messages")
        if isinstance(messages, list) and messages:
            self._messages.clear()
            for message in listed(messages):
                self._put(message, line)

    def _rewind(self, target: str) -> None:
        keys = list(self._messages)
        for key in keys[keys.index(target) :] if target in self._messages else keys:
            del self._messages[key]
            self._out.unread("a message that was taken back by a rewind")

    def tell(self) -> None:
        """Hand over the conversation as it is after the last line."""
        trace = self._out.trace(text(self.head.get("summary")), {"session": self.head})
        _Story(trace, self._out).tell(self._messages.values())
        times = [message.get("timestamp") for message, _ in self._messages.values()]
        trace.reported(duration_s=duration([*times, self.head.get("startTime"), self.head.get("lastUpdated")]))


class _Story:
    def __init__(self, trace: TraceBuilder, out: ImportBuilder) -> None:
        self._trace, self._out = trace, out
        self._asked_at: str | None = None

    def tell(self, messages: Iterable[tuple[Mapping[str, Any], int | None]]) -> None:
        for message, line in messages:
            kind, at = kind_of(message), moment(message.get("timestamp"))
            if kind == "user":
                for data in gemini.converted({"role": "user", "parts": _parts(message.get("content"))}):
                    self._trace.message(data, at=at, line=line)
                self._asked_at = at or self._asked_at
            elif kind in ("gemini", "model"):
                self._answer(message, at, line)
            elif kind in _TYPES:
                self._trace.note(kind, _words(message.get("content")))
            else:
                self._out.unread(f"a message of an unknown type: {kind or 'without type'}"[:120])

    def _answer(self, message: Mapping[str, Any], at: str | None, line: int | None) -> None:
        calls = listed(message.get("toolCalls"))
        data: dict[str, Any] = {"role": "assistant", "content": None}
        for said in gemini.converted({"role": "model", "parts": _parts(message.get("content"))}):
            data.update(said)
        data["tool_calls"] = [*data.get("tool_calls", ()), *map(_call, calls)]
        if thoughts := _thoughts(message.get("thoughts")):
            data["reasoning_content"] = thoughts
        self._trace.message(data, at=at, line=line)
        model = text(message.get("model")) or None
        latency_ms = milliseconds(self._asked_at, at)
        started = self._asked_at if latency_ms is not None else None
        self._trace.numbers(
            Reply(usage=_usage(message.get("tokens")), model=model, started=started, latency_ms=latency_ms)
        )
        self._asked_at = at or self._asked_at
        for call in calls:
            self._result(call, line)

    def _result(self, call: Mapping[str, Any], line: int | None) -> None:
        """The result inside a call; none where it is still running or was stopped before it gave one."""
        status, at, call_id = text(call.get("status")), moment(call.get("timestamp")), text(call.get("id"))
        content = _result_content(call)
        if content is not None:
            message = {"role": "tool", "tool_call_id": call_id or None, "name": call.get("name"), "content": content}
            self._trace.message(message, at=at, line=line)
            self._asked_at = at or self._asked_at
        ok = {"success": True, "error": False}.get(status)
        self._trace.tool_run(call_id, ok=ok, decision="rejected" if status == "cancelled" else None)


def _parts(content: Any) -> list[Any]:
    """Text, one part or many, as Gemini's own library takes them."""
    return content if isinstance(content, list) else [] if content in (None, "") else [content]


def _words(content: Any) -> str:
    parts = (text(part) or text(mapping(part).get("text")) for part in _parts(content))
    return "\n".join(part for part in parts if part)


def _thoughts(value: Any) -> str:
    thoughts = ((text(thought.get("subject")), text(thought.get("description"))) for thought in listed(value))
    return "\n\n".join("\n".join(filter(None, thought)) for thought in thoughts)


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": call.get("args")}}


def _result_content(call: Mapping[str, Any]) -> Any:
    """What a tool gave: text, or parts where it showed something; None where it gave nothing."""
    given = call.get("result")
    messages = gemini.converted({"role": "user", "parts": _parts(given)})
    contents = [message.get("content") for message in messages]
    if len(contents) == 1:
        return contents[0]
    if contents:
        parts = (content if isinstance(content, list) else [{"type": "text", "text": content}] for content in contents)
        return [part for some in parts for part in some]
    display = call.get("resultDisplay")
    return None if display is None else as_text(display)


def _usage(data: Any) -> Usage | None:
    """The counts of the API under short names."""
    tokens = mapping(data)
    return gemini.usage_of({theirs: tokens.get(short) for short, theirs in _COUNTS.items()})


_COUNTS = {
    "input": "promptTokenCount",
    "output": "candidatesTokenCount",
    "cached": "cachedContentTokenCount",
    "thoughts": "thoughtsTokenCount",
    "tool": "toolUsePromptTokenCount",
    "total": "totalTokenCount",
}
