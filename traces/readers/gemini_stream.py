"""What ``gemini --output-format stream-json`` prints: texts in pieces, calls, results, and totals at the end.

Several runs may stand in one file, one behind the other. Source: google-gemini/gemini-cli,
``packages/core/src/output/types.ts``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import amount, duration, milliseconds, moment, text
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.parts import Parts, kind_of, mapping

NAME = "gemini-stream"
_LOOKED_AT = 20
_KEYS = {
    "init": {"session_id", "model"},
    "message": {"role", "content", "timestamp"},
    "tool_use": {"tool_name", "tool_id"},
    "tool_result": {"tool_id", "status"},
    "error": {"severity", "message"},
    "result": {"status", "timestamp"},
}
"""What each event has beside its type; other programs print events of the same types with other keys."""


def matches(document: Document) -> bool:
    """Some of the first lines are events of such a run. A message as it has them others write too."""
    return any(_is_event(record) and _is_own(record) for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read each run; one that goes on with an earlier session belongs to its trace."""
    runs: dict[str, _Run] = {}
    run: _Run | None = None
    for number, record in enumerate(document.records):
        if not _is_event(record):
            out.unread("a line that is no event of a run")
            continue
        if run is None or record["type"] == "init":
            if run is not None:
                run.close()
            session_id = text(record.get("session_id")) or f"run {len(runs)}"
            run = runs.setdefault(session_id, runs.get(session_id) or _Run(out))
        run.add(record, document.line_of(number))
    if run is not None:
        run.close()


def _is_event(record: Any) -> bool:
    keys = _KEYS.get(kind_of(record))
    if keys is None or not keys <= record.keys():
        return False
    return record["type"] != "message" or isinstance(record["content"], str)


def _is_own(event: Mapping[str, Any]) -> bool:
    return event["type"] != "message" or "delta" in event


class _Run:
    """One run on its way to a trace."""

    def __init__(self, out: ImportBuilder) -> None:
        self._out = out
        self._trace: TraceBuilder = out.trace()
        self._said = Parts()
        self._asked_at: str | None = None
        self._said_at: str | None = None
        self._line: int | None = None
        self._called_at: dict[str, str | None] = {}
        self._usages: list[Usage] = []
        self._times: list[str | None] = []

    def add(self, event: Mapping[str, Any], line: int | None) -> None:
        """The next event."""
        kind, at = kind_of(event), moment(event.get("timestamp"))
        self._times.append(at)
        if kind == "init":
            self._trace.model(event.get("model"))
            self._asked_at = at
        elif kind == "message" and event["role"] == "assistant":
            self._say(at, line).text(event["content"], glue=event.get("delta") is True)
        elif kind == "message":
            self.close()
            self._trace.message({"role": event["role"], "content": event["content"]}, at=at, line=line)
            self._asked_at = at
        elif kind == "tool_use":
            call_id = text(event["tool_id"])
            self._say(at, line).call(call_id, event["tool_name"], event.get("parameters"))
            self._called_at[call_id] = at
        elif kind == "tool_result":
            self._result(event, at, line)
        elif kind == "error":
            self._trace.note(text(event["severity"]) or "error", text(event["message"]))
        else:
            self._end(event)

    def _say(self, at: str | None, line: int | None) -> Parts:
        self._line = self._line or line
        self._said_at = at or self._said_at
        return self._said

    def close(self) -> None:
        """The answer is complete: something else follows."""
        if not self._said:
            return
        self._trace.message(self._said.message("assistant"), at=self._said_at, line=self._line)
        latency_ms = milliseconds(self._asked_at, self._said_at)
        started = self._asked_at if latency_ms is not None else None
        self._trace.numbers(Reply(started=started, latency_ms=latency_ms))
        self._said, self._line, self._said_at = Parts(), None, None

    def _result(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        self.close()
        call_id, failed = text(event["tool_id"]), event["status"] == "error"
        given = event.get("output")
        if given is None and failed:
            given = mapping(event.get("error")).get("message")
        message = {"role": "tool", "tool_call_id": call_id or None, "content": as_text("" if given is None else given)}
        self._trace.message(message, at=at, line=line)
        begun = self._called_at.get(call_id)
        self._trace.tool_run(call_id, started=begun, latency_ms=milliseconds(begun, at), ok=not failed)
        self._asked_at = at or self._asked_at

    def _end(self, event: Mapping[str, Any]) -> None:
        """The totals of a run. Thoughts are counted in the total alone."""
        self.close()
        stats = mapping(event.get("stats"))
        usage = Usage.from_openai(
            {
                "prompt_tokens": stats.get("input_tokens"),
                "completion_tokens": stats.get("output_tokens"),
                "total_tokens": stats.get("total_tokens"),
                "prompt_tokens_details": {"cached_tokens": stats.get("cached")},
            }
        )
        if usage is not None:
            self._usages.append(usage)
        took = amount(stats.get("duration_ms"))
        self._trace.reported(
            usage=Usage.sum(self._usages) if self._usages else None,
            duration_s=duration(self._times) or (took and took / 1000),
        )
        failed = event["status"] == "error"
        words = text(mapping(event.get("error")).get("message"))
        self._trace.outcome("model_error" if failed else "final", detail=words)
