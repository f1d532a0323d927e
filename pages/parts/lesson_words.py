"""The words of lessons: their texts in the language of the page, the five systems, and what can be answered."""

from __future__ import annotations

import re

from pages.parts import address_learn
from pages.parts.roles import maker_look, role_look
from pages.parts.words import t
from traces.lessons.lesson import Ask, System, Text
from traces.notebook import telling
from traces.notebook.words import say_in

_MARKUP = re.compile(r"([!-/:-@\[-`{-~])")


def told(text: Text | None) -> str:
    """A text of a lesson in the language of the page. It may be a teacher's, so it is data and no markup."""
    return "" if text is None else text.of(address_learn.language())


def label(text: str) -> str:
    """A text of a lesson as Markdown that shows just these characters, on one line: for headings and buttons."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def system_words(system: System) -> str:
    """The name of one of the five systems, or of the laboratory."""
    words = {
        System.PLAIN: t("The plain loop"),
        System.OBSERVABLE: t("The observable loop"),
        System.STATE_MACHINE: t("The state machine"),
        System.JSON_ACTION: t("The JSON-action loop"),
        System.BOUNDED: t("The bounded loop"),
        System.LAB: t("The laboratory"),
    }
    return words[system]


def ask_words(ask: Ask) -> str:
    """The question in words, the same ones as in a notebook. Those of kind ``choice`` are data."""
    language = address_learn.language()
    return telling.ask_words(ask, language, say_in(language))


def choice_words(ask: Ask, choice: str) -> str:
    """One answer to choose from, in words. Those of kind ``choice`` are data."""
    match ask.kind:
        case "maker":
            return maker_look(choice).label
        case "role":
            return role_look(choice).label
    language = address_learn.language()
    return telling.choice_words(ask, choice, language, say_in(language))
