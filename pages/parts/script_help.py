"""The format of scripts at a glance: its keys, and pieces to insert."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, address_scripts
from pages.parts.script_snippets import keys, snippets
from pages.parts.words import t

_CHOICE = "script-snippet"


def format_help() -> None:
    """Draw the pieces and the table of keys."""
    pieces = snippets()
    at = st.selectbox(
        t("An example to insert"),
        range(len(pieces)),
        format_func=lambda number: pieces[number].label,
        key=_CHOICE,
        persist_state="session",
    )
    st.code(pieces[at].text, language="yaml")
    st.button(t("Insert below the caret"), icon=":material/input:", key="script-insert", on_click=_insert)
    for section, rows in keys().items():
        lines = (f"- `{key}` {meaning}" for key, meaning in rows)
        st.markdown("\n".join([f"**{section}**", "", *lines]))  # our own words alone
    st.caption(t("All keys with their defaults and an example each: agent/scripts/FORMAT.md"))


def _insert() -> None:
    address_scripts.tell_editor(text=snippets()[address.setting(_CHOICE, 0)].text)
