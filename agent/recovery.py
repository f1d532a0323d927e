"""Recovery: from the journal of an interrupted run back to the run, by the same functions that moved it first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent import noting
from agent.acting import ask_about_lost_secrets, ask_about_unknowns
from agent.approval import RUN, Decision
from agent.errors import InputError, ModelError, Retry
from agent.events import Phase
from agent.faults import Fault
from agent.journal import SCHEMA
from agent.messages import Message
from agent.models.base import ModelReply
from agent.settings import Settings
from agent.state import ContextState, Counters, PendingCall, RunState
from agent.stops import Stop, StopReason, note_outcomes
from agent.striking import note_strike, switched
from agent.tool_result import ToolResult
from agent.trace import Request


def recover(source: Path | str | bytes) -> dict[str, Any]:
    """The snapshot that a journal amounts to: what :meth:`agent.loop.Loop.resume` goes on from.

    A torn last line is left out: its phase was in flight. A tool that had begun and has no result waits for a person; a
    model call that had begun is marked by ``call_begun`` and is made again when the run goes on.

    Args:
        source: the file, or its bytes.

    Raises:
        InputError: it is no journal, or not even its first line can be read.
    """
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    first, *rest = data.rstrip(b"\0").split(b"\n")
    head = _read(first)
    if head is None or head.get("schema") != SCHEMA or not isinstance(head.get("snapshot"), dict):
        raise InputError(f'this is not a journal: its first line should hold "schema": "{SCHEMA}" and a snapshot')
    replay = _Replay(RunState.from_dict(head["snapshot"]))
    for number, raw in enumerate(rest, start=2):
        if raw.strip() and not replay.line(_read(raw)):
            text = f"the journal breaks off at line {number}; what stands there and after it is left out"
            replay.run.trace.notes.append({"kind": "journal", "text": text})
            break
    _ask_about_unknowns(replay.run)
    return replay.run.to_dict()


def _read(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class _Replay:
    """Applies line after line to a run."""

    def __init__(self, run: RunState) -> None:
        self.run = run
        self.settings = Settings.from_config(run.trace.config)

    def line(self, line: dict[str, Any] | None) -> bool:
        """Apply one line; False when it cannot be read or does not fit."""
        if line is None:
            return False
        try:
            for strike in line.get("struck", ()):
                self.strike(strike)
            for key, apply in _LINES.items():
                if key in line:
                    apply(self, line)
                    return True
            return "struck" in line
        except (AttributeError, KeyError, IndexError, TypeError, ValueError, InputError):
            pass
        return False

    def begin(self, line: dict[str, Any]) -> None:
        if line["begin"] == "call":
            self.run.call_begun = True
        else:
            self.run.pending[line["begin"]].begun = True

    def reply(self, line: dict[str, Any]) -> None:
        run, reply, latency_ms, at = self.run, ModelReply.from_dict(line["reply"]), line["latency_ms"], line["at"]
        context = ContextState(**line["context"]) if "context" in line else run.context
        self._begin_step(line)
        noting.record_reply(run, reply, latency_ms, need_tokens=self.settings.limits.total_tokens is not None)
        run.trace.entries[-1].at, run.counters.active_s, run.context = at, line["active_s"], context
        run.phase, run.call_begun = Phase.APPROVE if reply.message.tool_calls else Phase.DECIDE, False
        if reply.stop:
            run.failure = Stop(StopReason(reply.stop), "; ".join(reply.warnings))

    def failed(self, line: dict[str, Any]) -> None:
        run, retries = self.run, [Retry(**retry) for retry in line["failed"]]
        context, failure = ContextState(**line["context"]), line["failure"]
        self._begin_step(line)
        noting.record_failure(run, ModelError("", retries=retries), line["latency_ms"], answered=False)
        run.counters.model_calls, run.context = line["model_calls"], context
        run.failure = Stop(*failure) if failure else None
        if line["phase"] == Phase.PREPARE:
            noting.note_refusal(run)
        run.phase, run.call_begun = Phase(line["phase"]), False

    def decided(self, line: dict[str, Any]) -> None:
        self.run.pending = [PendingCall.from_dict(call) for call in line["decided"]]

    def result(self, line: dict[str, Any]) -> None:
        pending = self.run.pending[line["result"]]
        if "decision" in line:
            pending.decision = Decision.from_dict(line["decision"])
        text, ok = line["text"], line.get("ok", True)
        result = ToolResult(text, text, ok, line.get("retryable"), line["ms"], line.get("timed_out", False))
        pending.started, pending.finished = line["started"], line["at"]
        noting.record_result(self.run, line["result"], pending, result)
        if all(call.result for call in self.run.pending):
            self.run.phase = Phase.APPEND

    def remember(self, line: dict[str, Any]) -> None:
        self.run.trace.extra[line["remember"]] = line["value"]

    def faults(self, line: dict[str, Any]) -> None:
        self.run.faults = [Fault.from_dict(item) for item in line["faults"]]

    def strike(self, strike: dict[str, Any]) -> None:
        """A fault struck, and with it came what the rest of the line tells."""
        note_strike(self.run, strike)
        self.settings = switched(strike["kind"], self.settings)
        self.run.trace.config = {**self.run.trace.config, **self.settings.to_config()}

    def nudge(self, line: dict[str, Any]) -> None:
        self.phase({"phase": line["nudge"]})
        noting.nudge(self.run)

    def heard(self, line: dict[str, Any]) -> None:
        messages = [Message.from_dict(message) for message in line["heard"]]
        self.phase({"phase": line["next"]})
        noting.hear(self.run, messages, line["at"])

    def phase(self, line: dict[str, Any]) -> None:
        run, done = self.run, self.run.phase
        run.phase, run.call_begun = Phase(line["phase"]), False
        if done is Phase.PREPARE:
            self._prepared(line)
        elif done is Phase.APPROVE and run.phase is Phase.EXECUTE:
            for pending in run.pending:
                if pending.decision is None and pending.result is None:
                    pending.decision, pending.name = RUN, pending.call.name
            noting.note_rejections(run)
        elif done is Phase.APPEND:
            noting.append_results(run, self.settings.context)
        elif done is Phase.DECIDE:
            note_outcomes(run, self.settings.limits)
            run.pending = []

    def _prepared(self, line: dict[str, Any]) -> None:
        """What prepare made; a line that says nothing of it stands for a request of the whole list."""
        run, failure, request = self.run, line.get("failure"), line.get("request")
        if failure:
            run.failure = Stop(*failure)
        else:
            run.request = Request.from_dict(request) if request else Request(upto=len(run.trace.messages))
        if failure or request:
            run.trace.notes += line["notes"]
            run.context, run.counters = ContextState(**line["context"]), Counters(**line["counters"])

    def _begin_step(self, line: dict[str, Any]) -> None:
        noting.begin_step(self.run).started = line["started"]


_LINES: dict[str, Callable[[_Replay, dict[str, Any]], None]] = {
    "begin": _Replay.begin,
    "reply": _Replay.reply,
    "failed": _Replay.failed,
    "decided": _Replay.decided,
    "result": _Replay.result,
    "nudge": _Replay.nudge,
    "heard": _Replay.heard,
    "remember": _Replay.remember,
    "faults": _Replay.faults,
    "phase": _Replay.phase,
}
"""Every kind of line by the key that it is told by."""


def _ask_about_unknowns(run: RunState) -> None:
    """A tool of unknown outcome must not simply run, nor one whose arguments are not what they were."""
    if run.phase not in (Phase.APPROVE, Phase.EXECUTE):
        return
    noting.note_unknowns(run)
    unknown = ask_about_unknowns(run.pending)
    if ask_about_lost_secrets(run.pending) or unknown:
        run.phase = Phase.APPROVE
