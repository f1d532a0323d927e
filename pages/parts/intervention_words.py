"""The words of interventions: their groups, kinds and parameters, in the language of the session.

What the kinds do is written in :mod:`agent.interventions.kinds`, in English; the Chinese stands in
``interventions_zh.json``.
"""

from __future__ import annotations

from agent.interventions import KINDS
from agent.interventions.kinds import Group
from pages.parts.words import loop_words, t


def kind_words(kind: str) -> tuple[str, str]:
    """A kind of intervention: a few words for a list of its group, and one sentence."""
    about = KINDS[kind]
    return loop_words(about.name), loop_words(about.sentence)


def kind_name(kind: str) -> str:
    """A kind of intervention in a few words that stand by themselves."""
    return t("{thing}: {what}", thing=group_words(KINDS[kind].group), what=kind_words(kind)[0])


def group_words(group: Group) -> str:
    """What the kinds of a group concern."""
    words: dict[Group, str] = {
        "results": t("Tool results"),
        "errors": t("Tool errors"),
        "protocol": t("Calls and results"),
        "offer": t("A tool"),
        "words": t("Other messages"),
        "switch": t("The whole run"),
    }
    return words[group]


def param_words(name: str) -> str:
    """A parameter, or one of the words that it may be; a name that no intervention knows stands as it is."""
    words = {
        "text": t("text in its place"),
        "find": t("words to find"),
        "size": t("at most"),
        "unit": t("unit"),
        "characters": t("characters"),
        "tokens": t("tokens"),
        "count": t("how many stay"),
        "how": t("the others are"),
        "mask": t("masked by a text"),
        "drop": t("dropped with their calls"),
        "tool": t("tool"),
        "paragraph": t("only paragraph"),
        "tools": t("tools"),
        "from_step": t("from step"),
        "to_step": t("to step"),
        "min_age": t("at least so many replies old"),
        "max_age": t("at most so many replies old"),
    }
    return words.get(name, name)
