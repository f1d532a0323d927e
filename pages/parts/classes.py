"""The classes of this server, as other pages know them: a line about one's class, and where somebody is."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, address_class, address_follow, address_learn
from pages.parts.class_join import code_field, join_panel
from pages.parts.class_rooms import own_class, own_seat, rooms, taught_class
from pages.parts.class_table import COURSE, SYSTEMS
from pages.parts.class_tally import tally_panel
from pages.parts.data import data_folder
from pages.parts.runs import OpenRun
from pages.parts.tabs import tabs
from pages.parts.words import t
from traces.classroom.klass import Klass, Seat
from traces.lessons.answers import Answers
from traces.lessons.course import course

__all__ = ["COURSE", "SYSTEMS", "class_line", "note_where", "tally_panel"]


def class_line(*, joins: bool = True) -> None:
    """Draw one line for somebody in a class: title, own name, the way to what the teacher shows. Else nothing.

    Also what has to be said once: that a run was reset, a seat taken away, or answers could not be read any more.

    Args:
        joins: with the way into a class for whoever is in none.
    """
    _lost()
    told = address_class.told()
    seat, klass = own_seat(), own_class()
    if seat is None and address_class.seat_id() is not None:
        address_class.leave_seat()
        told = t("Your seat in the class is not there any more. You can go on without a class.")
    if told:
        st.info(told, icon=":material/school:")
    code = address_class.join_code()
    if seat is not None and klass is not None and code in (None, klass.code):
        rooms().presence.here(seat.id, tabs().own)
        _student(seat, klass)
    elif code is not None:
        join_panel(code)
    elif (taught := taught_class()) is not None:
        _teacher(taught)
    elif joins and rooms().classes.going:
        code_field()


def note_where(what: str, run: OpenRun | None = None) -> None:
    """Tell the class of this session where it is; nothing outside of a class.

    Where the teacher has reset the run that is shown, the page leaves it here and is drawn anew.

    Args:
        what: the name of a lesson, ``exercise:name``, :data:`COURSE`, :data:`SYSTEMS`, or empty for the Run page.
        run: the run that is shown.
    """
    run_id = run.id if run is not None else ""
    if (seat := own_seat()) is None:
        address_class.note_look(what, run_id)
        return
    presence = rooms().presence
    presence.note(seat.id, what, run_id, tabs().own)
    if run is not None and presence.is_reset(seat.id, run.id):
        address.close_run()
        address_class.tell(t("Your teacher has reset this run. Begin it again."))
        st.rerun()


def _student(seat: Seat, klass: Klass) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="class-line"):
        st.badge(t("Class"), icon=":material/groups:", color="blue")
        st.text(f"{klass.title} · {seat.name}", width="content")
        if klass.ended:
            st.caption(t("The class is over. What you answered is kept."), width="content")
        elif klass.showing is not None:
            _follow(klass)
        with st.popover(t("Leave"), type="tertiary"):
            st.caption(t("You give up your seat. What you answered is kept, but this browser no longer knows it."))
            st.button(t("Leave the class"), key="class-leave", type="primary", on_click=address_class.leave_seat)


def _follow(klass: Klass) -> None:
    """The way to what the teacher shows."""
    showing = klass.showing
    assert showing is not None
    label, icon = t("See what your teacher shows"), ":material/cast_for_education:"
    if showing.kind == "run":
        query = address_follow.view_link(showing.name)
        st.page_link("pages/follow.py", label=label, icon=icon, query_params=query)
        return
    lesson = course(data_folder()).find(showing.name)
    if lesson is None:
        return
    shown, looked_at = lesson.variant(showing.variant), lesson.variant(address_learn.variant())
    if address_learn.lesson() != lesson.name or looked_at is not shown:
        query = address_learn.lesson_link(showing.name, showing.variant)
        st.page_link("pages/learn.py", label=label, icon=icon, query_params=query)
        st.text(lesson.title.of(address.language()), width="content")


def _teacher(klass: Klass) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="class-line"):
        st.badge(t("You teach"), icon=":material/groups:", color="green")
        st.text(klass.title, width="content")
        st.page_link(
            "pages/classroom.py",
            label=t("To the class"),
            icon=":material/arrow_forward:",
            query_params=address_class.class_link(klass),
        )


def _lost() -> None:
    """Say once that a file was set aside because it could not be read."""
    for path in (Answers(data_folder()).set_aside, rooms().classes.set_aside):
        if path is not None and address_class.first_told(path.name):
            with st.container(border=True):
                st.markdown(f":orange-badge[:material/warning: {t('A file could not be read')}]")
                st.text(t("It was set aside, and a new one was begun: {file}", file=path.name))
