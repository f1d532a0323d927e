"""From the data of a script to its text: YAML that people like to read, or JSON.

What is written reads back as the same value (:func:`agent.scripts.source.read`), and in YAML also with other programs:
what one of them might take for a number, a date or a truth value stands in quotes.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from agent import jsontext

_WIDTH = 110
"""Columns up to which a mapping or list stands in one line."""
_LONGEST_KEY = 200
"""Characters; YAML looks for the colon of a longer one only where a mark says that a key begins."""
_BLOCKS = frozenset(("turns", "tools", "rules", "default", "recorded"))
"""Keys whose mappings, and those in whose lists, are written over several lines even where one would do."""
_ROWS = "recorded"
"""The key under which each entry of a list is one line, however long."""


def to_yaml(data: Any) -> str:
    """Data of JSON's types as YAML.

    The order of keys stays. Turns and tools stand over several lines, small mappings and lists in one, and texts of
    several lines as they are. A number that is not finite becomes null.
    """
    if isinstance(data, (Mapping, list)) and data:
        return "\n".join(_lines(data, "", "", rows=False)) + "\n"
    return _scalar(data) + "\n"


def to_json(data: Any) -> str:
    """Data of JSON's types as JSON, one item a line. A number that is not finite becomes null."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1)
    except ValueError:
        text = jsontext.dumps(data, indent=True)
    return _HALVES.sub(_escaped, text) + "\n"


# ---- lines ----


def _lines(value: Any, indent: str, key: str, *, rows: bool) -> Iterator[str]:
    """The lines of a mapping or list that holds something.

    Args:
        value: the mapping or list.
        indent: blanks before each line.
        key: under which it stands, or the list that it stands in.
        rows: the entries of lists are one line each.
    """
    if isinstance(value, Mapping):
        for name, item in value.items():
            shown = _text(str(name))
            head = f"{indent}{shown}:" if len(shown) <= _LONGEST_KEY else f"{indent}? {shown}\n{indent}:"
            yield from _entry(head, item, indent, str(name), rows=rows or name == _ROWS)
    else:
        for item in value:
            row = _in_one_line(item, sys.maxsize, breaks=True) if rows else None
            if row is not None:
                yield f"{indent}- {row}"
            else:
                yield from _entry(f"{indent}-", item, indent, key, rows=rows)


def _entry(head: str, value: Any, outer: str, key: str, *, rows: bool) -> Iterator[str]:
    """The lines of one entry: ``head``, and what stands behind or under it."""
    indent = outer + "  "
    if isinstance(value, (Mapping, list)) and value:
        line = None if _wants_lines(value, key) else _in_one_line(value, _WIDTH - len(head))
        if line is not None:
            yield f"{head} {line}"
            return
        lines = _lines(value, indent, key, rows=rows)
        if head.endswith("-"):  # what stands in a list begins beside its mark
            yield f"{head} {next(lines).removeprefix(indent)}"
        else:
            yield head
        yield from lines
    elif isinstance(value, str) and (literal := _literal(value, indent)):
        yield f"{head} {literal}"
    else:
        yield f"{head} {_scalar(value)}"


def _wants_lines(value: Any, key: str) -> bool:
    """Whether a mapping or list stands over several lines even where one would do."""
    if isinstance(value, Mapping):
        return key in _BLOCKS
    return key == "turns" or any(isinstance(item, Mapping) for item in value)


def _in_one_line(value: Any, room: int, *, breaks: bool = False) -> str | None:
    """The value in one line of at most ``room`` characters; None where it does not go.

    Args:
        value: any.
        room: characters.
        breaks: whether line breaks may be written as escapes.
    """
    if not isinstance(value, (Mapping, list)):
        if isinstance(value, str) and (len(value) > room or ("\n" in value and not breaks)):
            return None
        word = _scalar(value, inside=True)
        return word if len(word) <= room else None
    parts, left = [], room - 2
    named = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
    for name, item in named:
        head = "" if name is None else f"{_text(str(name), inside=True)}: "
        part = _in_one_line(item, left - len(head), breaks=breaks)
        if part is None or len(head) > _LONGEST_KEY:
            return None
        parts.append(head + part)
        left -= len(head) + len(part) + 2
    joined = ", ".join(parts)
    return f"{{{joined}}}" if isinstance(value, Mapping) else f"[{joined}]"


def _literal(text: str, indent: str) -> str | None:
    """A text of several lines as it is, under a mark that says how it ends; None where YAML would change it."""
    if "\n" not in text or not text.strip() or _ODD.search(text):
        return None
    ends = len(text) - len(text.rstrip("\n"))
    first = "2" if text[0] in " \t\n" else ""
    lines = text.split("\n")[: -1 if ends else None]
    body = "\n".join(f"{indent}{line}" if line else "" for line in lines)
    return f"|{first}{'-+'[ends > 1] if ends != 1 else ''}\n{body}"


# ---- words ----

_UNSEEN = "\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
_ODD = re.compile(f"[\0-\x08\x0b-\x1f{_UNSEEN}]")
"""What YAML reads differently, or not at all, where it stands as it is."""
_TO_ESCAPE = re.compile(f"[{_UNSEEN}]")
"""What JSON leaves as it is, and YAML does not."""
_HALVES = re.compile("[\ud800-\udfff]")
_SEEN = f"[^\0-\x1f{_UNSEEN}]"
_PLAIN = re.compile(rf"(?!.*(?:: | #))[^\W\d_](?:{_SEEN}*(?![\s:]){_SEEN})?")
_INSIDE = re.compile(r"[^,:?\[\]{}]*")
"""What may stand without quotes between brackets too."""
_TAKEN = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
"""Words that some program takes for something else than a text."""


def _scalar(value: Any, *, inside: bool = False) -> str:
    """A value that holds no others, in one line; an empty mapping or list too."""
    if isinstance(value, str):
        return _text(value, inside=inside)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "null"
    return json.dumps(value)


def _text(text: str, *, inside: bool = False) -> str:
    """A text in one line, with quotes where it needs them.

    Args:
        text: any.
        inside: it stands between brackets.
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN and (not inside or _INSIDE.fullmatch(text)):
        return text
    if ('"' in text or "\\" in text) and re.fullmatch(f"{_SEEN}*", text):
        return "'" + text.replace("'", "''") + "'"
    return _TO_ESCAPE.sub(_escaped, json.dumps(text, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"
