"""What the exercises have in common: what there is to do, and the hints on the way."""

from __future__ import annotations

from dataclasses import dataclass

from traces.lessons.lesson import Text


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise in words. How it is checked stands in its own module."""

    name: str
    """In addresses, in lessons and in the kept answers."""
    title: Text
    summary: Text
    """One sentence: what there is to do."""
    task: Text
    """The same in full."""
    hints: tuple[Text, ...]
    """Given one after the other; each says more than the one before."""
