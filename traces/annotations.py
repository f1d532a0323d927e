"""Notes and tags on traces and on single messages, kept beside the files in the data folder.

The file of a trace itself never changes. Each trace has a small JSON file of its own under ``.notes/``, named by the
trace's id, so that notes on bundled and on foreign traces work alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent import clock, jsontext
from agent.errors import InputError
from agent.journal import SAFE_ID
from traces.keeping import exclusive, write_whole
from traces.spreadsheet import table

SCHEMA = "agent-notes/1"
FOLDER = ".notes"
"""Of the data folder; a name with a point in front is no trace for the list."""
MAX_TEXT = 20_000
"""Most characters of one note."""
MAX_TAG = 40
"""Most characters of one tag."""
CSV_COLUMNS = ("trace_id", "title", "message", "tags", "note", "written")
"""``message``: its number from 1; empty for a note on the trace as a whole."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a person wrote about one message or about a whole trace."""

    text: str = ""
    tags: tuple[str, ...] = ()
    at: str | None = None
    """When it was last changed, ISO 8601."""

    def __bool__(self) -> bool:
        return bool(self.text or self.tags)

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return {"text": self.text, "tags": list(self.tags), "at": self.at}

    @classmethod
    def from_dict(cls, data: Any) -> Note:
        """Read JSON data; what has another shape is left out."""
        if not isinstance(data, Mapping):
            return cls()
        text, tags, at = data.get("text"), data.get("tags"), data.get("at")
        return cls(
            text if isinstance(text, str) else "",
            clean_tags(tags if isinstance(tags, list) else ()),
            at if isinstance(at, str) else None,
        )


@dataclass(frozen=True, slots=True)
class Notes:
    """All notes on one trace."""

    trace_id: str
    title: str = ""
    """The trace's title when a note was last written, for lists of notes."""
    trace: Note = Note()
    """The note on the trace as a whole."""
    messages: Mapping[int, Note] = field(default_factory=dict)
    """Notes on messages, by position from 0."""

    def __bool__(self) -> bool:
        return bool(self.trace or self.messages)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the trace and of its messages, each once, in order of the alphabet."""
        return sorted_tags((self.trace, *self.messages.values()))

    def to_dict(self) -> dict[str, Any]:
        """JSON data, as in the file."""
        messages = {str(position): note.to_dict() for position, note in sorted(self.messages.items())}
        return {
            "schema": SCHEMA,
            "trace_id": self.trace_id,
            "title": self.title,
            "trace": self.trace.to_dict(),
            "messages": messages,
        }

    @classmethod
    def from_dict(cls, data: Any) -> Notes | None:
        """Read the form of the file; None where it is none."""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA or not isinstance(data.get("trace_id"), str):
            return None
        messages = data.get("messages")
        notes = {
            int(key): note
            for key, value in (messages.items() if isinstance(messages, Mapping) else ())
            if key.isascii() and key.isdigit() and (note := Note.from_dict(value))
        }
        title = data.get("title")
        return cls(data["trace_id"], title if isinstance(title, str) else "", Note.from_dict(data.get("trace")), notes)


class Annotations:
    """The notes of a data folder. Several processes may write at once: none loses what another one wrote.

    Args:
        folder: the data folder; made when the first note is written.
    """

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)

    def of(self, trace_id: str) -> Notes:
        """The notes on a trace; empty where there are none, or where their file cannot be read."""
        return _read(self.path_of(trace_id)) or Notes(trace_id)

    def write(
        self, trace_id: str, note: Note, position: int | None = None, *, title: str = "", over: bool = True
    ) -> Notes:
        """Keep a note instead of the one that was there; an empty one takes it away. Gives all notes on the trace.

        Args:
            trace_id: of the trace.
            note: what to keep; its time is set here.
            position: of the message, from 0; None: the note is about the trace as a whole.
            title: of the trace.
            over: take the place of a text that is there; else that stays, and nothing is written.

        Raises:
            InputError: the note is too long, or the folder cannot be written.
        """
        if len(note.text) > MAX_TEXT:
            raise InputError(f"a note has at most {MAX_TEXT:,} characters; this one has {len(note.text):,}")
        note = Note(jsontext.clean(note.text.strip()), clean_tags(note.tags), clock.now())
        path = self.path_of(trace_id)
        with exclusive(self._folder):
            old = _read(path) or Notes(trace_id)
            there = old.trace if position is None else old.messages.get(position, Note())
            if there.text and not over:
                return old
            if position is None:
                notes = replace(old, title=title or old.title, trace=note if note else Note())
            else:
                others = {key: value for key, value in old.messages.items() if key != position}
                notes = replace(old, title=title or old.title, messages={**others, position: note} if note else others)
            if notes:
                write_whole(path, jsontext.dumps(notes.to_dict(), indent=True).encode() + b"\n")
            else:
                path.unlink(missing_ok=True)
        return notes

    def all(self) -> Iterator[Notes]:
        """The notes on all traces that have any, in order of the traces' ids."""
        for path in sorted((self._folder / FOLDER).glob("*.json")):
            if notes := _read(path):
                yield notes

    @property
    def stamp(self) -> int:
        """A number that is another one after each change of any note; 0 while there is none."""
        try:
            return (self._folder / FOLDER).stat().st_mtime_ns
        except OSError:
            return 0

    def path_of(self, trace_id: str) -> Path:
        """Where the notes on a trace are kept. An id that could lead elsewhere is replaced by its fingerprint."""
        safe = SAFE_ID.fullmatch(trace_id)
        stem = trace_id if safe else f"id-{hashlib.sha256(trace_id.encode(errors='replace')).hexdigest()[:16]}"
        return self._folder / FOLDER / f"{stem}.json"


def clean_tags(tags: Iterable[Any]) -> tuple[str, ...]:
    """Tags as they are kept: one line each, not too long, without commas, each once, in their order."""
    words = (" ".join(jsontext.clean(tag).replace(",", " ").split())[:MAX_TAG] for tag in tags if isinstance(tag, str))
    return tuple(dict.fromkeys(word for word in words if word))


def sorted_tags(notes: Iterable[Note | Notes]) -> tuple[str, ...]:
    """The tags of several notes, each once, in order of the alphabet."""
    return tuple(sorted({tag for note in notes for tag in note.tags}, key=str.casefold))


def notes_csv(notes: Iterable[Notes]) -> bytes:
    """Notes as a table for spreadsheets with the columns of :data:`CSV_COLUMNS`, one row a note."""
    return table(CSV_COLUMNS, (row for each in notes for row in _rows(each)))


def _rows(notes: Notes) -> Iterator[tuple[object, ...]]:
    numbered: list[tuple[int | None, Note]] = [(None, notes.trace)] if notes.trace else []
    numbered += [(position + 1, note) for position, note in sorted(notes.messages.items())]
    for number, note in numbered:
        yield notes.trace_id, notes.title, number, ", ".join(note.tags), note.text, note.at


def _read(path: Path) -> Notes | None:
    try:
        return Notes.from_dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None
