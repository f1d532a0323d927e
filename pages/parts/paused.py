"""A run that rests: what is done, what comes next, what will not be repeated, and what interrupted it."""

from __future__ import annotations

import streamlit as st

from agent.events import Phase
from agent.redact import redact_text
from pages.parts.runs import OpenRun
from pages.parts.words import t

_RAN = ("run", "edited", "timed_out")
"""What was decided about calls whose tool really ran."""


def kept_line(run: OpenRun) -> str:
    """What a resting run has done that will not be done again."""
    steps = run.loop.trace.steps
    calls = sum(step.reply is not None for step in steps)
    tools = sum(tool.decision in _RAN for step in steps for tool in step.tools)
    kept = t("Kept: replies {calls}, results {tools}", calls=calls, tools=tools)
    return f"{t('Back from disk.')} {kept}" if run.recovered else kept


def unknown_call(run: OpenRun) -> None:
    """A model call that was in flight when the server ended: nobody knows how it went, so a person chooses."""
    state = run.loop.run
    if state.call_begun and state.phase is Phase.CALL:
        text = t("A model call was in flight when the server ended: outcome unknown.")
        st.warning(f"{text} {t('Step or Continue asks the model again, Stop ends the run.')}", icon=":material/help:")


def failure_panel(run: OpenRun) -> None:
    """A defect that ended the worker thread: told, and the run can be tried again from where it stands."""
    error = run.runner.error
    if error is not None:
        st.error(t("The run was interrupted by a defect. Press a button to try the same phase again."))
        st.text(redact_text(f"{type(error).__name__}: {error}", run.loop.secrets))
