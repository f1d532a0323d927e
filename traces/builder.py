"""TraceBuilder: the only way in which a foreign reader makes a Trace.

A reader hands over messages in OpenAI Chat form, in file order. The builder repairs what is odd, opens a step for each
assistant message, pairs results with calls, keeps the original of whatever it changed, and counts what it did.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from agent.messages import Message, ToolCall
from agent.models.replies import visible_text
from agent.trace import Entry, ModelInfo, Outcome, Request, Source, ToolRun, Trace, TraceStep, maker_of
from agent.usage import Usage
from traces.container import Document
from traces.pairing import OpenCall, OpenCalls
from traces.repair import TOOL_ROLES, Repaired, as_text, repair_message
from traces.report import ImportReport

TITLE_LENGTH = 80
_ENDINGS = {
    "stop": "final",
    "end_turn": "final",
    "length": "truncated",
    "max_tokens": "truncated",
    "content_filter": "refused",
    "refusal": "refused",
    "safety": "refused",
}
"""What a provider's finish reason says about the end of a run, in our words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What one model call gave, whatever the provider: one assistant message or an error, and the numbers beside it."""

    message: Mapping[str, Any] | None = None
    """The assistant message in OpenAI Chat form; None where the call gave none."""
    usage: Usage | None = None
    finish_reason: str | None = None
    model: str | None = None
    """The model that answered."""
    at: str | None = None
    """Wall-clock time of the answer, ISO 8601."""
    latency_ms: float | None = None
    cost: float | None = None
    """US dollars."""
    error: str | None = None
    """The provider's words, where the call failed."""
    status: int | None = None
    """HTTP status, where the file says it."""
    unread: tuple[str, ...] = ()
    """What of the answer was not used, one sentence each."""


Digest = Callable[[], str]
_maker_of = lru_cache(maxsize=64)(maker_of)


class ImportBuilder:
    """One file on its way to traces: readers make them here, and say here what they could not use."""

    def __init__(self, document: Document, name: str, format: str, digest: Digest) -> None:
        """Begin.

        Args:
            document: what is read.
            name: the file's name as it was given.
            format: the reader's name.
            digest: gives a hash of the file; ids of its traces come from it, so that a link to one stays good.
        """
        self.report = ImportReport(file=name, format=format, container=document.container)
        self.report.bad_lines += document.bad_lines
        self.report.warnings += document.warnings
        self._digest = digest
        self._unread: Counter[str] = Counter()
        self._open: list[TraceBuilder] = []

    def trace(self, title: str = "", about: Mapping[str, Any] | None = None) -> TraceBuilder:
        """A new conversation. ``about`` are further keys of the file that are kept with the trace."""
        builder = TraceBuilder(self.next_id(), self.report.format or "", title, about or {})
        self._open.append(builder)
        return builder

    def next_id(self) -> str:
        """The id of the next trace of this file: the same at every reading."""
        number = len(self._open) + len(self.report.traces)
        return hashlib.sha256(f"{self._digest()} {number}".encode()).hexdigest()[:12]

    def add(self, trace: Trace) -> None:
        """A trace that is ready: only for our own formats."""
        self.report.traces.append(trace)

    def unread(self, sentence: str) -> None:
        """Something was no part of a conversation. The same sentence is counted, not repeated."""
        self._unread[sentence] += 1

    def warn(self, sentence: str) -> None:
        """Something about the file that its user should know."""
        if sentence not in self.report.warnings:
            self.report.warnings.append(sentence)

    def finish(self) -> ImportReport:
        """All traces and all remarks. Call it once, when the reader is done."""
        report, repairs, lost = self.report, Counter[str](), 0
        for builder in self._open:
            trace = builder.finish()
            repairs.update(builder.repairs)
            lost += _has_results_alone(trace)
            if trace.messages or trace.steps:
                report.traces.append(trace)
        report.repaired += _counted(repairs)
        report.unread += _counted(self._unread)
        if lost:
            self.warn(
                f"{lost:,} of the conversations hold tool results but not one tool call: the calls are lost, or stand "
                "where this format has none"
            )
        return report


class TraceBuilder:
    """One conversation on its way to a :class:`~agent.trace.Trace`."""

    def __init__(self, trace_id: str, format: str, title: str, about: Mapping[str, Any]) -> None:
        self.repairs: Counter[str] = Counter()
        self._trace = Trace(
            trace_id=trace_id,
            created=None,
            title=title,
            source=Source(kind="import", format=format),
            extra={"imported": dict(about)} if about else {},
        )
        self._calls = OpenCalls()
        self._made_ids = 0
        self._failed: list[Reply] = []
        self._last: TraceStep | None = None

    # -- what readers call ---------------------------------------------------------------------------------------

    def model(self, name: Any, provider: Any = None) -> None:
        """The model that was asked, and by whom it was served. The first that is named counts."""
        info: ModelInfo = self._trace.model
        if isinstance(name, str) and name:
            info.name = info.name or name
        if isinstance(provider, str) and provider:
            info.provider = info.provider or provider

    def tools(self, schemas: list[dict[str, Any]]) -> None:
        """The tools on offer, in OpenAI form. Those of later requests are added to those of earlier ones."""
        known = {_tool_name(schema) for schema in self._trace.tools}
        self._trace.tools += [schema for schema in schemas if _tool_name(schema) not in known]

    def config(self, **values: Any) -> None:
        """Settings of the run. The first value of each counts."""
        self._trace.config = {**values, **self._trace.config}

    def message(self, data: Mapping[str, Any], *, at: str | None = None, line: int | None = None) -> int:
        """Append a message and give its position.

        Args:
            data: the message in OpenAI Chat form, as the file has it.
            at: its time, ISO 8601.
            line: its line in the file, from 1.
        """
        repaired = repair_message(data)
        if repaired.repairs:
            self.repairs.update(repaired.repairs)
        message, position = repaired.message, len(self._trace.messages)
        entry = Entry(maker=_maker_of(message.role), at=at, line=line, raw=dict(data) if repaired.rewritten else None)
        self._trace.messages.append(message)
        self._trace.entries.append(entry)
        if self._trace.created is None:
            self._trace.created = at
        if message.role == "assistant" or message.tool_calls:
            self._open_step(position)
        elif message.role in TOOL_ROLES:
            self._pair(position, repaired, data)
        return position

    def reply(self, reply: Reply, *, line: int | None = None) -> None:
        """What a model call gave, after the messages that it was given: they are all there already."""
        upto = len(self._trace.messages)
        if reply.message is None:
            self._failed.append(reply)
            return
        position = self.message({"role": "assistant", **reply.message}, at=reply.at, line=line)
        step = self._last
        if step is None or step.reply != position:
            return
        step.request = Request(upto=upto)
        step.usage, step.cost = reply.usage, reply.cost
        step.finish_reason, step.model, step.latency_ms = reply.finish_reason, reply.model, reply.latency_ms

    def finish(self) -> Trace:
        """The trace."""
        trace = self._trace
        users = (message.text for message in trace.messages if message.role == "user")
        trace.task = next((text for text in users if text.strip()), "")
        trace.title = trace.title or _title(trace.task)
        if self._failed:
            self._end_with_failure()
        else:
            self._read_outcome()
        for sentence in _counted(self.repairs):
            trace.notes.append({"kind": "import", "text": f"put right while reading: {sentence}"})
        return trace

    # -- steps and pairs -----------------------------------------------------------------------------------------

    def _open_step(self, position: int) -> None:
        trace = self._trace
        step = TraceStep(index=len(trace.steps) + 1, reply=position, retries=self._take_failures())
        before = trace.messages[position - 1] if position else None
        if before is None or before.role != "assistant":
            self._calls.new_block()
        message = trace.messages[position]
        calls = [call if call.id else replace(call, id=self._make_id()) for call in message.tool_calls]
        for place, (call, original) in enumerate(zip(calls, message.tool_calls, strict=True)):
            run = ToolRun(tool_call_id=call.id, name=call.name, arguments=call.arguments, decision="unknown")
            step.tools.append(run)
            self._calls.add(OpenCall(run, position, place, has_id=bool(original.id)))
        if made := sum(not call.id for call in message.tool_calls):
            self.repairs["a call has no id; one was made up"] += made
            self._keep_original(position)
            self._change(position, tool_calls=tuple(calls))
        trace.entries[position].step = step.index
        trace.steps.append(step)
        self._last = step

    def _pair(self, position: int, repaired: Repaired, data: Mapping[str, Any]) -> None:
        message = repaired.message
        call = self._calls.answer(message.tool_call_id or "", message.name)
        if call is None:
            return
        run = call.run
        run.message, run.decision = position, "run"
        if is_error(message, data):
            run.ok = False
        self._trace.entries[position].step = self._trace.entries[call.message].step
        if message.tool_call_id:
            self._rename_call(call, message.tool_call_id)
        else:
            self.repairs["a result has no call id; it was paired by name or order"] += 1
            self._keep_original(position)
            self._change(position, tool_call_id=run.tool_call_id)

    def _rename_call(self, call: OpenCall, call_id: str) -> None:
        """The result knows an id that the call came without."""
        if call.run.tool_call_id == call_id:
            return
        call.run.tool_call_id = call_id
        calls: list[ToolCall] = list(self._trace.messages[call.message].tool_calls)
        calls[call.place] = replace(calls[call.place], id=call_id)
        self._change(call.message, tool_calls=tuple(calls))

    def _keep_original(self, position: int) -> None:
        entry = self._trace.entries[position]
        if entry.raw is None:
            entry.raw = self._trace.messages[position].to_dict()

    def _change(self, position: int, **fields: Any) -> None:
        self._trace.messages[position] = replace(self._trace.messages[position], **fields)

    def _make_id(self) -> str:
        """Nine letters and digits, the form that every provider takes; the same at every reading of the file."""
        self._made_ids += 1
        return f"call{self._made_ids:05d}"

    # -- how it ended --------------------------------------------------------------------------------------------

    def _take_failures(self) -> list[dict[str, Any]]:
        failed, self._failed = self._failed, []
        return [
            {"attempt": number, "error": reply.error, "wait_s": None, "status": reply.status}
            for number, reply in enumerate(failed, 1)
        ]

    def _end_with_failure(self) -> None:
        trace, reply = self._trace, self._failed[-1]
        self._failed = self._failed[:-1]
        step = TraceStep(index=len(trace.steps) + 1, retries=self._take_failures(), latency_ms=reply.latency_ms)
        step.request, step.usage, step.model = Request(upto=len(trace.messages)), reply.usage, reply.model
        step.warnings = [reply.error or "the call gave no message"]
        trace.steps.append(step)
        trace.outcome = Outcome(reason="model_error", detail=step.warnings[0])

    def _read_outcome(self) -> None:
        """The end as far as the file says it: a reason only where the last model call has a finish reason."""
        trace, step = self._trace, self._last
        if step is None or step.reply is None or step.reply != len(trace.messages) - 1:
            return
        message = trace.messages[step.reply]
        if message.tool_calls:
            return
        trace.outcome.final = visible_text(message)
        trace.outcome.reason = _ENDINGS.get((step.finish_reason or "").lower())


def is_error(message: Message, data: Mapping[str, Any]) -> bool:
    """Whether a tool message says that the tool failed: a flag, or a JSON object with an ``error``."""
    if data.get("is_error") is True or data.get("status") == "error":
        return True
    text = message.text.lstrip()
    if not text.startswith("{") or '"error"' not in text:
        return False
    value = ToolCall.from_dict({"function": {"arguments": text}}).arguments
    return bool(value.get("error"))


def _has_results_alone(trace: Trace) -> bool:
    roles = {message.role for message in trace.messages}
    return not roles.isdisjoint(TOOL_ROLES) and not any(step.tools for step in trace.steps)


def _counted(sentences: Counter[str]) -> list[str]:
    return [sentence if count == 1 else f"{sentence} ({count} times)" for sentence, count in sentences.items()]


def _title(task: str) -> str:
    lines = task.strip().splitlines()
    if not lines:
        return ""
    return lines[0] if len(lines[0]) <= TITLE_LENGTH else lines[0][: TITLE_LENGTH - 1] + "…"


def _tool_name(schema: dict[str, Any]) -> str:
    function = schema.get("function")
    return as_text(function.get("name") if isinstance(function, dict) else schema.get("name"))
