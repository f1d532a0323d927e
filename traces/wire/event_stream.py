"""The binary event stream of Amazon, as recordings of Bedrock keep it: hexadecimal text.

One message is: its length and that of its headers (4 bytes each, big-endian), a checksum (4), the headers, the payload,
a checksum (4). A header is: the length of its name (1), the name, its type (1; 7 is text), the length of the text (2),
the text. Source: the documentation of ``vnd.amazon.eventstream``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from traces.wire.openai_chat import decoded

_HEX = re.compile(r"0000[0-9a-f]{20,}")
_TEXT = 7
_AROUND = 16
"""Bytes of a message that are neither headers nor payload."""


def read(text: str) -> list[dict[str, Any]] | None:
    """The events of a stream; None where ``text`` is something else.

    Events of InvokeModel are those of the model's own API, events of Converse stand under their name.
    """
    if len(text) % 2 or not _HEX.fullmatch(text):
        return None
    return [event for kind, payload in _messages(bytes.fromhex(text)) if (event := _event(kind, payload))] or None


def _messages(data: bytes) -> Iterator[tuple[str, bytes]]:
    """``(event type, payload)`` of each whole message."""
    while len(data) >= _AROUND:
        length, headers = int.from_bytes(data[:4], "big"), int.from_bytes(data[4:8], "big")
        if not headers + _AROUND <= length <= len(data):
            return
        yield _event_type(data[12 : 12 + headers]), data[12 + headers : length - 4]
        data = data[length:]


def _event_type(headers: bytes) -> str:
    while len(headers) > 1:
        name_end = 1 + headers[0]
        name, rest = headers[1:name_end], headers[name_end:]
        if len(rest) < 3 or rest[0] != _TEXT:
            return ""
        value_end = 3 + int.from_bytes(rest[1:3], "big")
        if name in (b":event-type", b":exception-type"):
            return rest[3:value_end].decode(errors="replace")
        headers = rest[value_end:]
    return ""


def _event(kind: str, payload: bytes) -> dict[str, Any] | None:
    value = decoded(payload.decode(errors="replace"))
    if not isinstance(value, dict):
        return None
    if not isinstance(inner := value.get("bytes"), str):
        return {kind: value}
    try:
        value = decoded(base64.b64decode(inner).decode(errors="replace"))
    except binascii.Error:
        return None
    return value if isinstance(value, dict) else None
