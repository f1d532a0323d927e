"""One trace: what it is, how it ended, its messages, the selected one in full with its request, and its charts."""

from __future__ import annotations

import streamlit as st

from agent import jsontext
from agent.trace import Trace
from pages.parts import address
from pages.parts.charts import step_charts
from pages.parts.message_table import saved_table
from pages.parts.message_view import message_view, text_block
from pages.parts.outcome import outcome_panel
from pages.parts.request_view import request_view
from pages.parts.tools_view import tools_view
from pages.parts.words import t
from traces.report import ImportReport
from traces.summary import TraceSummary


def trace_view(trace: Trace, summary: TraceSummary, *, live: bool = False) -> None:
    """Draw the whole trace; the URL keeps the selected message.

    Args:
        trace: the trace.
        summary: its numbers.
        live: its run goes on, so there is no outcome yet.
    """
    with st.container(border=True, key="facts", gap="xsmall"):
        _numbers(summary)
        if live:
            st.markdown(f":blue-badge[{t('The run is going on; this is what it has left so far.')}]")
        else:
            outcome_panel(trace.outcome)
    if not trace.messages:
        st.caption(t("This trace holds no message."))
        return
    key = f"trace-{trace.trace_id}"
    selected = saved_table(trace, key=key, live=live)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _tabs(trace, selected)
    with right:
        step_charts(trace, key=key, selected=selected)


def _tabs(trace: Trace, selected: int | None) -> None:
    """The selected message, the request of its step, and the tools. Only the tab that is open is drawn."""
    names = [t("Message"), t("Request"), t("Tools")]
    message, request, tools = st.tabs(names, key="trace-tabs", on_change="rerun")
    if message.open:
        with message:
            if selected is None:
                st.caption(t("Select a row of the table to read that message in full."))
            else:
                message_view(trace, selected, key="message")
    if request.open:
        with request:
            step = None if selected is None else trace.entries[selected].step
            request_view(None, trace, step if isinstance(step, int) else None, key=f"request-{trace.trace_id}")
    if tools.open:
        with tools:
            tools_view(trace, key=f"tools-{trace.trace_id}")


def first_error(trace: Trace) -> None:
    """A button that selects the first result that is an error, where there is one."""
    errors = (run.message for step in trace.steps for run in step.tools if run.ok is False and run.message is not None)
    first = next(errors, None)
    if first is not None:
        st.button(
            t("First error: message {n}", n=first + 1),
            icon=":material/error:",
            key="first-error",
            on_click=address.choose_message,
            args=(first,),
        )


def _numbers(summary: TraceSummary) -> None:
    unknown = t("not reported")
    tokens = summary.tokens
    about = "≈ " if tokens.estimated else ""
    numbers = {
        t("Messages"): f"{summary.messages:,}",
        t("Steps"): f"{summary.steps:,}",
        t("Tool calls"): f"{summary.tool_calls:,}",
        t("Prompt tokens"): unknown if tokens.prompt_tokens is None else f"{about}{tokens.prompt_tokens:,}",
        t("Answer tokens"): unknown if tokens.completion_tokens is None else f"{about}{tokens.completion_tokens:,}",
        t("Duration"): unknown if summary.duration_s is None else f"{summary.duration_s:,.2f} s",
        t("Cost"): unknown if summary.cost is None else f"$ {summary.cost:,.4f}",
    }
    with st.container(horizontal=True, gap="medium"):
        for name, value in numbers.items():
            st.metric(name, value, width="content")


def report_view(report: ImportReport, summary: TraceSummary) -> None:
    """What could not be read, what was put right, and what is odd; nothing when all is well."""
    lines = [t("line {n}: {why}", n=bad.line, why=bad.error) for bad in report.bad_lines]
    lines += [*report.unread, *report.repaired, *report.warnings, *summary.warnings]
    if lines:
        with st.expander(t("Remarks about this file: {n}", n=len(lines)), type="compact", icon=":material/info:"):
            st.text("\n".join(dict.fromkeys(lines)))


def raw_view(report: ImportReport) -> None:
    """A file of an unknown shape: a sentence about what was expected, and the JSON itself."""
    st.warning(t("No conversation was found in this file."))
    st.text("\n".join(report.unread))
    if report.tree is not None:
        text_block(jsontext.dumps(report.tree, indent=True), key="raw", file_name="file.json")
