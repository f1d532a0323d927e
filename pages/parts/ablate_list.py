"""The list of experiments: what was tried, how far it is, and what it found; with the way to a new one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from agent.errors import AgentError
from pages.parts import address, address_ablate, experiments, selection, shelf
from pages.parts.ablate_design_begin import copied, exercise_design, new_design
from pages.parts.ablate_design_draft import find
from pages.parts.ablate_found import findings_words
from pages.parts.ablate_words import state_look
from pages.parts.data import private
from pages.parts.experiments import Listed
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.projector import scaled, table_place
from pages.parts.words import t
from traces.experiments.exercise import exercises

MOST_ROWS = 14
"""Rows seen without scrolling inside the table."""
UPLOAD_MB = 5
_OPEN = "ablate-open"
_DELETE = "ablate-delete"


def experiment_list() -> None:
    """Draw the list."""
    st.subheader(t("Ablate"))
    st.caption(
        t(
            "Take one thing away from a run, run it often enough, and see what that did: with its uncertainty, or an "
            "honest “not enough runs”."
        )
    )
    _undo_line()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(t("New experiment"), icon=":material/add:", type="primary", key="ablate-new", on_click=_new)
        st.caption(t("From a saved trace: open it under Traces and press Ablate."), width="content")
    lines = experiments.listing()
    if lines:
        _table(lines)
    else:
        st.caption(t("There is no experiment yet."))
    _exercises()


def upload_field() -> None:
    """Draw the field for a file in the side bar."""
    with st.sidebar:
        st.file_uploader(
            t("Open a design"),
            type=["yaml", "yml", "json"],
            key=address_ablate.UPLOADS.field,
            max_upload_size=UPLOAD_MB,
            help=t("A YAML or JSON file. It is opened as a new design, which you can change and start."),
            on_change=_take_upload,
        )


def _exercises() -> None:
    """The designs that come with the project, each with a question."""
    chinese = address.language() == "zh"
    st.markdown(f"**{t('Exercises')}**")
    for exercise in exercises():
        key = f"ablate-line-{exercise.name}"  # the style sheet puts the two below each other where it is narrow
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small", key=key):
            st.button(
                exercise.title_zh if chinese else exercise.title,
                icon=":material/school:",
                key=f"ablate-exercise-{exercise.name}",
                on_click=_begin_exercise,
                args=(exercise.name,),
            )
            st.caption(exercise.question_zh if chinese else exercise.question)


def _undo_line() -> None:
    last = address_ablate.DELETED.get()
    if last is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(t("Moved to the trash: {names}", names=last[1][:80]), width="content")
        st.button(t("Undo"), icon=":material/undo:", key="ablate-undo", on_click=_undo)


def _table(lines: Sequence[Listed]) -> None:
    looks = [state_look(line.state, cut=line.done < line.total) for line in lines]
    shown = {look.label: look.colour for look in looks}
    # the browser knows rows by their place
    key = f"experiments-{hash(tuple(line.id for line in lines)):x}"

    def show(row: int | None) -> None:
        if row is not None and row < len(lines):
            address_ablate.open_experiment(lines[row].id)

    def delete() -> None:
        row = shelf.clicked_row(_DELETE)
        if row is not None and row < len(lines):
            _delete(lines[row])

    column = st.column_config
    config: dict[str, Any] = {
        "title": column.ButtonColumn(
            t("Title"),
            width=scaled(340),
            type="tertiary",
            alignment="left",
            on_click=lambda: show(shelf.clicked_row(_OPEN)),
            key=_OPEN,
            pinned=True,
        ),
        "state": column.MultiselectColumn(
            t("State"), width=scaled(110), options=list(shown), color=list(shown.values())
        ),
        "runs": column.TextColumn(t("Runs"), width=scaled(110), alignment="right"),
        "found": column.TextColumn(t("Found"), width=scaled(280)),
        "created": column.DatetimeColumn(t("Begun"), width=scaled(130), format="YYYY-MM-DD HH:mm"),
        "delete": column.ButtonColumn(" ", width=scaled(80), type="tertiary", on_click=delete, key=_DELETE),
    }
    frame = _frame(lines, [look.label for look in looks])
    if not private():  # whose it is cannot be told where others can reach it
        frame = frame.drop(columns="delete")
    with table_place():
        st.dataframe(
            frame,
            key=key,
            hide_index=True,
            height=scaled(HEADER_PX + ROW_PX * min(MOST_ROWS, len(lines))),
            row_height=scaled(ROW_PX),
            column_config=config,
            on_select=lambda: show(selection.selected_row(key)),  # a press beside the title means the same
            selection_mode="single-cell",
            placeholder="",
            alt=t("List of experiments"),
        )


def _frame(lines: Sequence[Listed], states: Sequence[str]) -> pd.DataFrame:
    created = [datetime.fromtimestamp(line.created, UTC) for line in lines]
    return pd.DataFrame(
        {
            "title": pd.array([line.title for line in lines], dtype="string"),
            "state": [[state] for state in states],
            "runs": [f"{line.done:,} / {line.total:,}" for line in lines],
            "found": [findings_words(line.folder) for line in lines],
            "created": pd.to_datetime(pd.Series(created), utc=True),
            "delete": [t("Delete")] * len(lines),
        }
    )


# ---- what callbacks do ----


def _new() -> None:
    address_ablate.open_design(new_design())


def _begin_exercise(name: str) -> None:
    try:
        address_ablate.open_design(exercise_design(name))
    except AgentError as error:
        address.tell(str(error))


def _delete(line: Listed) -> None:
    try:
        address_ablate.DELETED.note(experiments.delete(line.id), line.title)
    except AgentError as error:
        address.tell(str(error))


def _undo() -> None:
    last = address_ablate.DELETED.get()
    if last is None:
        return
    address_ablate.DELETED.forget()
    try:
        experiments.restore(last[0])
    except AgentError as error:
        address.tell(str(error))


def _take_upload() -> None:
    """Open the file of the field as a new design."""
    file = address.setting(address_ablate.UPLOADS.field)
    address_ablate.UPLOADS.count()
    if file is None:
        return
    try:
        text = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        address.tell(t("{name}: a design is UTF-8 text, and this file is not.", name=file.name))
    else:
        design = copied(text.replace("\r\n", "\n"))
        if (draft := find(design)) is not None and not draft.readable:
            address.put(address_ablate.TABS, address_ablate.TEXT_TAB)  # the form would show another design
        address_ablate.open_design(design)
