"""The course as a whole: its lessons, its exercises, and how far the learner is."""

from __future__ import annotations


def course_list() -> None:
    """Draw the course."""
