"""The comparison in the URL: its two traces and the pair of messages that is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import address, selection

_A = "a"
_B = "b"
_ROW = "row"


def link(a: str, b: str | None = None) -> dict[str, str]:
    """The parameters of a link to the comparison of two traces; without the second it is chosen there."""
    language = {address.LANGUAGE: address.language()} if address.language() != address.default_language() else {}
    return {_A: a, **({_B: b} if b else {}), **language}


def ids() -> tuple[str | None, str | None]:
    """The two traces that the URL names. Both count as opened by this session."""
    found = st.query_params.get(_A) or None, st.query_params.get(_B) or None
    address.opened().update(trace_id for trace_id in found if trace_id)
    return found


def choose(a: str | None, b: str | None) -> None:
    """Compare these two from now on."""
    for key, value in ((_A, a), (_B, b)):
        if value:
            st.query_params[key] = value
        else:
            st.query_params.pop(key, None)
    st.query_params.pop(_ROW, None)


def swap() -> None:
    """The first trace becomes the second."""
    a, b = ids()
    choose(b, a)


def row(count: int) -> int | None:
    """The row of the comparison that the URL names, from 0 (there from 1), of so many."""
    text = st.query_params.get(_ROW, "")
    return int(text) - 1 if text.isascii() and text.isdigit() and 0 < int(text) <= count else None


def choose_row(position: int | None) -> None:
    """Look at this row from now on."""
    if position is None:
        st.query_params.pop(_ROW, None)
    else:
        st.query_params[_ROW] = str(position + 1)


def message_link(trace_id: str, position: int) -> dict[str, str]:
    """The parameters of a link to one message of a trace."""
    return {**address.trace_link(trace_id), "message": str(position + 1)}


def take_row(table: str, shown: Sequence[int]) -> None:
    """Write the row into the URL that is selected in the table of this key, whose rows these are."""
    at = selection.selected_row(table)
    if at is None or at < len(shown):  # else the browser still speaks of the longer table that was there before
        choose_row(None if at is None else shown[at])


def select_row(table: str, shown: Sequence[int], row: int | None) -> None:
    """Before the table is drawn: select this row of the comparison, where it is among those shown."""
    at = shown.index(row) if row in shown else None
    selection.select_cell(table, at, "text_a")
