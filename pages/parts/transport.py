"""The buttons that move a run, and the one fragment that polls while something moves.

No phase ever runs in the script thread of a page: a button only gives the run's worker thread a budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.events import AgentState, Phase
from pages.parts import address
from pages.parts.outcome import outcome_panel
from pages.parts.phases import loop_row, next_line, phase_words
from pages.parts.roles import maker_look
from pages.parts.runs import OpenRun, registry
from pages.parts.tabs import tabs
from pages.parts.words import t

Action = Literal["step", "step_over", "continue", "pause", "stop", "reset"]

POLL_S = 0.4
"""Seconds between two looks at a run that moves."""

SETTLE_S = 0.15
"""Seconds that a press waits for a quick phase to end: most end at once, and then nothing needs to poll."""

LIVE_TAIL = 300
"""Characters of a streamed reply that are shown while it comes."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the page shows outside the polling fragment; a difference to the run is the reason to draw it anew."""

    busy: bool
    stepping: bool
    """Busy with single phases: one more may be asked for."""
    waiting: bool
    done: bool
    messages: int
    results: int
    """Finished model calls and tool runs."""

    @classmethod
    def of(cls, run: OpenRun) -> Drawn:
        """How the run stands now. Taken once per rerun, so that buttons and polling never disagree."""
        busy = run.runner.busy
        steps = list(run.loop.trace.steps)
        finished = sum((step.latency_ms is not None) + len(step.tools) for step in steps)
        return cls(
            busy, busy and run.asked == "step", run.loop.waiting, run.done, len(run.loop.trace.entries), finished
        )


@dataclass(frozen=True, slots=True)
class StatusBox:
    """The places of the status. They keep their size, so that nothing below them moves."""

    loop: DeltaGenerator
    """Where the loop is drawn as one row."""
    lines: DeltaGenerator
    """Where it is said what happens, or how the run ended."""


def buttons(drawn: Drawn | None, *, ready: bool, press: Callable[[Action], None], saved: str | None) -> None:
    """Draw the six buttons, and a link to the trace.

    Args:
        drawn: the snapshot of the run, the same as for :func:`live`; None before the first press.
        ready: whether the settings are complete enough to start a run, or to go on with this one.
        press: called with the action when a button or its key is pressed.
        saved: the id of the trace that is on disk; None while there is none.
    """
    busy = drawn is not None and drawn.busy
    can_move = ready and (drawn is None or not (busy or drawn.done or drawn.waiting))
    can_step = can_move or (drawn is not None and drawn.stepping)
    rows: list[tuple[Action, str, str, str, bool]] = [
        ("step", t("Step"), "S", ":material/skip_next:", can_step),
        ("step_over", t("Step over"), "O", ":material/redo:", can_move),
        ("continue", t("Continue"), "G", ":material/play_arrow:", can_move),
        ("pause", t("Pause"), "P", ":material/pause:", busy),
        ("stop", t("Stop"), "Q", ":material/stop:", drawn is not None and not drawn.done and (busy or ready)),
        ("reset", t("Reset"), "X", ":material/restart_alt:", drawn is not None),
    ]
    helps = {
        "step": t("One phase"),
        "step_over": t("One whole step: to the next model call"),
        "continue": t("To the end"),
        "pause": t("Wait after the phase that is running"),
        "stop": t("End the run now"),
        "reset": t("Leave this run and set up a new one"),
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="transport"):
        for action, label, shortcut, icon, enabled in rows:
            st.button(
                label,
                key=action,
                icon=icon,
                shortcut=shortcut,
                help=helps[action],
                type="primary" if action == "step" else "secondary",
                disabled=not enabled,
                on_click=press,
                args=(action,),
            )
        if saved is not None:
            st.page_link(
                "pages/traces.py",
                label=t("Open the trace"),
                icon=":material/receipt_long:",
                query_params=address.trace_link(saved),
            )


def move(run: OpenRun, action: Action) -> None:
    """Do what a button asks for; the work itself happens in the run's own thread."""
    run.asked = action
    match action:
        case "step":
            run.runner.step()
        case "step_over":
            run.runner.step_over()
        case "continue":
            run.runner.resume()
        case "pause":
            run.runner.pause()
            tabs().wake_others(run.id)
            return
        case "stop":
            run.runner.stop()
        case "reset":
            _leave(run)
            return
    run.runner.wait(SETTLE_S)
    tabs().wake_others(run.id)


def _leave(run: OpenRun) -> None:
    """Show this run no more. It is stopped if it moves, and stays open for other tabs that show it."""
    address.close_run()
    if run.runner.busy:
        run.runner.stop()
    if not tabs().wake_others(run.id):
        registry().end(run.id)


def live(run: OpenRun, drawn: Drawn, status: StatusBox, problem: str | None) -> None:
    """Draw the status line and the text that is being streamed, and poll while the run moves.

    Everything else of the page is drawn by a full rerun, and only when something of it has changed.

    Args:
        run: the open run.
        drawn: the snapshot that the rest of the page was drawn from.
        status: where the status goes.
        problem: what keeps the run from moving.
    """
    first = True  # the first time is part of the full rerun, which has just drawn everything

    @st.fragment(run_every=POLL_S if drawn.busy else None)
    def watch() -> None:
        nonlocal first
        if not first and Drawn.of(run) != drawn:
            st.rerun()
        first = False
        registry().find(run.id)  # somebody looks at the run, so it is not forgotten
        status_lines(status, run, busy=drawn.busy, problem=problem)

    watch()


def status_lines(status: StatusBox, run: OpenRun | None, *, busy: bool, problem: str | None = None) -> None:
    """State, next phase, who acts in it and what it will do; while the worker moves, what it does right now.

    Args:
        status: where it goes.
        run: the open run; None before the first press.
        busy: from the snapshot that the page is drawn from.
        problem: what is still missing before a run can start or go on.
    """
    phase = run.loop.phase if run is not None else Phase.PREPARE
    with status.loop:
        st.markdown(loop_row(run.loop.state if run is not None else AgentState.THINK, phase))
    with status.lines:
        _lines(run, phase, busy, problem)


def _lines(run: OpenRun | None, phase: Phase | None, busy: bool, problem: str | None) -> None:
    if run is not None and busy and phase is not None:
        words = phase_words(phase)
        asked = {"pause": t("Pausing after this call"), "stop": t("Stopping")}
        doing = asked.get(run.asked) or t("Running")
        st.markdown(f":material/pending: **{doing}**: {words.word} {maker_look(words.actor).badge} {words.sentence}")
        if partial := run.runner.partial:
            cut = "…" if len(partial) > LIVE_TAIL else ""
            st.text(f"{t('The model is writing')}: {cut}{partial[-LIVE_TAIL:]}")
    elif phase is None and run is not None:
        outcome_panel(run.trace().outcome)
    elif run is not None or problem is None:
        st.markdown(next_line(phase or Phase.PREPARE))
    if problem is not None and not busy:
        st.text(problem)
