"""Tape: an append-only file that is written through memory, so that a line costs no system call.

The file is mapped and shared: what is appended belongs to the kernel at once, and it stays when this process is killed
in the next instant. Room is reserved ahead, so a file that was not closed ends in zero bytes; readers cut them off.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path

ROOM = 1 << 18
"""Bytes reserved at a time; a full disk is met here, as an OSError, and never while a line is written."""


class Tape:
    """A new file that can be appended to. It may be renamed meanwhile.

    Raises:
        OSError: the file cannot be made, or the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            self._map = self._mapped(ROOM)
        except OSError:
            os.close(self._file)
            raise

    def append(self, data: bytes) -> None:
        """Add bytes at the end.

        Raises:
            OSError: the disk is full; the file is as it was before.
        """
        try:
            self._map.write(data)
        except ValueError:  # it does not fit
            used = self._map.tell()
            grown = self._mapped(used + len(data) + ROOM)
            self._map.close()
            self._map = grown
            grown.seek(used)
            grown.write(data)

    def close(self) -> None:
        """Give the reserved room back and let go of the file."""
        if not self._map.closed:
            used = self._map.tell()
            self._map.close()
            os.ftruncate(self._file, used)
            os.close(self._file)

    def _mapped(self, room: int) -> mmap.mmap:
        """The file in memory, with this many bytes reserved."""
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._file, 0, room)
        else:
            os.ftruncate(self._file, room)
        return mmap.mmap(self._file, room)
