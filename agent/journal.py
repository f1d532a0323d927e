"""The journal: while a run goes on, an append-only file of small lines is the truth; at its end it becomes the trace.

``<trace_id>.jsonl`` begins with a snapshot. The lines after it hold what cannot be computed again: what the model said,
what the tools answered, what a person decided; and after each phase which one comes next. Each line is in the hands of
the system before the loop goes on (:mod:`agent.tape`), so killing the process at any instant loses at most the phase in
flight. When the run ends, ``<trace_id>.json`` (the native trace file) takes its place by an atomic rename. A journal
without its trace is an interrupted run; :mod:`agent.recovery` reads it.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import methodcaller
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.approval import RUN
from agent.errors import InputError
from agent.events import APPEND, APPROVE, CALL, EXECUTE, PREPARE, Phase
from agent.faults import Fault
from agent.messages import Message
from agent.models.base import ModelReply
from agent.redact import may_hold_secret, redact
from agent.state import PendingCall, RunState, slots
from agent.tape import Tape
from agent.tool_result import ToolResult
from agent.trace import Trace

SCHEMA = "agent-journal/1"
SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The whole of a trace id, which becomes a file name and part of an address."""

_CALL_BEGINS = b'{"begin":"call"}\n'
_NEXT = {phase: f'{{"phase":"{phase}"}}\n'.encode() for phase in Phase}


class Journal:
    """Writes the journal of one run, and its trace file at the end.

    Args:
        folder: where both files go, made when missing; None writes nothing.
        secrets: exact values that must not reach the disk, such as the key in use.
    """

    def __init__(self, folder: Path | str | None, secrets: Iterable[str] = ()) -> None:
        self.folder = None if folder is None else Path(folder)
        self._secrets = tuple(secrets)
        self._tape: Tape | None = None
        self.lock = threading.RLock()
        """Held while a line is added or the file changes: what is remembered comes from other threads."""
        self._path = Path()
        self._notes = self._nudges = 0
        self._struck: list[dict[str, Any]] = []
        self._heard: dict[str, Any] = {}
        self._clean = True
        self._broken: OSError | None = None
        self.on = False
        """A run is being written: from :meth:`open` until its trace file is there."""

    def open(self, run: RunState) -> None:
        """Begin a new journal from the run as it stands; one that was there for the same run is replaced at once.

        Raises:
            OSError: the folder or the disk cannot take it. What was there stays, and the next phase tries again.
            InputError: the trace id cannot be a file name.
        """
        with self.lock:
            self.close()
            if self.folder is None:
                return
            self._path = self.folder / f"{_file_stem(run.trace)}.jsonl"
            self.on, self._broken, self._clean = True, OSError("the journal could not be opened"), True
            self._struck, self._heard = [], {}
            self.folder.mkdir(parents=True, exist_ok=True)
            draft = self._path.with_suffix(".jsonl.tmp")
            self._tape, self._broken = Tape(draft), None
            self._write({"schema": SCHEMA, "snapshot": run.to_dict()})
            if self._broken:
                raise self._broken
            draft.replace(self._path)
            self._notes, self._nudges = len(run.trace.notes), run.counters.nudges

    def begin_call(self) -> None:
        """A model call is about to be made."""
        self._append(_CALL_BEGINS)

    def reply(self, run: RunState, reply: ModelReply, latency_ms: float) -> None:
        """The model answered."""
        if self._tape is None:
            return
        line: dict[str, Any] = {
            "reply": reply.to_dict(),
            "latency_ms": latency_ms,
            "started": run.step.started,
            "at": run.trace.entries[-1].at,
            "active_s": run.counters.active_s,
        }
        if run.context.dropped or run.context.known:
            line["context"] = slots(run.context)
        self._write_effect(line, None if run.context.summary else _said(reply))

    def failed(self, run: RunState, following: Phase) -> None:
        """The model call gave no reply; what comes next is decide, or prepare for a shorter request."""
        if self._tape is None:
            return
        step = run.step
        line: dict[str, Any] = {
            "failed": step.retries,
            "latency_ms": step.latency_ms,
            "started": step.started,
            "failure": run.failure and [run.failure.reason, run.failure.detail],
        }
        line |= {"phase": following, "context": slots(run.context), "model_calls": run.counters.model_calls}
        self._notes = len(run.trace.notes)  # recovery makes the note about a refusal itself
        self._write_effect(line)

    def decided(self, calls: list[PendingCall]) -> None:
        """Something else than simply running was decided about calls."""
        if self._tape is None:
            return
        self._write({"decided": [call.to_dict() for call in calls]})

    def begin_tool(self, index: int) -> None:
        """A tool is about to run."""
        if self.on:
            self._append(b'{"begin":%d}\n' % index)

    def result(self, index: int, pending: PendingCall, result: ToolResult) -> None:
        """A call has its result."""
        if self._tape is None:
            return
        line: dict[str, Any] = {
            "result": index,
            "text": result.text,
            "ms": result.latency_ms,
            "started": pending.started,
            "at": pending.finished,
        }
        decision = pending.decision
        if decision and decision.kind == "denied":  # it may have come between approve and now
            line["decision"] = decision.to_dict()
        if not result.ok:
            line |= {"ok": False, "retryable": result.retryable, "timed_out": result.timed_out}
        self._write_effect(line, result.text)

    def armed(self, faults: list[Fault]) -> None:
        """Which faults are armed from now on."""
        self._write({"faults": [fault.to_dict() for fault in faults]})

    def struck(self, strike: dict[str, Any]) -> None:
        """A fault struck. It is told with the reply, failure or result that it changed, or by :meth:`write_struck`."""
        if self._tape is not None:
            self._struck.append(strike)

    def write_struck(self) -> None:
        """Write what struck in a line of its own: it says itself what it changed."""
        self._write_effect({})

    def heard(self, messages: Sequence[Message], at: str | None) -> None:
        """Something was said from outside, at a time. It is told with the end of the phase."""
        if self._tape is not None:
            self._heard = {"heard": [message.to_dict() for message in messages], "at": at}

    def remembered(self, trace: Trace, key: str, value: Any) -> None:
        """Something was kept with the run that is not of the loop's making. May come from another thread.

        Raises:
            OSError: the run is over, and its trace file cannot be written again.
        """
        if not self.on and self.folder is not None and trace.outcome.reason:
            write_trace(trace, self.folder, self._secrets)
        self._append(jsontext.dump_bytes(redact({"remember": key, "value": value}, self._secrets)) + b"\n")

    def phase(self, run: RunState, done: Phase) -> None:
        """A phase is done: write what comes next, or the trace file when there is nothing more.

        Raises:
            OSError: the disk is full. The run itself is as it should be, and the next phase writes all of it anew.
                After the last phase the journal stays: that of an interrupted run which has nothing left to do.
        """
        if not self.on or self.folder is None:
            return
        if self._broken:
            self.open(run)
        following = run.phase
        if following is None:
            with self.lock:
                write_trace(run.trace, self.folder, self._secrets, clean=self._clean)
                self.close()
                self.on = False
                self._path.unlink(missing_ok=True)
        elif done is CALL or following is APPEND:
            return  # a reply, a failure or the last result of a step says itself what comes next
        elif done is PREPARE and (run.failure or (run.request and run.request.edits)):
            self._write(self._prepared(run))
        elif self._heard:
            line, self._heard = {**self._heard, "next": following}, {}
            self._write(line)
        elif run.counters.nudges > self._nudges:
            self._nudges = run.counters.nudges
            self._write({"nudge": following})
        else:
            if following is APPROVE or (following is EXECUTE and _more_than_run(run.pending)):
                self.decided(run.pending)
            self._append(_NEXT[following])

    def close(self) -> None:
        """Let go of the file; the journal stays as it is."""
        with self.lock:
            if self._tape is not None:
                self._tape.close()
                self._tape = None

    def _prepared(self, run: RunState) -> dict[str, Any]:
        """What prepare made: a request that is not simply the whole list, or none; and what that took."""
        notes, self._notes = run.trace.notes[self._notes :], len(run.trace.notes)
        line = {"phase": run.phase, "notes": notes, "context": slots(run.context), "counters": slots(run.counters)}
        if run.failure:
            return line | {"failure": [run.failure.reason, run.failure.detail]}
        return line | {"request": run.request and run.request.to_dict()}

    def _write_effect(self, line: dict[str, Any], said: str | None = None) -> None:
        """Write a line, and in it the faults that struck and had this effect."""
        if self._struck:
            line, said, self._struck = {**line, "struck": self._struck}, None, []
        self._write(line, said)

    def _write(self, line: dict[str, Any], said: str | None = None) -> None:
        """Write a line without secrets.

        Args:
            line: what to write.
            said: the only text in it that comes from outside; None: look at all of it.
        """
        if self._tape is None:
            return
        if may_hold_secret(jsontext.dumps(line, compact=True) if said is None else said, self._secrets):
            hidden = redact(line, self._secrets)
            self._clean = self._clean and hidden is line
            line = hidden
        self._append(jsontext.dump_bytes(line) + b"\n")

    def _append(self, data: bytes) -> None:
        """Add a line. Where that fails the phase still comes to its end; :meth:`phase` then writes the run anew."""
        self.lock.acquire()  # by hand: a with statement takes twice as long, and a step has six lines
        try:
            if self._tape is not None and not self._broken:
                self._tape.append(data)
        except OSError as error:
            self._broken = error
        finally:
            self.lock.release()


def _more_than_run(calls: list[PendingCall]) -> bool:
    """Whether something else was decided than to run every call as the model named it."""
    return any(pending.decision is not RUN or pending.name != pending.call.name for pending in calls)


def _said(reply: ModelReply) -> str | None:
    """All that a plain reply says; None where it holds more than text and calls."""
    message = reply.message
    odd = message.extra or message.name or reply.raw or reply.warnings or reply.retries or reply.stop
    if odd or isinstance(message.content, list):
        return None
    parts = [message.content or "", reply.model or "", reply.finish_reason or ""]
    for call, sent in zip(message.tool_calls, message.to_dict().get("tool_calls", ()), strict=True):
        if call.extra or call.problem:
            return None
        parts += (call.id, call.name, sent["function"]["arguments"])
    return "\n".join(parts)


def write_trace(trace: Trace, folder: Path | str, secrets: Iterable[str] = (), *, clean: bool = False) -> Path:
    """Write the native file ``<trace_id>.json`` without secrets, whole or not at all; gives its path.

    Args:
        trace: what to write.
        folder: where; made when missing.
        secrets: exact values that must not be written.
        clean: the messages and steps were all looked through before, and held no secret.

    Raises:
        InputError: the trace id cannot be a file name.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_file_stem(trace)}.json"
    draft = path.with_suffix(".json.tmp")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.writelines(_laid_out(trace, tuple(secrets), clean))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return path


def trace_bytes(trace: Trace, secrets: Iterable[str] = ()) -> bytes:
    """What :func:`write_trace` writes, for whoever sends it elsewhere than to a file."""
    return b"".join(_laid_out(trace, tuple(secrets), False))


def _file_stem(trace: Trace) -> str:
    """The id as a file name; one that came with a file from elsewhere must not lead out of the folder."""
    if not SAFE_ID.fullmatch(trace.trace_id):
        raise InputError(f"the trace id {trace.trace_id!r} cannot be a file name: use letters, digits, _ and -")
    return trace.trace_id


_AT_ONCE = 100
"""Items of a list that are in memory as text at the same time."""
_as_data = methodcaller("to_dict")
_LONG = ("messages", "entries", "steps")


def _laid_out(trace: Trace, secrets: tuple[str, ...], clean: bool) -> Iterator[bytes]:
    """The file as a person would like it: one line for each key, and for each item of a list.

    Made in pieces, so that neither the text of a long run nor its JSON data is ever in memory as a whole.
    """
    opening = b"{"
    rest = replace(trace, messages=[], entries=[], steps=[]).to_dict()
    if may_hold_secret(jsontext.dumps(rest, compact=True), secrets):
        rest = redact(rest, secrets)
    for key, value in rest.items():
        yield b"%b\n %b: " % (opening, jsontext.dump_bytes(key))
        opening = b","
        if key in _LONG:
            items = map(_as_data, getattr(trace, key))
            yield from _list(items if clean else (redact(item, secrets) for item in items))
        else:
            yield from _list(iter(value)) if isinstance(value, list) else [jsontext.dump_bytes(value)]
    yield b"\n}\n"


def _list(items: Iterator[Any]) -> Iterator[bytes]:
    opening = b"[\n  "
    while some := b",\n  ".join(map(jsontext.dump_bytes, islice(items, _AT_ONCE))):
        yield opening + some
        opening = b",\n  "
    yield b"[]" if opening.startswith(b"[") else b"\n ]"
