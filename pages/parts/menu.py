"""The menu: the pages of the app in their order."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from pages.parts import address
from pages.parts.words import t


def menu() -> Page:
    """Draw the menu and give the page that the address names."""
    address.note_menu()
    st.html(Path(__file__).with_name("page.css"))
    return st.navigation(
        [
            st.Page("pages/run.py", title=t("Run"), icon=":material/play_circle:", url_path="run", default=True),
            st.Page("pages/traces.py", title=t("Traces"), icon=":material/receipt_long:", url_path="traces"),
        ],
        position="top",
    )


def ensure_menu() -> None:
    """First line of every page: begin again with app.py where the page was run without it.

    Streamlit takes each file of a folder named ``pages`` for a page of its own until ``st.navigation`` was called once
    in the server. A link to a page that is the first request after a start would show it bare, without menu and
    language.
    """
    if not address.menu_noted():
        menu()
        st.rerun()
