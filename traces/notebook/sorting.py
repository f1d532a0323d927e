"""Which note stands after which cell."""

from __future__ import annotations

from collections.abc import Sequence

from traces.notebook.cells import Cell, place_of
from traces.notebook.notes import PlacedNote


def notes_by_cell(notes: Sequence[PlacedNote], made: list[Cell]) -> dict[int, list[PlacedNote]]:
    """The notes after each cell, by the position of the cell; -1: above all of them."""
    found: dict[int, list[PlacedNote]] = {}
    for note in notes:
        found.setdefault(place_of(note.place, made), []).append(note)
    return found
