"""What all groups of keys in a script have in common."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A group of keys. An unknown key is an error, and ``"3"`` is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Misplaced(ValueError):
    """What is wrong with a group of keys stands at a place inside it.

    Args:
        place: keys and positions that lead there.
        sentence: what is wrong, and what was expected.
    """

    def __init__(self, place: Sequence[str | int], sentence: str) -> None:
        super().__init__(sentence)
        self.place = tuple(place)
