"""The Learn page: the course, one of its lessons or exercises, or the five systems side by side."""

from __future__ import annotations

import streamlit as st

from agent.errors import AgentError
from pages.parts import address_learn
from pages.parts.classes import COURSE, SYSTEMS, class_line, note_where
from pages.parts.course_list import course_list
from pages.parts.exercise_view import exercise_view
from pages.parts.leaving import came_back
from pages.parts.lesson_view import lesson_view
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.systems_view import systems_view
from pages.parts.tabs import tabs
from pages.parts.words import t


def page() -> None:
    """Draw what the address names."""
    came_back(address_learn.PAGE)
    lesson = address_learn.lesson()
    if lesson is None:
        tabs().show(None)
    class_line(joins=lesson is None and address_learn.exercise() is None and not address_learn.systems())
    if lesson is None:
        notices()
    try:
        if lesson is not None:
            lesson_view(lesson)
        elif (exercise := address_learn.exercise()) is not None:
            note_where(f"exercise:{exercise}")
            exercise_view(exercise)
        elif address_learn.systems():
            note_where(SYSTEMS)
            systems_view()
        else:
            note_where(COURSE)
            course_list()
    except (AgentError, OSError) as error:
        st.error(t("This cannot be opened."))
        st.text(str(error))


ensure_menu()
page()
