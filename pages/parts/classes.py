"""The classes of this server: who sits in them, where each one is, and what the teacher shows."""

from __future__ import annotations

from pages.parts.runs import OpenRun
from traces.lessons.answers import Question
from traces.lessons.lesson import Ask


def class_line() -> None:
    """Draw one line for somebody in a class: title, own name, the way to what the teacher shows. Else nothing."""


def note_where(what: str, run: OpenRun | None = None) -> None:
    """Tell the class of this session where it is; nothing outside of a class.

    Args:
        what: the name of a lesson, ``exercise:name``, or empty for the Run page.
        run: the run that is shown.
    """


def tally_panel(question: Question, ask: Ask, *, revealed: bool) -> None:
    """Draw how a class answers a question: for its teacher, and for a room whose hands are counted. Else nothing.

    Args:
        question: which one.
        ask: what was asked.
        revealed: the run has gone on, so the right answer may be seen.
    """
