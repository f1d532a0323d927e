"""ImportBuilder: one file on its way to traces. Readers make them here and say here what they could not use."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from agent.trace import Trace
from traces.builder import TraceBuilder
from traces.container import Document
from traces.repair import TOOL_ROLES, counted
from traces.report import ImportReport

Digest = Callable[[], str]


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

    def trace(
        self, title: str = "", about: Mapping[str, Any] | None = None, *, parent: str | None = None
    ) -> TraceBuilder:
        """A new conversation.

        Args:
            title: its name, where the file gives one; the task by default.
            about: further keys of the file that are kept with the trace.
            parent: of a sub-agent, the ``trace_id`` of the conversation that called it.
        """
        builder = TraceBuilder(self.next_id(), self.report.format or "", title, about or {}, parent)
        self._open.append(builder)
        return builder

    def next_id(self) -> str:
        """The id of the next trace of this file: the same at every reading."""
        number = len(self._open) + len(self.report.traces)
        return made_up_id(self._digest, number)

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
            if trace.messages or trace.steps or trace.outcome.reason:
                report.traces.append(trace)
        report.repaired += counted(repairs)
        report.unread += counted(self._unread)
        if lost:
            self.warn(
                f"{lost:,} of the conversations hold tool results but not one tool call: the calls are lost, or stand "
                "where this format has none"
            )
        return report


def made_up_id(digest: Digest, number: int) -> str:
    """The id of the trace at this place of a file that gives it none: the same at every reading."""
    return hashlib.sha256(f"{digest()} {number}".encode()).hexdigest()[:12]


def _has_results_alone(trace: Trace) -> bool:
    roles = {message.role for message in trace.messages}
    return not roles.isdisjoint(TOOL_ROLES) and not any(step.tools for step in trace.steps)
