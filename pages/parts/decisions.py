"""What a person decides about a run: pending calls, and more budget after a limit."""

from __future__ import annotations

import streamlit as st

from agent.approval import Decision
from agent.extension import MORE_STEPS, extension
from agent.redact import redact_text
from pages.parts import address
from pages.parts.message_view import text_block
from pages.parts.runs import OpenRun
from pages.parts.tabs import tabs
from pages.parts.words import t


def approval_panel(run: OpenRun) -> None:
    """The calls that wait for a person, each with Approve and Reject."""
    st.warning(t("These calls wait for your decision. Nothing runs before it."), icon=":material/front_hand:")
    for position, pending in enumerate(list(run.loop.run.pending)):
        if pending.decision is not None or not pending.question:
            continue
        with st.container(border=True):
            st.text(f"{pending.call.name}   {pending.call.id}\n{pending.question}")
            arguments = redact_text(pending.call.arguments_text(), run.loop.secrets)
            text_block(arguments, key=f"pending-{position}", file_name="arguments.json")
            with st.container(horizontal=True):
                for label, icon, decision in (
                    (t("Approve"), ":material/check:", Decision.run()),
                    (t("Reject"), ":material/close:", Decision.reject()),
                ):
                    st.button(
                        label,
                        icon=icon,
                        key=f"{decision.kind}-{position}-{len(run.loop.trace.steps)}",
                        on_click=_decide,
                        args=(run, position, decision),
                    )


def _decide(run: OpenRun, position: int, decision: Decision) -> None:
    with run.lock:
        pending = run.loop.run.pending
        if not run.loop.waiting or position >= len(pending) or pending[position].decision is not None:
            return
        run.loop.decide(position, decision)
    if not run.loop.waiting and run.asked == "continue":
        run.runner.resume()
    elif not run.loop.waiting and run.asked == "step_over":
        run.runner.step_over()
    tabs().wake_others(run.id)


def extend_button(run: OpenRun) -> None:
    """After a stop that leaves a way on: ask the model again, or grant more of what ran out, in the same run."""
    loop = run.loop
    changes = extension(loop.stop_reason, loop.settings, loop.run.iteration)
    if changes is not None:
        label = t("Continue with {n} more steps", n=MORE_STEPS) if changes else t("Try again")
        icon = ":material/more_time:" if changes else ":material/refresh:"
        st.button(label, icon=icon, key="extend", on_click=_extend, args=(run,))


def _extend(run: OpenRun) -> None:
    with run.lock:
        loop = run.loop
        changes = extension(loop.stop_reason, loop.settings, loop.run.iteration)
        if changes is None or run.runner.busy:
            return
        if "max_steps" in changes:
            run.keep_setup(max_steps=changes["max_steps"])
            address.put(address.MAX_STEPS, changes["max_steps"])
        loop.extend(**changes)
    run.asked = "continue"
    run.runner.resume()
    tabs().wake_others(run.id)


def failure_panel(run: OpenRun) -> None:
    """A defect that ended the worker thread: told, and the run can be tried again from where it stands."""
    error = run.runner.error
    if error is not None:
        st.error(t("The run was interrupted by a defect. Press a button to try the same phase again."))
        st.text(redact_text(f"{type(error).__name__}: {error}", run.loop.secrets))
