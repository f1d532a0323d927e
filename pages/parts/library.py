"""The list of traces, and the field for a file of one's own."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd
import streamlit as st

from agent.scripts import scenarios
from agent.stops import StopReason
from pages.parts import address
from pages.parts.data import listed
from pages.parts.message_table import ROW_PX
from pages.parts.outcome import reason_words
from pages.parts.runs import registry
from pages.parts.words import t
from traces.index import TraceInfo
from traces.store import INTERRUPTED

_TABLE = "library"
UPLOAD_MB = 50


def upload_field() -> None:
    """Draw the field for a file in the side bar."""
    with st.sidebar:
        st.file_uploader(
            t("Open a file"),
            key=address.UPLOAD,
            max_upload_size=UPLOAD_MB,
            help=t("A saved run or an OpenAI chat log: JSON, JSON Lines, gzip or zip. It stays in this session."),
            on_change=address.take_file,
        )
        st.caption(t("Up to {n} MB; a larger file is marked red and not opened.", n=UPLOAD_MB))


def own_file_line() -> None:
    """The way back to the file that was opened in this session."""
    if own := address.own_file():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(t("Back to your file"), icon=":material/description:", on_click=address.show_own_file)
            st.text(own.name)


def library() -> None:
    """Draw the list; choosing a row opens that trace."""
    infos = listed()
    st.subheader(t("Traces"))
    own_file_line()
    if not infos:
        st.caption(t("There is no trace yet. Run something, or open a file on the left."))
        return
    st.caption(t("Select a row to open it."))
    st.dataframe(
        _frame(infos),
        key=_TABLE,
        hide_index=True,
        height="content" if len(infos) < 15 else 560,
        row_height=ROW_PX,
        column_config=_columns(),
        on_select=lambda: _choose(infos),
        selection_mode="single-row",
        placeholder=t("not reported"),
        alt=t("List of traces"),
    )


def title_words(title: str) -> str:
    """A title in the language of the session where it is that of a scenario; any other as it is."""
    return _titles().get(title, title) if address.language() == "zh" else title


@cache
def _titles() -> dict[str, str]:
    return {info.title: info.title_zh for info in scenarios() if info.title_zh}


def _outcome(reason: str | None) -> str | None:
    """The stop reason as a sentence; a reason of a file's own as it is."""
    return reason_words(reason)[1] if reason in set(StopReason) else reason


def _choose(infos: list[TraceInfo]) -> None:
    row = address.selected_row(_TABLE)
    if row is None or row >= len(infos):
        return
    info = infos[row]
    if info.error is not None:
        address.tell(f"{info.title}: {info.error}")
    else:
        address.open_trace(info.id)


def _kind(info: TraceInfo, open_runs: set[str]) -> str:
    """The kind of a trace in words. A run that is open in this server can simply go on: it was not interrupted."""
    if info.error:
        return t("unreadable")
    if info.kind == INTERRUPTED:
        return t("open") if info.id in open_runs else t("interrupted")
    return t("bundled") if info.kind == "bundled" else t("saved")


def _frame(infos: list[TraceInfo]) -> pd.DataFrame:
    open_runs = {run.id for run in registry().listed()}
    return pd.DataFrame(
        {
            "title": [title_words(info.title) for info in infos],
            "kind": [[_kind(info, open_runs)] for info in infos],
            "outcome": pd.array([_outcome(info.outcome) for info in infos], dtype="string"),
            "model": pd.array([info.model for info in infos], dtype="string"),
            "steps": [info.steps for info in infos],
            "messages": [info.messages for info in infos],
            "tokens": pd.array([info.tokens for info in infos], dtype="Int64"),
            "created": pd.to_datetime(
                pd.Series([info.created for info in infos]), utc=True, errors="coerce", format="ISO8601"
            ),
        }
    )


def _columns() -> dict[str, Any]:
    column = st.column_config
    kinds = {
        t("bundled"): "blue",
        t("saved"): "green",
        t("open"): "violet",
        t("interrupted"): "orange",
        t("unreadable"): "red",
    }
    return {
        "title": column.TextColumn(t("Title"), width=192),
        "kind": column.MultiselectColumn(t("Kind"), width=98, options=list(kinds), color=list(kinds.values())),
        "outcome": column.TextColumn(t("Stop reason"), width=220),
        "model": column.TextColumn(t("Model"), width=82),
        "steps": column.NumberColumn(t("Steps"), width=52),
        "messages": column.NumberColumn(t("Messages"), width=76),
        "tokens": column.NumberColumn(t("Tokens"), width=92, format="localized"),
        "created": column.DatetimeColumn(t("Began"), width=122, format="YYYY-MM-DD HH:mm"),
    }
