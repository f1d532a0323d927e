"""The notebook in the URL and in the session: which run and lesson, which of its pages, and what is being written."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, address_learn

PAGE = "pages/notebook.py"
"""The file of the page."""

_LESSON = "lesson"
_PAGE = "notebook-page"
_OPEN = "notebook-new"
_FIELDS = "notebook-fields"


def link(trace: str, lesson: str = "") -> dict[str, str]:
    """The parameters of a link to the notebook of a run.

    Args:
        trace: its id.
        lesson: the name of the lesson that it belongs to; empty for none, or for the one that the run names itself.
    """
    return address_learn.kept() | address.trace_link(trace) | ({_LESSON: lesson} if lesson else {})


def lesson() -> str | None:
    """The lesson that the URL names."""
    return st.query_params.get(_LESSON) or None


def page_key(trace: str) -> str:
    """The key of the choice of a page."""
    return f"{_PAGE}-{trace}"


def page_number(trace: str) -> int:
    """The page that is shown, from 1."""
    return int(st.session_state.get(page_key(trace), 1))


def turn_page(trace: str, number: int) -> None:
    """Show this page from now on."""
    st.session_state[page_key(trace)] = number


def begin_note(trace: str, place: str) -> None:
    """Show an empty field for a note at this place."""
    st.session_state.setdefault(_OPEN, set()).add((trace, place))


def end_note(trace: str, place: str) -> None:
    """The note was kept, or given up: the next one at this place begins with an empty field."""
    st.session_state.setdefault(_OPEN, set()).discard((trace, place))
    numbers = st.session_state.setdefault(_FIELDS, {})
    numbers[trace, place] = numbers.get((trace, place), 0) + 1


def note_begun(trace: str, place: str) -> bool:
    """Whether there is a field for a note that is not kept yet."""
    return (trace, place) in st.session_state.get(_OPEN, ())


def new_key(trace: str, place: str) -> str:
    """The key of that field: another one for each note."""
    return f"{_OPEN}-{trace}-{place}-{st.session_state.get(_FIELDS, {}).get((trace, place), 0)}"
