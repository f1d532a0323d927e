"""Our own words in notebooks, in both languages; what they share with the other forms for people stands there."""

from __future__ import annotations

from pathlib import Path

from traces.export.words import Say, sayer, table

FOLDER = Path(__file__).parent
"""Where the Chinese of notebooks stands: ``words_zh.json``."""


def say_in(language: str) -> Say:
    """What says our texts in this language.

    Args:
        language: one of :data:`traces.export.words.LANGUAGES`.

    Raises:
        InputError: there is no such language.
    """
    own, shared, known = sayer(language, FOLDER), sayer(language), table(language, FOLDER)

    def say(text: str, /, **values: object) -> str:
        return (own if text in known else shared)(text, **values)

    return say
