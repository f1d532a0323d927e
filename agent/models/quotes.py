"""Quotes: what a fake model repeats of what it was given, so that it follows when somebody changes that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.messages import Message

_TOLD_IN = ("tool", "user")
"""The roles in whose messages quotes are looked for; a result may be told by the user."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A part of a text that stands for something out of a result."""

    word: str
    """The part of the text. What was found takes its place wherever it stands."""
    after: str = ""
    """What was found stands right after this; empty: at the beginning of a message."""
    before: str = ""
    """And right before this, in the same line; empty: up to the end of the line."""
    otherwise: str = ""
    """What is said where nothing is found."""

    def find(self, messages: Sequence[Message]) -> str | None:
        """What stands there in the newest message that says it; None: in none."""
        told = (message.text for message in reversed(messages) if message.role in _TOLD_IN)
        return next((found for text in told if (found := self._in(text))), None)

    def _in(self, text: str) -> str | None:
        start = text.find(self.after)
        if start < 0:
            return None
        line, _, _ = text[start + len(self.after) :].partition("\n")
        found, end, _ = line.partition(self.before) if self.before else (line, "\n", "")
        return found.strip() if end else None


def quoting(text: str, quotes: Sequence[Quote], messages: Sequence[Message]) -> str:
    """The text with what the messages of a request say now in the places of its quotes."""
    said = {quote.word: quote.find(messages) or quote.otherwise for quote in quotes}
    return re.sub("|".join(map(re.escape, said)), lambda found: said[found.group()], text)
