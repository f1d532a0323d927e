"""The images of a message: their bytes where the file holds them, never fetched from anywhere."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent.messages import Message

_SHOWN = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}
"""How the types of image begin that a browser draws without running anything. SVG is none of them."""
MAX_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Image:
    """One image of a message."""

    mime: str
    """By its first bytes, whatever the file says."""
    data: bytes


def images_of(message: Message) -> list[Image]:
    """The images that can be drawn, in order. Addresses, other types and damaged data give none."""
    parts = message.content if isinstance(message.content, list) else []
    return [image for part in parts for coded in _coded(part) if (image := _image(coded)) is not None]


def _coded(part: Any) -> Iterator[str]:
    """The base64 text of a part, in the forms of the providers."""
    if not isinstance(part, Mapping):
        return
    for key in ("image_url", "source", "image", "inlineData", "inline_data", "file", "input_image"):
        value = part.get(key)
        inner: Any = value if isinstance(value, Mapping) else {"url": value}
        for name in ("url", "data", "file_data"):
            text = inner.get(name)
            if isinstance(text, str) and text.startswith("data:"):
                yield text.partition(",")[2]
            elif isinstance(text, str) and name != "url":
                yield text


def _image(coded: str) -> Image | None:
    if not 16 < len(coded) < MAX_BYTES * 4 // 3:
        return None
    try:
        data = base64.b64decode(coded + "=" * (-len(coded) % 4))
    except (binascii.Error, ValueError):
        return None
    mime = next((mime for start, mime in _SHOWN.items() if data.startswith(start)), None)
    if mime is None or (mime == "image/webp" and data[8:12] != b"WEBP"):
        return None
    return Image(mime, data)
