"""Links to the other runs of this server, in the side bar."""

from __future__ import annotations

import streamlit as st

from pages.parts import address
from pages.parts.data import private
from pages.parts.runs import registry
from pages.parts.words import t

_LISTED = 20
"""The runs last looked at; the rest is found through the list of traces."""


def open_runs(current: str | None) -> None:
    """Draw links to the other open runs in the side bar: all of them for the one user of a private server.

    On a server that others can reach, only those that this browser opened.
    """
    own = address.opened()
    others = [run for run in registry().listed() if run.id != current and (private() or run.id in own)]
    if not others:
        return
    with st.sidebar.expander(t("Open runs: {n}", n=len(others)), type="compact"):
        for run in others[:_LISTED]:
            state = t("done") if run.done else t("busy") if run.runner.busy else t("waiting")
            label = t("Run {id}: {state}", id=run.id[:4], state=state)
            st.page_link("pages/run.py", label=label, query_params=address.run_link(run.id))
