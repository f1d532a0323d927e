"""Follow a file that another program is still writing.

A file of one record a line is read on from where the last look ended: a look at 300 MB to which one line was added
costs that line. Every other file (one JSON document, an archive) is read anew when it has changed. A last line that is
not finished waits; a file that was replaced, cut or rotated away is noticed.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from agent.errors import InputError
from traces.container import MAX_UNPACKED, Document, open_bytes
from traces.decoding import as_utf8, wide_encoding
from traces.lines import BadLine, Records
from traces.opening import paused_gc, read_document, read_file
from traces.readers import journal
from traces.report import ImportReport

_ARCHIVES = (b"\x1f\x8b", b"PK")
_CHECKED = 256
"""Bytes at both ends of what was read that must still be there, or the file is another one."""


@dataclass(slots=True, kw_only=True)
class News:
    """What one look at a file found."""

    records: list[Any] = field(default_factory=list)
    """The JSON values that are new, in file order."""
    bad_lines: list[BadLine] = field(default_factory=list)
    """Lines among them that are not JSON."""
    restarted: bool = False
    """The file is another one than at the last look, or its first: forget what came before."""
    gone: bool = False
    """There is no file at the moment. A journal goes when its run ends: ``<trace_id>.json`` takes its place."""
    waiting: int = 0
    """Bytes of a last line, or of a document, that is not finished."""
    problem: str | None = None
    """Why the file cannot be read as it stands; half-written documents and files that are too large have one."""

    def __bool__(self) -> bool:
        """Whether there is anything new to show."""
        return bool(self.records or self.bad_lines or self.restarted)


class Follower:
    """Looks at one file again and again, and tells what was added.

    Args:
        path: the file; it need not be there yet.
        limit: bytes that are read of it at most.
    """

    def __init__(self, path: str | Path, *, limit: int = MAX_UNPACKED) -> None:
        self.path = Path(path)
        self._limit = limit
        self._forget()

    def look(self) -> News:
        """What is new since the last look. Never raises: what cannot be read is said in :attr:`News.problem`."""
        try:
            status = self.path.stat()
            if not stat.S_ISREG(status.st_mode):
                return News(problem=f"{self.path} is not a regular file")
            if self._is_as_it_was(status):
                return News(waiting=self._waiting)
            with self.path.open("rb") as file, paused_gc():
                return self._look_into(file)
        except FileNotFoundError:
            return News(gone=True)
        except (OSError, ValueError) as error:
            return News(problem=f"{self.path} cannot be opened: {error}")

    def report(self, format: str | None = None) -> ImportReport:
        """Everything seen so far as traces, as :func:`traces.opening.read_file` gives it for a file of that content.

        Traces keep their ids while the file grows; ids that a reader makes up come from the path here.

        Args:
            format: the format, where detection should not decide.

        Raises:
            InputError: nothing was seen yet, or it cannot be read.
        """
        if self._document is not None:
            return read_document(self._document, str(self.path), self._identity, format)
        if not self._records.values:
            raise InputError(f"{self.path} holds nothing that can be read yet")
        document = self._lines_seen()
        if journal.matches(document):  # it is put together from its bytes, and ends while it is looked at
            return read_file(self.path, format=format)
        return read_document(document, str(self.path), self._identity, format)

    # -- looking -------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        self._file: tuple[int, int] | None = None
        """Device and number of the file that is followed."""
        self._stamp: tuple[int, int] | None = None
        """Its size and time at the last look; None where the next look must read in any case."""
        self._records = Records()
        self._document: Document | None = None
        """All of it, where it is not a file of lines."""
        self._by_line = True
        self._offset = self._line = self._waiting = 0
        self._head = self._tail = b""

    def _identity(self) -> str:
        return hashlib.blake2b(os.fsencode(self.path.absolute()), digest_size=16).hexdigest()

    def _is_as_it_was(self, status: os.stat_result) -> bool:
        return self._file == _number(status) and self._stamp == _size_and_time(status)

    def _look_into(self, file: BinaryIO) -> News:
        status = os.fstat(file.fileno())
        restarted = self._file != _number(status) or not self._holds_what_was_read(file)
        if restarted:
            self._forget()
            self._file = _number(status)
        if self._offset == 0 and self._document is None:
            self._by_line = _is_of_lines(file)
        if status.st_size > self._limit:
            return News(problem=f"{self.path} is too large: at most {self._limit:,} bytes can be opened")
        news = self._read_on(file) if self._by_line else self._read_whole(file)
        news.restarted = news.restarted or restarted
        if not self._by_line or status.st_size == self._offset + self._waiting:
            self._stamp = _size_and_time(status)
        else:
            self._stamp = None  # room was reserved, in which lines appear without a change of size or time
        return news

    def _holds_what_was_read(self, file: BinaryIO) -> bool:
        if not self._by_line:
            return True
        file.seek(0)
        head = file.read(len(self._head))
        file.seek(self._offset - len(self._tail))
        return head == self._head and file.read(len(self._tail)) == self._tail

    def _read_whole(self, file: BinaryIO) -> News:
        file.seek(0)
        data = file.read(self._limit + 1)
        try:
            document = open_bytes(data, str(self.path))
        except InputError as error:
            return News(problem=str(error), waiting=len(data))
        if document.torn:
            return News(problem=document.warnings[-1], waiting=len(data))
        self._document = document
        return News(records=document.records, bad_lines=document.bad_lines, restarted=True)

    # -- lines ---------------------------------------------------------------------------------------------------

    def _read_on(self, file: BinaryIO) -> News:
        file.seek(self._offset)
        data = file.read(self._limit + 1 - self._offset).rstrip(b"\0")
        finished = _finished(data)
        seen = self._records
        values, bad = len(seen.values), len(seen.bad)
        if finished:
            self._add(data[:finished])
        self._waiting = len(data) - finished
        return News(records=seen.values[values:], bad_lines=seen.bad[bad:], waiting=self._waiting)

    def _lines_seen(self) -> Document:
        """What was read, as the container would open it: a file of one value is a document."""
        seen, name = self._records, str(self.path)
        if len(seen.values) == 1 and not seen.bad:
            return Document(name=name, container="json", data=b"", value=seen.values[0])
        return Document(
            name=name,
            container="jsonl",
            data=b"",
            value=list(seen.values),
            lines=list(seen.lines),
            bad_lines=list(seen.bad),
        )

    def _add(self, data: bytes) -> None:
        text = as_utf8(data) if self._offset == 0 else data
        first = self._line + 1
        for number, line in enumerate(text.split(b"\n"), first):
            self._records.add_line(line, number)
        self._line += text.count(b"\n")
        self._head = (self._head + data)[:_CHECKED]
        self._tail = (self._tail + data)[-_CHECKED:]
        self._offset += len(data)


def _number(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _size_and_time(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _is_of_lines(file: BinaryIO) -> bool:
    """Whether the first line is an object by itself, or may become one."""
    file.seek(0)
    head = file.readline()
    if head.startswith(_ARCHIVES) or wide_encoding(head) is not None:
        return False
    if not head.endswith(b"\n"):
        return as_utf8(head).lstrip().startswith(b"{") and b"\r" not in head
    records = Records()
    records.add_line(as_utf8(head), 1)
    return bool(records.values) and isinstance(records.values[0], dict)


def _finished(data: bytes) -> int:
    """How many bytes are finished lines.

    Zero bytes in the last line stand where its writer has not come yet. A last line without an end counts where it is
    a whole object: nothing can be added to one.
    """
    end = data.rfind(b"\n") + 1
    last = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
    if b"\0" in data[last:end]:
        return last
    rest = data[end:]
    if rest.rstrip().endswith((b"}", b"]")):
        records = Records()
        records.add_line(as_utf8(rest), 1)
        if records.values and not records.bad:
            return len(data)
    return end
