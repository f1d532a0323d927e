"""Values of a trace as Python source that can do nothing and shows what it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_LINE = 100


def literal(value: Any) -> str:
    """A value of JSON's types as a Python literal. What cannot be printed is written by its number."""
    if isinstance(value, str):
        return _visible(json.dumps(value, ensure_ascii=False))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(str(key))}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    return repr(value)


def listed(items: Sequence[str]) -> str:
    """A list of pieces of source: in one line where that is short, else one a line."""
    line = f"[{', '.join(items)}]"
    if len(line) <= _LINE:
        return line
    return "\n".join(["[", *(f"    {item}," for item in items), "]"])


def quoted(text: str) -> str:
    """A text in one line of a docstring, in quotes that cannot end it."""
    inside = json.dumps(text, ensure_ascii=False)[1:-1].replace("\\", "\\\\").replace('"', "'")
    return f"'{_visible(inside)}'"


def _visible(text: str) -> str:
    """``text`` with every character that cannot be seen as an escape: half surrogates, and those that turn a line."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
