"""The index of a data folder: what the list of traces shows, kept in SQLite by path, size and modification time.

It holds nothing that the files do not, so it may be thrown away at any time: a broken one, or one of another version,
is built anew. Several processes may use it at once.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

VERSION = 5
"""Raise it when the columns change, or when readers give other results for the same files."""
FILE_NAME = ".index.sqlite"
INTERRUPTED = "interrupted"
"""The kind of a run whose journal has no trace file."""
_WAIT_S = 10.0


class TraceInfo(msgspec.Struct, gc=False):
    """One line of the list of traces: enough to choose, without opening the file. ``None`` means "not reported".

    A struct, since ten thousand of them are made for each listing: it takes a third of the time of a data class.
    """

    id: str
    """The trace's id; of a file without a trace the one of its report, empty where it cannot even be looked at."""
    title: str
    task: str
    """What the user asked, cut short."""
    format: str | None
    model: str | None
    """The models that answered, joined by commas."""
    steps: int
    messages: int
    tool_calls: int
    errors: int
    """Tool results and model calls that failed."""
    tokens: int | None
    """The total of all steps, as reported."""
    cost: float | None
    """US dollars that the file says."""
    bill: str | None
    """The tokens whose cost the file does not say, as :mod:`traces.billing` writes them."""
    duration_s: float | None
    outcome: str | None
    """The stop reason."""
    created: str | None
    """When the run began, ISO 8601; the file's time where it does not say."""
    parent: str | None
    """The id of the run that this one was forked from."""
    at: str | None
    """The point of the fork: the parent's step and next phase, as in ``2 approve``; ``end`` after its turn."""
    path: str
    """The file."""
    number: int
    """Place of the trace in its file, from 0; -1 for a file without a trace."""
    kind: str
    """bundled, saved or interrupted."""
    error: str | None
    """Why the file has no trace: one sentence for its reader."""
    found_errors: int | None = None
    """Errors that the linter found; None: not checked yet."""
    found_warnings: int | None = None
    found_notes: int | None = None

    @property
    def checked(self) -> bool:
        """Whether the linter has looked at the trace since its file last changed."""
        return self.found_errors is not None


_COLUMNS = TraceInfo.__struct_fields__
_FOUND = ("found_errors", "found_warnings", "found_notes")


class Stamp(NamedTuple):
    """How a file looked when it was read; another stamp means that it must be read again."""

    size: int
    mtime_ns: int


class Index:
    """The rows of all files of a folder.

    Args:
        path: the SQLite file. Where it cannot be used, nothing is known and nothing is kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> list[tuple[Stamp, TraceInfo]]:
        """Everything that is known; nothing where the index cannot be used."""
        return self._use(lambda db: _read(db, "ORDER BY path, number", ())) or []

    def find(self, trace_id: str) -> list[tuple[Stamp, TraceInfo]]:
        """The rows of one trace id."""
        return self._use(lambda db: _read(db, "WHERE id = ? ORDER BY path, number", (trace_id,))) or []

    def update(self, changed: Iterable[tuple[Stamp, list[TraceInfo]]], gone: Iterable[str] = ()) -> None:
        """Replace the rows of files that were read again, and drop those of files that are gone.

        Args:
            changed: for each file its stamp and all its rows.
            gone: paths.
        """
        changed = list(changed)
        paths = [(rows[0].path,) for _, rows in changed] + [(path,) for path in gone]
        values = [(*stamp, *(getattr(row, name) for name in _COLUMNS)) for stamp, rows in changed for row in rows]

        def write(db: sqlite3.Connection) -> None:
            db.executemany("DELETE FROM traces WHERE path = ?", paths)
            db.executemany(f"INSERT INTO traces VALUES ({', '.join('?' * (len(_COLUMNS) + 2))})", values)

        if paths:
            self._use(write)

    def note_findings(self, found: Iterable[tuple[Stamp, str, int, tuple[int, int, int]]]) -> None:
        """Keep how many errors, warnings and notes the linter found in traces.

        Args:
            found: for each trace the stamp of its file as the linter saw it, the path, its place, and the counts.
        """
        values = [(*counts, path, number, *stamp) for stamp, path, number, counts in found]

        def write(db: sqlite3.Connection) -> None:
            columns = ", ".join(f"{name} = ?" for name in _FOUND)
            db.executemany(
                f"UPDATE traces SET {columns} WHERE path = ? AND number = ? AND size = ? AND mtime_ns = ?", values
            )

        if values:
            self._use(write)

    def _use(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result | None:
        """Do something in one transaction. A broken file is thrown away; None where the index cannot be used now."""
        for _ in range(2):
            try:
                with contextlib.closing(sqlite3.connect(self._path, timeout=_WAIT_S)) as db, db:
                    _prepare(db)
                    return work(db)
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_NOW:
                    return None
                with contextlib.suppress(OSError):
                    self._path.unlink()
        return None


_Result = TypeVar("_Result")
_NOT_NOW = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
)
"""Errors that do not mean that the file is broken."""


def _read(db: sqlite3.Connection, which: str, values: tuple[str, ...]) -> list[tuple[Stamp, TraceInfo]]:
    cursor = db.execute(f"SELECT size, mtime_ns, {', '.join(_COLUMNS)} FROM traces {which}", values)
    return [(Stamp(row[0], row[1]), TraceInfo(*row[2:])) for row in cursor]


def _prepare(db: sqlite3.Connection) -> None:
    """Make the table, or make it anew where the version is another one."""
    if db.execute("PRAGMA user_version").fetchone()[0] == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    db.execute("DROP TABLE IF EXISTS traces")
    db.execute(f"CREATE TABLE traces (size, mtime_ns, {', '.join(_COLUMNS)})")
    db.execute("CREATE INDEX by_path ON traces (path)")
    db.execute("CREATE INDEX by_id ON traces (id)")
    db.execute(f"PRAGMA user_version = {VERSION}")
