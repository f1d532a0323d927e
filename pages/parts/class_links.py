"""The ways into a class: the code in big type, the link for students as text and as a picture, the teacher's own."""

from __future__ import annotations

from io import BytesIO

import segno
import streamlit as st

from agent.errors import InputError
from pages.parts import address, address_class
from pages.parts.class_rooms import rooms
from pages.parts.data import private
from pages.parts.sharing import full_url
from pages.parts.words import loop_words, t
from traces.classroom.klass import Klass

_QR_PX = 168
_WAYS_PX = 560
"""Where there is less room, as on a phone, the picture stands above."""


def links_panel(klass: Klass) -> None:
    """Draw how students come in.

    Args:
        klass: the class.
    """
    link = full_url("learn", address_class.join_link(klass.code))
    with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="class-links"):
        if not klass.closed:
            st.image(qr_code(link), width=_QR_PX, alt=t("The link for students as a QR code"))
        with st.container(gap="xxsmall", width=_WAYS_PX):
            st.caption(t("Code for students"))
            _big(klass.code)
            st.code(link, language=None, wrap_lines=True)
            if private():
                st.caption(t("Only this computer can reach this server. The README says how a class can reach it."))
            st.toggle(
                t("Nobody else can join"),
                value=klass.closed,
                key=f"{address_class.CLOSED}-{klass.id}",
                on_change=_close,
                args=(klass,),
            )


def teacher_link(klass: Klass) -> None:
    """Draw the link that brings the teacher back, also on another machine."""
    with st.popover(t("My link"), icon=":material/key:", type="tertiary"):
        st.caption(t("Whoever has this link is the teacher of the class. Keep it, and show it to nobody."))
        st.code(full_url("classroom", address_class.class_link(klass)), language=None, wrap_lines=True)


def qr_code(text: str) -> str:
    """A text as a QR code in SVG, dark on white in both themes: a camera reads it from across a room."""
    drawn = BytesIO()
    segno.make(text, error="m").save(drawn, kind="svg", border=3, light="white", xmldecl=False, scale=4)
    return drawn.getvalue().decode()


def _big(code: str) -> None:
    """Only our own letters go into the HTML."""
    st.html(f'<div style="font:700 3rem/1.2 ui-monospace,monospace;letter-spacing:0.12em">{code}</div>')


def _close(klass: Klass) -> None:
    try:
        rooms().classes.close(klass.id, bool(address.setting(f"{address_class.CLOSED}-{klass.id}")))
    except InputError as error:
        address.tell(loop_words(str(error)))
