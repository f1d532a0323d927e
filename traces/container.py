"""Bytes to JSON documents. What a file holds decides, never its name.

In this order: gzip, zip, one JSON document, JSON Lines (bad lines are reported and the others kept), JSON values one
after another. Text may be UTF-8 with or without a byte order mark, UTF-16 or UTF-32, with any line ends.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from agent.errors import InputError
from traces.decoding import as_utf8, bad_byte, loads, plain, plain_lines, whole_characters
from traces.lines import BadLine, Records, json_lines, one_after_another, sent_events, words
from traces.torn import mended
from traces.zips import BROKEN, zipfile

MAX_UNPACKED = 512 * 1024 * 1024
"""Bytes that a file may hold after unpacking. It guards against archives made to fill the memory."""
MAX_MEMBERS = 10_000
"""Files that a zip archive may hold."""
_CHUNK = 1024 * 1024
_RESERVED = bytes(8)
"""A journal that was not closed ends in the zero bytes of the room reserved for more; no text ends in so many."""


@dataclass(slots=True, kw_only=True)
class Document:
    """The JSON of one file, or of one member of an archive."""

    name: str
    """The file's name; for a member ``archive.zip: member.json``."""
    container: str
    """json, jsonl, concatenated, events or zip."""
    data: bytes
    """The text in UTF-8, unpacked and without a byte order mark; empty for an archive."""
    value: Any = None
    """The one JSON value, or the list of the values of all lines; None for an archive."""
    lines: list[int] | None = None
    """For each value of ``value``: the line where it begins, from 1. None for one JSON document."""
    bad_lines: list[BadLine] = field(default_factory=list)
    torn: bool = False
    """It ends in its middle; ``value`` holds what came before its last whole item."""
    members: list[Document] = field(default_factory=list)
    """What an archive holds."""
    warnings: list[str] = field(default_factory=list)
    """One sentence for each thing that was odd about the container."""

    @property
    def records(self) -> list[Any]:
        """The values one by one: the items of an array, the values of the lines, or the one value itself."""
        return self.value if isinstance(self.value, list) else [self.value]

    def line_of(self, record: int) -> int | None:
        """The line where a record begins, where the file has one record a line."""
        return None if self.lines is None else self.lines[record]


def open_bytes(data: bytes, name: str, *, limit: int = MAX_UNPACKED) -> Document:
    """Read the JSON in ``data``.

    Args:
        data: the bytes of a file.
        name: how messages call the file.
        limit: bytes that it may hold after unpacking.

    Raises:
        InputError: there is no JSON in it, or it is too large; the text says what is wrong and where.
    """
    if len(data) > limit:
        raise InputError(f"{name} is too large: {len(data):,} bytes, at most {limit:,} can be opened")
    warnings: list[str] = []
    if data.startswith(b"\x1f\x8b"):
        data = _gunzip(data, name, limit, warnings)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _unzip(data, name, limit)
    if data.endswith(_RESERVED):
        data = data.rstrip(b"\0")
    document = _parse(data, name)
    document.warnings[:0] = warnings
    return document


# -- archives ------------------------------------------------------------------------------------------------------


def _gunzip(data: bytes, name: str, limit: int, warnings: list[str]) -> bytes:
    unpacked = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while chunk := stream.read(_CHUNK):
                unpacked += chunk
                if len(unpacked) > limit:
                    raise InputError(f"{name} unpacks to more than {limit:,} bytes; it was not opened")
    except (OSError, EOFError, zlib.error) as error:
        if not unpacked:
            raise InputError(f"{name} begins like a gzip file but cannot be unpacked ({error})") from error
        warnings.append(f"the gzip data ends early ({error}); what could be unpacked was read")
    return bytes(unpacked)


def _unzip(data: bytes, name: str, limit: int) -> Document:
    document = Document(name=name, container="zip", data=b"")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            if len(members) > MAX_MEMBERS:
                raise InputError(f"{name} holds {len(members):,} files; at most {MAX_MEMBERS:,} can be opened")
            left = limit
            for info in members:
                content = _unpacked(archive, info, left, document)
                if len(content) > left:
                    raise InputError(f"{name} unpacks to more than {limit:,} bytes; it was not opened")
                left -= len(content)
    except BROKEN as error:
        raise InputError(f"{name} begins like a zip file but cannot be unpacked ({error})") from error
    if not document.members:
        raise InputError(f"{name} is a zip file without a JSON file in it")
    return document


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int, document: Document) -> bytes:
    """A file of an archive, up to a byte more than ``left``, added to ``document``. What is wrong costs only itself."""
    label = f"{document.name}: {info.filename}"
    try:
        with archive.open(info) as stream:
            content = stream.read(left + 1)
    except BROKEN as error:
        document.warnings.append(f"{label} cannot be unpacked ({error})")
        return b""
    if len(content) <= left:
        try:
            document.members.append(_parse(content, label))
        except InputError as error:
            document.warnings.append(str(error))
    return content


# -- JSON ----------------------------------------------------------------------------------------------------------


def _parse(data: bytes, name: str) -> Document:
    data = as_utf8(data)
    if not data or data.isspace():
        raise InputError(f"{name} is empty")
    if b"\n" not in data and b"\r" in data:
        data = data.replace(b"\r", b"\n")
    document = Document(name=name, container="json", data=data)
    try:
        document.value = plain(data)
        return document
    except ValueError:
        pass
    values = plain_lines(data)
    if values and isinstance(values[0], (dict, list)):
        return _of_records(Records(values, list(range(1, len(values) + 1))), "jsonl", data, name)
    return _parse_odd(data, name)


def _parse_odd(data: bytes, name: str) -> Document:
    """The same for text that is not quite JSON, or not plain: slower, and with a place for everything that is wrong."""
    may_be_torn = False
    try:
        return Document(name=name, container="json", data=data, value=loads(data))
    except UnicodeDecodeError as error:
        problem = bad_byte(error, data)
    except json.JSONDecodeError as error:
        problem = f"it is not valid JSON: {words(error)} at line {error.lineno}, column {error.colno}"
        may_be_torn = True
    except ValueError as error:
        problem = str(error)
    if records := json_lines(data):
        return _of_records(records, "jsonl", data, name)
    if records := one_after_another(data):
        return _of_records(records, "concatenated", data, name)
    if records := sent_events(data):
        return _of_records(records, "events", data, name)
    if may_be_torn and (document := _parse_torn(data, name, problem)):
        return document
    raise InputError(f"{name} cannot be read: {problem}")


def _parse_torn(data: bytes, name: str, problem: str) -> Document | None:
    """A document that was not written to its end: what is whole of it, and a warning."""
    found = mended(whole_characters(data))
    if found is None:
        return None
    data, line = found
    try:
        document = Document(name=name, container="json", data=data, value=loads(data), torn=True)
    except ValueError:
        return None
    document.warnings.append(f"the file ends early ({problem}); what stands before line {line} was read")
    return document


def _of_records(records: Records, container: str, data: bytes, name: str) -> Document:
    return Document(
        name=name,
        container=container,
        data=data,
        value=records.values,
        lines=records.lines,
        bad_lines=records.bad,
    )
