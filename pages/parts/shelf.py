"""What the list of traces keeps in the session: the rows chosen, the row looked at, and what was deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from traces.index import TraceInfo
from traces.trash import Deleted

SEARCH = "library-search"
FORMATS = "library-formats"
MODELS = "library-models"
OUTCOMES = "library-outcomes"
KINDS = "library-kinds"
TAGS = "library-tags"
FINDINGS = "library-findings"
EXPERIMENTS = "library-experiments"
SORT = "library-sort"
"""Keys of the fields above the list."""

_FILTERS = (SEARCH, FORMATS, MODELS, OUTCOMES, KINDS, TAGS, FINDINGS)
_CHOSEN = "library-chosen"
_CURRENT = "library-current"
_DELETED = "library-deleted"

Place = tuple[str, int]
"""A line of the list: its file, and its place in it. Ids may repeat, where a file lies there twice."""


def place_of(info: TraceInfo) -> Place:
    """What names a line of the list."""
    return info.path, info.number


def chosen() -> set[Place]:
    """The lines whose box is ticked."""
    found: set[Place] = st.session_state.get(_CHOSEN, set())
    return found


def current() -> Place | None:
    """The line that was pressed last."""
    found: Place | None = st.session_state.get(_CURRENT)
    return found


def take_selection(table: str, shown: Sequence[TraceInfo]) -> None:
    """Remember what is selected in the table of this key; lines that it does not show stay as they were."""
    selection = (st.session_state.get(table) or {}).get("selection", {})
    here = {place_of(info) for info in shown}
    ticked = {place_of(shown[row]) for row in selection.get("rows", ()) if row < len(shown)}
    st.session_state[_CHOSEN] = (chosen() - here) | ticked
    cells = selection.get("cells") or ()
    if cells and cells[0][0] < len(shown):
        st.session_state[_CURRENT] = place_of(shown[cells[0][0]])


def ticked_rows(shown: Sequence[TraceInfo]) -> Any:
    """The selection that a table of these lines begins with."""
    ticked = chosen()
    return {"selection": {"rows": [row for row, info in enumerate(shown) if place_of(info) in ticked], "columns": []}}


def clear_selection(table: str | None = None) -> None:
    """Tick no line any more.

    Args:
        table: key of the table that shows them; None: it will be another one anyway.
    """
    st.session_state.pop(_CHOSEN, None)
    st.session_state.pop(_CURRENT, None)
    if table:
        st.session_state.pop(table, None)


def clicked_row(key: str) -> int | None:
    """The row whose button was pressed in this rerun."""
    click = st.session_state.get(key)
    return None if click is None else int(click["row"])


def clear_filters() -> None:
    """Empty all fields above the list. One that is only forgotten would show in the browser what it held before."""
    for key in _FILTERS:
        if key in st.session_state:
            st.session_state[key] = type(st.session_state[key])()


def value(key: str, default: Any) -> Any:
    """What a field above the list holds, also while it is not drawn."""
    return st.session_state.get(key) or default


def note_deleted(deleted: Deleted) -> None:
    """Remember a deletion, so that it can be undone."""
    st.session_state.setdefault(_DELETED, []).append(deleted)


def last_deleted() -> Deleted | None:
    """The last deletion of this session that was not undone."""
    found: list[Deleted] = st.session_state.get(_DELETED, [])
    return found[-1] if found else None


def forget_deleted(deleted: Deleted) -> None:
    """A deletion was undone, or cannot be."""
    st.session_state[_DELETED] = [each for each in st.session_state.get(_DELETED, []) if each.id != deleted.id]


def forget(key: str) -> None:
    """Let a field begin anew at its next drawing."""
    st.session_state.pop(key, None)
