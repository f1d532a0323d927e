"""What the URL says of a setting before its field is drawn."""

from __future__ import annotations

import streamlit as st


def named(key: str) -> str:
    """The text that the URL holds under this key; empty where it holds none."""
    return str(st.query_params.get(key, ""))
