"""The learner's notes between the cells of a notebook: written, changed and taken away; kept on leaving a field."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.errors import AgentError
from agent.trace import Trace
from pages.parts import address, address_notebook
from pages.parts.data import data_folder
from pages.parts.words import loop_words, t
from traces.annotations import MAX_TEXT
from traces.notebook.cells import TRACE
from traces.notebook.notes import PlacedNote, PlacedNotes


def placed_notes(trace_id: str) -> list[PlacedNote]:
    """The notes that are kept with a trace."""
    return PlacedNotes(data_folder()).of(trace_id)


def notes_after(trace: Trace, place: str, notes: Sequence[PlacedNote]) -> None:
    """Draw the notes that stand after a cell, and the way to one more.

    Args:
        trace: of the notebook.
        place: of the cell.
        notes: those that are kept there.
    """
    for note in notes:
        _kept(trace, note)
    if address_notebook.note_begun(trace.trace_id, place):
        _new(trace, place)
    else:
        st.button(
            t("Add a note on the whole run") if place == TRACE else t("Add a note"),
            key=f"note-add-{place}",
            icon=":material/edit_note:",
            type="tertiary",
            on_click=address_notebook.begin_note,
            args=(trace.trace_id, place),
        )


def _kept(trace: Trace, note: PlacedNote) -> None:
    key = f"note-{trace.trace_id}-{note.id}"
    if address.setting(key) is None:
        address.put(key, note.text)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_area(
            _label(note.place),
            key=key,
            height="content",
            max_chars=MAX_TEXT,
            on_change=_change,
            args=(trace.trace_id, _title(trace), note.id, key),
        )
        st.button(
            t("Delete the note"),
            key=f"{key}-delete",
            icon=":material/delete:",
            type="tertiary",
            on_click=_write,
            args=(trace.trace_id, _title(trace), note.id, ""),
        )


def _new(trace: Trace, place: str) -> None:
    key = address_notebook.new_key(trace.trace_id, place)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_area(
            _label(place),
            key=key,
            height="content",
            max_chars=MAX_TEXT,
            placeholder=t("It is saved when you leave the field."),
            on_change=_add,
            args=(trace.trace_id, _title(trace), place, key),
        )
        st.button(
            t("Close"),
            key=f"{key}-close",
            icon=":material/close:",
            type="tertiary",
            on_click=address_notebook.end_note,
            args=(trace.trace_id, place),
        )


def _label(place: str) -> str:
    kind, _, number = place.partition("-")
    if kind == "message" and number.isdecimal():
        return t("Note on message {n}", n=int(number) + 1)
    return t("Note on the whole run") if place == TRACE else t("My note")


def _title(trace: Trace) -> str:
    return trace.title or trace.task[:80]


def _add(trace_id: str, title: str, place: str, key: str) -> None:
    try:
        PlacedNotes(data_folder()).add(trace_id, place, str(address.setting(key, "")), title=title)
    except AgentError as error:
        address.tell(loop_words(str(error)))
        return
    address_notebook.end_note(trace_id, place)


def _change(trace_id: str, title: str, note_id: str, key: str) -> None:
    _write(trace_id, title, note_id, str(address.setting(key, "")))


def _write(trace_id: str, title: str, note_id: str, text: str) -> None:
    try:
        PlacedNotes(data_folder()).change(trace_id, note_id, text, title=title)
    except AgentError as error:
        address.tell(loop_words(str(error)))
