"""The message list as a table: one row a message, roles and makers as coloured badges with icon and word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from agent.trace import Trace
from pages.parts.message_view import decision_word
from pages.parts.roles import Look, maker_look, role_look
from pages.parts.words import t
from traces.tables import messages_frame

ROW_PX = 35
"""Height of one row, and of the header."""


def message_table(
    trace: Trace,
    *,
    key: str,
    rows_shown: int = 7,
    live: bool = False,
    default: int | None = None,
    on_select: Callable[[], None] | None = None,
) -> int | None:
    """Draw the table and give the position of the selected message, or None.

    Args:
        trace: a trace that nobody changes meanwhile.
        key: the key of the table in the session; a new key forgets the selection.
        rows_shown: rows visible without scrolling inside the table; its height, so that nothing jumps as rows come.
        live: the run goes on, so a call without a result is nothing to remark on.
        default: position selected when the table is first drawn.
        on_select: called when the selection changes.
    """
    frame = messages_frame(trace)
    event = st.dataframe(
        table_frame(trace, frame, live=live),
        key=key,
        hide_index=True,
        height=ROW_PX * (1 + rows_shown) + 3,
        row_height=ROW_PX,
        column_config=_columns(frame),
        on_select=on_select or "rerun",
        selection_mode="single-row",
        selection_default=None if default is None else {"selection": {"rows": [default], "columns": []}},
        placeholder="",
        alt=t("Message list"),
    )
    rows = [row for row in event.selection.rows if row < len(frame)]
    return rows[0] if rows else None


def table_frame(trace: Trace, frame: pd.DataFrame, *, live: bool) -> pd.DataFrame:
    """The rows as the table shows them; role and maker are lists of one label, so that they are drawn as badges.

    Args:
        trace: the trace.
        frame: its messages, as :func:`traces.tables.messages_frame` makes it.
        live: see :func:`message_table`.
    """
    roles = {role: [role_look(role).label] for role in frame["role"].unique()}
    makers = {maker: [maker_look(maker).label] for maker in frame["maker"].unique()}
    notes = {note: _note(note, live=live) for note in frame["note"].dropna().unique()}
    call_ids = [message.tool_call_id or ", ".join(c.id for c in message.tool_calls) for message in trace.messages]
    return pd.DataFrame(
        {
            "number": frame["number"],
            "step": frame["step"],
            "role": [roles[role] for role in frame["role"]],
            "maker": [makers[maker] for maker in frame["maker"]],
            "text": frame["text"],
            "tool_calls": frame["tool_calls"],
            "call_id": pd.array(call_ids, dtype="string"),
            "note": [notes.get(note, "") if isinstance(note, str) else "" for note in frame["note"]],
        }
    )


def _note(note: str, *, live: bool) -> str:
    """What is odd about a row, in the language of the session."""
    if note.startswith("no result"):
        return "" if live else t("no result")
    words = {"error result": t("error result"), "orphan result": t("orphan result")}
    return ", ".join(words.get(part) or decision_word(part) for part in note.split(", "))


def _columns(frame: pd.DataFrame) -> dict[str, Any]:
    column = st.column_config
    return {
        "number": column.NumberColumn(t("No."), width=45, format="%d"),
        "step": column.NumberColumn(t("Step #"), width=55, format="%d"),
        "role": _badges(t("Role"), 110, frame["role"], role_look),
        "maker": _badges(t("Made by"), 125, frame["maker"], maker_look),
        "text": column.TextColumn(t("Text"), width=185),
        "tool_calls": column.TextColumn(t("Tool calls"), width=145),
        "call_id": column.TextColumn(t("Call id"), width=70),
        "note": column.TextColumn(t("Note"), width=80),
    }


def _badges(label: str, width: int, values: pd.Series[str], look_of: Callable[[str], Look]) -> Any:
    looks = [look_of(value) for value in values.unique()]
    return st.column_config.MultiselectColumn(
        label, width=width, options=[look.label for look in looks], color=[look.colour for look in looks]
    )
