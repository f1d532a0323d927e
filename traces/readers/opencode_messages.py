"""One message of an OpenCode session with its parts, as messages in OpenAI Chat form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.importing import ImportBuilder
from traces.readers.fields import amount, ended_well, milliseconds, moment, text
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.parts import Parts, count, kind_of, linked, listed, mapping

_Part = Mapping[str, Any]
_MARKS = frozenset(("step-start", "step-finish", "snapshot", "patch", "agent", "retry"))
"""Parts that nobody says: they mark steps, states of the files and agents."""


def read_message(message: Mapping[str, Any], trace: TraceBuilder, out: ImportBuilder, line: int | None) -> None:
    """Read one message: a user's is one, the model's is one for each step with the results behind it.

    Args:
        message: ``{"info", "parts"}``.
        trace: takes the messages.
        out: takes what cannot be used.
        line: the line of the session.
    """
    info, parts = message["info"], listed(message.get("parts"))
    if info.get("role") == "assistant":
        _Answer(info, trace, out, line).read(parts)
    else:
        _read_user(info, parts, trace, line)


def _read_user(info: Mapping[str, Any], parts: list[_Part], trace: TraceBuilder, line: int | None) -> None:
    content = Parts()
    for part in parts:
        _add(content, part)
    is_made = bool(parts) and all(part.get("synthetic") is True for part in parts if kind_of(part) == "text")
    at = moment(mapping(info.get("time")).get("created"))
    maker = "code" if is_made and any(kind_of(part) == "text" for part in parts) else None
    position = trace.message({**content.message("user"), "role": info.get("role")}, at=at, line=line, maker=maker)
    trace.model(mapping(info.get("model")).get("modelID"), mapping(info.get("model")).get("providerID"))
    if any(kind_of(part) == "compaction" for part in parts):
        trace.note("compaction", "what came before was summed up from here on", message=position)


def _add(content: Parts, part: _Part) -> None:
    """Add what is said or shown; tools and marks are no content."""
    kind = kind_of(part)
    if kind == "text":
        content.text(text(part.get("text")))
    elif kind == "reasoning":
        content.thought(text(part.get("text")))
    elif kind == "file":
        content.add(linked(part.get("url"), part.get("mime"), part.get("filename")))
    elif kind == "tool":
        state = mapping(part.get("state"))
        content.call(part.get("callID"), part.get("tool"), state.get("input") or state.get("raw"))
    elif kind not in _MARKS and kind != "compaction":
        content.add(part)


class _Answer:
    """A message of the model: one step, or several between ``step-start`` and ``step-finish``."""

    def __init__(self, info: Mapping[str, Any], trace: TraceBuilder, out: ImportBuilder, line: int | None) -> None:
        self._info, self._trace, self._out, self._line = info, trace, out, line
        times = mapping(info.get("time"))
        self._created, self._completed = times.get("created"), times.get("completed")

    def read(self, parts: list[_Part]) -> None:
        steps = list(_steps(parts))
        for place, step in enumerate(steps):
            self._read_step(step, is_first=place == 0, is_only=len(steps) == 1)
        if not steps:
            self._read_failure()
        elif error := _error(self._info):
            self._trace.note("error", error)
        if mapping(self._info.get("error")).get("name") == "MessageAbortedError":
            self._trace.outcome("stopped_by_user", detail=_error(self._info))
        if self._info.get("summary") is True:
            self._trace.note("compaction", "the conversation so far was summed up")

    def _read_step(self, parts: list[_Part], *, is_first: bool, is_only: bool) -> None:
        content = Parts()
        for part in parts:
            _add(content, part)
            if kind_of(part) in ("snapshot", "patch"):
                self._out.unread("a mark of the state of the files, not of the conversation")
        begun = self._created if is_first else _begin(parts)
        agent = text(self._info.get("agent")) or text(self._info.get("mode")) or None
        at = moment(_answered(parts) or self._completed or begun)
        self._trace.message(content.message("assistant"), at=at, line=self._line, agent=agent)
        self._numbers(parts, begun, is_only=is_only)
        for part in parts:
            if kind_of(part) == "tool":
                self._read_result(part)

    def _numbers(self, parts: list[_Part], begun: Any, *, is_only: bool) -> None:
        finish = next((part for part in parts if kind_of(part) == "step-finish"), {})
        counted = self._info if is_only and mapping(self._info.get("tokens")) else finish
        model, provider = self._info.get("modelID"), self._info.get("providerID")
        self._trace.model(model, provider)
        self._trace.numbers(
            Reply(
                usage=_usage(counted.get("tokens")),
                cost=amount(counted.get("cost")),
                finish_reason=text(finish.get("reason")) or text(self._info.get("finish")) or None,
                model=model if isinstance(model, str) else None,
                started=moment(begun),
                latency_ms=milliseconds(begun, _answered(parts) or self._completed),
                first_token_ms=milliseconds(begun, _begin(parts)),
            )
        )

    def _read_result(self, part: _Part) -> None:
        """The result in a tool's part. One that never came to an end has none."""
        state = mapping(part.get("state"))
        times, call_id, status = mapping(state.get("time")), text(part.get("callID")), state.get("status")
        if status not in ("completed", "error"):
            self._trace.tool_run(call_id, started=moment(times.get("start")))
            return
        content = Parts()
        value = state.get("output") if status == "completed" else state.get("error", state.get("output"))
        content.text(as_text("" if value is None else value))
        for attachment in listed(state.get("attachments")):
            _add(content, attachment)
        message = {**content.message("tool"), "tool_call_id": call_id or None, "name": text(part.get("tool")) or None}
        self._trace.message(message, at=moment(times.get("end")), line=self._line)
        failed = ended_well(mapping(state.get("metadata")).get("exit")) is False
        self._trace.tool_run(
            call_id,
            started=moment(times.get("start")),
            latency_ms=milliseconds(times.get("start"), times.get("end")),
            ok=status == "completed" and not failed,
        )

    def _read_failure(self) -> None:
        """A message without parts: the model call failed, or was stopped before anything came."""
        error = _error(self._info)
        status = mapping(mapping(self._info.get("error")).get("data")).get("statusCode")
        self._trace.reply(
            Reply(
                error=error or "the model gave nothing",
                status=status if isinstance(status, int) else None,
                model=text(self._info.get("modelID")) or None,
                latency_ms=milliseconds(self._created, self._completed),
            ),
            line=self._line,
        )


def _steps(parts: list[_Part]) -> Iterator[list[_Part]]:
    """The parts of each step; a message of today holds one."""
    step: list[_Part] = []
    for part in parts:
        if kind_of(part) == "step-start" and any(kind_of(known) not in _MARKS for known in step):
            yield step
            step = []
        step.append(part)
    if any(kind_of(part) not in _MARKS for part in step):
        yield step


def _begin(parts: list[_Part]) -> float | None:
    """When the first part of a step began."""
    times = (mapping(part.get("time") or mapping(part.get("state")).get("time")) for part in parts)
    return min((start for time in times if (start := amount(time.get("start"))) is not None), default=None)


def _answered(parts: list[_Part]) -> float | None:
    """When the model had asked for its last tool: what follows is the tools' time."""
    tools = (mapping(mapping(part.get("state")).get("time")) for part in parts if kind_of(part) == "tool")
    return max((start for time in tools if (start := amount(time.get("start"))) is not None), default=None)


def _usage(data: Any) -> Usage | None:
    """The cache is counted beside the input and reasoning beside the output; a failed call has nothing but zeros."""
    tokens = mapping(data)
    cache = mapping(tokens.get("cache"))
    read, written = cache.get("read"), cache.get("write")
    usage = Usage.from_openai(
        {
            "prompt_tokens": count(tokens.get("input"), read, written),
            "completion_tokens": count(tokens.get("output"), tokens.get("reasoning")),
            "total_tokens": tokens.get("total"),
            "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
            "completion_tokens_details": {"reasoning_tokens": tokens.get("reasoning")},
        }
    )
    return usage if usage is not None and usage.total else None


def _error(info: Mapping[str, Any]) -> str:
    error = mapping(info.get("error"))
    return text(mapping(error.get("data")).get("message")) or text(error.get("message")) or text(error.get("name"))
