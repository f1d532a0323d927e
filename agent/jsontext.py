"""JSON as this project writes it: strict, UTF-8, real characters, one place for every odd value.

Strict means that any JSON parser can read it: no ``NaN``, no ``Infinity``, no lone surrogates. Python's own encoder
writes the first two and the file system refuses the third, so every file, request and tool result goes through here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

try:
    import orjson
except ImportError:  # agent/ also runs where nothing is installed; its files are then written more slowly
    orjson = None  # type: ignore[assignment]

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_spaced = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_canonical = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True).encode
_STRICT = 0 if orjson is None else orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_indented = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1).encode


def dumps(value: Any, *, indent: bool = False, compact: bool = False) -> str:
    """``value`` as strict JSON text, as the models see it: one blank after each comma and colon.

    Non-finite floats become null; half of a surrogate pair becomes U+FFFD, so that the text can always be encoded as
    UTF-8.

    Args:
        indent: for people, one item a line.
        compact: without blanks.

    Raises:
        TypeError: a value that JSON has no form for.
    """
    return _strict(_indented if indent else _compact if compact else _spaced, value)


def dump_bytes(value: Any) -> bytes:
    """``value`` as compact strict JSON in UTF-8, for files: the same as :func:`dumps`, and ten times as fast.

    Raises:
        TypeError: a value that JSON has no form for.
    """
    if orjson is not None:
        try:
            return orjson.dumps(value, option=_STRICT)
        except TypeError:
            pass  # huge integers, half surrogates, keys that are no strings: the slow way knows what to do
    return dumps(value, compact=True).encode()


def canonical(value: Any) -> str:
    """``value`` as compact strict JSON with the keys of every object in order: equal values give equal text.

    The form under which calls are compared and fingerprinted; it is the same with and without the faster encoder.

    Raises:
        TypeError: a value that JSON has no form for.
    """
    return _strict(_canonical, value)


def _strict(encode: Callable[[Any], str], value: Any) -> str:
    try:
        text = encode(value)
    except ValueError:
        text = encode(_finite(value))
    return text if text.isascii() else clean(text)


def clean(text: str) -> str:
    """``text`` with half surrogate pairs replaced by U+FFFD: the form in which it can be stored and sent."""
    return _LONE_SURROGATES.sub("\ufffd", text)


def copy_json(value: Any) -> Any:
    """A deep copy of a JSON value; much faster than ``copy.deepcopy`` for the small argument objects of tool calls."""
    if isinstance(value, dict):
        return {key: item if item.__class__ in _SHARED else copy_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [item if item.__class__ in _SHARED else copy_json(item) for item in value]
    return value


_SHARED = frozenset((str, int, float, bool, type(None)))
"""Values that never change, so that a copy may hold the same."""


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
