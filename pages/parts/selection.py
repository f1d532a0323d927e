"""What is selected in the tables and charts of this session: the sister of :mod:`pages.parts.address`."""

from __future__ import annotations

import streamlit as st

_CHOSEN = "chosen"
_MOVE = "move"


def chosen(table: str) -> int | None:
    """The position of the message that was last selected in the table of this key."""
    position: int | None = st.session_state.get(f"{_CHOSEN}-{table}")
    return position


def choose(table: str, position: int | None) -> None:
    """Remember the selected message of a table."""
    st.session_state[f"{_CHOSEN}-{table}"] = position


def selected_row(table: str) -> int | None:
    """The selected row of the table with this key, or the row of its selected cell."""
    selection = (st.session_state.get(table) or {}).get("selection", {})
    cells = selection.get("cells") or []
    rows = [cell[0] for cell in cells] or selection.get("rows") or [None]
    row: int | None = rows[0]
    return row


def select_cell(table: str, row: int | None, column: str) -> None:
    """Before a table is drawn: select the cell of this row, or none. Nothing is sent where the row is selected already.

    The browser scrolls to a cell that is selected so, which it does not for a row.
    """
    if selected_row(table) != row:
        cells = [] if row is None else [(row, column)]
        st.session_state[table] = {"selection": {"rows": [], "columns": [], "cells": cells}}


def clicked_point(chart: str) -> int | None:
    """The position of the message, or of the trace, that the point selected last in a chart stands for."""
    points = (st.session_state.get(chart) or {}).get("selection", {}).get("points") or [{}]
    data = points[0].get("customdata") or [None]
    position: int | None = data[0] if isinstance(data[0], int) else None
    return position


def first_sight(table: str) -> bool:
    """True before the table of this key is first drawn in this session."""
    return table not in st.session_state


def ask_for_neighbour(distance: int) -> None:
    """The next drawing of the message table is to select a neighbour: 1 the next message shown there, -1 the last."""
    st.session_state[_MOVE] = st.session_state.get(_MOVE, 0) + distance


def neighbour_asked() -> int:
    """How far to go in the message table, once; 0: nowhere."""
    return int(st.session_state.pop(_MOVE, 0))
