"""Bytes to text to JSON values: encodings, halves of characters, and what writers put beyond the standard."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

import msgspec

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def wide_encoding(data: bytes) -> str | None:
    """utf-16 or utf-32, where a mark says so or a zero byte beside the first letter does; None for anything else."""
    return next((encoding for bom, encoding in _BOMS if data.startswith(bom)), None) or _unmarked(data[:4])


def as_utf8(data: bytes) -> bytes:
    """The same text in UTF-8 without a byte order mark. What is no character in UTF-16 or UTF-32 becomes U+FFFD."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    encoding = wide_encoding(data)
    return data if encoding is None else data.decode(encoding, "replace").encode()


def _unmarked(head: bytes) -> str | None:
    zeros = [byte == 0 for byte in head]
    if zeros == [True, True, True, False]:
        return "utf-32-be"
    if zeros == [False, True, True, True]:
        return "utf-32-le"
    if zeros[:2] in ([True, False], [False, True]):
        return "utf-16-be" if zeros[0] else "utf-16-le"
    return None


def bad_byte(error: UnicodeDecodeError, data: bytes) -> str:
    """One sentence for a byte that is not UTF-8: which, where, and what to do."""
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


_RAW_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")


def whole_characters(data: bytes) -> bytes:
    """JSON text with U+FFFD for each half of a surrogate pair, escaped or raw: no file and no page can hold one."""
    if b"\xed" in data:
        data = _RAW_SURROGATE.sub("\ufffd".encode(), data)
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _SURROGATES.sub(lambda found: b"\\ufffd" if found["lone"] else found[0], data)


_fast = msgspec.json.Decoder()
"""Reads in half of the time what is plain JSON, and then gives the same values as ``json``: floats to the last bit,
integers of any size that both take. Whatever it refuses is left to ``json``, whose words and positions errors have."""


def loads(text: str | bytes) -> Any:
    """``json.loads`` that takes everything Python's own writer writes.

    An integer with more digits than Python converts stays text. In bytes, half of a surrogate pair becomes U+FFFD.

    Raises:
        ValueError: ``text`` is not JSON, or not UTF-8, or is nested too deeply to be read.
    """
    try:
        return plain(text)
    except ValueError:
        pass
    if isinstance(text, bytes):
        text = whole_characters(text).decode()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise ValueError("it is nested too deeply to be read") from None
    except ValueError:
        return json.loads(text, parse_int=_int_or_text)


def plain(text: str | bytes) -> Any:
    """The value of JSON text that holds nothing odd; much is refused here that :func:`loads` reads.

    Raises:
        ValueError: it is not JSON, or not plain; the words are not for people.
    """
    try:
        return _fast.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def plain_lines(data: bytes) -> list[Any] | None:
    """The values of text that has one on every line, and nothing odd anywhere; None for all other text."""
    try:
        values: list[Any] = _fast.decode_lines(data)
    except (ValueError, RecursionError):
        return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return values if len(values) == lines else None


def _int_or_text(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return digits
