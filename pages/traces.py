"""The Traces page: choose a trace or open a file, and read everything that it holds."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.errors import AgentError
from pages.parts import address
from pages.parts.data import read_saved, read_upload, store
from pages.parts.faults import noticed_panel
from pages.parts.library import library, title_words, upload_field
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.resuming import can_open
from pages.parts.runs import registry
from pages.parts.tabs import tabs
from pages.parts.trace_view import first_error, raw_view, report_view, trace_view
from pages.parts.words import t
from traces.report import ImportReport
from traces.summary import summarise


def page() -> None:
    """Draw what the address asks for: a trace of the library, a file of the user's own, else the list."""
    tabs().show(None)
    upload_field()
    notices()
    try:
        if (trace_id := address.trace_id()) is not None:
            saved(trace_id)
        elif (name := address.file_name()) is not None:
            own_file(name)
        else:
            library()
    except (AgentError, OSError) as error:
        st.error(t("This file cannot be opened."))
        st.text(str(error))


def own_file(name: str) -> None:
    """Draw the user's own file; after a reload of the page it is gone, which is told."""
    head = back(name)
    own = address.own_file()
    if own is None or own.name != name:
        st.warning(t("This file was open in an earlier session only. Choose it again on the left to read it here."))
    else:
        show(read_upload(own.data, own.name), 0, head)


def saved(trace_id: str) -> None:
    """Draw a trace of the library."""
    info = store().find(trace_id)
    head = back("" if info is None else title_words(info.title))
    if info is None:
        st.warning(t("There is no trace with the id in the address."))
        return
    open_run = registry().find(trace_id)
    if info.kind == "interrupted":
        state = t("This run was interrupted.") if open_run is None else t("This run is still open.")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":orange-badge[{state}]", width="content")
            st.page_link(
                "pages/run.py",
                label=t("Continue it on the Run page"),
                icon=":material/play_circle:",
                query_params=address.run_link(trace_id),
            )
    report = read_saved(info)
    if can_open(info, report.traces):
        with head:
            st.page_link(
                "pages/run.py",
                label=t("Open in the stepper"),
                icon=":material/play_circle:",
                query_params=address.run_link(trace_id),
            )
    show(report, info.number, head, live=open_run is not None and not open_run.done)


def back(name: str) -> DeltaGenerator:
    """Draw the way back to the list and the name of what is shown; gives the line, which has room for more."""
    head = st.container(horizontal=True, vertical_alignment="center")
    head.button(t("All traces"), icon=":material/arrow_back:", key="all", on_click=address.close_trace)
    head.text(name)
    return head


def show(report: ImportReport, number: int, head: DeltaGenerator, *, live: bool = False) -> None:
    """Draw one conversation of a file, with a choice where there are several.

    Args:
        report: the file.
        number: the conversation to show when the address names none; positions count from 0.
        head: the line on top, to which the models and the way to the first error are added.
        live: the run goes on in this server.
    """
    if not report.traces:
        raw_view(report)
        return
    number = address.conversation(len(report.traces), number)
    if len(report.traces) > 1:
        key = "conversation-choice"
        address.put(key, number)
        st.selectbox(
            t("Conversation"),
            range(len(report.traces)),
            format_func=lambda n: f"{n + 1} / {len(report.traces)}  {report.traces[n].title[:80]}",
            key=key,
            on_change=address.choose_conversation,
            args=(key,),
        )
    trace = report.traces[number]
    summary = summarise(trace)
    head.text(f"{t('Model')}: {', '.join(summary.models) or t('not reported')}")
    with head:
        first_error(trace)
    report_view(report, summary)
    noticed_panel(trace)
    trace_view(trace, summary, live=live)


ensure_menu()
page()
