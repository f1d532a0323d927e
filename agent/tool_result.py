"""What a tool gave back: any Python value as one stable JSON value and one stable text.

Stable means that the same outcome always reads the same: no memory addresses, sets in order, times in ISO form. The
repeat rule, a replay and a diff of two traces all compare these texts.
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import ItemsView, Iterable, KeysView, Mapping, Set, ValuesView
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

from agent import jsontext
from agent.errors import ArgumentError, ToolFailure
from agent.redact import redact_text

MAX_DEPTH = 100
"""Containers inside containers that a result may have; what lies deeper is replaced by a sentence."""
MAX_BITS = 10_000
"""Longer integers are refused by many JSON parsers, Python's own among them."""
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


class ToolResult(NamedTuple):
    """The outcome of one tool call."""

    value: Any
    """The result as a JSON value; ``{"error", "retryable"}`` for a failure."""
    text: str
    """What the tool message says: a string result as it is, everything else as JSON."""
    ok: bool = True
    """False: the tool failed, or never ran."""
    retryable: bool | None = None
    """Of a failure: whether another call, corrected or later, may succeed. None for a success."""
    latency_ms: float | None = None
    """Milliseconds from the check of the arguments to the result; None when nothing ran."""
    timed_out: bool = False
    """True when the tool's time was up before it answered."""

    @classmethod
    def of(cls, value: Any, latency_ms: float | None = None) -> ToolResult:
        """The successful result ``value``. Never raises: what has no JSON form is replaced as :func:`plain` says."""
        value = plain(value)
        kind = value.__class__
        text = value if kind is str else str(value) if kind is int else jsontext.dumps(value)
        return cls(value, text, True, None, latency_ms)

    @classmethod
    def failed(
        cls, error: str, *, retryable: bool, latency_ms: float | None = None, timed_out: bool = False
    ) -> ToolResult:
        """A failure, told to the model as ``{"error": ..., "retryable": ...}``."""
        value = {"error": jsontext.clean(error), "retryable": retryable}
        return cls(value, jsontext.dumps(value), False, retryable, latency_ms, timed_out)

    @classmethod
    def of_exception(cls, error: BaseException, latency_ms: float | None = None) -> ToolResult:
        """The failure that an exception stands for, its text without secrets."""
        return cls.failed(describe(error), retryable=is_retryable(error), latency_ms=latency_ms)


def error_in(text: str) -> Mapping[str, Any] | None:
    """The object ``{"error", "retryable"}`` that the text of a failure is; None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "error" in value else None


def describe(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """An exception in words: ``ValueError: too small``; the words alone where they were written for the model.

    Memory addresses and secrets are taken out, and with them the exact values in ``secrets``. Never raises.
    """
    try:
        words = redact_text(_ADDRESS.sub("", str(error)), secrets)
    except Exception:
        words = ""
    if isinstance(error, (ToolFailure, ArgumentError)) and words:
        return words
    name = type(error).__name__
    return f"{name}: {words}" if words else name


def is_retryable(error: BaseException) -> bool:
    """Whether another call may help. The rule, which the model sees as ``retryable``:

    - a :class:`ToolFailure` says so itself;
    - what is forbidden or does not exist stays so: ``PermissionError`` and ``NotImplementedError`` are false, as is an
      unknown tool;
    - everything else is true: wrong arguments can be corrected, and a timeout, a lost connection or a missing file can
      be answered by a later or another call.
    """
    if isinstance(error, ToolFailure):
        return error.retryable
    return not isinstance(error, (PermissionError, NotImplementedError))


def plain(value: Any, above: tuple[int, ...] = ()) -> Any:
    """``value`` as a JSON value that shares nothing with it.

    Times become ISO text, enum members their values, sets sorted lists, dataclasses, named tuples and pydantic models
    objects, bytes their UTF-8 text or ``<bytes 3>``, non-finite floats ``"NaN"``, ``"Infinity"``, ``"-Infinity"``. Keys
    become strings. A container inside itself becomes ``<cycle>``, an iterator ``<generator>`` (it is not run), and what
    else has no JSON form its ``str()`` without memory addresses. Never raises.

    Args:
        above: identities of the containers that hold ``value``.
    """
    kind = value.__class__
    if kind is str:
        return value if value.isascii() else jsontext.clean(value)
    if kind is int:
        return value if value.bit_length() <= MAX_BITS else f"<integer of {value.bit_length()} bits>"
    if value is None or kind is bool:
        return value
    if kind is float:
        return value if math.isfinite(value) else _name_of(value)
    if id(value) in above:
        return "<cycle>"
    if len(above) >= MAX_DEPTH:
        return "<nested too deeply>"
    try:
        return _convert(value, (*above, id(value)))
    except Exception:
        return f"<{type(value).__name__}>"


def _convert(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, Mapping):
        return {_key(key): plain(item, above) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(item, above) for name, item in zip(value._fields, value, strict=True)}
    if isinstance(value, (list, tuple, deque, KeysView, ValuesView, ItemsView)):
        return [plain(item, above) for item in value]
    if isinstance(value, Set):
        return _sorted([plain(item, above) for item in value])
    if isinstance(value, Enum):
        return plain(value.value, above)
    for base, exact in _EXACT:
        if isinstance(value, base):
            return plain(exact(value), above)
    return _convert_object(value, above)


_EXACT: tuple[tuple[type, Any], ...] = ((str, str.__str__), (int, int.__int__), (float, float.__float__))
"""How an object of a subclass gives the plain value, whatever the subclass overrides."""


def _convert_object(value: Any, above: tuple[int, ...]) -> Any:
    kind = type(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _text_of(bytes(value))
    if isinstance(value, BaseException):
        return describe(value)
    if isinstance(value, type):
        return f"<class {value.__name__}>"
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name), above) for f in fields(value)}
    if hasattr(kind, "model_dump"):
        return plain(value.model_dump(mode="json"), above)
    if hasattr(kind, "isoformat"):
        return str(value.isoformat())
    if hasattr(kind, "tolist"):  # arrays and scalars of numpy
        return plain(value.tolist(), above)
    if hasattr(kind, "__next__") or hasattr(kind, "__anext__"):
        return f"<{kind.__name__}>"
    return jsontext.clean(_ADDRESS.sub("", str(value)))


def _key(key: Any) -> str:
    key = plain(key)
    return key if isinstance(key, str) else jsontext.dumps(key)


def _sorted(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=jsontext.dumps)


def _name_of(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _text_of(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"<bytes {len(data)}>"
