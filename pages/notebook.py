"""The notebook page: a run, a lesson or a trace as a sequence of cells, with the learner's own notes between them."""

from __future__ import annotations

import streamlit as st

from agent.errors import AgentError
from pages.parts import address_learn, address_replay
from pages.parts.learning_note import all_learning_notes, learning_note, note_form
from pages.parts.library import title_words
from pages.parts.menu import ensure_menu
from pages.parts.notebook_downloads import downloads
from pages.parts.notebook_notes import placed_notes
from pages.parts.notebook_source import Source, named_source
from pages.parts.notebook_view import notebook_view
from pages.parts.notices import notices
from pages.parts.tabs import tabs
from pages.parts.words import t
from traces.notebook.learning import LearningNote


def page() -> None:
    """Draw the notebook of what the address names. A run that another tab moves on is drawn again."""
    notices()
    try:
        source = named_source()
        tabs().show(None if source is None or source.run is None else source.run.id)
        if source is None:
            st.caption(t("Open a notebook from a lesson, a run or a trace."))
        else:
            show(source)
        all_learning_notes()
    except (AgentError, OSError) as error:
        st.error(t("This notebook cannot be opened."))
        st.text(str(error))


def show(source: Source) -> None:
    """Draw a notebook: where it comes from, what can be taken along, its cells, and the learning note."""
    notebook = source.notebook
    trace = notebook.trace
    with st.container(horizontal=True, vertical_alignment="center", key="trace-line"):
        _back(source)
        st.text(notebook.title if notebook.lesson else title_words(notebook.title), width="content")
        downloads(source, placed_notes(trace.trace_id) if source.keeps_notes else [])
    notebook_view(source)
    if notebook.now is None:
        with st.expander(t("Learning note"), type="compact", icon=":material/school:", expanded=bool(notebook.lesson)):
            if notebook.lesson is not None:
                learning_note(notebook.lesson, trace)
            else:
                note_form(trace, LearningNote(topic=title_words(notebook.title)))


def _back(source: Source) -> None:
    """The way to where the run is moved or read."""
    lesson, variant = source.notebook.lesson, source.notebook.variant
    if lesson is not None and variant is not None:
        st.page_link(
            "pages/learn.py",
            label=t("Back to the lesson"),
            icon=":material/arrow_back:",
            query_params=address_learn.lesson_link(lesson.name, variant.name),
        )
    st.page_link(
        "pages/traces.py",
        label=t("Open the trace"),
        icon=":material/receipt_long:",
        query_params=address_replay.link(),
    )


ensure_menu()
page()
