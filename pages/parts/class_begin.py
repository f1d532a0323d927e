"""The class page without a class: begin one, open one that goes on, or count hands in a room without devices."""

from __future__ import annotations

import streamlit as st

from agent.errors import InputError
from pages.parts import address, address_class
from pages.parts.class_rooms import rooms
from pages.parts.data import private
from pages.parts.words import loop_words, t
from traces.classroom.classes import LONGEST_NAME
from traces.classroom.klass import Klass


def begin_panel() -> None:
    """Draw it."""
    st.subheader(t("Teach a class"), anchor=False)
    left, right = st.columns(2, gap="medium")
    with left.container(border=True):
        _begin()
        _classes()
    with right.container(border=True):
        _without_devices()


def _begin() -> None:
    st.markdown(f":material/groups: **{t('Students with devices')}**")
    st.caption(
        t(
            "Students join by a link or a short code, each at their own pace. You see where everybody is, show a run "
            "or a lesson to all, and can lend a model with a share for each."
        )
    )
    if private():
        st.caption(t("Only this computer can reach this server. The README says how a class can reach it."))
    with st.form("class-begin", border=False):
        st.text_input(t("Title of the class"), key=address_class.TITLE, max_chars=2 * LONGEST_NAME)
        klass = address_class.next_id("class", rooms().classes.get)
        st.form_submit_button(
            t("Begin a class"), type="primary", key="class-begin-it", on_click=_begin_class, args=(klass,)
        )


def _classes() -> None:
    """The classes to go on with: all of them for the one user of a private server, else those that were opened here."""
    own = address_class.opened()
    known = [each for each in rooms().classes.all() if not each.ended and (private() or each.id in own)]
    if known:
        st.caption(t("Classes that go on"))
    for klass in known:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(t("Open"), key=f"class-open-{klass.id}", on_click=address_class.open_class, args=(klass,))
            st.text(_line(klass), width="content")


def _line(klass: Klass) -> str:
    seats = len(rooms().classes.seats(klass.id))
    return f"{klass.title} · {t('{n} students', n=seats) if seats != 1 else t('1 student')} · {klass.created[:10]}"


def _without_devices() -> None:
    st.markdown(f":material/back_hand: **{t('A room without devices')}**")
    st.caption(
        t(
            "Show a lesson on the wall. Before each step the room votes by raising hands; you type the numbers under "
            "the question, and the bars appear when the run has answered. Large type is in the side bar."
        )
    )
    hands_switch()
    st.page_link("pages/learn.py", label=t("To the lessons"), icon=":material/school:")


def hands_switch() -> None:
    """Draw the switch with which a question of a lesson gets fields for raised hands."""
    address.put(address_class.HANDS, address_class.counts_hands())
    st.toggle(t("Count raised hands"), key=address_class.HANDS, on_change=address_class.choose_hands)


def _begin_class(klass_id: str) -> None:
    """Begin it. A second press breaks this off wherever it is, and then finds the class that was begun."""
    title, classes = str(address.setting(address_class.TITLE) or "").strip(), rooms().classes
    try:
        klass = classes.get(klass_id) or classes.begin(title or t("My class"), klass_id)
    except InputError as error:
        address.tell(loop_words(str(error)))
        return
    address_class.leave_seat()
    address_class.open_class(klass)
