"""Formats that hold messages much like those of OpenAI Chat and mean something else by them.

No reader knows them yet. Read as OpenAI Chat they would lose their calls, their results or their numbers without a
word; so they are told by keys that no file of OpenAI Chat has, and are refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from traces.container import Document
from traces.wire import bedrock

_LOOKED_AT = 20
_UNTYPED = "a message list of an API whose content blocks have no type"

_OWN = re.compile(r"agent-(trace|journal)/\d+")


def name_of(document: Document) -> str | None:
    """What the document is, in words; None where nothing speaks against OpenAI Chat."""
    records = document.records[:_LOOKED_AT]
    return _of_messages(records) or next(filter(None, map(name_of_record, records)), None)


def name_of_record(value: Any) -> str | None:
    """The same for one record: a message, a message list, a row of a data set, a request, or an exchange."""
    if isinstance(value, list):
        return _of_messages(value)
    if not isinstance(value, Mapping):
        return None
    if isinstance(schema := value.get("schema"), str) and _OWN.fullmatch(schema):
        return f"a file of an unknown version of our own format ({schema})"
    if "role" in value and "messages" not in value:
        return _of_messages([value])
    if isinstance(request := value.get("request"), Mapping):
        return name_of_record(request)
    return _of_request(value)


def _of_request(body: Mapping[str, Any]) -> str | None:
    messages = body.get("messages")
    return _of_messages(messages) if isinstance(messages, list) else None


def _of_messages(messages: list[Any]) -> str | None:
    for message in _mappings(messages):
        role, content = message.get("role"), message.get("content")
        if not isinstance(role, str):
            continue
        if not bedrock.is_message(message) and (name := _of_parts(content if isinstance(content, list) else ())):
            return name
    return None


def _of_parts(parts: Iterable[Any]) -> str | None:
    for part in _mappings(parts):
        if part.get("type") is None:
            return _UNTYPED
    return None


def _mappings(items: Iterable[Any]) -> Iterable[Mapping[str, Any]]:
    return (item for item in islice(items, _LOOKED_AT) if isinstance(item, Mapping))
