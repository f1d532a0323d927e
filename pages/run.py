"""The Run page: set up a run, move it phase by phase, and see everything that it does."""

from __future__ import annotations

import streamlit as st

from pages.parts.charts import step_charts
from pages.parts.decisions import approval_panel, extend_button, failure_panel
from pages.parts.menu import ensure_menu
from pages.parts.message_table import message_table
from pages.parts.message_view import message_view
from pages.parts.notes import notes_list
from pages.parts.notices import notices
from pages.parts.open_runs import open_runs
from pages.parts.opening import CHANGED, current_run, press, preview, problem
from pages.parts.setup_form import setup_form
from pages.parts.tabs import tabs
from pages.parts.transport import Drawn, StatusBox, buttons, live, status_lines
from pages.parts.words import t

_STATUS_PX = 184
"""Height of the status box: it has room for most outcomes, so that nothing below it moves when a run ends."""


def page() -> None:
    """Draw the page from one snapshot of the run, or from the settings while there is none.

    Buttons and status come first, whatever stands below them, so that a press is acknowledged at once.
    """
    run = current_run()
    tabs().show(run.id if run is not None else None)
    drawn = Drawn.of(run) if run is not None else None
    setup = setup_form(busy=drawn is not None and drawn.busy, changed=CHANGED)
    open_runs(run.id if run is not None else None)
    st.caption(t("**Agent Loop Lab** · an agent is a loop round a message list: watch it go, phase by phase."))
    notices()
    obstacle = problem(run, setup)
    ready = obstacle is None and (run is None or not run.asleep)
    buttons(drawn, ready=ready, press=press, saved=run.id if run is not None else None)
    with st.container(border=True, key="status", height=_STATUS_PX, gap="xsmall"):
        head = st.container(horizontal=True, vertical_alignment="center")
        status = StatusBox(head.container(), st.container(gap="xsmall"))
    if run is None or drawn is None:
        status_lines(status, None, busy=False, problem=obstacle)
        message_table(preview(setup), key="preview")
        return
    panels, table = st.container(), st.container()
    left, right = st.columns([3, 2], gap="medium")
    live(run, drawn, status, obstacle)
    if drawn.done and ready:
        with head:
            extend_button(run)
    with panels:
        failure_panel(run)
        if drawn.waiting and ready:
            approval_panel(run)
    trace = run.trace()
    with table:
        selected = message_table(trace, key=f"messages-{run.id}", live=not drawn.done)
    with left:
        notes_list(trace)
        message_view(trace, len(trace.messages) - 1 if selected is None else selected, key="message")
    with right:
        step_charts(trace, key=run.id, selected=selected, live=not drawn.done)


ensure_menu()
page()
