"""More budget after a limit: the run that stopped goes on as the same run."""

from __future__ import annotations

import streamlit as st

from agent.errors import AgentError
from agent.extension import MORE_STEPS, extension
from agent.limits import HARD_CAP
from agent.stops import StopReason
from pages.parts import address
from pages.parts.keys import controls
from pages.parts.runs import OpenRun
from pages.parts.setup_form import hold_setup
from pages.parts.tabs import tabs
from pages.parts.words import loop_words, t


def extend_button(run: OpenRun) -> None:
    """After a stop that leaves a way on: ask the model again, or grant more of what ran out, in the same run."""
    loop = run.loop
    changes = extension(loop.stop_reason, loop.settings, loop.run.iteration)
    if changes is None:
        if loop.stop_reason is StopReason.MAX_ITERATIONS:
            st.caption(
                t(
                    "The hard cap of {n} steps cannot be raised. A fork of an earlier moment can go another way.",
                    n=HARD_CAP,
                )
            )
        return
    again = t("Go on") if loop.stop_reason is StopReason.STOPPED_BY_USER else t("Try again")
    label = t("Continue with {n} more steps", n=MORE_STEPS) if changes else again
    icon = ":material/more_time:" if changes else ":material/refresh:"
    st.button(label, icon=icon, key="extend", shortcut=controls()["extend"].key, on_click=_extend, args=(run,))


def _extend(run: OpenRun) -> None:
    with run.lock:
        loop = run.loop
        changes = extension(loop.stop_reason, loop.settings, loop.run.iteration)
        if changes is None or run.runner.busy:
            return
        try:
            loop.extend(**changes)
        except AgentError as error:
            address.tell(loop_words(str(error)))
            return
        except OSError as error:  # the run goes on all the same, and the next phase tries to write it again
            address.tell(str(error))
        if "max_steps" in changes:
            run.keep_setup(max_steps=changes["max_steps"])
            address.put(address.MAX_STEPS, changes["max_steps"])
        run.asked = "continue"
        hold_setup()
        run.runner.resume()
    tabs().wake_others(run.id)
