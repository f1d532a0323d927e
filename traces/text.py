"""Text for people out of anything that a trace can hold: never too long, never the bytes of an image."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agent import jsontext
from agent.messages import Message
from traces.decoding import loads
from traces.repair import TOOL_ROLES, as_text

CELL_LENGTH = 240
"""Characters of a table cell. The whole text is shown for one message at a time."""
_DATA_URL = re.compile(r"data:([\w.+-]{1,80}/[\w.+-]{1,80})?(?:;[\w.+=-]{1,80})*;base64,([A-Za-z0-9+/=_-]+)")
_CODED = 2000
"""Characters in a row from which on they may be coded data."""
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{2000,}={0,2}")
_MEDIA_KEYS = ("image_url", "input_audio", "file", "image", "audio", "source", "inlineData", "inline_data")


def message_text(message: Message) -> str:
    """The words of a message in full, with a short note in place of each image, sound, file and base64 block."""
    content = message.content
    if isinstance(content, str):
        return hide_data(readable_json(content) if message.role in TOOL_ROLES else content)
    if content is None:
        return ""
    if not isinstance(content, list):
        return hide_data(as_text(content))
    return "\n".join(text for part in content if (text := _part(part)))


def readable_json(text: str) -> str:
    """JSON text with the characters that a writer escaped needlessly: ``"\\u6771"`` as 東. Other text is left alone.

    What stands for a backslash and a ``u`` stays that, and so does everything that cannot be printed.
    """
    if "\\u" not in text or not text.lstrip().startswith(("{", "[", '"')):
        return text
    try:
        loads(text)
    except ValueError:
        return text
    return _ESCAPES.sub(_unescaped, text)


def unfolded_json(text: str) -> str | None:
    """JSON text, indented, with the JSON that stands inside its strings unfolded too; None where there is none inside.

    Agents pack results into results: a tool's answer is often JSON text in a field of JSON.
    """
    if not text.lstrip().startswith(("{", "[", '"')):
        return None
    try:
        value = loads(text)
        unfolded = _unfolded(value, 0)
        return None if unfolded == value else jsontext.dumps(unfolded, indent=True)
    except (ValueError, RecursionError):
        return None


_DEEPEST = 100
"""Levels of JSON that are unfolded; deeper ones stay text."""


def _unfolded(value: Any, level: int) -> Any:
    if level > _DEEPEST:
        return value
    if isinstance(value, dict):
        return {key: _unfolded(item, level + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_unfolded(item, level + 1) for item in value]
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return _unfolded(loads(value), level + 1)
        except (ValueError, RecursionError):
            return value
    return value


_ESCAPES = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}")
"""An escaped backslash (what follows it is plain text), a pair of surrogates, or one character."""


def _unescaped(found: re.Match[str]) -> str:
    character = found[0] if found[0] == "\\\\" else str(json.loads(f'"{found[0]}"'))
    return character if not character.isascii() and character.isprintable() else found[0]


def cell(text: str, length: int = CELL_LENGTH) -> str:
    """``text`` cut to the length of a table cell, with a mark where something was cut."""
    return text if len(text) <= length else text[: length - 1] + "…"


def hide_data(text: str) -> str:
    """``text`` with every base64 block replaced by its type and size: ``[image/png, 1.2 MB]``."""
    if "base64," in text:
        text = _DATA_URL.sub(lambda found: f"[{_media(found[1], len(found[2]))}]", text)
    if len(text) >= _CODED and _may_hold_code(text):
        text = _BASE64.sub(
            lambda found: f"[{_media('data', len(found[0]))}]" if _is_coded(found[0]) else found[0], text
        )
    return text


def _may_hold_code(text: str) -> bool:
    """Whether a stretch of text has no blank: so has one in every longer block. Far faster than the pattern alone."""
    stretch = _CODED // 2
    return any(len(text[at : at + stretch].split(None, 1)) == 1 for at in range(0, len(text) - stretch + 1, stretch))


def size_words(size: float) -> str:
    """Bytes in words: ``812 B``, ``1.2 MB``."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _media(kind: str | None, base64_length: int) -> str:
    return f"{kind or 'data'}, {size_words(base64_length * 3 // 4)}"


def _is_coded(text: str) -> bool:
    """Long runs of letters are coded data only where they mix cases and digits."""
    head = text[:500]
    return any(c.isdigit() for c in head) and any(c.isupper() for c in head) and any(c.islower() for c in head)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return hide_data(part)
    if not isinstance(part, Mapping):
        return hide_data(as_text(part))
    for key in ("text", "refusal"):
        if isinstance(part.get(key), str):
            return hide_data(part[key])
    for key in _MEDIA_KEYS:
        if (value := part.get(key)) is not None:
            return f"[{_media_part(key, value)}]"
    return hide_data(as_text(part))


def _media_part(key: str, value: Any) -> str:
    if not isinstance(value, Mapping):
        return cell(hide_data(as_text(value)))
    kind = value.get("media_type") or value.get("mimeType") or value.get("mime_type") or value.get("format")
    data = value.get("data") or value.get("file_data")
    if isinstance(data, str):
        return hide_data(data)[1:-1] if data.startswith("data:") else _media(f"{kind or key}", len(data))
    url = value.get("url")
    if isinstance(url, str):
        text = hide_data(url)
        return text[1:-1] if text.startswith("[") else cell(f"{key.removesuffix('_url')}: {text}")
    return cell(hide_data(as_text(value)))
