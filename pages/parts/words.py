"""The words of the app: the English text in the code is the key, its Chinese stands in ``words_zh.json``.

Only our own texts go through :func:`t`. What a model, a tool or a file says is never translated.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import streamlit as st

from pages.parts import address

LANGUAGES = {"en": "English", "zh": "中文"}
"""The languages of the app: code -> the language's own name."""

CATALOGUE = Path(__file__).with_name("words_zh.json")


def t(text: str, **values: object) -> str:
    """``text`` in the language of this session, its ``{names}`` filled in from ``values``."""
    return translate(text, address.language(), **values)


def translate(text: str, language: str, **values: object) -> str:
    """``text`` in ``language``; a text without a translation stays English."""
    words = catalogue().get(text, text) if language == "zh" else text
    return words.format(**values) if values else words


@cache
def catalogue() -> dict[str, str]:
    """English text -> Chinese text."""
    words: dict[str, str] = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    return words


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
