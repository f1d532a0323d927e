"""Our own words in the forms that people read. English is the key, Chinese stands in ``words_zh.json``.

What stands in a trace is never translated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

from agent.errors import InputError

_FOLDER = Path(__file__).parent
LANGUAGES = ("en", "zh")
"""Codes of the languages that a form for people can be written in."""


class Say(Protocol):
    """A text of ours in the language of a form."""

    def __call__(self, text: str, /, **values: object) -> str:
        """The text with its ``{names}`` filled in."""
        ...


def sayer(language: str, folder: Path = _FOLDER) -> Say:
    """What says our texts in this language; one without a translation stays English.

    Args:
        language: one of :data:`LANGUAGES`.
        folder: where the texts stand; that of the exporters, where nothing else is said.

    Raises:
        InputError: there is no such language.
    """
    words = table(language, folder)

    def say(text: str, /, **values: object) -> str:
        said = words.get(text, text)
        return said.format(**values) if values else said

    return say


@cache
def table(language: str, folder: Path = _FOLDER) -> Mapping[str, str]:
    """English text -> the text in this language; empty for English itself. ``folder`` as for :func:`sayer`.

    Raises:
        InputError: there is no such language.
    """
    if language not in LANGUAGES:
        raise InputError(f"there is no language {language!r}; choose one of {', '.join(LANGUAGES)}")
    if language == "en":
        return {}
    words: dict[str, str] = json.loads((folder / f"words_{language}.json").read_text(encoding="utf-8"))
    return words


ENGLISH = sayer("en")
"""The texts as they stand in the code."""
