"""Bytes to JSON documents. What a file holds decides, never its name.

In this order: gzip, zip, one JSON document, JSON Lines (bad lines are reported and the others kept), JSON values one
after another. Text may be UTF-8 with or without a byte order mark, UTF-16 or UTF-32, with any line ends.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import Any

from agent.errors import InputError

MAX_UNPACKED = 512 * 1024 * 1024
"""Bytes that a file may hold after unpacking. It guards against archives made to fill the memory."""
MAX_MEMBERS = 10_000
"""Files that a zip archive may hold."""
_CHUNK = 1024 * 1024
_RESERVED = bytes(8)
"""A journal that was not closed ends in the zero bytes of the room reserved for more; no text ends in so many."""
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be read; the lines round it were."""

    line: int
    """From 1."""
    error: str
    """What is wrong with it."""
    text: str = ""
    """How it begins."""

    def to_dict(self) -> dict[str, Any]:
        """``{"line", "error", "text"}``."""
        return {"line": self.line, "error": self.error, "text": self.text}


@dataclass(slots=True, kw_only=True)
class Document:
    """The JSON of one file, or of one member of an archive."""

    name: str
    """The file's name; for a member ``archive.zip: member.json``."""
    container: str
    """json, jsonl, concatenated or zip."""
    data: bytes
    """The text in UTF-8, unpacked and without a byte order mark; empty for an archive."""
    value: Any = None
    """The one JSON value, or the list of the values of all lines; None for an archive."""
    lines: list[int] | None = None
    """For each value of ``value``: the line where it begins, from 1. None for one JSON document."""
    bad_lines: list[BadLine] = field(default_factory=list)
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
    document = _parse(whole_characters(_as_utf8(data, name)), name)
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
                label = f"{name}: {info.filename}"
                with archive.open(info) as stream:
                    content = stream.read(left + 1)
                if len(content) > left:
                    raise InputError(f"{name} unpacks to more than {limit:,} bytes; it was not opened")
                left -= len(content)
                _add_member(document, content, label)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise InputError(f"{name} begins like a zip file but cannot be unpacked ({error})") from error
    if not document.members:
        raise InputError(f"{name} is a zip file without a JSON file in it")
    return document


def _add_member(document: Document, content: bytes, label: str) -> None:
    try:
        document.members.append(_parse(whole_characters(_as_utf8(content, label)), label))
    except InputError as error:
        document.warnings.append(str(error))


# -- text ----------------------------------------------------------------------------------------------------------

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _as_utf8(data: bytes, name: str) -> bytes:
    """The same text in UTF-8 without a byte order mark. JSON begins with ASCII, so a zero byte tells of UTF-16."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    encoding = next((encoding for bom, encoding in _BOMS if data.startswith(bom)), None)
    if encoding is None and b"\0" in data[:2]:
        encoding = "utf-16-be" if data.startswith(b"\0") else "utf-16-le"
    if encoding is None:
        return data
    try:
        return data.decode(encoding).encode()
    except UnicodeError as error:
        raise InputError(f"{name} looks like {encoding.upper()} text but is not ({error})") from error


def _bad_byte(error: UnicodeDecodeError, data: bytes) -> str:
    line = data.count(b"\n", 0, error.start) + 1
    return (
        f"byte 0x{data[error.start]:02x} at position {error.start} (line {line}) is not UTF-8 text; "
        "save the file as UTF-8 and try again"
    )


_SURROGATES = re.compile(
    rb"\\\\"  # an escaped backslash: what follows it is plain text
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: one character
    rb"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def whole_characters(data: bytes) -> bytes:
    """JSON text in which every escaped half of a surrogate pair is U+FFFD: no file and no page can hold a half."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _SURROGATES.sub(lambda found: b"\\ufffd" if found["lone"] else found[0], data)


# -- JSON ----------------------------------------------------------------------------------------------------------


def loads(text: str) -> Any:
    """``json.loads`` that takes everything Python's own writer writes.

    An integer with more digits than Python converts stays text.

    Raises:
        ValueError: ``text`` is not JSON, or is nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise ValueError("it is nested too deeply to be read") from None
    except ValueError:
        return json.loads(text, parse_int=_int_or_text)


def _int_or_text(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return digits


def _parse(data: bytes, name: str) -> Document:
    if not data.strip():
        raise InputError(f"{name} is empty")
    text: str | None = None
    try:
        text = data.decode()
        return Document(name=name, container="json", data=data, value=loads(text))
    except UnicodeDecodeError as error:
        problem = _bad_byte(error, data)
    except json.JSONDecodeError as error:
        problem = f"it is not valid JSON: {_problem(error)} at line {error.lineno}, column {error.colno}"
    except ValueError as error:
        problem = str(error)
    document = _json_lines(data, name)
    if document is None and text is not None:
        document = _one_after_another(data, text, name)
    if document is None:
        raise InputError(f"{name} cannot be read: {problem}")
    return document


def _json_lines(data: bytes, name: str) -> Document | None:
    """One value a line. None where the file is more likely something else."""
    values: list[Any] = []
    lines: list[int] = []
    bad: list[BadLine] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line or line.isspace():
            continue
        try:
            found = [loads(line.decode())]
        except ValueError as error:
            found = _glued(line)
            if not found:
                bad.append(BadLine(number, _line_problem(error), line[:_SHOWN].decode(errors="replace").strip()))
        values += found
        lines += [number] * len(found)
    good = sum(isinstance(value, (dict, list)) for value in values)
    first_is_good = bool(lines) and (not bad or lines[0] < bad[0].line)
    if not good or (bad and not first_is_good and good <= len(bad)):
        return None
    return Document(name=name, container="jsonl", data=data, value=values, lines=lines, bad_lines=bad)


def _line_problem(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte 0x{error.object[error.start]:02x} at position {error.start} of the line is not UTF-8 text"
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {_problem(error)} at column {error.colno}"
    return str(error)


def _problem(error: json.JSONDecodeError) -> str:
    """The parser's words, some of which lead up to a position of their own: "Unterminated string starting at"."""
    return error.msg.removesuffix(" at")


def _glued(line: bytes) -> list[Any]:
    """The objects of a line on which a writer forgot the line breaks; empty where it is not such a line."""
    text = line.decode(errors="replace")
    values, _, end = _values(text)
    return values if len(values) > 1 and end == len(text) else []


def _one_after_another(data: bytes, text: str, name: str) -> Document | None:
    values, starts, end = _values(text)
    if not values:
        return None
    lines, line, position = [], 1, 0
    for start in starts:
        line += text.count("\n", position, start)
        position = start
        lines.append(line)
    document = Document(name=name, container="concatenated", data=data, value=values, lines=lines)
    if end < len(text):
        line += text.count("\n", position, end)
        document.bad_lines.append(BadLine(line, "not valid JSON from here on", text[end : end + _SHOWN].strip()))
    return document


def _values(text: str) -> tuple[list[Any], list[int], int]:
    """Objects and arrays that follow one another: the values, where each begins, and where reading ended."""
    decoder = json.JSONDecoder()
    values: list[Any] = []
    starts: list[int] = []
    position = _after_space(text, 0)
    while position < len(text) and text[position] in "{[":
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        values.append(value)
        starts.append(position)
        position = _after_space(text, end)
    return values, starts, position


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


_SPACE = re.compile(r"\s*")
