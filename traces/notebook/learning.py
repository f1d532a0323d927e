"""The small note that a learner keeps at the end of a lesson, next to the trace: JSON with six keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.errors import InputError
from traces.annotations import MAX_TEXT, Annotations
from traces.keeping import exclusive, write_whole

FOLDER = ".learning"
"""Of the data folder; a name with a point in front is no trace for the list. A file is named by the trace's id."""


@dataclass(frozen=True, slots=True)
class LearningNote:
    """What a learner takes along from a lesson. Its fields are the keys of the file, and all of them."""

    day: str = ""
    """A running number, or a date."""
    topic: str = ""
    core_takeaway: str = ""
    code_artifact: str = ""
    """What was made: a script, or the file of the trace."""
    pitfall_recorded: str = ""
    next_day_input: str = ""

    def to_dict(self) -> dict[str, str]:
        """JSON data."""
        return asdict(self)

    def to_json(self) -> str:
        """The text of the file."""
        return jsontext.dumps(self.to_dict(), indent=True) + "\n"


KEYS = tuple(field.name for field in fields(LearningNote))
"""The six keys, in their order."""


class LearningNotes:
    """The learning notes of a data folder. Several processes may write at once.

    Args:
        folder: the data folder.
    """

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)

    def of(self, trace_id: str) -> LearningNote | None:
        """The note next to a trace; None where there is none, or where its file cannot be read."""
        return _read(self.path_of(trace_id))

    def write(self, trace_id: str, note: LearningNote) -> None:
        """Keep a note in place of the one that was there.

        Raises:
            InputError: a field is too long, or the folder cannot be written.
        """
        for key, text in note.to_dict().items():
            if len(text) > MAX_TEXT:
                raise InputError(f"{key} has at most {MAX_TEXT:,} characters; this one has {len(text):,}")
        with exclusive(self._folder):
            write_whole(self.path_of(trace_id), note.to_json().encode())

    def all(self, wanted: Callable[[str], bool] = lambda trace_id: True) -> Iterator[tuple[str, LearningNote]]:
        """The id of the trace and the note, of every note, the one that was written last at the end.

        Args:
            wanted: whether the note next to the trace of this id is looked for; the files of others are not read.
        """
        files = [path for path in self._files() if wanted(path.stem)]
        for path in sorted(files, key=lambda path: path.stat().st_mtime_ns):
            if note := _read(path):
                yield path.stem, note

    def count(self) -> int:
        """How many there are."""
        return sum(1 for _ in self._files())

    def _files(self) -> Iterator[Path]:
        return (self._folder / FOLDER).glob("*.json")

    def path_of(self, trace_id: str) -> Path:
        """Where the note next to a trace is kept."""
        return self._folder / FOLDER / Annotations(self._folder).path_of(trace_id).name


def notes_json(notes: list[LearningNote]) -> bytes:
    """Several notes as one file: a list of them."""
    return (jsontext.dumps([note.to_dict() for note in notes], indent=True) + "\n").encode()


def _read(path: Path) -> LearningNote | None:
    try:
        data: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, Mapping) or not all(isinstance(data.get(key), str) for key in KEYS):
        return None
    return LearningNote(**{key: data[key] for key in KEYS})
