"""The Run page: set up a run, move it phase by phase, look back, decide, and see everything that it does."""

from __future__ import annotations

import streamlit as st

from pages.parts.breakpoints import breakpoints_panel
from pages.parts.classes import class_line, note_where
from pages.parts.deciding import decide_panel
from pages.parts.faults import faults_panel
from pages.parts.follow_lead import note_look
from pages.parts.history import view_of
from pages.parts.keys import keys_panel
from pages.parts.menu import ensure_menu
from pages.parts.message_table import message_table
from pages.parts.notices import notices
from pages.parts.open_runs import open_runs
from pages.parts.opening import CHANGED, current_run, press, preview, problem
from pages.parts.run_tabs import run_tabs
from pages.parts.setup import by_rules
from pages.parts.setup_form import setup_form
from pages.parts.status import live, nothing_yet, status_box
from pages.parts.tabs import tabs
from pages.parts.transport import Drawn, buttons


def page() -> None:
    """Draw the page from one snapshot of the run, or from the settings while there is none.

    Buttons and status come first, whatever stands below them, so that a press is acknowledged at once.
    """
    run = current_run()
    tabs().show(run.id if run is not None else None)
    drawn = Drawn.of(run) if run is not None else None
    view = view_of(run) if run is not None else None
    setup = setup_form(busy=drawn is not None and drawn.busy, changed=CHANGED)
    with st.sidebar:
        breakpoints_panel(run)
        faults_panel(run)
    open_runs(run.id if run is not None else None)
    class_line(joins=False)
    notices()
    obstacle = problem(run, setup)
    ready = obstacle is None and (run is None or not run.asleep)
    if buttons(run, drawn, view, press, by_hand=by_rules(run.setup if run is not None else setup)):
        keys_panel()
    note_where("", run)
    box = status_box()
    if run is None or drawn is None or view is None:
        nothing_yet(box, obstacle)
        message_table(preview(setup), key="preview", added=range(0))
        return
    live(run, drawn, view, box, obstacle)
    with box.panel:
        decide_panel(run, drawn, view, ready=ready)
    goes_on = view.phase is not None  # at a moment before the end a call without a result is nothing to remark on
    selected = message_table(view.trace, key=f"messages-{run.id}", live=goes_on, added=view.added)
    note_look(run, view, selected)
    run_tabs(run, view, selected, live=goes_on)


ensure_menu()
page()
