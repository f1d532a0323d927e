"""One lesson: its question, its run phase by phase with what to predict and to notice, and the task after it."""

from __future__ import annotations


def lesson_view(name: str) -> None:
    """Draw the lesson of this name; one sentence where there is none.

    Args:
        name: of the lesson.
    """
