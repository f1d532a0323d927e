"""What all groups of keys in a script have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

_SHOWN = 40


class Strict(BaseModel):
    """A group of keys. An unknown key is an error, ``"3"`` is not a number, and a number is finite."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Misplaced(ValueError):
    """What is wrong with a group of keys stands at a place inside it.

    Args:
        place: keys and positions that lead there.
        sentence: what is wrong, and what was expected.
    """

    def __init__(self, place: Sequence[str | int], sentence: str) -> None:
        super().__init__(sentence)
        self.place = tuple(place)


TEXT, MAPPING = "<text>", "<mapping>"
"""The tags of what may be either; pydantic puts them into its places."""


def text_or_mapping(value: Any) -> str | None:
    """Which of the two tags a value has."""
    return TEXT if isinstance(value, str) else MAPPING if isinstance(value, Mapping) else None


def short_for(key: str, **more: Any) -> BeforeValidator:
    """A plain text is short for a mapping in which it stands under ``key``, with ``more`` beside it."""

    def lengthen(value: Any) -> Any:
        if isinstance(value, str):
            return {key: value, **more}
        if not isinstance(value, Mapping):
            raise ValueError(f"expected a text or a mapping, found {found(value)}")
        return value

    return BeforeValidator(lengthen)


def found(value: Any) -> str:
    """A value in the words of an error."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    shown = repr(value) if not isinstance(value, bool) else str(value).lower()
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
