"""The status box: the loop as a ring, what comes next and who does it, the code that is about to run, the outcome.

One top-level fragment draws it and polls while something moves. Everything else of the page is drawn by a full rerun,
and only when something of it has changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.events import AgentState, Maker, Phase
from agent.redact import redact_text
from pages.parts.breakpoints import hit_line
from pages.parts.diagram import loop_diagram
from pages.parts.history import View
from pages.parts.live_figures import call_line, in_flight_words, step_line, thought_line
from pages.parts.outcome import outcome_panel
from pages.parts.paused import unknown_call
from pages.parts.phases import led_here_line, next_line, phase_words, place_line
from pages.parts.polling import of_this_drawing
from pages.parts.roles import maker_look
from pages.parts.runs import OpenRun, registry
from pages.parts.source import source_block
from pages.parts.transport import Drawn
from pages.parts.words import t

POLL_S = 0.4
"""Seconds between two looks at a run that moves."""

HEIGHT_PX = 276
"""Height of the box: nothing below it moves while a run goes on, waits or ends."""

_FRAME_PX = 34
"""Of that, border and padding; the rest is its right half, which scrolls by itself."""

LIVE_TAIL = 300
"""Characters of a streamed reply that are shown while it comes."""


@dataclass(frozen=True, slots=True)
class StatusBox:
    """The places of the status. They keep their size, so that nothing below them moves."""

    loop: DeltaGenerator
    """Where the ring is drawn."""
    lines: DeltaGenerator
    """Where it is said what comes next, or what happens."""
    panel: DeltaGenerator
    """Where a person decides, or where a reply streams in."""
    code: DeltaGenerator
    """Where the lines of the loop stand that run next."""
    end: DeltaGenerator
    """Where it is said how the run ended."""


def status_box(height: int = HEIGHT_PX, *, ends_left: bool = False) -> StatusBox:
    """Draw the empty box: on the left where the loop stands, on the right what is decided or runs next.

    Args:
        height: in pixels; it stays the same whatever is in it.
        ends_left: how the run ended stands under the ring, because the panel on the right holds much.
    """
    with st.container(border=True, key="status", height=height, gap="xsmall"):
        left, right = st.columns([41, 59], gap="small")
        with left:
            loop, lines = st.container(), st.container(gap="xsmall")
        with right.container(height=height - _FRAME_PX, border=False, key="doing", gap="xsmall"):
            panel, code = st.container(gap="xsmall"), st.container(gap="xsmall")
        return StatusBox(loop, lines, panel, code, end=lines if ends_left else code)


def live(
    run: OpenRun,
    drawn: Drawn,
    view: View,
    box: StatusBox,
    problem: str | None,
    *,
    every_s: float = POLL_S,
    asking: bool = False,
) -> None:
    """Draw the status, and poll while the run moves.

    Args:
        run: the open run.
        drawn: the snapshot that the rest of the page was drawn from.
        view: where the page looks.
        box: where the status goes.
        problem: what keeps the run from moving.
        every_s: seconds between two looks.
        asking: somebody is to say first what comes next, so the status does not.
    """
    first = True  # the first time is part of the full rerun, which has just drawn everything

    @st.fragment(run_every=every_s if drawn.busy else None)
    @of_this_drawing
    def watch() -> None:
        nonlocal first
        if not first and Drawn.of(run) != drawn:
            st.rerun()
        first = False
        registry().find(run.id)  # somebody looks at the run, so it is not forgotten
        if drawn.busy and not view.past:
            _moving(box, run)
        else:
            _resting(box, run, view, problem, asking=asking)

    watch()


def nothing_yet(box: StatusBox, problem: str | None, *, asking: bool = False) -> None:
    """The status before the first press.

    Args:
        box: where it goes.
        problem: what keeps a run from being started.
        asking: as for :func:`live`.
    """
    with box.loop:
        loop_diagram(AgentState.THINK, Phase.PREPARE)
    with box.lines:
        if problem is not None:
            st.text(problem)
        else:
            st.markdown(place_line(Phase.PREPARE) if asking else next_line(Phase.PREPARE))
    if not asking:
        with box.code:
            source_block(Phase.PREPARE)


def _moving(box: StatusBox, run: OpenRun) -> None:
    """What happens right now, and the text that is being streamed."""
    phase, state = run.loop.phase, run.loop.state
    with box.loop:
        loop_diagram(state, phase)
    if phase is None:
        return
    words = phase_words(phase)
    asked = {"pause": t("Pausing after this call"), "stop": t("Stopping"), "walk": t("Walking")}
    doing = asked.get(run.asked or "", t("Running"))
    with box.lines:
        st.markdown(f":material/pending: **{doing}**: {words.word} {maker_look(words.actor).badge} {words.sentence}")
        if figures := call_line(run):
            st.caption(figures)
    with box.panel.container(gap="xsmall"):
        if run.asked in ("pause", "stop") and (honest := in_flight_words(run)):
            st.caption(honest)
        if thought := thought_line(run):
            st.text(thought)
        if partial := run.partial:
            cut = "…" if len(partial) > LIVE_TAIL else ""
            st.text(f"{t('The model is writing')}: {cut}{partial[-LIVE_TAIL:]}")
    with box.code:
        source_block(phase)


def _resting(box: StatusBox, run: OpenRun, view: View, problem: str | None, *, asking: bool) -> None:
    with box.loop:
        loop_diagram(view.state, view.phase)
    with box.lines:
        if view.past:
            place = t("Looking back: moment {n} of {count}. Nothing runs.", n=view.number, count=view.count)
            st.markdown(f":material/history: :blue-badge[{place}]")
        elif hit := hit_line(run):
            st.text(hit)
        if not asking:
            next_lines(view, more=not view.past and run.loop.more)
        elif view.phase is not None:
            st.markdown(place_line(view.phase, view.moment.step))
        if run.setup.live and not view.past and (figures := step_line(view.trace)):
            st.caption(figures)
        if not view.past:
            unknown_call(run)
        if problem is not None:
            st.text(redact_text(problem, run.loop.secrets))
    if not asking:
        with box.end if view.phase is None else box.code:
            code_or_outcome(view)


def next_lines(view: View, *, more: bool) -> None:
    """Draw what comes next at a moment, and what led to it.

    Args:
        view: the moment.
        more: where a turn is over, the user goes on.
    """
    if view.phase is not None:
        begun = any(pending.begun or pending.result for pending in view.pending)
        untouched = view.phase is Phase.APPROVE and not begun
        st.markdown(next_line(view.phase, view.moment.step, untouched=untouched))
    elif more:
        st.markdown(f"{t('Next')}: {maker_look(Maker.USER).badge} {t('The user goes on with the next message.')}")
    st.caption(led_here_line(view.led_here, view.before, view.moment.messages))


def code_or_outcome(view: View) -> None:
    """Draw the lines of the loop that run next; where a turn is over, how it ended."""
    if view.phase is None:
        outcome_panel(view.trace.outcome, wide=False)
    else:
        source_block(view.phase)
