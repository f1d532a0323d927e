"""The format of scripts at a glance: its keys, and pieces to insert."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.parts import address, address_scripts
from pages.parts.message_table import HEADER_PX, ROW_PX
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
    rows = keys()
    st.dataframe(
        pd.DataFrame({"key": [key for key, _ in rows], "meaning": [meaning for _, meaning in rows]}),
        hide_index=True,
        height=HEADER_PX + ROW_PX * len(rows),
        row_height=ROW_PX,
        column_config={
            "key": st.column_config.TextColumn(t("Key"), width=215),
            "meaning": st.column_config.TextColumn(t("What it means"), width=420),
        },
        alt=t("The keys of a script"),
    )
    st.caption(t("All keys with their defaults and an example each: agent/scripts/FORMAT.md"))


def _insert() -> None:
    address_scripts.tell_editor(text=snippets()[address.setting(_CHOICE, 0)].text)
