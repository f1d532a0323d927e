"""The table of traces: a row each, its title a button that opens it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from agent.stops import StopReason
from pages.parts import address, shelf
from pages.parts.finding_words import severity_look
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.outcome import reason_words
from pages.parts.projector import scaled, table_place
from pages.parts.runs import registry
from pages.parts.words import t
from traces.annotations import Notes, sorted_tags
from traces.index import INTERRUPTED, TraceInfo
from traces.library import cost_of
from traces.lint import Severity
from traces.prices import PriceTable

MOST_ROWS = 14
"""Rows seen without scrolling inside the table."""
UNKNOWN = "–"
"""Stands for what a file does not say; the columns are too narrow for words."""
_OPEN = "library-open"


def library_table(
    rows: Sequence[TraceInfo], notes: Mapping[str, Notes], prices: PriceTable, *, titles: Sequence[str]
) -> str:
    """Draw these lines and give the table's key.

    A press on a title opens the trace, one on another cell makes it the current one, and boxes tick several. The
    key changes with the lines, because the browser knows rows by their position only.

    Args:
        rows: the lines of this page.
        notes: by the id of the trace.
        prices: for costs that a file does not say.
        titles: of the lines, in the language of the session.
    """
    key = f"library-{hash(tuple(map(shelf.place_of, rows))):x}"
    with table_place():
        st.dataframe(
            _frame(rows, notes, prices, titles),
            key=key,
            hide_index=True,
            height=scaled(HEADER_PX + ROW_PX * min(MOST_ROWS, len(rows))),
            row_height=scaled(ROW_PX),
            column_config=_columns(rows, notes),
            on_select=lambda: shelf.take_selection(key, rows),
            selection_mode=("multi-row", "single-cell"),
            selection_default=shelf.ticked_rows(rows),
            placeholder=UNKNOWN,
            alt=t("List of traces"),
        )
    return key


def open_line(info: TraceInfo) -> None:
    """Show the trace of a line. A file that cannot even be looked at says why instead."""
    if info.id:
        address.open_trace(info.id)
    else:
        address.tell(f"{info.title}: {info.error}")


def outcome_words(reason: str) -> str:
    """The stop reason as a sentence; a reason of a file's own as it is."""
    return reason_words(reason)[1] if reason in set(StopReason) else reason


def kind_of(info: TraceInfo) -> str:
    """The kind of a trace: bundled, saved, open, interrupted or unreadable.

    A run that is open in this server can simply go on: it was not interrupted.
    """
    if info.error:
        return "unreadable"
    if info.kind == INTERRUPTED and registry().find(info.id) is not None:
        return "open"
    return info.kind


def kind_words(kind: str) -> str:
    """The kind of a trace in the language of the session."""
    words = {
        "bundled": t("bundled"),
        "saved": t("saved"),
        "open": t("open"),
        INTERRUPTED: t("interrupted"),
        "unreadable": t("unreadable"),
    }
    return words[kind]


_KINDS = {"bundled": "blue", "saved": "green", "open": "violet", INTERRUPTED: "orange", "unreadable": "red"}


def _findings_words(info: TraceInfo) -> str:
    """What the linter found, as icons with numbers. A run that may still go on is looked at where it is shown."""
    if info.error or info.kind == INTERRUPTED:
        return ""
    if not info.checked:
        return t("not checked yet")
    counts = zip(Severity, (info.found_errors, info.found_warnings, info.found_notes), strict=True)
    return "  ".join(f"{severity_look(severity).icon} {count}" for severity, count in counts if count) or t("none")


def _frame(
    rows: Sequence[TraceInfo], notes: Mapping[str, Notes], prices: PriceTable, titles: Sequence[str]
) -> pd.DataFrame:
    costs = [cost_of(info, prices) for info in rows]
    kinds = {kind: [kind_words(kind)] for kind in _KINDS}
    outcomes = {reason: outcome_words(reason) for reason in {info.outcome for info in rows} if reason}
    sources = {False: t("file"), True: t("computed")}
    return pd.DataFrame(
        {
            "title": pd.array(titles, dtype="string"),
            "kind": [kinds[kind_of(info)] for info in rows],
            "outcome": pd.array([outcomes.get(info.outcome or "") for info in rows], dtype="string"),
            "model": pd.array([info.model for info in rows], dtype="string"),
            "steps": [info.steps for info in rows],
            "tokens": pd.array([info.tokens for info in rows], dtype="Int64"),
            "cost": pd.array([cost.value for cost in costs], dtype="Float64"),
            "cost_source": [
                "" if cost.value is None else ("" if cost.complete else "≥ ") + sources[cost.computed] for cost in costs
            ],
            "findings": pd.array([_findings_words(info) for info in rows], dtype="string"),
            "messages": [info.messages for info in rows],
            "tool_calls": [info.tool_calls for info in rows],
            "errors": [info.errors for info in rows],
            "duration": pd.array([info.duration_s for info in rows], dtype="Float64"),
            "created": pd.to_datetime(
                pd.Series([info.created for info in rows]), utc=True, errors="coerce", format="ISO8601"
            ),
            "tags": [list(notes[info.id].tags) if info.id in notes else [] for info in rows],
            "format": pd.array([info.format for info in rows], dtype="string"),
            "task": pd.array([info.task for info in rows], dtype="string"),
        }
    )


def column_word(name: str) -> str:
    """The heading of a column in the language of the session."""
    words = {
        "title": t("Title"),
        "created": t("Began"),
        "steps": t("Steps"),
        "messages": t("Messages"),
        "tool_calls": t("Tool calls"),
        "errors": t("Errors"),
        "findings": t("Findings"),
        "tokens": t("Tokens"),
        "cost": t("Cost"),
        "duration": t("Duration"),
        "duration_s": t("Duration"),
    }
    return words[name]


def _columns(rows: Sequence[TraceInfo], notes: Mapping[str, Notes]) -> dict[str, Any]:
    column = st.column_config
    tags = list(sorted_tags(notes[info.id] for info in rows if info.id in notes))

    def opened() -> None:
        row = shelf.clicked_row(_OPEN)
        if row is not None and row < len(rows):
            open_line(rows[row])

    return {
        "title": column.ButtonColumn(
            t("Title"), width=200, type="tertiary", alignment="left", on_click=opened, key=_OPEN, pinned=True
        ),
        "kind": column.MultiselectColumn(
            t("Kind"), width=scaled(92), options=[kind_words(kind) for kind in _KINDS], color=list(_KINDS.values())
        ),
        "outcome": column.TextColumn(t("Stop reason"), width=scaled(134)),
        "model": column.TextColumn(t("Model"), width=scaled(96)),
        "steps": column.NumberColumn(t("Steps"), width=scaled(54)),
        "messages": column.NumberColumn(t("Messages"), width=scaled(76)),
        "tool_calls": column.NumberColumn(t("Tool calls"), width=scaled(80)),
        "errors": column.NumberColumn(t("Errors"), width=scaled(60)),
        "findings": column.TextColumn(
            t("Findings"), width=scaled(104), help=t("✖ errors, ▲ warnings, ℹ notes of the linter")
        ),
        "tokens": column.NumberColumn(t("Tokens"), width=scaled(82), format="localized"),
        "cost": column.NumberColumn(t("Cost"), width=scaled(80), format="$ %.4f"),
        "cost_source": column.TextColumn(
            t("Cost by"),
            width=scaled(76),
            help=t("file: the file says it. computed: by the table of prices. ≥: some calls have no known price."),
        ),
        "duration": column.NumberColumn(t("Seconds"), width=scaled(84), format="localized"),
        "created": column.DatetimeColumn(t("Began"), width=scaled(122), format="YYYY-MM-DD HH:mm"),
        "tags": column.MultiselectColumn(t("Tags"), width=scaled(130), options=tags) if tags else None,
        "format": column.TextColumn(t("Format"), width=scaled(120)),
        "task": column.TextColumn(t("Task"), width=scaled(300)),
    }
