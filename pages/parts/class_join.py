"""How a student comes into a class: by a link with the code, or by the code alone, and with a name."""

from __future__ import annotations

import streamlit as st

from agent.errors import InputError
from pages.parts import address, address_class
from pages.parts.class_rooms import rooms
from pages.parts.words import loop_words, t
from traces.classroom.classes import CODE_LENGTH, LONGEST_NAME


def join_panel(code: str) -> None:
    """Draw the form for a name with which a seat is taken; why there is none, where there cannot be one.

    Args:
        code: of the class.
    """
    classes = rooms().classes
    klass = classes.of_code(code)
    if klass is None or klass.ended or klass.closed:
        with st.container(border=True, key="class-join"):
            st.markdown(f":orange-badge[:material/groups: {t('No way in')}]")
            st.text(_why_not(closed=klass is not None and not klass.ended))
            st.button(t("Go on without a class"), key="class-without", on_click=address_class.do_not_join)
        return
    with st.form("class-join"):
        st.markdown(f":blue-badge[:material/groups: {t('Join the class')}]")
        st.text(klass.title)
        address.seed(address_class.NAME, t("Student {n}", n=classes.next_number(klass.id)))
        st.text_input(
            t("Your name"),
            key=address_class.NAME,
            max_chars=LONGEST_NAME,
            help=t("Your teacher sees it. Any name will do; your answers stay on this machine."),
        )
        seat = address_class.next_id("seat", classes.seat)
        with st.container(horizontal=True, gap="small"):
            st.form_submit_button(t("Take a seat"), key="class-take", type="primary", on_click=_join, args=(seat,))
            st.form_submit_button(
                t("Go on without a class"), key="class-without", type="tertiary", on_click=address_class.do_not_join
            )


def code_field() -> None:
    """Draw the field for the code of a class."""
    with st.popover(t("Join a class"), icon=":material/groups:", type="tertiary", key="class-enter"):
        st.text_input(
            t("Code of the class"),
            key=address_class.CODE,
            max_chars=2 * CODE_LENGTH,
            on_change=_enter,
            help=t("Your teacher shows it: {n} letters and digits.", n=CODE_LENGTH),
        )


def _why_not(*, closed: bool) -> str:
    if closed:
        return t("Nobody else can join this class. Ask your teacher to open it again.")
    return t("No class goes on under this code. Look at the code again.")


def _enter() -> None:
    if code := str(address.setting(address_class.CODE) or "").strip():
        address_class.ask_to_join(code)
        address.put(address_class.CODE, "")


def _join(seat_id: str) -> None:
    """Take the seat. A second press breaks this off wherever it is, and then finds the seat that was taken."""
    code, name, classes = address_class.join_code(), str(address.setting(address_class.NAME) or ""), rooms().classes
    try:
        seat = classes.seat(seat_id) or classes.take_seat(code or "", name, seat_id)
    except InputError as error:
        address_class.tell(loop_words(str(error)))
        return
    address_class.stop_teaching()
    address_class.take_seat(seat.id)
