"""Checking a script against its fields, and the sentence for everything that is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agent.errors import InputError
from agent.scripts import source
from agent.scripts.fields import ScriptFields
from agent.toolbox import nearest

Place = list[str | int]


def check(data: Any, text: str, name: str) -> ScriptFields:
    """The fields of a script, checked.

    Args:
        data: what :func:`agent.scripts.source.read` gave.
        text: the text it was read from, to find lines.
        name: what the text is called in errors.

    Raises:
        InputError: the first thing that is wrong: file, line, place, what was expected.
    """
    short = isinstance(data, list)
    if short:
        data = {"turns": data}
    if not isinstance(data, Mapping):
        raise InputError(f"{name}: a script is a mapping with the key turns, or a list of turns; found {_kind(data)}")
    try:
        return ScriptFields.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = [part for part in first["loc"] if not str(part).startswith("<")]
        if first["type"] == "value_error":
            place += getattr(first["ctx"]["error"], "place", ())
        shown = place[1:] if short else place
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise InputError(f"{source.where(name, text, shown)}: {_sentence(first, place)}{more}") from error


def _sentence(error: ErrorDetails, place: Place) -> str:
    """What is wrong, in words."""
    kind, found = error["type"], _kind(error["input"])
    if kind == "extra_forbidden":
        keys = _keys_at(place[:-1])
        return f"unknown key {place[-1]!r}{nearest(str(place[-1]), keys)}"
    if kind == "missing":
        return f"the key {place[-1]!r} is missing"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind == "literal_error":
        return f"expected {error['ctx']['expected']}, found {found}"
    expected = _EXPECTED.get(kind)
    if expected:
        return f"expected {expected}, found {found}"
    message = error["msg"]
    return f"{message[0].lower()}{message[1:]}, found {found}"


_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "union_tag_invalid": "a text or a mapping",
}


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    shown = repr(value) if not isinstance(value, bool) else str(value).lower()
    return shown if len(shown) <= 40 else f"{shown[:40]}…"


def _keys_at(place: Place) -> list[str]:
    """The keys that a script knows at this place."""
    group: type[BaseModel] = ScriptFields
    for part in place:
        if isinstance(part, str):
            known = {field.alias or name: field for name, field in group.model_fields.items()}
            group = _group_in(known[part].annotation) or group
    return [field.alias or name for name, field in group.model_fields.items()]


def _group_in(annotation: Any) -> type[BaseModel] | None:
    """The group of keys inside an annotation such as ``list[TurnFields] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_group_in, get_args(annotation))), None)
