"""JSON with lines: strict reading that says where it fails, and the line at which a place begins."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

_BLANK = re.compile(r"[ \t\n\r]*")
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]|NaN|-?Infinity|-?\d[-+.\deE]*', re.DOTALL)
"""Whole texts, so that nothing inside them counts; brackets; numbers, and those that Python alone knows."""


class BadJSON(ValueError):
    """What is wrong with a text that should be JSON.

    Args:
        sentence: what it is.
        line: where, from 1.
    """

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


def load(text: str, deepest: int) -> Any:
    """The value of a text.

    Args:
        text: strict JSON: no key twice, no NaN.
        deepest: lists and mappings that may stand inside each other.

    Raises:
        BadJSON: it is something else.
    """
    try:
        value = _decode(text)
    except json.JSONDecodeError as error:
        raise BadJSON(error.msg.removesuffix(" at"), error.lineno) from error  # the words lead up to a position
    except _Twice as error:
        at = _key_twice(text, 0)
        raise BadJSON(f"the key {_value_at(text, at)[0]!r} stands twice", _line(text, at)) from error
    except _NoNumber as error:
        word = str(error)
        what = "too large a number" if word[-1].isdigit() else "not a number of JSON"
        raise BadJSON(f"{word[:40]} is {what}", _line(text, _first(text, word))) from error
    except RecursionError as error:
        raise _too_deep(text, deepest) from error
    except ValueError as error:  # Python reads integers of up to 4,300 digits
        long = re.search(r"\d{4301}", text)
        raise BadJSON("a number has too many digits", _line(text, long.start() if long else 0)) from error
    if is_deeper(value, deepest):
        raise _too_deep(text, deepest)
    return value


class Places:
    """Finds the lines of places in a text that can be read. What a list or mapping holds is looked for once.

    Args:
        text: JSON.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._inside: dict[int, dict[str | int, _Item]] = {}

    def line_of(self, place: Sequence[str | int]) -> int | None:
        """The line (from 1) at which a place begins, or the nearest thing around it; None for the whole text."""
        at, found = _skip(self._text, 0), None
        for part in place:
            if at not in self._inside:
                self._inside[at] = {item.key: item for item in _items(self._text, at)}
            item = self._inside[at].get(part)
            if item is None:
                break
            found, at = item.begins, item.value
        return None if found is None else _line(self._text, found)


def is_deeper(value: Any, deepest: int) -> bool:
    """Whether lists and mappings stand inside each other more than ``deepest`` times."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(deepest):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return bool(level)


# ---- reading ----


class _Twice(Exception):
    """A key stands twice in one mapping."""


class _NoNumber(Exception):
    """A number that JSON does not have, or that is too large to be kept."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise _Twice
    return data


def _refuse(constant: str) -> NoReturn:
    raise _NoNumber(constant)


def _finite(word: str) -> float:
    number = float(word)
    if math.isinf(number):
        raise _NoNumber(word)
    return number


_decode = json.JSONDecoder(object_pairs_hook=_once, parse_float=_finite, parse_constant=_refuse).decode
_value_at = json.JSONDecoder().raw_decode


# ---- places ----


class _Item(NamedTuple):
    key: str | int
    begins: int
    """Where the key, or the value of a list, stands in the text."""
    value: int
    """Where the value begins."""


def _items(text: str, at: int) -> Iterator[_Item]:
    """What the list or mapping at a position of a readable text holds."""
    kind, at = text[at], _skip(text, at + 1)
    number = 0
    while kind in "[{" and text[at] not in "]}":
        begins, key = at, number
        name: str | int = key
        if kind == "{":
            name, at = _value_at(text, at)
            at = _skip(text, _skip(text, at) + 1)
        yield _Item(name, begins, at)
        at = _skip(text, _value_at(text, at)[1])
        number += 1
        if text[at] == ",":
            at = _skip(text, at + 1)


def _key_twice(text: str, at: int) -> int:
    """Where the first key stands that came before in its mapping; -1 where there is none."""
    at = _skip(text, at)
    if text[at] not in "[{":
        return -1
    seen: set[str | int] = set()
    for item in _items(text, at):
        if item.key in seen:
            return item.begins
        seen.add(item.key)
        if (inner := _key_twice(text, item.value)) >= 0:
            return inner
    return -1


def _first(text: str, mark: str) -> int:
    return next(found.start() for found in _MARKS.finditer(text) if found.group() == mark)


def _too_deep(text: str, deepest: int) -> BadJSON:
    depth = 0
    for found in _MARKS.finditer(text):
        depth += (found.group() in "[{") - (found.group() in "]}")
        if depth > deepest:
            return BadJSON(f"nested too deeply: {deepest} levels are allowed", _line(text, found.start()))
    return BadJSON(f"nested too deeply: {deepest} levels are allowed", 1)


def _skip(text: str, at: int) -> int:
    """The position of the next character that is not blank."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, max(at, 0)) + 1
