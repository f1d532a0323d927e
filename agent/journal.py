"""The journal: while a run goes on, an append-only file of small lines is the truth; at its end it becomes the trace.

``<trace_id>.jsonl`` begins with a snapshot; every further line is what one phase changed. Each line is written by one
system call before the loop goes on, so killing the process at any instant loses at most the phase in flight, and no
model reply or tool result that was written is ever asked for again. When the run ends, ``<trace_id>.json`` (the native
trace file) takes its place by an atomic rename. A journal without its trace is an interrupted run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.errors import InputError
from agent.events import Phase
from agent.redact import may_hold_secret, redact
from agent.state import PendingCall, RunState, slots
from agent.trace import Trace

SCHEMA = "agent-journal/1"
UNKNOWN_OUTCOME = "it was running when the program ended, so its outcome is unknown"
SECRET_LOST = "its arguments held a secret, which is not kept on disk"
_MARK = "[redacted: "


class Journal:
    """Writes the journal of one run, and its trace file at the end.

    Args:
        folder: where both files go; made when missing.
        secrets: exact values that must not reach the disk, such as the key in use.
    """

    def __init__(self, folder: Path | str, secrets: Iterable[str] = ()) -> None:
        self.folder = Path(folder)
        self._secrets = tuple(secrets)
        self._file: int | None = None
        self._path = self.folder
        self._written = _Written()

    def open(self, run: RunState) -> None:
        """Begin a new journal from the run as it stands; one that was there for the same run is replaced at once."""
        self.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._path = self.folder / f"{run.trace.trace_id}.jsonl"
        draft = self._path.with_suffix(".jsonl.tmp")
        self._file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self._write({"schema": SCHEMA, "snapshot": run.to_dict()})
        draft.replace(self._path)
        self._written = _Written(run)

    def begin_call(self) -> None:
        """A model call is about to be made."""
        self._write({"begin": "call"})

    def begin_tool(self, index: int, pending: PendingCall) -> None:
        """A tool is about to run."""
        self._write({"begin": index, "started": pending.started})

    def result(self, index: int, pending: PendingCall) -> None:
        """A call has its result."""
        self._write({"result": index, "pending": pending.to_dict()})

    def phase(self, run: RunState) -> None:
        """A phase is done: write what it changed, or the trace file when it was the last."""
        if self._file is None:
            return
        self._write(self._written.changes(run))
        if run.phase is None:
            write_trace(run.trace, self.folder, self._secrets)
            self.close()
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file; the journal stays as it is."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is not None:
            os.write(self._file, (_without_secrets(line, self._secrets) + "\n").encode())


def _without_secrets(value: Any, secrets: tuple[str, ...]) -> str:
    """Compact JSON text without secrets; looked at as text first, since nearly always there is nothing to take out."""
    text = jsontext.dumps(value, compact=True)
    return jsontext.dumps(redact(value, secrets), compact=True) if may_hold_secret(text, secrets) else text


class _Written:
    """How much of a run stands in the journal already."""

    def __init__(self, run: RunState | None = None) -> None:
        self._phase = run.phase if run else None
        self._messages = len(run.trace.messages) if run else 0
        self._notes = len(run.trace.notes) if run else 0
        self._counters = dict(slots(run.counters)) if run else {}

    def changes(self, run: RunState) -> dict[str, Any]:
        trace, before = run.trace, self._phase
        line: dict[str, Any] = {"phase": run.phase}
        if len(trace.messages) > self._messages:
            line["messages"] = [message.to_dict() for message in trace.messages[self._messages :]]
            line["entries"] = [entry.to_dict() for entry in trace.entries[self._messages :]]
            self._messages = len(trace.messages)
        if len(trace.notes) > self._notes:
            line["notes"] = trace.notes[self._notes :]
            self._notes = len(trace.notes)
        if trace.steps and before in (Phase.CALL, Phase.APPEND):
            line["step"] = run.step.to_dict()
        if before is Phase.PREPARE:
            line["request"] = run.request and run.request.to_dict()
            if run.context.dropped:
                line["context"] = slots(run.context)
        if before is Phase.APPROVE or run.phase is Phase.APPROVE:
            line["pending"] = [pending.to_dict() for pending in run.pending]
        if run.failure:
            line["failure"] = [run.failure.reason, run.failure.detail]
        counters = slots(run.counters)
        line["counters"] = {key: value for key, value in counters.items() if self._counters.get(key) != value}
        self._counters = dict(counters)
        self._phase = run.phase
        return line


def recover(source: Path | str | bytes) -> dict[str, Any]:
    """The snapshot that a journal amounts to: what :meth:`agent.loop.Loop.resume` goes on from.

    A torn last line is left out: its phase was in flight. A call that had begun and has no result waits for a person.

    Args:
        source: the file, or its bytes.

    Raises:
        InputError: it is no journal, or not even its first line can be read.
    """
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    first, *rest = data.split(b"\n")
    head = _read_line(first)
    if head is None or head.get("schema") != SCHEMA or not isinstance(head.get("snapshot"), dict):
        raise InputError(f'this is not a journal: its first line should hold "schema": "{SCHEMA}" and a snapshot')
    snapshot: dict[str, Any] = head["snapshot"]
    for number, raw in enumerate(rest, start=2):
        if not raw.strip():
            continue
        line = _read_line(raw)
        if line is None:
            left = sum(1 for later in rest[number - 2 :] if later.strip())
            text = f"the journal breaks off at line {number}; {left} unreadable or later lines are left out"
            snapshot["trace"]["notes"].append({"kind": "journal", "text": text})
            break
        _fold(snapshot, line)
    _ask_about_unknowns(snapshot)
    return snapshot


def _read_line(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _fold(snapshot: dict[str, Any], line: dict[str, Any]) -> None:
    """Apply one line to the snapshot."""
    trace, pending = snapshot["trace"], snapshot["pending"]
    if "begin" in line:
        if line["begin"] == "call":
            snapshot["call_begun"] = True
        elif line["begin"] < len(pending):
            pending[line["begin"]].update(begun=True, started=line.get("started"))
        return
    if "result" in line:
        pending[line["result"]] = line["pending"]
        return
    for key in ("messages", "entries", "notes"):
        trace[key] += line.get(key) or []
    if step := line.get("step"):
        trace["steps"][step["index"] - 1 :] = [step]
    for key in ("request", "pending", "failure", "context"):
        if key in line:
            snapshot[key] = line[key]
    snapshot["counters"].update(line.get("counters") or {})
    snapshot["phase"], snapshot["call_begun"] = line.get("phase"), False
    if line.get("phase") == Phase.PREPARE:
        snapshot["pending"] = []


def _ask_about_unknowns(snapshot: dict[str, Any]) -> None:
    for pending in snapshot["pending"]:
        if snapshot["phase"] not in (Phase.APPROVE, Phase.EXECUTE) or pending["result"]:
            continue
        lost = _MARK in pending["call"]["function"]["arguments"]
        if lost or pending["begun"]:
            pending["decision"] = None
            pending["question"] = SECRET_LOST if lost else UNKNOWN_OUTCOME
            snapshot["phase"] = str(Phase.APPROVE)


def write_trace(trace: Trace, folder: Path | str, secrets: Iterable[str] = ()) -> Path:
    """Write the native file ``<trace_id>.json`` without secrets, whole or not at all; gives its path."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{trace.trace_id}.json"
    draft = path.with_suffix(".json.tmp")
    with draft.open("wb") as file:
        file.writelines(_laid_out(trace.to_dict(), tuple(secrets)))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return path


def _laid_out(data: dict[str, Any], secrets: tuple[str, ...]) -> Iterator[bytes]:
    """The file as a person would like it: one line for each key, and for each item of a list of objects.

    Written in pieces, so that the text of a long run is never in memory as a whole.
    """
    opening = "{"
    for key, value in data.items():
        yield f"{opening}\n {jsontext.dumps(key)}: ".encode()
        opening = ","
        if isinstance(value, list) and value:
            yield b"["
            for index, item in enumerate(value):
                yield (("," if index else "") + "\n  " + _without_secrets(item, secrets)).encode()
            yield b"\n ]"
        else:
            yield _without_secrets({key: value}, secrets)[len(jsontext.dumps(key)) + 2 : -1].encode()
    yield b"\n}\n"


def read_trace(source: Path | str | bytes) -> Trace:
    """Read a native trace file.

    Raises:
        InputError: it is none, or it is damaged.
    """
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError("a native trace is a JSON object")
    return Trace.from_dict(value)
