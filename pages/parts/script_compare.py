"""A script beside the trace that it was recorded from: what a replay of it gives, and where that differs."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from agent.errors import AgentError
from agent.scripts import Script
from agent.trace import Trace
from pages.parts import address
from pages.parts.compare_view import compare_view
from pages.parts.comparing import compared, trace_of
from pages.parts.data import private, store
from pages.parts.script_reading import replayed
from pages.parts.words import t
from traces.scripting import Replayed

_ASKED = "script-compare"
MOST_DIFFERENCES = 20


def recorded_from(script: Script) -> str | None:
    """The id of the trace in the library that a script was recorded from; None where there is none to be seen."""
    trace_id = script.recorded.trace_id if script.recorded is not None else ""
    info = store().find(trace_id) if trace_id else None
    seen = info is not None and (private() or info.kind == "bundled" or trace_id in address.opened())
    return trace_id if seen else None


def recording_panel(text: str, script: Script) -> None:
    """Draw where a script comes from, and on demand its replay beside that trace. Nothing for one written by hand."""
    if script.recorded is None:
        return
    trace_id = recorded_from(script)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":blue-badge[:material/fiber_manual_record: {t('Recorded')}]", width="content")
            st.text(script.recorded.title or script.recorded.trace_id, width="content")
            if trace_id is None:
                st.caption(t("The trace is not in this library."), width="content")
            else:
                st.page_link(
                    "pages/traces.py",
                    label=t("Open the trace"),
                    icon=":material/receipt_long:",
                    query_params=address.trace_link(trace_id),
                )
        if st.toggle(t("Replay it and compare"), key=_ASKED, persist_state="session"):
            _compare(text, trace_id)


def _compare(text: str, trace_id: str | None) -> None:
    try:
        again = replayed(text)
        _differences(again)
        if trace_id is not None:
            st.caption(t("A: the trace. B: the script, played now."))
            trace, now = trace_of(trace_id), _unlinked(text, again.trace)
            compare_view(trace, now, compared(trace, now))
    except (AgentError, OSError) as error:
        st.text(str(error))


@st.cache_resource(max_entries=4, show_spinner=False)
def _unlinked(text: str, _trace: Trace) -> Trace:
    """A trace that no page can open, so that nothing links to it; the same object for the same text."""
    return replace(_trace, trace_id="")


def _differences(again: Replayed) -> None:
    """Where the replay is not what was recorded, in sentences that may quote it."""
    found = again.differences
    if not found:
        st.markdown(f":green-badge[✔ {t('The replay gives what was recorded: the messages and the end.')}]")
    else:
        st.markdown(f":orange-badge[▲ {t('Where the replay is not what was recorded: {n}', n=len(found))}]")
    lines = [*map(str, found), *again.remarks]
    if lines:
        st.text("\n".join(lines[:MOST_DIFFERENCES]))
    if len(lines) > MOST_DIFFERENCES:
        st.caption(t("and {n} more", n=len(lines) - MOST_DIFFERENCES))
