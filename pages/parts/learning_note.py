"""The small note that a learner keeps at the end of a lesson, and the way to the notebook of a run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from agent import clock
from agent.errors import AgentError
from agent.trace import Trace
from pages.parts import address, address_notebook
from pages.parts.data import data_folder, private
from pages.parts.notebook_source import keeps_notes
from pages.parts.words import loop_words, t
from traces.annotations import MAX_TEXT
from traces.lessons.lesson import Lesson
from traces.notebook.learning import KEYS, LearningNote, LearningNotes, notes_json

_LONG = ("core_takeaway", "pitfall_recorded", "next_day_input")
"""The keys that hold sentences."""


def learning_note(lesson: Lesson, trace: Trace) -> None:
    """Draw the note on a lesson beside the trace of its run: read, write, save, download.

    Args:
        lesson: the lesson.
        trace: of its run, which has ended.
    """
    language = address.language()
    takeaway = "" if lesson.takeaway is None else lesson.takeaway.of(language)
    note_form(trace, LearningNote(topic=lesson.title.of(language), core_takeaway=takeaway))


def note_form(trace: Trace, first: LearningNote) -> None:
    """Draw the note next to a trace; a field is saved when it is left.

    Args:
        trace: the trace.
        first: what a note begins with that is not kept yet.
    """
    trace_id = trace.trace_id
    if not keeps_notes(trace_id):
        st.caption(t("Everybody on this server sees this trace, so no notes are kept with it."))
        return
    kept = _notes().of(trace_id)
    note = kept or replace(first, day=_day(), code_artifact=f"{trace_id}.json")
    labels, texts = _labels(), note.to_dict()
    for key in KEYS:
        if address.setting(_field(trace_id, key)) is None:
            address.put(_field(trace_id, key), texts[key])
    with st.container(key="learning-note", gap="small"):
        day, topic, artifact = st.columns([1, 3, 2])
        for place, key in ((day, "day"), (topic, "topic"), (artifact, "code_artifact")):
            place.text_input(
                labels[key], key=_field(trace_id, key), max_chars=MAX_TEXT, on_change=_save, args=(trace_id,)
            )
        for key in _LONG:
            st.text_area(
                labels[key],
                key=_field(trace_id, key),
                max_chars=MAX_TEXT,
                height="content",
                on_change=_save,
                args=(trace_id,),
            )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if kept is None:
                st.button(
                    t("Keep the learning note"),
                    key=f"learning-keep-{trace_id}",
                    icon=":material/save:",
                    on_click=_save,
                    args=(trace_id,),
                )
            else:
                st.caption(t("Kept with the trace; every change is saved when you leave its field."), width="content")
            st.download_button(
                t("Download the learning note"),
                note.to_json(),
                file_name=f"learning-note-{trace_id}.json",
                mime="application/json",
                key=f"learning-download-{trace_id}",
                icon=":material/download:",
                on_click="ignore",
            )


def all_learning_notes() -> None:
    """Draw the list of all learning notes of this learner, each with the way to its notebook; nothing without any.

    On a server that others can reach, only those of runs that this browser opened.
    """
    own = address.opened()
    found = list(_notes().all(lambda trace_id: private() or trace_id in own))
    if not found:
        return
    with st.expander(t("All learning notes: {n}", n=len(found)), type="compact", icon=":material/school:"):
        for trace_id, note in found:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                notebook_link(trace_id)
                st.text(" · ".join(part for part in (note.day, note.topic, note.core_takeaway) if part))
        st.download_button(
            t("Download all as one file"),
            partial(notes_json, [note for _, note in found]),
            file_name="learning-notes.json",
            mime="application/json",
            key="learning-download-all",
            icon=":material/download:",
            on_click="ignore",
        )


def notebook_link(trace_id: str) -> None:
    """Draw the way to the notebook of a run.

    Args:
        trace_id: of the run.
    """
    st.page_link(
        address_notebook.PAGE,
        label=t("Notebook"),
        icon=":material/book_2:",
        query_params=address_notebook.link(trace_id),
    )


def _notes() -> LearningNotes:
    return LearningNotes(data_folder())


def _day() -> str:
    """A running number where one person learns; a date where several do, who count for themselves."""
    return str(_notes().count() + 1) if private() else clock.now()[:10]


def _field(trace_id: str, key: str) -> str:
    return f"learning-{trace_id}-{key}"


def _save(trace_id: str) -> None:
    """Keep what the fields hold."""
    texts = {key: str(address.setting(_field(trace_id, key), "")) for key in KEYS}
    try:
        _notes().write(trace_id, LearningNote(**texts))
    except AgentError as error:
        address.tell(loop_words(str(error)))


def _labels() -> dict[str, str]:
    return {
        "day": t("Day"),
        "topic": t("Topic"),
        "core_takeaway": t("What I take along"),
        "code_artifact": t("What was made"),
        "pitfall_recorded": t("What can go wrong"),
        "next_day_input": t("To begin with next time"),
    }
