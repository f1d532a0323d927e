"""One small SQLite file that holds what nothing else does: read by many, written in short transactions.

A file that is broken is set aside under another name and begun anew, so that whoever uses it goes on; the old one is
kept for whoever can mend it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agent.errors import InputError
from traces.keeping import exclusive

_Result = TypeVar("_Result")
_WAIT_S = 10.0
"""How long a writer waits for others."""
_MADE = 2
"""The version of a file whose tables were made; one more whenever a table is added to any of them."""
_BROKEN = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


class Database:
    """A file of this kind. Every method may be called from any thread and any process.

    Args:
        path: of the file; it and its folder are made when something is first written.
        tables: the statements that make the tables where there are none.
    """

    def __init__(self, path: Path, tables: str) -> None:
        self.path = path
        self._tables = tables

    @property
    def broken(self) -> Path:
        """Where a broken file was put, if there ever was one."""
        return self.path.with_name(f"{self.path.name}.broken")

    def read(self, work: Callable[[sqlite3.Connection], _Result], nothing: _Result) -> _Result:
        """What ``work`` finds; ``nothing`` where there is no file, or none that can be read now."""
        if not self.path.is_file():
            return nothing
        try:
            return self._use(work)
        except InputError:
            return nothing

    def write(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Do something in one transaction.

        Raises:
            InputError: the file cannot be written: the disk is full, or the folder may not be written to.
        """
        return self._use(work)

    def _use(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        try:
            try:
                return self._once(work)
            except sqlite3.DatabaseError as error:
                if not _is_broken(error):
                    raise
                return self._anew(work)
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"the file {self.path.name} cannot be read or written: {error}") from error

    def _once(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(self.path, timeout=_WAIT_S)) as base:
            if base.execute("pragma user_version").fetchone()[0] != _MADE:
                with contextlib.suppress(sqlite3.OperationalError):  # somebody else is at it in this moment
                    base.execute("pragma journal_mode = wal")  # readers and a writer do not wait for each other
                base.executescript(f"begin immediate; {self._tables} pragma user_version = {_MADE}; commit;")
            base.execute("pragma synchronous = normal")
            with base:
                return work(base)

    def _anew(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Set the file aside and begin anew, if it is still broken: many find that out at once, and one is enough."""
        with exclusive(self.path.parent):
            try:
                return self._once(work)
            except sqlite3.DatabaseError as error:
                if not _is_broken(error):
                    raise
                self._set_aside()
                return self._once(work)

    def _set_aside(self) -> None:
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        self.path.replace(self.broken)


def _is_broken(error: sqlite3.Error) -> bool:
    """Whether the file itself is at fault; the code may say more in its upper bits."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _BROKEN
