"""The Traces page: choose a trace or open a file, and read everything that it holds."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.errors import AgentError, InputError
from pages.parts import address, address_ablate, address_compare, address_replay
from pages.parts.annotating import tagged
from pages.parts.conversations import conversation_choice, first_error
from pages.parts.data import experiment_shown, private, store
from pages.parts.exports import export_menu
from pages.parts.facts import findings_fact
from pages.parts.faults import noticed_panel
from pages.parts.following import follow, keep_to_newest, where_it_went
from pages.parts.import_report import import_report
from pages.parts.library import library, title_words
from pages.parts.mapper import by_columns, mapper
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.open_file import open_fields
from pages.parts.opened import Opened, followed, kept, read_kept
from pages.parts.resuming import can_open
from pages.parts.runs import registry
from pages.parts.tabs import tabs
from pages.parts.trace_view import details_part, messages_part, trace_head
from pages.parts.unknown_file import unknown_file
from pages.parts.words import t
from traces.index import INTERRUPTED, TraceInfo
from traces.mapping import FORMAT


def page() -> None:
    """Draw what the address asks for: a trace of the library, a file by its path, else the list."""
    tabs().show(None)
    open_fields()
    notices()
    try:
        if (trace_id := address.trace_id()) is not None:
            saved(trace_id)
        elif (path := address.file_path()) is not None:
            by_path(path)
        else:
            library()
    except (AgentError, OSError) as error:
        st.error(t("This file cannot be opened."))
        st.text(str(error))


def by_path(path: str) -> None:
    """Draw a file of this machine, as it grows."""
    path = where_it_went(path)
    head = back()
    head.text(Path(path).name, width="content")
    if not private():
        raise InputError(t("Files are opened by their path only where no other machine can reach the server."))
    file = followed(path)
    follow(path, file)  # first: a file that is half written at this moment can be opened at the next
    show(file.opened(address.format_override()), 0, head)


def saved(trace_id: str) -> None:
    """Draw a trace of the library."""
    info = store().find(trace_id)
    head = back()
    if info is None:
        moved(trace_id, head)
        return
    address.remember_file(trace_id, info.path, info.number)
    open_run = registry().find(trace_id)
    if info.kind == INTERRUPTED:
        unfinished_run(info, open_here=open_run is not None)
    opened = read_line(info)
    traces = opened.report.traces
    number = address.conversation(len(traces), max(info.number, 0)) if traces else -1
    with head:
        title = "" if number in (-1, info.number) else traces[number].title
        st.text(title_words(title or info.title), width="content")
        if experiment := experiment_shown(info):
            st.page_link(
                "pages/ablate.py",
                label=t("Its experiment"),
                icon=":material/science:",
                query_params=address_ablate.link(experiment=experiment),
            )
        if can_open(info, traces):
            stepper_link(trace_id, t("Open in the stepper"))
        if traces:
            st.page_link(
                "pages/compare.py",
                label=t("Compare"),
                icon=":material/compare_arrows:",
                query_params=address_compare.link(traces[number].trace_id),
            )
    show(opened, info.number, head, live=open_run is not None and not open_run.done)


def unfinished_run(info: TraceInfo, *, open_here: bool) -> None:
    """Say why a run has no end, and lead to where it can go on; not while another program runs it."""
    elsewhere = not open_here and followed(info.path).has_grown
    with st.container(horizontal=True, vertical_alignment="center"):
        if elsewhere:
            st.markdown(f":blue-badge[{t('Another program is running this.')}]", width="content")
            return
        state = t("This run is still open.") if open_here else t("This run was interrupted.")
        st.markdown(f":orange-badge[{state}]", width="content")
        stepper_link(info.id, t("Continue it on the Run page"))


def read_line(info: TraceInfo) -> Opened:
    """The file of a line of the list. What may still be written is followed."""
    if info.kind == "bundled":
        return read_kept(info.path, address.format_override())
    if info.kind == INTERRUPTED:  # a journal grows within room that was reserved, without a change of its size
        file = followed(info.path)
        follow(info.path, file)
        return file.opened(address.format_override())
    follow(info.path, kept(info.path))
    return read_kept(info.path, address.format_override())


def moved(trace_id: str, head: DeltaGenerator) -> None:
    """Draw a trace whose file was written on since this session found it, so that its id is another one."""
    found = address.file_of(trace_id)
    if found is None:
        st.warning(t("There is no trace with the id in the address."))
        return
    path, number = found
    follow(path, kept(path))
    show(read_kept(path, address.format_override()), number, head)


def stepper_link(trace_id: str, label: str) -> None:
    """A link to a run on the Run page."""
    st.page_link("pages/run.py", label=label, icon=":material/play_circle:", query_params=address.run_link(trace_id))


def back() -> DeltaGenerator:
    """Draw the way back to the list; gives the line, which has room for the name of what is shown and for more."""
    head = st.container(horizontal=True, vertical_alignment="center", key="trace-line")
    head.button(t("All traces"), icon=":material/arrow_back:", key="all", on_click=address.close_trace)
    return head


def show(opened: Opened, number: int, head: DeltaGenerator, *, live: bool = False) -> None:
    """Draw one conversation of a file, with a choice where there are several.

    Args:
        opened: the file.
        number: the conversation to show when the address names none; positions count from 0.
        head: the line on top, to which the models and the way to the first error are added.
        live: the run goes on in this server.
    """
    opened = by_columns(opened)
    report = opened.report
    if not report.traces:
        unknown_file(report)
        return
    number = address.conversation(len(report.traces), max(number, 0))
    if len(report.traces) > 1:
        conversation_choice(report.traces, number)
    reading = opened.reading(number)
    summary = reading.summary
    keep_to_newest(reading.trace)
    with head:
        st.text(f"{t('Model')}: {', '.join(summary.models) or t('not reported')}", width="content")
        first_error(reading.trace)
        st.page_link("pages/replay.py", label=t("Replay"), icon=":material/movie:", query_params=address_replay.link())
        st.page_link(
            "pages/ablate.py",
            label=t("Ablate"),
            icon=":material/science:",
            query_params=address_replay.link(),
        )
        key = f"export-{reading.trace.trace_id}"
        export_menu(reading.trace, report, key=key, notebook=address_replay.link())
    place = trace_head(reading, live=live)
    import_report(report, summary.warnings)
    if report.format == FORMAT:
        with st.expander(t("Change the columns"), type="compact", icon=":material/table_view:"):
            mapper(report, key=f"mapper-{reading.trace.trace_id}")
    noticed_panel(reading.trace)
    selected = messages_part(reading, tagged(reading.trace.trace_id), live=live)
    findings_fact(reading, place)
    details_part(reading, selected)


ensure_menu()
page()
