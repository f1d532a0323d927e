"""One trace: what it is, how it ended, what is wrong, its messages, the selected one in full, and its charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.models.fake import FakeModel
from pages.parts import address
from pages.parts.annotating import annotations_panel
from pages.parts.charts import step_charts
from pages.parts.facts import facts_line
from pages.parts.findings import findings_panel
from pages.parts.message_filter import message_filter
from pages.parts.message_table import saved_table
from pages.parts.message_view import message_view
from pages.parts.outcome import outcome_panel
from pages.parts.request_view import request_view
from pages.parts.tools_view import tools_view
from pages.parts.words import t
from traces.reading import Reading


def trace_head(reading: Reading, *, live: bool = False) -> DeltaGenerator:
    """Draw the numbers of a trace and how it ended; gives the place of what the linter says.

    Args:
        reading: the trace.
        live: its run goes on, so there is no outcome yet.
    """
    with st.container(border=True, key="facts", gap="xsmall"):
        place = facts_line(reading)
        if reading.trace.model.provider == FakeModel.provider:
            st.markdown(f":gray-badge[{t('Scripted model: what it says was written by hand or recorded.')}]")
        if live:
            st.markdown(f":blue-badge[{t('The run is going on; this is what it has left so far.')}]")
        else:
            outcome_panel(reading.trace.outcome)
    return place


def messages_part(reading: Reading, tagged: Mapping[int, Sequence[str]], *, live: bool = False) -> int | None:
    """Draw the message table with its filters, and give the position of the selected message; the URL keeps it.

    Args:
        reading: the trace.
        tagged: the tags of its messages by their position.
        live: see :func:`trace_head`.
    """
    if not reading.trace.messages:
        st.caption(t("This trace holds no message."))
        return None
    key = f"trace-{reading.trace.trace_id}"
    rows = message_filter(reading, tagged, key=key)
    return saved_table(reading, rows, key=key, live=live)


def details_part(reading: Reading, selected: int | None) -> None:
    """Draw what belongs to the selected message, and the charts.

    The charts come last: they cost the browser more than all the rest, and nothing must wait for them. Before the first
    chart of a session the browser has megabytes of program to load, so that one comes when the table is on screen; not
    where a link names a message, for the table is told only once which row is selected, and must be there to hear it.
    """
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _tabs(reading, selected)
    with right:
        key = f"trace-{reading.trace.trace_id}"
        choose = partial(address.choose_message, reading.trace)
        if selected is not None or address.setting(_CHARTS):
            step_charts(reading, key=key, choose=choose, selected=selected)
        else:
            _charts_later()


_CHARTS = "charts-come"
"""Set when the charts of a session may be drawn."""
_LATER_S = 0.5


@st.fragment(run_every=_LATER_S)
def _charts_later() -> None:
    """Let the browser ask for the charts: its clock runs on only when it has drawn what it has."""
    if address.setting(_CHARTS):
        st.rerun()
    address.put(_CHARTS, True)


def _tabs(reading: Reading, selected: int | None) -> None:
    """The selected message, what the linter says, notes, the request, the tools. Only the open tab is drawn."""
    trace = reading.trace
    found = len(reading.findings)
    names = [
        t("Message"),
        t("Findings: {n}", n=found) if found else t("Findings"),
        t("Notes"),
        t("Request"),
        t("Tools"),
    ]
    message, findings, notes, request, tools = st.tabs(names, key=f"tabs-{trace.trace_id}", on_change="rerun")
    if message.open:
        with message:
            if selected is None:
                st.caption(t("Select a row of the table to read that message in full."))
            else:
                choose = partial(address.choose_message, trace)
                message_view(reading, selected, key="message", choose=choose)
    if findings.open:
        with findings:
            findings_panel(trace, reading.findings, key=f"findings-{trace.trace_id}")
    if notes.open:
        with notes:
            annotations_panel(trace, selected, key=f"notes-{trace.trace_id}")
    if request.open:
        with request:
            step = None if selected is None else trace.entries[selected].step
            request_view(None, trace, step if isinstance(step, int) else None, key=f"request-{trace.trace_id}")
    if tools.open:
        with tools:
            tools_view(trace, key=f"tools-{trace.trace_id}")
