"""The message list as a table: one row a message, roles and makers as coloured badges with icon and word.

A click anywhere in a row selects its message, and so do the arrow keys while the table has the focus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from agent.trace import Trace
from pages.parts import address, selection
from pages.parts.address_follow import projected
from pages.parts.message_view import decision_word
from pages.parts.paging import page_of
from pages.parts.projector import scaled, table_place
from pages.parts.roles import Look, maker_look, role_look
from pages.parts.words import t
from traces.carry import Carried
from traces.reading import Reading
from traces.tables import message_columns

ROW_PX = 32
"""Height of one row."""

HEADER_PX = 38
"""Height of the header and the border, which do not follow that of the rows."""

LIVE_ROWS = 7
"""Rows of a run on screen, the newest always among them; so many fit below the status box of a 720 px window."""

ADDED = "＋"
"""Mark of a row that the last phase added."""

PROJECTED_ROWS = 5
"""The same where everything is larger."""

SAVED_ROWS = 7
"""Most rows of a saved trace seen without scrolling inside the table; the charts begin in a 720 px window."""

PAGE_ROWS = 5000
"""Most rows sent to the browser at once."""

Cells = Sequence[Any] | pd.Series
"""The cells of one column: plain values of the few messages of a run, a series of the many of a trace."""

_KINDS = {
    **dict.fromkeys(("added", "text", "tool_calls", "note", "call_id"), pa.string()),
    **dict.fromkeys(("number", "step", "tokens", "cost"), pa.int64()),
    **dict.fromkeys(("role", "maker"), pa.list_(pa.string())),
    "seconds": pa.float64(),
}
"""What each column holds for the browser, also where all of its cells are empty."""

_TEXT = "text"
"""The column in which a row is selected that was chosen elsewhere: it is on screen on every device."""


def message_table(
    trace: Trace,
    *,
    key: str,
    live: bool = False,
    added: range | None = None,
    choose: Callable[[str, int | None], None] = selection.choose,
) -> int | None:
    """Draw the newest messages of a run, or all of them on demand, and give the position of the selected one.

    The height stays the same from the first message on, so that nothing jumps as messages come.

    Args:
        trace: a trace that nobody changes meanwhile.
        key: names the table; it remembers the selected message, also when that has moved out of the window.
        live: the run goes on, so a call without a result is nothing to remark on.
        added: positions of the messages that the last phase added; their rows are marked. None: no marks at all.
        choose: called with the key and the position that was selected.
    """
    total, whole, newest = len(trace.messages), f"{key}-all", live_rows()
    first = 0 if address.setting(whole) else max(0, total - newest)
    chosen = selection.chosen(key)
    rows = range(first, total)
    found = message_columns(trace, rows)
    shown = table_cells(trace, found, rows, live=live)
    if added is not None:
        shown = {"added": [ADDED if at in added else "" for at in rows], **shown}
    columns = _columns(found, shown)
    _table(shown, columns, rows, key=key, chosen=chosen, height=newest, choose=choose)
    if total > newest:
        st.toggle(t("Show all {n} messages, not only the newest {newest}", n=total, newest=newest), key=whole)
    return chosen


def live_rows() -> int:
    """How many rows of a run are on screen."""
    return PROJECTED_ROWS if projected() else LIVE_ROWS


def saved_table(reading: Reading, rows: Sequence[int], *, key: str, live: bool = False) -> int | None:
    """Draw messages of a trace, in pages where there are very many, and give the position that the URL selects.

    Args:
        reading: the trace.
        rows: positions of the messages that are wanted, ascending.
        key: names the table.
        live: see :func:`message_table`.
    """
    chosen = _neighbour(reading, rows, _of_address(reading))
    jumps = selection.first_sight(key)
    if len(rows) > PAGE_ROWS:
        jumps = _turn_to(rows, chosen, key) or jumps
        rows = page_of(rows, PAGE_ROWS, key=f"{key}-page")
    height = min(SAVED_ROWS, max(len(rows), 1))

    def choose(table: str, position: int | None) -> None:
        selection.choose(table, position)
        address.choose_message(reading.trace, position)

    frame = reading.rows(rows)
    shown = table_cells(reading.trace, frame, rows, live=live) | _bar_cells(reading, rows, frame)
    columns = _columns(frame, shown, bars=_bars(reading))
    if chosen is not None and chosen in rows and jumps:
        _scroll_to(rows.index(chosen))
    with st.container(key="saved-table"):
        _table(shown, columns, rows, key=key, chosen=chosen, height=height, choose=choose)
    return chosen


def _scroll_to(row: int) -> None:
    """Bring a row of the table into view: a script of our own, with a number in it and no data."""
    script = Path(__file__).with_name("scroll.html").read_text(encoding="utf-8")
    top = scaled(ROW_PX) * max(0, row - SAVED_ROWS // 2)
    with st.container(key="scroll"):  # the style sheet gives it no place
        st.html(script.replace("$TOP", str(top)), unsafe_allow_javascript=True)


def _of_address(reading: Reading) -> int | None:
    """The message that the URL names, or the one to look at for the step that it names."""
    found = address.message(len(reading.trace.messages))
    step = address.step()
    return reading.messages_of_steps.get(step) if found is None and step is not None else found


def _neighbour(reading: Reading, rows: Sequence[int], chosen: int | None) -> int | None:
    """The message to select: the one of the URL, or so many further among those that are shown as was asked for."""
    distance = selection.neighbour_asked()
    if not distance or not rows:
        return chosen
    if chosen is None:
        at = 0 if distance > 0 else len(rows) - 1
    else:
        before = sum(row < chosen for row in rows)
        present = before < len(rows) and rows[before] == chosen
        at = before + distance if present or distance < 0 else before + distance - 1
    position = rows[max(0, min(at, len(rows) - 1))]
    address.choose_message(reading.trace, position)
    return position


def _turn_to(rows: Sequence[int], chosen: int | None, key: str) -> bool:
    """A message that was selected elsewhere brings its page up; gives whether that is another page than before."""
    page = f"{key}-page"
    before = address.setting(page, 1)
    now = min(before, -(-len(rows) // PAGE_ROWS))
    if chosen is not None and chosen != selection.chosen(key) and chosen in rows:
        now = rows.index(chosen) // PAGE_ROWS + 1
    selection.choose(key, chosen)
    if now != before:
        address.put(page, now)
    return bool(now != before)


def _table(
    shown: Mapping[str, Cells],
    columns: dict[str, Any],
    rows: Sequence[int],
    *,
    key: str,
    chosen: int | None,
    height: int,
    choose: Callable[[str, int | None], None],
) -> None:
    """Draw these messages.

    The table and its settings must not depend on the selection: the browser keeps a table whose bytes it knows, and
    the largest ones take megabytes.
    """

    def selected() -> None:
        row = selection.selected_row(key)
        if row is None or row < len(rows):  # else the browser still speaks of the longer table that was there before
            choose(key, None if row is None else rows[row])

    selection.select_cell(key, rows.index(chosen) if chosen is not None and chosen in rows else None, _TEXT)
    with table_place():
        st.dataframe(
            pa.table({name: pa.array(shown[name], _KINDS[name]) for name in columns if name in shown}),
            key=key,
            hide_index=True,
            height=scaled(HEADER_PX + ROW_PX * height),
            row_height=scaled(ROW_PX),
            column_config=columns,
            on_select=selected,
            selection_mode="single-cell",
            placeholder="",
            alt=t("Message list"),
        )


def table_cells(
    trace: Trace, found: Mapping[str, Cells] | pd.DataFrame, rows: Sequence[int], *, live: bool
) -> dict[str, Cells]:
    """The cells that the table shows; role and maker are lists of one label, so that they are drawn as badges.

    Args:
        trace: the trace.
        found: the columns of its messages, as :mod:`traces.tables` makes them.
        rows: their positions.
        live: the run goes on, so a call without a result is nothing to remark on.
    """
    roles = {role: [role_look(role).label] for role in set(found["role"])}
    makers = {maker: [maker_look(maker).label] for maker in set(found["maker"])}
    notes = {note: _note(note, live=live) for note in set(found["note"]) if isinstance(note, str)}
    messages = [trace.messages[row] for row in rows]
    return {
        "number": found["number"],
        "role": [roles[role] for role in found["role"]],
        "text": found["text"],
        "tool_calls": found["tool_calls"],
        "note": [notes.get(note, "") if isinstance(note, str) else "" for note in found["note"]],
        "maker": [makers[maker] for maker in found["maker"]],
        "step": found["step"],
        "call_id": [message.tool_call_id or ", ".join(c.id for c in message.tool_calls) for message in messages],
    }


def _bar_cells(reading: Reading, rows: Sequence[int], frame: pd.DataFrame) -> dict[str, Cells]:
    """The columns with a bar: tokens, seconds, and what the message cost in prompts."""
    carried = [reading.carried[row] for row in rows]
    return {
        "tokens": [_size(each) for each in carried],
        "seconds": frame["latency_ms"] / 1000,
        "cost": [each.cost or None for each in carried],
    }


def _size(carried: Carried) -> int | None:
    return carried.tokens or None


def _note(note: str, *, live: bool) -> str:
    """What is odd about a row, in the language of the session."""
    words = {
        "no_result": "" if live else t("no result"),
        "error_result": t("error result"),
        "orphan_result": t("orphan result"),
    }
    return ", ".join(words[code] if code in words else decision_word(code) for code in note.split())


def _columns(
    found: Mapping[str, Cells] | pd.DataFrame, shown: Mapping[str, Cells], *, bars: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The columns in their order of importance: a narrow screen shows the first three.

    Those of a run all fit on a screen 1280 px wide. Where there are no notes, the texts have their room.

    Args:
        found: what is shown, as :mod:`traces.tables` makes it.
        shown: the same as :func:`table_cells` makes it.
        bars: the columns with bars, of which there are none in a run.
    """
    column = st.column_config
    notes = any(shown["note"])
    text, calls = (284, 172) if notes else (318, 230)
    if bars:
        text, calls = (212, 120) if notes else (256, 168)
    elif projected():  # the makers too are to be on a screen 1280 px wide
        text, calls = 250, 196
    return {
        "added": column.TextColumn(ADDED, width=scaled(34), help=t("Added by the phase before")),
        "number": column.NumberColumn(t("No."), width=scaled(44), format="%d"),
        "role": _badges(t("Role"), 110, found["role"], role_look),
        "text": column.TextColumn(t("Text"), width=text - (34 if "added" in shown else 0)),
        "tool_calls": column.TextColumn(t("Tool calls"), width=calls),
        **(bars or {}),
        "note": column.TextColumn(t("Note"), width=92) if notes else None,
        "maker": _badges(t("Made by"), 132, found["maker"], maker_look),
        "step": column.NumberColumn(t("Step #"), width=scaled(52), format="%d"),
        "call_id": None if bars else column.TextColumn(t("Call id"), width=scaled(62)),
    }


def _bars(reading: Reading) -> dict[str, Any]:
    """The columns with bars. Their scale is that of the whole trace, so that pages and filters compare."""
    column = st.column_config
    measured = all(each.measured for each in reading.carried)
    tokens = t("Tokens") if measured else t("Tokens ≈")
    most = max((each.tokens for each in reading.carried), default=1) or 1
    longest = max((ms for ms in _latencies(reading.trace) if ms is not None), default=1) / 1000 or 1
    dearest = max((each.cost for each in reading.carried), default=1) or 1
    return {
        "tokens": column.ProgressColumn(
            tokens,
            width=80,
            max_value=most,
            format="compact",
            help=t("What the message takes in one prompt: as the provider counted it where that is known, else ≈."),
        ),
        "seconds": column.ProgressColumn(
            t("Seconds"), width=80, max_value=longest, format="%.1f", help=t("Of the model call, or of the tool.")
        ),
        "cost": column.ProgressColumn(
            t("Re-sent"),
            width=80,
            max_value=dearest,
            format="compact",
            color="orange",
            help=t("Prompt tokens that it took in all the requests that held it."),
        ),
    }


def _latencies(trace: Trace) -> list[float | None]:
    return [step.latency_ms for step in trace.steps] + [run.latency_ms for step in trace.steps for run in step.tools]


def _badges(label: str, width: int, values: Cells, look_of: Callable[[str], Look]) -> Any:
    looks = [look_of(value) for value in dict.fromkeys(values)]
    return st.column_config.MultiselectColumn(
        label, width=scaled(width), options=[look.label for look in looks], color=[look.colour for look in looks]
    )
