"""The list of scripts: those that come with the project, one's own, and what is written but not saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from agent.scripts import scenarios
from pages.parts import address, address_scripts, selection, shelf
from pages.parts.chosen_script import find_script, scripts
from pages.parts.data import private
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.projector import scaled, table_place
from pages.parts.script_actions import begin, take_upload, title_of, undo_delete
from pages.parts.script_snippets import starter
from pages.parts.words import t
from traces.script_store import ScriptFile

MOST_ROWS = 18
"""Rows seen without scrolling inside the table."""
UPLOAD_MB = 20
_OPEN = "scripts-open"


@dataclass(frozen=True, slots=True)
class Line:
    """A script in the list."""

    id: str
    title: str
    summary: str
    kinds: tuple[str, ...]
    turns: int | None
    """None: it cannot be told, as for the following ones."""
    tools: tuple[str, ...] | None
    rules: bool | None
    recorded: str | None = None
    """The id of the trace that it was recorded from."""
    changed: float | None = None
    """Seconds since 1970; None for what comes with the project."""
    endless: bool = False
    """Whether rules answer every model call, so that there are no turns to count."""


def script_list() -> None:
    """Draw the list."""
    st.subheader(t("Scripts"))
    st.caption(
        t("What a fake model says, turn by turn or by rules, and the run round it. A script plays without a network.")
    )
    _undo_line()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        text = st.text_input(
            t("Search"),
            key=address_scripts.SEARCH,
            placeholder=t("Search the scripts"),
            label_visibility="collapsed",
            icon=":material/search:",
            width=220,
            persist_state="session",
        )
        st.button(
            t("New script"), icon=":material/add:", type="primary", key="script-new", on_click=lambda: begin(starter())
        )
    lines = _lines()
    words = (text or "").casefold().split()
    shown = [line for line in lines if all(word in _searched(line) for word in words)]
    if not shown:
        st.caption(t("No script passes the filter."))
        return
    st.caption(t("{n} of {all} scripts", n=len(shown), all=len(lines)))
    _table(shown)


def upload_field() -> None:
    """Draw the field for a file in the side bar."""
    with st.sidebar:
        st.file_uploader(
            t("Open a script"),
            type=["yaml", "yml", "json"],
            key=address_scripts.UPLOADS.field,
            max_upload_size=UPLOAD_MB,
            help=t("A YAML or JSON file. It is opened as a new script, which you can save. Text can also be pasted."),
            on_change=take_upload,
        )


def _undo_line() -> None:
    last = address_scripts.DELETED.get()
    if last is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(t("Moved to the trash: {names}", names=last[1][:80]), width="content")
        st.button(t("Undo"), icon=":material/undo:", key="script-undo", on_click=undo_delete)


def _lines() -> list[Line]:
    """New scripts first, then one's own, then those of the project."""
    drafts = address_scripts.drafts()
    new = [
        Line(id, title_of(text) or t("New script"), "", ("draft",), None, None, None)
        for id, text in drafts.items()
        if address_scripts.is_new(id)
    ]
    opened = address.opened()
    own = [_own_line(info, info.id in drafts) for info in scripts().list() if private() or info.id in opened]
    return [*reversed(new), *own, *_bundled_lines(drafts)]


def _own_line(info: ScriptFile, draft: bool) -> Line:
    kinds = ("own", *(["wrong"] if info.problem else []), *(["draft"] if draft else []))
    if info.problem:
        return Line(info.id, info.title, info.problem, kinds, None, None, None, changed=info.changed)
    return Line(
        *(info.id, info.title, info.summary, kinds, info.turns, info.tools, info.rules),
        recorded=info.recorded,
        changed=info.changed,
    )


def _bundled_lines(drafts: dict[str, str]) -> list[Line]:
    chinese = address.language() == "zh"
    lines = []
    for info in scenarios():
        script = find_script(info.name)
        title = info.title_zh if chinese and info.title_zh else info.title
        summary = info.summary_zh if chinese and info.summary_zh else info.summary
        kinds = ("bundled", *(["draft"] if info.name in drafts else []))
        lines.append(
            Line(
                *(info.name, title, summary, kinds, len(script.turns), script.tools, script.rules),
                endless=script.always is not None,
            )
        )
    return lines


def _searched(line: Line) -> str:
    return " ".join([line.title, line.summary, *(line.tools or ()), line.recorded or "", line.id]).casefold()


def _kinds() -> dict[str, tuple[str, str]]:
    """The words of a kind and their colours."""
    return {
        "bundled": (t("bundled"), "blue"),
        "own": (t("own"), "green"),
        "draft": (t("not saved"), "orange"),
        "wrong": (t("with mistakes"), "red"),
    }


def _table(lines: Sequence[Line]) -> None:
    # the browser knows rows by their place
    key = f"scripts-{hash(tuple((line.id, line.kinds) for line in lines)):x}"

    def show(row: int | None) -> None:
        if row is not None and row < len(lines):
            address_scripts.open_script(lines[row].id)

    column, kinds = st.column_config, _kinds().values()
    with table_place():
        st.dataframe(
            _frame(lines),
            key=key,
            hide_index=True,
            height=scaled(HEADER_PX + ROW_PX * min(MOST_ROWS, len(lines))),
            row_height=scaled(ROW_PX),
            column_config={
                "title": column.ButtonColumn(
                    t("Title"),
                    width=scaled(250),
                    type="tertiary",
                    alignment="left",
                    on_click=lambda: show(shelf.clicked_row(_OPEN)),
                    key=_OPEN,
                    pinned=True,
                ),
                "kind": column.MultiselectColumn(
                    t("Kind"),
                    width=scaled(156),
                    options=[word for word, _ in kinds],
                    color=[colour for _, colour in kinds],
                ),
                "rules": column.TextColumn(t("Rules"), width=scaled(86)),
                "turns": column.TextColumn(t("Turns"), width=scaled(62)),
                "summary": column.TextColumn(t("What there is to see"), width=scaled(400)),
                "tools": column.TextColumn(t("Tools on offer"), width=scaled(190)),
                "recorded": column.TextColumn(t("Recorded from"), width=scaled(124)),
                "changed": column.DatetimeColumn(t("Changed"), width=scaled(130), format="YYYY-MM-DD HH:mm"),
            },
            on_select=lambda: show(selection.selected_row(key)),  # a press beside the title means the same
            selection_mode="single-cell",
            placeholder="",
            alt=t("List of scripts"),
        )


def _frame(lines: Sequence[Line]) -> pd.DataFrame:
    words = {kind: word for kind, (word, _) in _kinds().items()}
    rules = {True: t("by hand"), False: t("none"), None: ""}
    changed = [None if line.changed is None else datetime.fromtimestamp(line.changed, UTC) for line in lines]
    return pd.DataFrame(
        {
            "title": pd.array([line.title for line in lines], dtype="string"),
            "kind": [[words[kind] for kind in line.kinds] for line in lines],
            "rules": [rules[line.rules] for line in lines],
            "turns": ["∞" if line.endless else "" if line.turns is None else f"{line.turns:,}" for line in lines],
            "summary": pd.array([" ".join(line.summary.split()) for line in lines], dtype="string"),
            "tools": pd.array([", ".join(line.tools or ()) for line in lines], dtype="string"),
            "recorded": pd.array([line.recorded for line in lines], dtype="string"),
            "changed": pd.to_datetime(pd.Series(changed), utc=True),
        }
    )
