"""Below the message table: one message, the request, the charts, editing and forks, the tools, what else happened.

Only the tab that is open is drawn: the charts alone would cost more than the rest of the page.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts import selection
from pages.parts.charts import step_charts
from pages.parts.faults import noticed_panel
from pages.parts.forks import fork_panel, fork_tree
from pages.parts.history import View
from pages.parts.message_view import message_view
from pages.parts.notes import notes_list
from pages.parts.request_view import request_view
from pages.parts.runs import OpenRun
from pages.parts.tools_view import tools_view
from pages.parts.words import t
from traces.reading import Reading


def run_tabs(run: OpenRun, view: View, selected: int | None, *, live: bool, forks: bool = True) -> None:
    """Draw the tabs.

    Args:
        run: the open run.
        view: where the page looks.
        selected: position of the message that is selected in the table; None: the newest is shown.
        live: the run goes on.
        forks: the run may be edited and forked here; a lesson only looks at its run.
    """
    trace, reading = view.trace, Reading(view.trace)
    choose = partial(selection.choose, f"messages-{run.id}")
    edit = [t("Edit and fork")] if forks else []
    names = [t("Message"), t("Request"), t("Charts"), *edit, t("Tools"), t("Notes and faults")]
    key = f"tabs-{run.id}" if forks else f"lesson-tabs-{run.id}"
    message, request, charts, *edits, tools, notes = st.tabs(names, key=key, on_change="rerun")
    if message.open:
        with message:
            last = len(trace.messages) - 1
            message_view(
                reading, last if selected is None or selected > last else selected, key="message", choose=choose
            )
    if request.open:
        with request:
            request_view(run, trace, None, key=f"request-{run.id}")
    if charts.open:
        with charts:
            step_charts(reading, key=run.id, choose=choose, selected=selected, live=live)
    if edits and edits[0].open:
        with edits[0]:
            left, right = st.columns([3, 2], gap="medium")
            with left:
                fork_panel(run, view.moment)
            with right:
                fork_tree(run)
    if tools.open:
        with tools:
            tools_view(trace, key=f"tools-{run.id}")
    if notes.open:
        with notes:
            noticed_panel(trace)
            notes_list(trace)
