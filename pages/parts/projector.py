"""The projector mode: large type and strong contrast, chosen in the side bar, kept in the URL."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import streamlit as st

from pages.parts import address, address_follow
from pages.parts.words import t

SCALE = 1.35
"""How much larger everything is."""
SIZE_PX = 23
"""Of the letters, which are 17 px high else."""
_ARRIVES_S = 0.3
"""Seconds in which a change of the size comes to the browser and is carried out there."""


def projector_look() -> None:
    """Before a page is drawn: what the mode changes.

    A table takes its letters from the size that the browser holds when the table comes, and keeps them. So the size
    is set by a script, which outlasts the page, and where it is another one the page waits until it has arrived.
    """
    on, before = address_follow.projected(), address_follow.drawn_projected()
    if on:
        st.html(Path(__file__).with_name("projector.css"))
    if on or before:
        size = f"{SIZE_PX}px" if on else ""
        with st.container(key="letters"):  # the style sheet gives it no place
            script = f"<script>\ndocument.documentElement.style.fontSize = '{size}';\n</script>"
            st.html(script, unsafe_allow_javascript=True)
    if on != before:
        time.sleep(_ARRIVES_S)


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


def table_place() -> AbstractContextManager[object]:
    """Where a table is drawn: another place where letters are larger, since a table keeps those that it came with."""
    return st.container() if address_follow.projected() else nullcontext()
