"""Writing files of ours: whole or not at all, never over another one, also where several processes write at once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agent.errors import InputError

_LOCK = ".lock.sqlite"
_WAIT_S = 10.0


class InHands(InputError):
    """A folder is held by somebody else."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never a part. Its folder is made.

    Raises:
        InputError: the folder cannot be written; the sentence says why.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error


def write_new(path: Path, data: bytes) -> None:
    """Write a file of a name that nothing has yet, for its owner's eyes alone.

    Raises:
        FileExistsError: something has the name.
        OSError: it cannot be written.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


@contextlib.contextmanager
def exclusive(folder: Path, wait_s: float = _WAIT_S) -> Iterator[None]:
    """Hold a folder alone while a file of it is read, changed and written. It may be let go in another thread.

    The lock is a transaction of SQLite: it works on every system and ends with the process that holds it, so that a
    killed one leaves nothing behind.

    Raises:
        InHands: somebody else holds it for longer than ``wait_s`` seconds.
        InputError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(folder / _LOCK, timeout=wait_s, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{folder} cannot be written: {error}") from error
    with contextlib.closing(db):
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            kind = InHands if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY else InputError
            raise kind(f"{folder} cannot be written: {error}") from error
        yield
        db.execute("ROLLBACK")
