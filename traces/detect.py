"""Which format is it? Each reader is asked in turn; the user may override the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.errors import InputError
from traces import lookalikes
from traces.container import Document
from traces.readers import READERS, Reader

_SHOWN_KEYS = 8


def find_reader(document: Document, format: str | None = None) -> Reader | None:
    """The reader for a document; None where no reader knows its shape.

    Args:
        document: what to read.
        format: the format that the user chose; then nothing is guessed.

    Raises:
        InputError: there is no format of that name.
    """
    if format is None:
        return next((reader for reader in READERS if reader.matches(document)), None)
    for reader in READERS:
        if format == reader.NAME:
            return reader
    raise InputError(f"there is no format {format!r}; choose one of {', '.join(formats())}")


def formats() -> list[str]:
    """The names of all formats that can be read."""
    return [reader.NAME for reader in READERS]


def expectation(document: Document) -> str:
    """One sentence for a document that no reader knows: what it holds, and what was looked for."""
    name = lookalikes.name_of(document)
    what = f"this looks like {name}, which cannot be read here" if name else "no known trace format"
    return (
        f"{what}: the file holds {_shape(document)}; expected one of {', '.join(formats())}, "
        'for example a list of messages with "role" and "content"'
    )


def _shape(document: Document) -> str:
    if document.members:
        return f"an archive of {len(document.members):,} files"
    return _shape_of(document.value)


def _shape_of(value: Any, inside: bool = False) -> str:
    if isinstance(value, Mapping):
        keys = [str(key) for key in value]
        if not keys:
            return "an empty object"
        more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
        return f"an object with the keys {', '.join(key[:40] for key in keys[:_SHOWN_KEYS])}{more}"
    if isinstance(value, list):
        if inside or not value:
            return "a list" if value else "an empty list"
        return f"a list of {len(value):,} items, the first of them {_shape_of(value[0], True)}"
    names = {str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
