"""JSON as this project writes it: strict, UTF-8, real characters, one place for every odd value.

Strict means that any JSON parser can read it: no ``NaN``, no ``Infinity``, no lone surrogates. Python's own encoder
writes the first two and the file system refuses the third, so every file, request and tool result goes through here.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_spaced = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_indented = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1).encode


def dumps(value: Any, *, indent: bool = False, compact: bool = False) -> str:
    """``value`` as strict JSON text.

    Non-finite floats become the strings ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``; half of a surrogate pair becomes
    U+FFFD, so that the text can always be encoded as UTF-8.

    Raises:
        TypeError: a value that JSON has no form for.
    """
    encode = _indented if indent else _compact if compact else _spaced
    try:
        text = encode(value)
    except ValueError:
        text = encode(_finite(value))
    return text if text.isascii() else clean(text)


def dump_bytes(value: Any, *, indent: bool = False) -> bytes:
    """``value`` as strict JSON in UTF-8."""
    return dumps(value, indent=indent).encode()


def clean(text: str) -> str:
    """``text`` with half surrogate pairs replaced by U+FFFD: the form in which it can be stored and sent."""
    return _LONE_SURROGATES.sub("\ufffd", text)


def copy_json(value: Any) -> Any:
    """A deep copy of a JSON value; much faster than ``copy.deepcopy`` for the small argument objects of tool calls."""
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
