"""The other runs of this server that have not ended, in the side bar."""

from __future__ import annotations

import streamlit as st

from pages.parts import address
from pages.parts.data import private
from pages.parts.runs import OpenRun, registry
from pages.parts.setup_form import scenario_title
from pages.parts.words import t

_LISTED = 20
"""The runs last looked at; the rest is found through the list of traces."""


def open_runs(current: str | None) -> None:
    """Draw a button for each other run that can go on: all of them for the one user of a private server.

    On a server that others can reach, only those that this browser opened. What has ended is in the list of traces.
    """
    own = address.opened()
    going = [run for run in registry().listed() if run.id != current and not run.done]
    others = [run for run in going if private() or run.id in own]
    if not others:
        return
    with st.sidebar.expander(t("Open runs: {n}", n=len(others)), type="compact"):
        for run in others[:_LISTED]:
            st.button(_label(run), key=f"open-{run.id}", type="tertiary", on_click=address.open_run, args=(run.id,))


def _label(run: OpenRun) -> str:
    """The title of its scenario, and what tells it from others of the same; a task is data and no part of a label."""
    return t(
        "{title}: {state}, {n} messages ({id})",
        title=scenario_title(run.setup.scenario),
        state=t("busy") if run.runner.busy else t("waiting"),
        n=len(run.loop.messages),
        id=run.id[:4],
    )
