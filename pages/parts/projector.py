"""The projector mode: large type and strong contrast, chosen in the side bar, kept in the URL."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts import address, address_follow
from pages.parts.words import t

SCALE = 1.35
"""How much larger everything is; the style sheet says the same to the browser."""


def projector_look() -> None:
    """Before a page is drawn: what the mode changes."""
    if address_follow.projected():
        st.html(Path(__file__).with_name("projector.css"))


def projector_switch() -> None:
    """Draw the switch in the side bar. It writes ``?projector=``."""
    address.put(address_follow.PROJECTOR, address_follow.projected())
    with st.sidebar:
        st.toggle(
            t("Large type"),
            key=address_follow.PROJECTOR,
            on_change=address_follow.choose_projector,
            help=t("Large type and strong contrast, for a projector"),
        )
    address.share(address_follow.PROJECTOR, False, lambda on: "1" if on else "0")


def scaled(pixels: int) -> int:
    """A size in pixels of what the style sheet cannot reach: the rows and columns of tables."""
    return round(pixels * SCALE) if address_follow.projected() else pixels
