"""JSON values that follow one another: one a line, or simply one after another. What is broken costs only itself."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, field
from typing import Any

from traces.decoding import loads, whole_characters

_SHOWN = 200
_AROUND = b" \t\r\0"
"""Blanks, and the zero bytes that a crash leaves where a line was to be."""
_BRACKETS = (b"[", b"]", b"],")
_HOPELESS = 1000
"""After so many bad lines and not one good one, a file is not one of lines."""


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


@dataclass(slots=True)
class Records:
    """Values in file order, and what between them could not be read."""

    values: list[Any] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """For each value: the line where it begins, from 1."""
    bad: list[BadLine] = field(default_factory=list)

    def add_line(self, line: bytes, number: int) -> None:
        """Read one line: usually one value, several where a writer forgot the line breaks, none where it is blank."""
        line = line.strip(_AROUND).removeprefix(codecs.BOM_UTF8)
        if not line:
            return
        try:
            self.values.append(loads(line))
            self.lines.append(number)
        except ValueError as error:
            found = _glued(line)
            if not found:
                text = line[:_SHOWN].decode(errors="replace").strip()
                self.bad.append(BadLine(number, _line_problem(error), text))
            self.values += found
            self.lines += [number] * len(found)


def json_lines(data: bytes) -> Records | None:
    """One value a line. None where the text is more likely something else."""
    records = Records()
    lines = data.split(b"\n")
    if lines[0].strip() == b"[":  # an array with an item on each line
        lines = [b"" if line.strip() in _BRACKETS else line.rstrip().removesuffix(b",") for line in lines]
    for number, line in enumerate(lines, 1):
        records.add_line(line, number)
        if not records.values and len(records.bad) == _HOPELESS:
            return None
    bad = records.bad
    good = sum(isinstance(value, (dict, list)) for value in records.values)
    first_is_good = bool(records.lines) and (not bad or records.lines[0] < bad[0].line)
    if not good or (bad and not first_is_good and good <= len(bad)):
        return None
    return records


def one_after_another(data: bytes) -> Records | None:
    """Objects and arrays without anything between them but space. None where the text does not begin with one."""
    try:
        text = whole_characters(data).decode()
    except UnicodeDecodeError:
        return None
    values, starts, end = _values(text)
    if not values:
        return None
    records, line, position = Records(values), 1, 0
    for start in starts:
        line += text.count("\n", position, start)
        position = start
        records.lines.append(line)
    if end < len(text):
        line += text.count("\n", position, end)
        records.bad.append(BadLine(line, "not valid JSON from here on", text[end : end + _SHOWN].strip()))
    return records


def sent_events(data: bytes) -> Records | None:
    """The values of a saved stream of server-sent events, ``data: {...}``. None where the text begins otherwise."""
    if not data.lstrip().startswith(_EVENT_BEGINS):
        return None
    records = Records()
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.startswith(b"data:") and line.strip() != b"data: [DONE]":
            records.add_line(line.removeprefix(b"data:").strip(), number)
    return records if any(isinstance(value, dict) for value in records.values) else None


_EVENT_BEGINS = (b"data:", b"event:", b"id:", b":")


def words(error: json.JSONDecodeError) -> str:
    """The parser's words, some of which lead up to a position of their own: "Unterminated string starting at"."""
    return error.msg.removesuffix(" at")


def _line_problem(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte 0x{error.object[error.start]:02x} at position {error.start} of the line is not UTF-8 text"
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {words(error)} at column {error.colno}"
    return str(error)


def _glued(line: bytes) -> list[Any]:
    """The objects of a line on which a writer forgot the line breaks; empty where it is not such a line."""
    text = whole_characters(line).decode(errors="replace")
    values, _, end = _values(text)
    return values if len(values) > 1 and end == len(text) else []


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
