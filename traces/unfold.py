"""JSON inside text, and flat dotted attributes: how span formats pack structured values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from traces.wire.openai_chat import decoded

_OPENERS = ("{", "[", '"')
_DEEPEST = 3
_LOOKED_AT = 20


def unfold(value: Any) -> Any:
    """What a text holds as JSON, also where it was written as JSON text two or three times over; else ``value``."""
    for _ in range(_DEEPEST):
        if not isinstance(value, str) or not value.lstrip().startswith(_OPENERS):
            break
        inner = decoded(value)
        if inner is None:
            break
        value = inner
    return value


def object_in(value: Any) -> Mapping[str, Any]:
    """``value``, or the JSON in it, where that is an object; else an empty one."""
    value = unfold(value)
    return value if isinstance(value, dict) else {}


def list_in(value: Any, keys: Sequence[str], is_item: Callable[[Any], bool]) -> list[Any]:
    """A list that holds such items: ``value`` itself, or what stands under the first of these keys; else none."""
    if isinstance(value, dict):
        value = next((value[key] for key in keys if key in value), None)
    value = unfold(value)
    return value if isinstance(value, list) and any(map(is_item, value[:_LOOKED_AT])) else []


# -- attributes ----------------------------------------------------------------------------------------------------


class Attributes(dict[str, Any]):
    """The attributes of a span. Spans with the same keys share what was found out about these.

    Nine of ten keys that are asked for are those of other conventions; so the few that can be there are remembered.
    """

    __slots__ = ("known",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.known: _Keys | None = _keys_of(tuple(data)) if len(data) <= _FEW else None


_FEW = 64
"""Attributes of more keys than that are not remembered."""


class _Keys(dict[tuple[str, ...], tuple[str, ...]]):
    """Keys that are asked for -> those of them that can be there, for attributes that have a certain set of keys."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        super().__init__()
        self._keys = frozenset(keys)
        self.beginnings = frozenset(key[: n + 1] for key in keys for n, letter in enumerate(key) if letter == ".")
        """Every beginning of a key up to a dot."""

    def __missing__(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        found = self[asked] = tuple(key for key in asked if key in self._keys or _head(key) in self._keys)
        return found


@lru_cache(maxsize=256)
def _keys_of(keys: tuple[str, ...]) -> _Keys:
    return _Keys(keys)


def _head(path: str) -> str:
    return path.partition(".")[0]


def possible(attributes: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the keys under which something can stand."""
    known = attributes.known if attributes.__class__ is Attributes else None
    return keys if known is None else known[keys]


def first(attributes: Mapping[str, Any], *keys: str) -> Any:
    """The first value that is there and not empty; keys may be dotted paths into nested objects."""
    for key in possible(attributes, keys):
        value = attributes.get(key)
        if value is None:
            value = _inner(attributes, key)
        if value is not None and value != "":
            return value
    return None


def _inner(attributes: Mapping[str, Any], path: str) -> Any:
    head, _, rest = path.partition(".")
    value = attributes.get(head)
    while rest and isinstance(value, dict):
        if rest in value:
            return value[rest]
        head, _, rest = rest.partition(".")
        value = value.get(head)
    return None if rest else value


def number(value: Any) -> float | None:
    """A number that may be written as text, or wrapped as ``{"intValue": 3}``."""
    if value.__class__ is int:
        return float(value)
    if isinstance(value, str):
        value = unfold(value)
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return None
    return float(value)


def branch(attributes: Mapping[str, Any], prefix: str) -> Any:
    """What stands under ``prefix``: under the key itself, under nested objects, or spread over flat keys.

    ``{"a.0.b": 1, "a.1.b": 2}`` gives ``[{"b": 1}, {"b": 2}]`` for ``"a"``. A gap in a list is None.
    """
    whole = first(attributes, prefix)
    if whole is not None:
        return _listed(unfold(whole))
    start = prefix + "."
    if isinstance(attributes, Attributes) and attributes.known and start not in attributes.known.beginnings:
        return None
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        if isinstance(key, str) and key.startswith(start):
            _put(tree, key[len(start) :].split("."), value)
    return _listed(tree) if tree else None


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        inner = tree.get(part)
        if not isinstance(inner, dict):
            inner = tree[part] = {}
        tree = inner
    tree[path[-1]] = value


_MOST_ITEMS = 100_000


def _listed(tree: Any) -> Any:
    """Objects whose keys are all numbers as lists."""
    if not isinstance(tree, dict):
        return tree
    items = {key: _listed(value) for key, value in tree.items()}
    if not items or not all(isinstance(key, str) and key.isdecimal() for key in items):
        return items
    numbers = {int(key): value for key, value in items.items() if len(key) <= 6}
    last = max(numbers, default=-1)
    return [numbers.get(place) for place in range(last + 1)] if last < _MOST_ITEMS else list(numbers.values())
