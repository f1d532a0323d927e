"""The exercises of the course, in their order."""

from __future__ import annotations

from dataclasses import dataclass

from traces.lessons.lesson import Text


@dataclass(frozen=True, slots=True)
class ExerciseInfo:
    """An exercise in the few words of a list."""

    name: str
    """In addresses, in lessons and in the kept answers."""
    title: Text
    summary: Text
    """One sentence: what there is to do."""


def catalogue() -> tuple[ExerciseInfo, ...]:
    """All exercises."""
    return ()
