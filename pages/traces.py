"""The Traces page: choose a trace or open a file, and read everything that it holds."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.errors import AgentError
from pages.parts import address
from pages.parts.data import read_saved, read_upload, store
from pages.parts.library import library, upload_field
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.runs import registry
from pages.parts.trace_view import raw_view, report_view, trace_view
from pages.parts.words import t
from traces.report import ImportReport


def page() -> None:
    """Draw the open trace, else the uploaded file, else the list."""
    upload = upload_field()
    notices()
    trace_id = address.trace_id()
    try:
        if trace_id is not None:
            saved(trace_id)
        elif upload is not None:
            st.text(upload.name)
            show(read_upload(upload.getvalue(), upload.name), upload.name, 0)
        else:
            library()
    except (AgentError, OSError) as error:
        st.error(t("This file cannot be opened."))
        st.text(str(error))


def saved(trace_id: str) -> None:
    """Draw a trace of the library."""
    info = store().find(trace_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(t("All traces"), icon=":material/arrow_back:", key="all", on_click=address.close_trace)
        if info is not None:
            st.text(info.title)
    if info is None:
        st.warning(t("There is no trace with the id in the address."))
        return
    if info.kind == "interrupted":
        is_open = registry().find(trace_id) is not None
        state = t("This run is still open.") if is_open else t("This run was interrupted.")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":orange-badge[{state}]", width="content")
            st.page_link(
                "pages/run.py",
                label=t("Continue it on the Run page"),
                icon=":material/play_circle:",
                query_params=address.run_link(trace_id),
            )
    show(read_saved(info), Path(info.path).name, info.number)


def show(report: ImportReport, name: str, number: int) -> None:
    """Draw one conversation of a file, with a choice where there are several."""
    if not report.traces:
        raw_view(report)
        return
    if len(report.traces) > 1:
        number = st.selectbox(
            t("Conversation"),
            range(len(report.traces)),
            index=min(number, len(report.traces) - 1),
            format_func=lambda n: f"{n + 1} / {len(report.traces)}  {report.traces[n].title[:80]}",
            key=f"conversation-{name}",
        )
    trace = report.traces[min(number, len(report.traces) - 1)]
    report_view(report, trace)
    trace_view(trace)


ensure_menu()
page()
