"""The line above the message table: search, filters, and the way to the next message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pages.parts import selection
from pages.parts.roles import role_look
from pages.parts.words import t
from traces.filtering import Filter
from traces.reading import Reading


def message_filter(reading: Reading, tagged: Mapping[int, Sequence[str]], *, key: str) -> Sequence[int]:
    """Draw the line and give the positions of the messages that are wanted, ascending.

    Args:
        reading: the trace.
        tagged: the tags of its messages by their position.
        key: names the fields.
    """
    total = len(reading.trace.messages)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="message-filter"):
        wanted = Filter(
            text=_words(key),
            roles=frozenset(_several(t("Roles"), list(reading.summary.roles), f"{key}-roles", word=_role)),
            tools=frozenset(_several(t("Tools"), reading.tools, f"{key}-tools")) if reading.tools else frozenset(),
            tags=_tags(tagged, key),
            errors=st.toggle(t("Errors only"), key=f"{key}-errors") if reading.summary.errors else False,
        )
        rows = reading.find(wanted, tagged)
        _neighbours()  # not at the end: the tools of the table appear over that
        st.caption(
            t("{n} of {all} messages", n=f"{len(rows):,}", all=f"{total:,}")
            if wanted
            else t("{n} messages", n=f"{total:,}"),
            width="content",
        )
    return rows


def _words(key: str) -> str:
    return (
        st.text_input(
            t("Search"),
            key=f"{key}-search",
            placeholder=t("Search everything"),
            label_visibility="collapsed",
            icon=":material/search:",
            width=190,
        )
        or ""
    )


def _several(label: str, options: Sequence[str], key: str, word: Callable[[str], str] = str) -> list[str]:
    return st.multiselect(
        label,
        options,
        key=key,
        format_func=word,
        placeholder=label,
        label_visibility="collapsed",
        width=150,
    )


def _tags(tagged: Mapping[int, Sequence[str]], key: str) -> frozenset[str]:
    known = sorted({tag for tags in tagged.values() for tag in tags}, key=str.casefold)
    return frozenset(_several(t("Tags"), known, f"{key}-tags")) if known else frozenset()


def _role(role: str) -> str:
    return role_look(role).label


def _neighbours() -> None:
    """The keys J and K, as in mail programs; in the table itself the arrow keys do the same."""
    place = st.container(horizontal=True, width="content", gap="small")
    for name, icon, word, shortcut, distance in (
        ("previous", "keyboard_arrow_up", t("Previous message"), "k", -1),
        ("next", "keyboard_arrow_down", t("Next message"), "j", 1),
    ):
        place.button(
            word,  # the style sheet leaves it to screen readers
            key=f"{name}-message",
            icon=f":material/{icon}:",
            help=word,
            shortcut=shortcut,
            on_click=selection.ask_for_neighbour,
            args=(distance,),
        )
