"""The words of the app: the English text in the code is the key, its Chinese stands in the files of ``zh/``.

Only our own texts go through :func:`t`. Sentences that the loop wrote into a trace, with numbers and names in them, go
through :func:`loop_words`. What a model, a tool or a file says is never translated.
"""

from __future__ import annotations

import json
import re
import string
from functools import cache
from pathlib import Path

import streamlit as st

from pages.parts import address

LANGUAGES = {"en": "English", "zh": "中文"}
"""The languages of the app: code -> the language's own name."""

CATALOGUES = Path(__file__).with_name("zh")
"""One file for each part of the app."""
SENTENCES = tuple(
    Path(__file__).with_name(f"{name}_zh.json") for name in ("sentences", "import", "experiments", "mistakes")
)
"""Templates of what the loop writes, of what reading a file gives, of the laboratory, and of mistakes in YAML."""


def t(text: str, **values: object) -> str:
    """``text`` in the language of this session, its ``{names}`` filled in from ``values``."""
    return translate(text, address.language(), **values)


def translate(text: str, language: str, **values: object) -> str:
    """``text`` in ``language``; a text without a translation stays English."""
    words = catalogue().get(text, text) if language == "zh" else text
    return words.format(**values) if values else words


@cache
def catalogue() -> dict[str, str]:
    """English text -> Chinese text, out of all files."""
    words: dict[str, str] = {}
    for path in sorted(CATALOGUES.glob("*.json")):
        words |= json.loads(path.read_text(encoding="utf-8"))
    return words


def loop_words(text: str) -> str:
    """A sentence that the loop, a check or a reader of files wrote, in the language of this session."""
    return translate_loop_words(text, address.language())


def translate_loop_words(text: str, language: str) -> str:
    """``text`` in ``language``; a sentence that no template fits is given as it is.

    What stands at a ``{name}`` of a template may be a sentence of its own: the "3 steps" of "the limit of {steps}".
    """
    if language != "zh":
        return text
    for pattern, chinese in sentences():
        if found := pattern.fullmatch(text):
            values = {name: translate_loop_words(value, language) for name, value in found.groupdict().items()}
            return chinese.format(**values)
    return text


@cache
def sentences() -> list[tuple[re.Pattern[str], str]]:
    """Templates as ``(pattern, Chinese text)``, the more exact ones before those that they are a case of."""
    return [(_pattern(english), chinese) for english, chinese in templates().items()]


@cache
def templates() -> dict[str, str]:
    """English template -> Chinese text, out of all files of :data:`SENTENCES`."""
    found: dict[str, str] = {}
    for path in SENTENCES:
        found |= json.loads(path.read_text(encoding="utf-8"))
    return found


def _pattern(template: str) -> re.Pattern[str]:
    parts = []
    for fixed, name, _, _ in string.Formatter().parse(template):
        value = r"\d+" if name == "n" else ".+?"
        parts.append(re.escape(fixed) + (f"(?P<{name}>{value})" if name else ""))
    return re.compile("".join(parts), re.DOTALL)


def language_switch() -> None:
    """Draw the switch of languages at the foot of the side bar. It writes ``?lang=``."""
    default = address.default_language()
    address.put(address.LANGUAGE, address.language())
    with st.sidebar:
        st.radio(
            "Language / 语言",
            list(LANGUAGES),
            format_func=LANGUAGES.__getitem__,
            horizontal=True,
            key=address.LANGUAGE,
            on_change=address.choose_language,
            label_visibility="collapsed",
        )
    address.share(address.LANGUAGE, default)
