"""The message list as a table: one row a message, roles and makers as coloured badges with icon and word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from agent.trace import Trace
from pages.parts import address
from pages.parts.message_view import decision_word
from pages.parts.roles import Look, maker_look, role_look
from pages.parts.words import t
from traces.tables import messages_frame

ROW_PX = 32
"""Height of one row."""

HEADER_PX = 38
"""Height of the header and the border, which do not follow that of the rows."""

LIVE_ROWS = 7
"""Rows of a run on screen, the newest always among them; so many fit below the status box of a 720 px window."""

ADDED = "＋"
"""Mark of a row that the last phase added."""

SAVED_ROWS = 7
"""Most rows of a saved trace seen without scrolling inside the table; the charts still begin in a 720 px window."""

PAGE_ROWS = 5000
"""Most rows sent to the browser at once."""


def message_table(trace: Trace, *, key: str, live: bool = False, added: range | None = None) -> int | None:
    """Draw the newest messages of a run, or all of them on demand, and give the position of the selected one.

    The height stays the same from the first message on, so that nothing jumps as messages come.

    Args:
        trace: a trace that nobody changes meanwhile.
        key: names the table; it remembers the selected message, also when that has moved out of the window.
        live: the run goes on, so a call without a result is nothing to remark on.
        added: positions of the messages that the last phase added; their rows are marked. None: no marks at all.
    """
    total, whole = len(trace.messages), f"{key}-all"
    first = 0 if address.setting(whole) else max(0, total - LIVE_ROWS)
    chosen = address.chosen(key)
    rows = range(first, total)
    _table(trace, rows, key=key, chosen=chosen, height=LIVE_ROWS, live=live, choose=address.choose, added=added)
    if total > LIVE_ROWS:
        st.toggle(t("Show all {n} messages, not only the newest {newest}", n=total, newest=LIVE_ROWS), key=whole)
    return chosen


def saved_table(trace: Trace, *, key: str, live: bool = False) -> int | None:
    """Draw all messages of a trace, in pages where there are very many, and give the position that the URL selects.

    Args:
        trace: a trace that nobody changes meanwhile.
        key: names the table.
        live: see :func:`message_table`.
    """
    total, first = len(trace.messages), 0
    chosen = address.message(total)
    if total > PAGE_ROWS:
        page = f"{key}-page"
        if chosen is not None and chosen != address.chosen(key):
            address.put(page, chosen // PAGE_ROWS + 1)
        address.choose(key, chosen)
        first = (st.pagination(-(-total // PAGE_ROWS), key=page) - 1) * PAGE_ROWS
    rows = range(first, min(total, first + PAGE_ROWS))
    height = min(SAVED_ROWS, len(rows))

    def choose(table: str, position: int | None) -> None:
        address.choose(table, position)
        address.choose_message(position)

    _table(trace, rows, key=key, chosen=chosen, height=height, live=live, choose=choose)
    return chosen


def _table(
    trace: Trace,
    rows: range,
    *,
    key: str,
    chosen: int | None,
    height: int,
    live: bool,
    choose: Callable[[str, int | None], None],
    added: range | None = None,
) -> None:
    """Draw these messages.

    The frame and its settings must not depend on the selection: the browser keeps a table whose bytes it knows, and
    the largest ones take megabytes.
    """

    def selected() -> None:
        row = address.selected_row(key)
        choose(key, None if row is None else rows.start + row)

    frame = messages_frame(trace, rows)
    shown = table_frame(trace, frame, rows, live=live, added=added)
    address.select_row(key, chosen - rows.start if chosen is not None and chosen in rows else None)
    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        height=HEADER_PX + ROW_PX * height,
        row_height=ROW_PX,
        column_config=_columns(frame, notes=bool(shown["note"].any()), marked=added is not None),
        on_select=selected,
        selection_mode="single-row",
        placeholder="",
        alt=t("Message list"),
    )


def table_frame(
    trace: Trace, frame: pd.DataFrame, rows: range, *, live: bool, added: range | None = None
) -> pd.DataFrame:
    """The rows as the table shows them; role and maker are lists of one label, so that they are drawn as badges.

    Args:
        trace: the trace.
        frame: those of its messages, as :func:`traces.tables.messages_frame` makes it.
        rows: their positions.
        live: the run goes on, so a call without a result is nothing to remark on.
        added: positions of the rows that are marked as new; None or empty: none.
    """
    roles = {role: [role_look(role).label] for role in frame["role"].unique()}
    makers = {maker: [maker_look(maker).label] for maker in frame["maker"].unique()}
    notes = {note: _note(note, live=live) for note in frame["note"].dropna().unique()}
    messages = trace.messages[rows.start : rows.stop]
    call_ids = [message.tool_call_id or ", ".join(c.id for c in message.tool_calls) for message in messages]
    return pd.DataFrame(
        {
            "added": [ADDED if added and at in added else "" for at in rows],
            "number": frame["number"],
            "role": [roles[role] for role in frame["role"]],
            "text": frame["text"],
            "tool_calls": frame["tool_calls"],
            "maker": [makers[maker] for maker in frame["maker"]],
            "note": [notes.get(note, "") if isinstance(note, str) else "" for note in frame["note"]],
            "step": frame["step"],
            "call_id": pd.array(call_ids, dtype="string"),
        }
    )


def _note(note: str, *, live: bool) -> str:
    """What is odd about a row, in the language of the session."""
    words = {
        "no_result": "" if live else t("no result"),
        "error_result": t("error result"),
        "orphan_result": t("orphan result"),
    }
    return ", ".join(words[code] if code in words else decision_word(code) for code in note.split())


def _columns(frame: pd.DataFrame, *, notes: bool, marked: bool) -> dict[str, Any]:
    """The columns in their order of importance: a narrow screen shows the first three.

    All of them fit on a screen 1280 px wide. Where there are no notes, the text and the calls have their room.
    """
    column = st.column_config
    return {
        "added": column.TextColumn(ADDED, width=34, help=t("Added by the phase before")) if marked else None,
        "number": column.NumberColumn(t("No."), width=44, format="%d"),
        "role": _badges(t("Role"), 110, frame["role"], role_look),
        "text": column.TextColumn(t("Text"), width=270 if notes else 304),
        "tool_calls": column.TextColumn(t("Tool calls"), width=172 if notes else 230),
        "maker": _badges(t("Made by"), 132, frame["maker"], maker_look),
        "note": column.TextColumn(t("Note"), width=92) if notes else None,
        "step": column.NumberColumn(t("Step #"), width=52, format="%d"),
        "call_id": column.TextColumn(t("Call id"), width=62),
    }


def _badges(label: str, width: int, values: pd.Series[str], look_of: Callable[[str], Look]) -> Any:
    looks = [look_of(value) for value in values.unique()]
    return st.column_config.MultiselectColumn(
        label, width=width, options=[look.label for look in looks], color=[look.colour for look in looks]
    )
