"""What callbacks had to say: they run before anything is drawn."""

from __future__ import annotations

import streamlit as st

from pages.parts import address
from pages.parts.words import t


def notices() -> None:
    """Draw the sentence that was kept for the page, once. It may quote a file or a server, so it is plain text."""
    if text := address.told():
        with st.container(border=True):
            st.markdown(f":red-badge[{t('That did not work')}]")
            st.text(text)
