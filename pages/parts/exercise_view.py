"""One exercise of the course."""

from __future__ import annotations


def exercise_view(name: str) -> None:
    """Draw the exercise of this name; one sentence where there is none.

    Args:
        name: of the exercise, as :func:`traces.lessons.exercises.catalogue.catalogue` lists it.
    """
