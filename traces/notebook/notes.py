"""What a learner writes between the cells of a notebook: any number of notes, at any place, kept with the trace.

The first note on a message, and that on the whole trace, are the notes that the Traces page shows
(:mod:`traces.annotations`). Those that have no room there stand in a small file of the same kind beside them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent import clock, jsontext
from agent.errors import InputError
from agent.ids import new_trace_id
from traces.annotations import MAX_TEXT, Annotations, Note, Notes
from traces.keeping import exclusive, write_whole
from traces.notebook.cells import TRACE

SCHEMA = "agent-notebook/1"
FOLDER = ".notebook"
"""Of the data folder."""
_MESSAGE = "message-"


@dataclass(frozen=True, slots=True)
class PlacedNote:
    """One note of a learner."""

    id: str
    """Names it among those of its trace."""
    place: str
    """Where it stands: see :attr:`traces.notebook.cells.Cell.place`."""
    text: str
    at: str | None = None
    """When it was last changed, ISO 8601."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return {"id": self.id, "place": self.place, "text": self.text, "at": self.at}


class PlacedNotes:
    """The notes of a data folder. Several processes may write at once: none loses what another one wrote.

    Args:
        folder: the data folder.
    """

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)
        self._annotations = Annotations(folder)

    def of(self, trace_id: str) -> list[PlacedNote]:
        """The notes on a trace, in the order in which they stand at a place."""
        return [*_annotated(self._annotations.of(trace_id)), *_read(self._path(trace_id))]

    def add(self, trace_id: str, place: str, text: str, *, title: str = "") -> None:
        """Keep one more note; an empty one is none.

        Args:
            trace_id: of the trace.
            place: where it stands.
            text: what was written.
            title: of the trace, for lists of notes.

        Raises:
            InputError: it is too long, or the folder cannot be written.
        """
        if not text.strip():
            return
        said = _clean(text)
        first = all(note.place != place for note in self.of(trace_id))
        if first and _has_annotation(place) and self._annotate(trace_id, place, said, title, over=False) == said:
            return
        note = PlacedNote(new_trace_id(), place, said, clock.now())
        self._write(trace_id, lambda notes: [*notes, note])

    def change(self, trace_id: str, note_id: str, text: str, *, title: str = "") -> None:
        """Keep another text in place of that of a note; an empty one takes the note away. An unknown id does no harm.

        Raises:
            InputError: as for :meth:`add`.
        """
        if _has_annotation(note_id):
            self._annotate(trace_id, note_id, text, title, over=True)
            return
        said = _clean(text)

        def changed(notes: list[PlacedNote]) -> list[PlacedNote]:
            new = [replace(note, text=said, at=clock.now()) if note.id == note_id else note for note in notes]
            return [note for note in new if note.text]

        self._write(trace_id, changed)

    def _annotate(self, trace_id: str, place: str, text: str, title: str, *, over: bool) -> str:
        """Write the note of the Traces page at this place, and give what stands there then; its tags stay."""
        position = None if place == TRACE else int(place.removeprefix(_MESSAGE))
        tags = _at(self._annotations.of(trace_id), position).tags
        notes = self._annotations.write(trace_id, Note(text, tags), position, title=title, over=over)
        return _at(notes, position).text

    def _write(self, trace_id: str, change: Callable[[list[PlacedNote]], list[PlacedNote]]) -> None:
        path = self._path(trace_id)
        with exclusive(self._folder):
            notes = change(_read(path))
            if notes:
                data = {"schema": SCHEMA, "trace_id": trace_id, "notes": [note.to_dict() for note in notes]}
                write_whole(path, jsontext.dumps(data, indent=True).encode() + b"\n")
            else:
                path.unlink(missing_ok=True)

    def _path(self, trace_id: str) -> Path:
        return self._folder / FOLDER / self._annotations.path_of(trace_id).name


def _has_annotation(place: str) -> bool:
    """Whether the Traces page has room for a note at this place."""
    return place == TRACE or (place.startswith(_MESSAGE) and place.removeprefix(_MESSAGE).isdecimal())


def _at(notes: Notes, position: int | None) -> Note:
    return notes.trace if position is None else notes.messages.get(position, Note())


def _annotated(notes: Notes) -> Iterator[PlacedNote]:
    if notes.trace.text:
        yield PlacedNote(TRACE, TRACE, notes.trace.text, notes.trace.at)
    for position, note in sorted(notes.messages.items()):
        if note.text:
            yield PlacedNote(place := f"{_MESSAGE}{position}", place, note.text, note.at)


def _clean(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise InputError(f"a note has at most {MAX_TEXT:,} characters; this one has {len(text):,}")
    return jsontext.clean(text.strip())


def _read(path: Path) -> list[PlacedNote]:
    """The notes of a file; what has another shape is left out."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    listed = data.get("notes") if isinstance(data, Mapping) and data.get("schema") == SCHEMA else None
    return [note for each in (listed if isinstance(listed, list) else ()) if (note := _note(each))]


def _note(data: Any) -> PlacedNote | None:
    if not isinstance(data, Mapping) or not all(isinstance(data.get(key), str) for key in ("id", "place", "text")):
        return None
    at = data.get("at")
    return PlacedNote(data["id"], data["place"], data["text"], at if isinstance(at, str) else None)
