"""The file of a recording: a log of what each call added while the program runs, the native trace in the end.

A line holds what is new: ``{"head": {...}, "messages": [...], "entries": [...], "steps": [...]}``. ``head`` are the
keys of the trace that changed, ``steps`` those that changed, as they stand now. It grows with the conversation and not
with its square, and a program that is killed leaves all but the call in flight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.conversation import Conversation
from agent.journal import write_trace
from agent.redact import redact
from agent.tape import Tape

SCHEMA = "agent-recording/1"
"""The first line says it."""
SUFFIX = ".recording.jsonl"
_LISTS = ("messages", "entries", "steps")


class RecordingLog:
    """The file of one conversation."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.path: Path | None = None
        """The file as it is now; None where it could not be made."""
        self._tape: Tape | None = None
        self._written = 0
        self._head: dict[str, Any] = {}

    def open(self, folder: Path, suffix: str = SUFFIX) -> None:
        """Begin the file.

        Raises:
            OSError: the folder or the disk cannot take it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.conversation.trace.trace_id}{suffix}"
        self._tape, self.path = Tape(path), path

    def write(self, line: Any) -> None:
        """Add a line.

        Raises:
            OSError: the disk is full.
        """
        if self._tape is not None:
            self._tape.append(jsontext.dump_bytes(line) + b"\n")

    def append(self, secrets: tuple[str, ...]) -> None:
        """Write what is new since the last time, without secrets.

        Raises:
            OSError: the disk is full.
        """
        trace, changed = self.conversation.trace, self.conversation.changed
        head = replace(trace, messages=[], entries=[], steps=[]).to_dict()
        line: dict[str, Any] = {} if self._written else {"schema": SCHEMA}
        line["head"] = {k: value for k, value in head.items() if k not in _LISTS and self._head.get(k) != value}
        line["messages"] = [message.to_dict() for message in trace.messages[self._written :]]
        line["entries"] = [entry.to_dict() for entry in trace.entries[self._written :]]
        line["steps"] = [trace.steps[index - 1].to_dict() for index in sorted(changed)]
        self.write(redact(line, secrets))  # where that fails, the next line holds all of it
        self._head, self._written = head, len(trace.messages)
        changed.clear()

    def finish(self, folder: Path, secrets: tuple[str, ...]) -> None:
        """Put the trace in the place of the log. Where that fails the log stays.

        Raises:
            OSError: the trace cannot be written.
        """
        written = write_trace(self.conversation.trace, folder, secrets)
        self.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self.path = written

    def close(self) -> None:
        """Let go of the file."""
        if self._tape is not None:
            self._tape.close()
            self._tape = None


def read_log(lines: Iterable[Any]) -> dict[str, Any]:
    """The native trace, as JSON data, out of the lines of a log that was left behind."""
    trace: dict[str, Any] = {"messages": [], "entries": []}
    steps: dict[Any, Any] = {}
    for line in lines:
        if not isinstance(line, Mapping):
            continue
        head, changed = line.get("head"), line.get("steps")
        if isinstance(head, Mapping):
            trace |= {key: value for key, value in head.items() if key not in _LISTS}
        for key in ("messages", "entries"):
            trace[key] += line[key] if isinstance(line.get(key), list) else []
        for step in changed if isinstance(changed, list) else ():
            if isinstance(step, Mapping) and isinstance(step.get("index"), int):
                steps[step["index"]] = step
    return {**trace, "steps": list(steps.values())}
