"""The settings in the URL: what it says before a field is drawn, and what is written into it afterwards."""

from __future__ import annotations

import streamlit as st

from pages.parts.address import SHARED


def named(key: str) -> str:
    """The text that the URL holds under this key; empty where it holds none."""
    return str(st.query_params.get(key, ""))


def collect_shared() -> None:
    """At the beginning of a drawing: hold nothing of one that was broken off, perhaps of another page."""
    st.session_state[SHARED] = {}


def write_shared() -> None:
    """At the end of a drawing: put the values of all widgets into the URL at once.

    Each writing is a step of the browser's Back, and one change of a setting may change several of them.
    """
    now = st.query_params.to_dict()
    wanted = now | st.session_state[SHARED]
    held = {key: text for key, text in wanted.items() if text is not None}
    if held != now:
        st.query_params.from_dict(held)
