"""What callbacks had to say, which run before anything is drawn, and what is wrong with the options of the app."""

from __future__ import annotations

import streamlit as st

from pages.parts import address
from pages.parts.options import options
from pages.parts.words import t


def notices() -> None:
    """Draw the sentence that was kept for the page, once, and always what is wrong with the options of the app.

    They may quote a file or a server, so they are plain text.
    """
    told = address.told()
    for text in (*options().problems, *([told] if told else ())):
        with st.container(border=True):
            st.markdown(f":red-badge[{t('That did not work')}]")
            st.text(text)
