"""What it is that one follows: the scenario, or the lesson with its question, and the way to try it oneself."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from agent.errors import AgentError
from pages.parts import address, address_learn
from pages.parts.chosen_script import lesson_of
from pages.parts.data import data_folder
from pages.parts.runs import OpenRun
from pages.parts.words import t
from traces.lessons.course import course


def follow_head(run: OpenRun) -> None:
    """Draw the line above a run that is followed. Titles may come out of a teacher's file, so they are plain text."""
    named = lesson_of(run.setup.scenario)
    lesson = course(data_folder()).find(named[0]) if named is not None else None
    language = address.language()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="follow-head"):
        st.markdown(f":gray-badge[:material/visibility: {t('Follow: you look on, somebody else moves the run')}]")
        if title := lesson.title.of(language) if lesson else _title(run, language):
            st.text(title, width="content")
        if lesson is not None and named is not None:
            st.page_link(
                "pages/learn.py",
                label=t("Try this lesson yourself"),
                icon=":material/school:",
                query_params=address_learn.lesson_link(lesson.name, named[1]),
            )
    if lesson is not None:
        st.text(lesson.question.of(language))


def _title(run: OpenRun, language: str) -> str:
    """Of the script; a run that has none, or whose script is gone, is told by its messages."""
    with suppress(AgentError):
        if (script := run.setup.script()) is not None:
            return (script.title_zh if language == "zh" else "") or script.title
    return ""
