"""The words for what is wrong with a text that people write: a script, or a design."""

from __future__ import annotations

from agent.scripts.problems import Problem
from pages.parts.words import loop_words, t


def mistake_words(problem: Problem) -> str:
    """What is wrong, after its place, in the language of the session. It may quote the text: for plain text only."""
    said = loop_words(problem.sentence)
    return t("{thing}: {what}", thing=problem.place, what=said) if problem.place else said
