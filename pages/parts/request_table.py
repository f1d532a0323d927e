"""The messages of a request as a table: what was sent, what is new in it, and what was left out and by whom."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from agent.trace import Trace
from pages.parts.message_table import HEADER_PX, PAGE_ROWS, ROW_PX
from pages.parts.message_view import text_block
from pages.parts.projector import scaled, table_place
from pages.parts.request_words import who
from pages.parts.roles import Look, role_look
from pages.parts.words import t
from traces.requests import Row, SentRequest, body_text, request_frame

ROWS = 8
"""Most rows seen without scrolling inside the table; where more are as before, they are folded away."""


def request_table(trace: Trace, sent: SentRequest, *, key: str) -> None:
    """Draw the rows of a request, and below them the selected one in full.

    Args:
        trace: the trace.
        sent: its request.
        key: names the table.
    """
    rows = sent.rows
    if ROWS < sent.head < len(rows):
        label = t("Fold the {n} rows at the head that are as before", n=sent.head)
        if st.toggle(label, value=True, key=f"{key}-fold"):
            rows = rows[sent.head :]
    if len(rows) > PAGE_ROWS:
        pages = -(-len(rows) // PAGE_ROWS)
        first = (st.pagination(pages, default=pages, key=f"{key}-page") - 1) * PAGE_ROWS
        rows = rows[first : first + PAGE_ROWS]
    selected = _table(rows, key=f"{key}-rows-{rows[0].position if rows else 0}")
    if selected is not None:
        _detail(trace, selected, key=f"{key}-row")


def _table(rows: list[Row], *, key: str) -> Row | None:
    """Draw these rows and give the selected one."""
    frame = request_frame(rows)
    looks = [_looks(row) for row in rows]
    states = {look.label: look for each in looks for look in each}
    roles = {role: role_look(role) for role in frame["role"].unique()}
    shown = pd.DataFrame(
        {
            "sent": frame["sent"],
            "state": [[look.label for look in each] for each in looks],
            "role": [[roles[role].label] for role in frame["role"]],
            "text": frame["text"],
            "tool_calls": frame["tool_calls"],
            "number": frame["number"],
        }
    )
    column = st.column_config
    with table_place():
        event = st.dataframe(
            shown,
            key=key,
            hide_index=True,
            height="content" if len(rows) <= ROWS else HEADER_PX + ROW_PX * ROWS,
            row_height=ROW_PX,
            column_config={
                "sent": column.NumberColumn(t("Sent as"), width=76, format="%d"),
                "state": _badges(t("State"), 190, states),
                "role": _badges(t("Role"), 110, {look.label: look for look in roles.values()}),
                "text": column.TextColumn(t("Text"), width=290),
                "tool_calls": column.TextColumn(t("Tool calls"), width=180),
                "number": column.NumberColumn(t("In the list"), width=76, format="%d"),
            },
            on_select="rerun",
            selection_mode="single-row",
            placeholder="",
            alt=t("Messages of the request"),
        )
    chosen: list[int] = event["selection"]["rows"]
    return rows[chosen[0]] if chosen and chosen[0] < len(rows) else None


def _badges(label: str, width: int, looks: dict[str, Look]) -> Any:
    colours = [look.colour for look in looks.values()]
    return st.column_config.MultiselectColumn(label, width=scaled(width), options=list(looks), color=colours)


def _looks(row: Row) -> list[Look]:
    """What is to be said about a row: against the request before, and against the message list."""
    since = {
        "same": Look(t("as before"), "=", "gray"),
        "new": Look(t("new"), "＋", "green"),
        "changed": Look(t("changed since"), "≠", "blue"),
        "gone": Look(t("no longer sent"), "✕", "red"),
    }
    edits = {
        "replace": Look(t("changed by {who}", who=who(row.by)), "✎", "orange"),
        "insert": Look(t("inserted by {who}", who=who(row.by)), "↳", "violet"),
        "drop": Look(t("left out by {who}", who=who(row.by)), "−", "red"),
    }
    edited = [edits[row.op]] if row.op in edits else []
    return edited if row.op == "drop" and row.since == "same" else [since[row.since], *edited]


def _detail(trace: Trace, row: Row, *, key: str) -> None:
    """One message in full: as it was sent, and as the message list holds it where that differs; and who changed it.

    The table has no room for long names of who did.
    """
    st.text(t(", ").join(look.label for look in _looks(row)))  # it may hold words of a file
    if row.sent is None:
        st.caption(t("Not sent. In the message list it reads:"))
    else:
        st.caption(t("Message {n} of the request, as it was sent:", n=row.sent + 1))
    text_block(body_text(row.message.to_dict()), key=f"{key}-sent", file_name="message.json")
    if row.op == "replace" and row.position is not None:
        st.caption(t("In the message list it reads:"))
        own = trace.messages[row.position]
        text_block(body_text(own.to_dict()), key=f"{key}-own", file_name="message-list.json")
