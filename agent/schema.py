"""JSON Schema of tool arguments: checking against it, and writing it so that every host accepts it.

One rule of conversion holds for all tools. Where the schema wants an integer, a number, true or false, null, an array
or an object, and the model sent a string that spells exactly such a value in JSON (or ``True``/``False`` as Python
does), that value is taken. Nothing else is converted: ``"false"`` is never true, ``true`` is not 1, 5 is no string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agent import jsontext
from agent.errors import ArgumentError, ToolDefinitionError

RECURSION_DEPTH = 2
"""How often a type may be written out inside itself; deeper it is only ``{"type": "object"}``."""
_ROUNDS = 3
"""How often strings are read again: a list spelt as a string may hold numbers spelt as strings."""
_SHOWN = 300
"""Characters of a parameter's schema, or of a message, that an error shows."""


class ArgumentSchema:
    """The compiled check of one tool's arguments against its JSON Schema."""

    __slots__ = ("_schema", "_validator")

    def __init__(self, schema: dict[str, Any], *, formats: bool = False) -> None:
        """Compile the schema. References to other documents are never fetched.

        Args:
            formats: also check ``format``, which JSON Schema itself takes for a remark only.

        Raises:
            ToolDefinitionError: the schema is broken, is not JSON, or does not describe an object.
        """
        import jsonschema_rs

        if not isinstance(schema, dict) or schema.get("type", "object") != "object":
            raise ToolDefinitionError('the parameters must be a JSON Schema of "type": "object"')
        try:
            jsontext.dumps(schema)
            self._validator: Any = jsonschema_rs.validator_for(
                schema, offline=True, validate_formats=formats, formats=_FORMATS
            )
        except (TypeError, ValueError, RecursionError) as error:
            place = "/".join(map(str, getattr(error, "instance_path", ())))
            words = str(getattr(error, "message", error))[:_SHOWN]
            raise ToolDefinitionError(
                f"the parameters are not a valid JSON Schema{f' at {place}' if place else ''}: {words}"
            ) from error
        self._schema = schema

    def check(self, arguments: Any) -> dict[str, Any]:
        """The arguments as they fit the schema: the object itself, or a copy with strings read as values.

        Raises:
            ArgumentError: they do not fit; the text names each parameter and what it takes.
        """
        if not isinstance(arguments, dict):
            raise ArgumentError(f"wrong arguments: they must be a JSON object, not {str(arguments)[:_SHOWN]}")
        if self._validator.is_valid(arguments):
            return arguments
        fitting: dict[str, Any] = jsontext.copy_json(arguments)
        errors = list(self._validator.iter_errors(fitting))
        for _ in range(_ROUNDS):
            if not _read_strings(fitting, errors):
                break
            errors = list(self._validator.iter_errors(fitting))
            if not errors:
                return fitting
        raise ArgumentError("wrong arguments: " + "; ".join(self._explain(error) for error in errors[:5]))

    def _explain(self, error: Any) -> str:
        place = _place(error.instance_path)
        properties = self._schema.get("properties") or {}
        if (missing := getattr(error.kind, "property", None)) is not None:
            return f"{f'{place}.{missing}' if place else missing} is missing"
        if (unknown := getattr(error.kind, "unexpected", None)) is not None:
            known = f"; the parameters are {', '.join(properties) or 'none'}" if not place else ""
            return f"unknown {'key of ' + place if place else 'parameter'} {', '.join(map(repr, unknown))}{known}"
        words = f"{place or 'arguments'}: {str(error.message)[:_SHOWN]}"
        return words + takes(self._schema, error.instance_path)


_FORMATS: dict[str, Callable[[str], bool]] = {
    "date-time": lambda text: re.match(r"\d{4}-\d\d-\d\d", text) is not None,
    "time": lambda text: re.match(r"\d\d:\d\d", text) is not None,
}
"""Formats that we take more loosely than the RFC: the offset may be missing. A bare number is still no time."""


def takes(schema: Mapping[str, Any], path: Any) -> str:
    """What the parameter at the head of ``path`` takes, as an addition to an error; empty where that is too long."""
    wanted = (schema.get("properties") or {}).get(path[0]) if path else None
    text = "" if wanted is None else jsontext.dumps(wanted)
    return f" ({path[0]} takes {text})" if 0 < len(text) <= _SHOWN else ""


def _place(path: Any) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _read_strings(arguments: dict[str, Any], errors: list[Any]) -> bool:
    """Put values in the place of refused strings that spell them; whether there were any."""
    changed = False
    for error in errors:
        if not isinstance(error.instance, str) or not error.instance_path:
            continue
        for wanted in _wanted(error):
            found, value = _spelt(error.instance, wanted)
            if found:
                _put(arguments, error.instance_path, value)
                changed = True
                break
    return changed


def _wanted(error: Any) -> Iterator[str]:
    """The JSON types that would have been accepted in the place of an error."""
    if error.kind.name == "type":
        yield from error.kind.types
    for branch in getattr(error.kind, "context", ()):
        for inner in branch:
            if inner.instance_path == error.instance_path:
                yield from _wanted(inner)


def _spelt(text: str, wanted: str) -> tuple[bool, Any]:
    if wanted == "boolean" and text.strip() in ("True", "False"):
        return True, text.strip() == "True"
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False, None
    return _JSON_TYPES.get(wanted, _never)(value), value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _never(value: Any) -> bool:
    return False


_JSON_TYPES: dict[str, Callable[[Any], bool]] = {
    "integer": lambda value: type(value) is int or (type(value) is float and value.is_integer()),
    "number": lambda value: type(value) in (int, float),
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "array": lambda value: type(value) is list,
    "object": lambda value: type(value) is dict,
}


def _put(target: Any, path: Any, value: Any) -> None:
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value


_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SINGLES = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")


def map_schema(node: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """A copy of a schema node with ``change`` applied to each schema directly inside it, and to nothing else.

    A parameter called ``items`` or an enum value that looks like a schema is not mistaken for one.
    """
    new = dict(node)
    for key in _MAPS:
        if isinstance(node.get(key), dict):
            new[key] = {name: change(inner) for name, inner in node[key].items()}
    for key in _LISTS:
        if isinstance(node.get(key), list):
            new[key] = [change(inner) for inner in node[key]]
    for key in _SINGLES:
        if isinstance(node.get(key), dict):
            new[key] = change(node[key])
    return new


def portable(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema in the words that hosts agree on.

    No ``$ref``: types stand where they are used, and a recursive one ends after :data:`RECURSION_DEPTH` rounds. A
    single allowed value is a list of one. Every array has ``items``, also beside ``prefixItems``, for hosts that know
    only that. Titles made from names are left out.
    """

    def write(node: Any, above: tuple[str, ...] = ()) -> Any:
        if not isinstance(node, dict):
            return node
        ref = node.get("$ref")
        if isinstance(ref, str):
            beside = {key: value for key, value in node.items() if key != "$ref"}
            if above.count(ref) > RECURSION_DEPTH:
                return {"type": "object"} | beside
            return write(_target(schema, ref) | beside, (*above, ref))
        new = map_schema(node, lambda inner: write(inner, above))
        for key in ("$defs", "definitions", "title", "discriminator"):
            new.pop(key, None)
        if "const" in new:
            new["enum"] = [new.pop("const")]
        if new.get("type") == "array" and "items" not in new:
            new["items"] = _any_of(new.get("prefixItems") or [])
        return new

    return write(schema)  # type: ignore[no-any-return]


def _target(schema: dict[str, Any], ref: str) -> dict[str, Any]:
    """What a reference inside the document points at; anything where it points nowhere or outside."""
    node: Any = schema if ref.startswith("#") else None
    for part in ref.removeprefix("#").split("/")[1:]:
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def _any_of(schemas: list[Any]) -> Any:
    different = [item for i, item in enumerate(schemas) if item not in schemas[:i]]
    return {"anyOf": different} if len(different) > 1 else different[0] if different else {}
