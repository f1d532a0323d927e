"""A notebook on the page: its cells a page at a time, each with the picture of the loop and the messages it added."""

from __future__ import annotations

import streamlit as st

from agent.trace import Trace
from pages.parts import address_notebook
from pages.parts.diagram import loop_diagram
from pages.parts.images import thumbnails
from pages.parts.message_view import text_block
from pages.parts.notebook_notes import notes_after, placed_notes
from pages.parts.notebook_source import Source
from pages.parts.outcome import outcome_panel
from pages.parts.paging import page_of
from pages.parts.roles import maker_badge, role_badge
from pages.parts.words import loop_words, t
from traces.export.words import Say
from traces.notebook.cells import TRACE, Cell, cells
from traces.notebook.notes import PlacedNote
from traces.notebook.sorting import notes_by_cell
from traces.notebook.telling import did, ending, head, lesson_texts
from traces.notebook.words import say_in
from traces.text import message_text

PAGE = 30
"""Cells of a page: more of them make every press slow."""


def notebook_view(source: Source) -> None:
    """Draw the cells of a notebook with the notes between them."""
    made, trace = cells(source.notebook), source.notebook.trace
    placed = notes_by_cell(placed_notes(trace.trace_id), made) if source.keeps_notes else {}
    say = say_in(source.notebook.language)
    if not source.keeps_notes:
        st.caption(t("Everybody on this server sees this trace, so no notes are kept with it."))
    elif address_notebook.page_number(trace.trace_id) == 1:
        notes_after(trace, TRACE, placed.get(-1, ()))
    shown = page_of(range(len(made)), PAGE, key=address_notebook.page_key(trace.trace_id))
    if len(shown) < len(made):
        counts = {"first": shown[0] + 1, "last": shown[-1] + 1, "all": f"{len(made):,}"}
        st.caption(t("Cells {first} to {last} of {all}; messages: {n}", **counts, n=f"{len(trace.messages):,}"))
    for at in shown:
        _cell(source, made[at], placed.get(at, ()), say)
    _turn(trace.trace_id, len(made))


def _turn(trace_id: str, count: int) -> None:
    """The way on, where a page ends, and the top of the page for whoever took it."""
    number = address_notebook.page_number(trace_id)
    if count <= PAGE:
        return
    if number * PAGE < count:
        st.button(
            t("Next page"),
            key="notebook-next",
            icon=":material/arrow_forward:",
            on_click=address_notebook.turn_page,
            args=(trace_id, number + 1),
        )
    script = f"document.querySelector('[data-testid=\"stMain\"]').scrollTop = 0; // {number}"
    with st.container(key="scroll"):  # the style sheet gives it no place
        st.html(f"<script>\n{script}\n</script>", unsafe_allow_javascript=True)


def _cell(source: Source, cell: Cell, notes: list[PlacedNote] | tuple[()], say: Say) -> None:
    notebook = source.notebook
    with st.container(border=True, key=f"cell-{cell.kind}-{cell.place}", gap="small"):
        st.markdown(f"**{head(cell, say)}**")
        if cell.kind in ("idea", "task"):
            _words(source, cell, say)
        else:
            left, right = st.columns([41, 59], gap="medium")
            with left:
                loop_diagram(cell.state, cell.phase)
            with right:
                _beside(source, cell, say)
                for position in cell.messages:
                    _message(notebook.trace, position, key=f"cell-message-{position}")
        if source.keeps_notes and cell.kind != "idea":
            notes_after(notebook.trace, cell.place, notes)


def _beside(source: Source, cell: Cell, say: Say) -> None:
    """What stands beside the picture: what happened, what to notice, or how the run ended."""
    _words(source, cell, say)
    if cell.kind in ("start", "phase"):
        st.text("\n".join(did(source.notebook.trace, cell, say)))
    if cell.kind == "end":
        if source.notebook.now is None:
            outcome_panel(source.notebook.trace.outcome, wide=False)
        told = ending(source.notebook, say, loop_words)
        st.text("\n".join(f"{name}: {value}" for name, value in (told if source.notebook.now else told[-2:])))


def _words(source: Source, cell: Cell, say: Say) -> None:
    """What the lesson says. Its texts may be a teacher's, so they are plain text."""
    with st.container(gap="xsmall"):
        for name, text in lesson_texts(source.notebook, cell, say):
            st.caption(name)
            st.text(text)


def _message(trace: Trace, position: int, *, key: str) -> None:
    message, entry = trace.messages[position], trace.entries[position]
    made = f"{role_badge(message.role)} {t('made by')} {maker_badge(entry.maker)}"
    st.markdown(f"{t('Message {n}', n=position + 1)} {made}")
    if message.reasoning:
        with st.expander(t("Reasoning sent with the answer"), type="compact"):
            text_block(message.reasoning, key=f"{key}-reasoning", file_name=f"reasoning-{position + 1}.txt")
    if text := message_text(message):
        text_block(text, key=key, file_name=f"message-{position + 1}.txt")
    thumbnails(message)
    for number, call in enumerate(message.tool_calls):
        st.text(f"{call.name}   {call.id}")
        text_block(call.arguments_text(), key=f"{key}-call-{number}", file_name="arguments.json")
