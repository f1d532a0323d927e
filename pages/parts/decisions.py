"""What a person decides about a run: pending calls, and more budget after a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from agent.approval import Decision
from agent.limits import HARD_CAP
from agent.redact import redact
from agent.stops import StopReason
from pages.parts.message_view import text_block
from pages.parts.outcome import EXTENDABLE
from pages.parts.runs import OpenRun
from pages.parts.words import t

MORE_STEPS = 5
"""Steps that one press of "continue" grants after a limit."""


def approval_panel(run: OpenRun) -> None:
    """The calls that wait for a person, each with Approve and Reject."""
    st.warning(t("These calls wait for your decision. Nothing runs before it."), icon=":material/front_hand:")
    for position, pending in enumerate(list(run.loop.run.pending)):
        if pending.decision is not None or not pending.question:
            continue
        with st.container(border=True):
            st.text(f"{pending.call.name}   {pending.call.id}\n{pending.question}")
            text_block(pending.call.arguments_text(), key=f"pending-{position}", file_name="arguments.json")
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
    if run.loop.waiting:
        return
    if run.asked == "continue":
        run.runner.resume()
    elif run.asked == "step_over":
        run.runner.step_over()


def extend_button(run: OpenRun) -> None:
    """After a limit: grant more of what ran out and go on with the same run."""
    if run.loop.stop_reason in EXTENDABLE and len(run.loop.trace.steps) < HARD_CAP:
        st.button(
            t("Continue with {n} more steps", n=MORE_STEPS),
            icon=":material/more_time:",
            key="extend",
            on_click=_extend,
            args=(run,),
        )


def _extend(run: OpenRun) -> None:
    with run.lock:
        if not run.done or run.runner.busy:
            return
        settings = run.loop.settings
        changes: dict[str, Any] = {"max_steps": len(run.loop.trace.steps) + MORE_STEPS}
        spent = {
            StopReason.DEADLINE: "deadline_s",
            StopReason.TOKEN_BUDGET: "total_tokens",
            StopReason.COST_BUDGET: "cost",
        }
        if (name := spent.get(run.loop.stop_reason or StopReason.FINAL)) and (old := getattr(settings.limits, name)):
            changes["limits"] = replace(settings.limits, **{name: old * 2})
        run.loop.extend(**changes)
    run.asked = "continue"
    run.runner.resume()


def failure_panel(run: OpenRun) -> None:
    """A defect that ended the worker thread: told, and the run can be tried again from where it stands."""
    error = run.runner.error
    if error is not None:
        st.error(t("The run was interrupted by a defect. Press a button to try the same phase again."))
        st.text(str(redact(f"{type(error).__name__}: {error}")))
