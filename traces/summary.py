"""Counts of a trace and of a file, for the command line and for whoever wants to check a reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agent.messages import Message
from agent.trace import ToolRun, Trace, TraceStep
from agent.usage import Usage
from traces.pairing import waits
from traces.repair import TOOL_ROLES
from traces.report import ImportReport
from traces.stated import reported
from traces.times import timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """The numbers of one trace. ``None`` means that the file does not say."""

    trace_id: str
    title: str
    messages: int
    roles: dict[str, int]
    """Messages of each role, in the order of their first appearance."""
    steps: int
    tool_calls: int
    tool_results: int
    unpaired_calls: int
    """Calls without a result; normal for the last call of a session that was ended.

    See :func:`traces.pairing.waits`.
    """
    orphan_results: int
    """Results that answer no call."""
    errors: int
    """Results that say that a tool failed, and model calls that failed."""
    parallel_steps: int
    """Steps with more than one tool call."""
    models: list[str]
    tokens: Usage
    """Added up over the steps; what the file states for the whole where no step has any."""
    cost: float | None
    """US dollars, likewise."""
    reported: Usage | None
    """Tokens that the file states for the whole."""
    reported_cost: float | None
    """US dollars that the file states for the whole."""
    duration_s: float | None
    """From the first to the last known moment, waiting for people included."""
    outcome: str | None
    """The stop reason."""
    warnings: list[str]

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        data = {name: getattr(self, name) for name in self.__slots__}
        data["tokens"] = _counts(self.tokens)
        data["reported"] = self.reported and _counts(self.reported)
        return data


def _counts(usage: Usage) -> dict[str, int | None]:
    return {
        "prompt": usage.prompt_tokens,
        "cached": usage.cached_tokens,
        "cache_write": usage.cache_write_tokens,
        "completion": usage.completion_tokens,
        "reasoning": usage.reasoning_tokens,
        "total": usage.total,
    }


def summarise(trace: Trace) -> TraceSummary:
    """Count what a trace holds."""
    runs = [run for step in trace.steps for run in step.tools]
    answers = {run.message for run in runs if run.message is not None}
    stated = reported(trace)
    cost = _total(step.cost for step in trace.steps)
    tokens = trace.usage
    tool_messages = {n for n, message in enumerate(trace.messages) if message.role in TOOL_ROLES}
    return TraceSummary(
        trace_id=trace.trace_id,
        title=trace.title,
        messages=len(trace.messages),
        roles=dict(Counter(message.role for message in trace.messages)),
        steps=len(trace.steps),
        tool_calls=len(runs),
        tool_results=len(tool_messages | answers),
        unpaired_calls=sum(waits(run, _asked(trace, step)) for step in trace.steps for run in step.tools),
        orphan_results=len(tool_messages - answers),
        errors=_errors(trace, runs),
        parallel_steps=sum(len(step.tools) > 1 for step in trace.steps),
        models=_models(trace),
        tokens=stated.usage if stated.usage and tokens == Usage() else tokens,
        cost=stated.cost if cost is None else cost,
        reported=stated.usage,
        reported_cost=stated.cost,
        duration_s=duration_s(trace),
        outcome=trace.outcome.reason,
        warnings=[*_notes(trace), *(warning for step in trace.steps for warning in step.warnings)],
    )


def _asked(trace: Trace, step: TraceStep) -> Message | None:
    return None if step.reply is None else trace.messages[step.reply]


def _errors(trace: Trace, runs: list[ToolRun]) -> int:
    failed_calls = sum(len(step.retries) for step in trace.steps) + (trace.outcome.reason == "model_error")
    return failed_calls + sum(run.ok is False for run in runs)


def _models(trace: Trace) -> list[str]:
    answered = dict.fromkeys(model for step in trace.steps if (model := step.model))
    return list(answered) or ([trace.model.name] if trace.model.name else [])


def _total(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _notes(trace: Trace) -> list[str]:
    return [str(note.get("text")) for note in trace.notes if isinstance(note, dict) and note.get("text")]


def duration_s(trace: Trace) -> float | None:
    """Seconds from the first to the last known moment of steps and messages; None where the file does not say.

    What a tool took lies between its call and its message. A file may state more: a session goes on without a word.
    """
    moments: list[float] = []
    for step in trace.steps:
        if (start := timestamp(step.started)) is not None:
            moments += (start, start + (step.latency_ms or 0) / 1000)
    moments += [at for entry in trace.entries if (at := timestamp(entry.at)) is not None]
    stated = reported(trace).duration_s
    if len(moments) < 2:
        return stated
    return max(round(max(moments) - min(moments), 3), stated or 0.0)


# -- files ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What one file gave."""

    file: str
    """The path as it was given."""
    report: ImportReport | None
    """None: the file could not be read."""
    error: str | None = None
    """Why it did not open: it could not be read, or no reader knows its shape. The sentence names the file."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data. ``error`` is there only where the file did not open."""
        report = self.report
        if report is None:
            return {"file": self.file, "format": None, "traces": [], "bad_lines": [], "unread": [], "error": self.error}
        traces = [summarise(trace).to_dict() for trace in report.traces]
        for trace in traces:
            trace["warnings"] = [*report.warnings, *trace["warnings"]]
        data = {
            "file": self.file,
            "format": report.format,
            "traces": traces,
            "bad_lines": [line.to_dict() for line in report.bad_lines],
            "unread": [*report.unread, *([] if traces else report.warnings)],
        }
        return data if self.error is None else {**data, "error": self.error}
