"""The ledger of an experiment: one line for each run that is over. What it holds is never run again.

A line is handed to the system in one piece once the trace file of the run is in place. A process that is killed in any
instant leaves a whole line, a torn last one or none; the last two mean that the run is not over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from agent import jsontext
from agent.errors import InputError
from traces.experiments.folder import Folder
from traces.experiments.rows import Row


class Ledger:
    """The ledger, open for adding lines. Only the process that holds the folder may have it open.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, folder: Folder) -> None:
        self._file = os.open(folder.ledger, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = _whole(folder.ledger.read_bytes())
        os.ftruncate(self._file, self._size)

    def add(self, row: Row) -> None:
        """Add a line. It belongs to the system at once, and stays when this process is killed in the next instant.

        Raises:
            OSError: the disk is full; the ledger is as it was.
        """
        line = jsontext.dump_bytes(row.to_dict()) + b"\n"
        try:
            written = os.write(self._file, line)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        if written < len(line):
            os.ftruncate(self._file, self._size)
            raise OSError(f"only {written} of {len(line)} bytes could be written; is the disk full?")
        self._size += written

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def read_lines(folder: Folder) -> list[Row]:
    """All lines in the order in which the runs ended; a cell that was run again has several. A torn last one is
    left out.

    Raises:
        InputError: the file cannot be read, or a line in it is damaged; the text names it.
    """
    try:
        data = folder.ledger.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{folder.ledger} cannot be read: {error.strerror or error}") from error
    return [_row(folder.ledger, number, line) for number, line in enumerate(data[: _whole(data)].splitlines(), 1)]


def read_rows(folder: Folder) -> list[Row]:
    """The row of each cell that is over, in the order in which they ended first. Of several the last one counts.

    Raises:
        InputError: as for :func:`read_lines`.
    """
    return latest(read_lines(folder))


def latest(lines: Iterable[Row]) -> list[Row]:
    """The last row of each cell."""
    return list({row.key: row for row in lines}.values())


def made_again(lines: Iterable[Row]) -> int:
    """How many runs that had ended with an error were made again."""
    seen: dict[str, str] = {}
    count = 0
    for row in lines:
        count += seen.get(row.key) == "error"
        seen[row.key] = row.status
    return count


def _whole(data: bytes) -> int:
    """How many bytes of it are whole lines."""
    return data.rfind(b"\n") + 1


def _row(path: Path, number: int, line: bytes) -> Row:
    try:
        return Row.from_dict(json.loads(line))
    except ValueError as error:
        text = f"{path}, line {number}: it is no row of a run ({error}); delete the line, and its run is made again"
        raise InputError(text) from error
