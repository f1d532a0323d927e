"""The outgoing copy of messages and tool schemas, in the form that one host wants. What needs no change is shared."""

from __future__ import annotations

import hashlib
import operator
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

from agent import jsontext
from agent.messages import Message
from agent.models.profiles import Profile
from agent.schema import portable

REASONING_KEYS = frozenset(("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"))
"""Keys under which providers send the model's reasoning beside the answer."""

_SCHEMA_KEYS = frozenset(
    (
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "properties",
        "required",
        "anyOf",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
    )
)
_CALL_KEYS = frozenset(("id", "type", "function"))
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}\Z")
_ALPHABET = string.ascii_letters + string.digits


class HistoryEncoder:
    """The messages of one request after another as JSON, each message encoded once.

    The history of a run only grows, so a request begins with the very messages of the one before, and the text of those
    is still here. Any other request is encoded as a whole.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._last: tuple[list[Message], bytes] = [], b""

    def encode(self, messages: Sequence[Message]) -> bytes:
        """The messages as this host accepts them, in one JSON array in UTF-8."""
        known, text = self._last
        if len(known) > len(messages) or not all(map(operator.is_, known, messages)):
            known, text = [], b""
        if new := [wire_message(message, self._profile) for message in messages[len(known) :]]:
            more = jsontext.dump_bytes(new)[1:-1]
            text = b"%b,%b" % (text, more) if text else more
        self._last = list(messages), text
        return b"[%b]" % text


def wire_message(message: Message, profile: Profile) -> dict[str, Any]:
    """The message as this host accepts it; the message's own shared dict where nothing has to change."""
    data = message.to_dict()
    if message.role != "assistant" and message.content is not None and not (message.extra or profile.short_ids):
        return data
    changed: dict[str, Any] = {}
    if message.content is None and (not message.tool_calls or profile.content == "empty"):
        changed["content"] = ""
    if message.tool_calls and (calls := _wire_calls(data["tool_calls"], profile)) is not None:
        changed["tool_calls"] = calls
    if message.tool_call_id is not None and profile.short_ids:
        changed["tool_call_id"] = short_id(message.tool_call_id)
    dropped = _dropped_keys(message, profile) if message.extra else set()
    if message.tool_calls and not message.content and profile.content == "omit":
        dropped.add("content")
    if not dropped and not changed:
        return data
    return {key: changed.get(key, value) for key, value in data.items() if key not in dropped}


def short_id(call_id: str) -> str:
    """A call id of nine letters and digits: the same one, or one that always follows from it.

    Source of the rule: Mistral's API answers 400 to every other form.
    """
    if _SHORT_ID.match(call_id):
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode("utf-8", "replace")).digest())
    letters = []
    for _ in range(9):
        number, digit = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)


def wire_schemas(schemas: Sequence[Mapping[str, Any]], profile: Profile) -> Sequence[Mapping[str, Any]]:
    """The tool schemas as this host accepts them."""
    if not profile.plain_schemas:
        return schemas
    plain = []
    for schema in schemas:
        function = dict(schema.get("function") or {})
        parameters = function.get("parameters")
        if isinstance(parameters, Mapping):
            function["parameters"] = _plain_schema(portable(dict(parameters)))
        function.pop("strict", None)
        plain.append({**schema, "function": function})
    return plain


def _wire_calls(calls: list[dict[str, Any]], profile: Profile) -> list[dict[str, Any]] | None:
    """The calls with ids and names that the host accepts, or None where they are fine as they are."""
    wire = []
    same = True
    for call in calls:
        function = call["function"]
        new = call
        if not _NAME.match(function["name"]):
            new = {**new, "function": {**function, "name": _plain_name(function["name"])}}
        if profile.short_ids and (call_id := short_id(call["id"])) != call["id"]:
            new = {**new, "id": call_id}
        if not profile.unknown_keys and not _CALL_KEYS.issuperset(new):
            new = {key: value for key, value in new.items() if key in _CALL_KEYS}
        same = same and new is call
        wire.append(new)
    return None if same else wire


def _plain_name(name: str) -> str:
    """A name that hosts accept in the history; what the model wrote stays in the message list."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"


def _dropped_keys(message: Message, profile: Profile) -> set[str]:
    if not profile.unknown_keys:
        return set(message.extra)
    keeps = profile.reasoning == "always" or (profile.reasoning == "tool_calls" and bool(message.tool_calls))
    return set() if keeps else set(REASONING_KEYS & message.extra.keys())


def _plain_schema(schema: Any) -> Any:
    """A schema without references with only the common keywords left."""
    if not isinstance(schema, Mapping):
        return schema
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("oneOf", "anyOf"):
            plain["anyOf"] = [_plain_schema(item) for item in value]
        elif key == "allOf":
            for item in value:
                plain |= _plain_schema(item) if isinstance(item, Mapping) else {}
        elif key == "properties":
            plain[key] = {name: _plain_schema(item) for name, item in value.items()}
        elif key == "items":
            plain[key] = [_plain_schema(item) for item in value] if isinstance(value, list) else _plain_schema(value)
        elif key in _SCHEMA_KEYS:
            plain[key] = value
    return plain
