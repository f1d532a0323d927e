"""Open a file: container, format, reader. The one way in for every page, command and index."""

from __future__ import annotations

import gc
import hashlib
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from agent.errors import AgentError, InputError
from agent.trace import Trace
from traces.container import MAX_UNPACKED, Document, open_bytes
from traces.detect import expectation, find_reader
from traces.importing import Digest, ImportBuilder, made_up_id
from traces.report import ImportReport

_HASHED = 1024 * 1024


def open_trace(source: str | Path | bytes, name: str | None = None, *, format: str | None = None) -> list[Trace]:
    """All conversations of a file.

    Args:
        source: a path, or the bytes themselves.
        name: how messages call the bytes.
        format: the format, where detection should not decide.

    Raises:
        InputError: the file cannot be opened, or has no known shape; the text says what is wrong and where.
    """
    report = read_file(source, name, format=format)
    if report.format is None:
        raise InputError(f"{report.file}: {report.unread[0]}")
    return report.traces


def read_file(source: str | Path | bytes, name: str | None = None, *, format: str | None = None) -> ImportReport:
    """All conversations of a file, and what in it could not be used.

    JSON of an unknown shape gives a report without a format and without traces that holds the JSON itself.

    Args:
        source: a path, or the bytes themselves.
        name: how messages call the file; the path itself by default.
        format: the format, where detection should not decide.

    Raises:
        InputError: the file cannot be opened; the text says what is wrong and where.
    """
    data = source if isinstance(source, bytes) else _read_bytes(Path(source))
    label = name or ("the file" if isinstance(source, bytes) else str(source))
    digest = cache(lambda: _digest(data))
    with paused_gc():
        return read_document(open_bytes(data, label), label, digest, format)


def read_document(document: Document, name: str, digest: Digest, format: str | None = None) -> ImportReport:
    """All conversations of a file that is open.

    Args:
        document: what it holds.
        name: how messages call it.
        digest: gives a text that tells the file from others; ids that a reader makes up come from it.
        format: the format, where detection should not decide.

    Raises:
        InputError: it cannot be read at all.
    """
    try:
        report = _read_document(document, name, format, digest)
    except RecursionError as error:
        raise InputError(f"{name} cannot be read: it is nested too deeply") from error
    if not report.traces:
        report.id = made_up_id(digest, 0)
    return report


def _read_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):  # a pipe never ends, nor does a device
            raise InputError(f"{path} cannot be opened: it is not a regular file")
        if status.st_size > MAX_UNPACKED:
            raise InputError(f"{path} is too large: {status.st_size:,} bytes, at most {MAX_UNPACKED:,} can be opened")
        with path.open("rb") as file:
            return file.read(MAX_UNPACKED + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path} cannot be opened: {reason}") from error


def _digest(data: bytes) -> str:
    """A text that tells one file from another. Of a large one its ends are hashed, and the whole only summed up."""
    if len(data) <= 2 * _HASHED:
        return hashlib.blake2b(data, digest_size=16).hexdigest()
    ends = data[:_HASHED] + data[-_HASHED:]
    return f"{hashlib.blake2b(ends, digest_size=16).hexdigest()} {len(data)} {zlib.crc32(data)}"


def _read_document(document: Document, name: str, format: str | None, digest: Digest) -> ImportReport:
    reader = find_reader(document, format)
    if reader is None and document.members:
        return _read_members(document, name, format, digest)
    if reader is None:
        return _unknown(document, name)
    out = ImportBuilder(document, name, reader.NAME, digest)
    try:
        reader.read(document, out)
    except AgentError as error:
        raise InputError(f"{name} cannot be read: {error}") from error
    return out.finish()


def _of_member(digest: Digest, number: int) -> str:
    return f"{digest()} {number}"


def _unknown(document: Document, name: str) -> ImportReport:
    report = ImportReport(file=name, container=document.container, tree=document.value)
    report.bad_lines, report.warnings = document.bad_lines, document.warnings
    report.unread.append(expectation(document))
    return report


def _read_members(archive: Document, name: str, format: str | None, digest: Digest) -> ImportReport:
    """The files of an archive that is not itself of a known format, one after another."""
    whole = ImportReport(file=name, container=archive.container, warnings=list(archive.warnings))
    for number, member in enumerate(archive.members):
        try:
            part = _read_document(member, member.name, format, partial(_of_member, digest, number))
        except InputError as error:
            whole.warnings.append(str(error))
            continue
        whole.format = whole.format or part.format
        whole.traces += part.traces
        whole.bad_lines += part.bad_lines
        whole.repaired += part.repaired
        whole.warnings += part.warnings
        whole.unread += [f"{member.name}: {sentence}" for sentence in part.unread]
    return whole


@contextmanager
def paused_gc() -> Iterator[None]:
    """Keep the garbage collector from walking over the growing data again and again; it halves the time to load."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
