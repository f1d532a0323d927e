"""Notes and tags: the panel of a trace, and what other parts of the pages need to know of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from agent.errors import AgentError
from agent.trace import Trace
from pages.parts import address
from pages.parts.data import data_folder, private
from pages.parts.words import t
from traces.annotations import MAX_TEXT, Annotations, Note, Notes, sorted_tags

HEIGHT_PX = 90


def kept_notes() -> Annotations:
    """The notes of the data folder."""
    return Annotations(data_folder())


def all_notes() -> Mapping[str, Notes]:
    """The notes on all traces, by the id of the trace; read anew only after one of them changed."""
    return _all(str(data_folder()), kept_notes().stamp)


@st.cache_resource(max_entries=2, show_spinner=False)
def _all(folder: str, stamp: int) -> Mapping[str, Notes]:
    return {notes.trace_id: notes for notes in Annotations(Path(folder)).all()}


def tagged(trace_id: str) -> dict[int, tuple[str, ...]]:
    """The tags of a trace's messages, by position from 0."""
    return {position: note.tags for position, note in kept_notes().of(trace_id).messages.items() if note.tags}


def annotations_panel(trace: Trace, selected: int | None, *, key: str) -> None:
    """Draw the notes on a trace and on the selected message.

    A server that others can reach keeps no notes: everyone there would see and change everyone's.

    Args:
        trace: the trace.
        selected: position of the selected message, from 0.
        key: names the panel.
    """
    if not private():
        st.caption(t("Notes are kept only where no other machine can reach the server."))
        return
    notes = kept_notes().of(trace.trace_id)
    known = list(sorted_tags(all_notes().values()))
    left, right = st.columns(2, gap="medium")
    with left:
        if selected is None:
            st.caption(t("Select a message to write a note on it."))
        else:
            note = notes.messages.get(selected, Note())
            _form(trace, selected, note, known, key, t("Message {n}", n=selected + 1))
    with right:
        _form(trace, None, notes.trace, known, key, t("The whole trace"))
    _list(trace, notes)


def _form(trace: Trace, position: int | None, note: Note, known: list[str], key: str, label: str) -> None:
    """The fields of one note. They begin with what is kept, or with what was written here and is not saved yet."""
    fields = f"{key}-{trace.trace_id}-{'trace' if position is None else position}"
    text, tags = f"{fields}-text", f"{fields}-tags"
    written: Note | None = address.draft(fields, None)
    draft = note if written is None else written
    address.seed(text, draft.text)
    address.seed(tags, list(draft.tags))

    def keep() -> None:
        address.keep_draft(fields, _written(text, tags))

    st.text_area(label, key=text, height=HEIGHT_PX, max_chars=MAX_TEXT, on_change=keep)
    chosen = address.setting(tags, [])
    st.multiselect(
        t("Tags"),
        list(dict.fromkeys([*known, *chosen])),
        key=tags,
        accept_new_options=True,
        placeholder=t("Tags: choose, or write a new one"),
        label_visibility="collapsed",
        on_change=keep,
    )
    title = trace.title or trace.task[:80]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            t("Save the note"),
            key=f"{fields}-save",
            icon=":material/save:",
            on_click=_save,
            args=(trace.trace_id, title, position, fields, text, tags),
        )
        if draft != note:
            st.caption(t("not saved yet"), width="content")


def _written(text: str, tags: str) -> Note:
    """What the fields of these keys hold."""
    return Note(address.setting(text, ""), tuple(address.setting(tags, ())))


def _save(trace_id: str, title: str, position: int | None, fields: str, text: str, tags: str) -> None:
    try:
        kept = kept_notes().write(trace_id, _written(text, tags), position, title=title)
    except AgentError as error:
        address.tell(str(error))
        return
    now = kept.trace if position is None else kept.messages.get(position, Note())
    address.put(text, now.text)
    address.put(tags, list(now.tags))
    address.keep_draft(fields, None)


def _list(trace: Trace, notes: Notes) -> None:
    """All notes on messages, with the way to each. What people wrote is plain text."""
    for position, note in sorted(notes.messages.items()):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                t("Message {n}", n=position + 1),
                disabled=position >= len(trace.messages),
                key=f"note-go-{notes.trace_id}-{position}",
                icon=":material/arrow_forward:",
                type="tertiary",
                on_click=address.choose_message,
                args=(trace, position),
            )
            st.text(" · ".join(part for part in (", ".join(note.tags), note.text[:200]) if part), width="stretch")
