"""The buttons that move a run, or the view of it.

No phase ever runs in the script thread of a page: a button only gives the run's worker thread a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from agent.events import Phase
from pages.parts import address, address_learn
from pages.parts.follow_lead import take_lead
from pages.parts.history import View, look, moment_count
from pages.parts.just_drawn import can_be_seen, note_drawn, told
from pages.parts.keys import Action, Control, controls
from pages.parts.learning_note import notebook_link
from pages.parts.paused import kept_line
from pages.parts.runs import OpenRun, registry
from pages.parts.setup_form import hold_setup
from pages.parts.sharing import share_menu
from pages.parts.tabs import tabs
from pages.parts.words import t

Press = Callable[[Action, int | None], None]
"""Takes what was pressed, and how many moments of the run the page had drawn then; None: no run was there yet."""

SETTLE_S = 0.15
"""Seconds that a press waits for a quick phase to end: most end at once, and then nothing needs to poll."""

SETTLE_SCRIPTED_S = 0.35
"""The same for one phase of a script, whose model takes up to 0.3 s: such a step is drawn once when it is done, and not
twice with a poll between, so it is seen sooner."""

PACES_S = (0.5, 1.0, 2.0, 4.0)
"""Seconds from phase to phase of a slow walk."""

GOES_ON: tuple[Action, ...] = ("step", "step_over", "next_call", "continue", "walk")
"""What starts a run or lets it move, so that nothing may be missing in the settings."""
VIEWS: tuple[Action, ...] = ("back", "forward", "now", "reset")
"""What changes the view alone, also of a run that cannot move."""


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
    walked: tuple[int, Phase | None] | None
    """Where a slow walk stands: each of its phases is shown."""

    @classmethod
    def of(cls, run: OpenRun) -> Drawn:
        """How the run stands now. Taken once per rerun, so that buttons and polling never disagree."""
        busy = run.runner.busy
        steps = list(run.loop.trace.steps)
        finished = sum((step.latency_ms is not None) + len(step.tools) for step in steps)
        messages = len(run.loop.trace.entries)
        walked = (len(steps), run.loop.phase) if run.runner.walking else None
        return cls(busy, busy and run.asked == "step", run.loop.waiting, run.done, messages, finished, walked)


def buttons(
    run: OpenRun | None,
    drawn: Drawn | None,
    view: View | None,
    press: Press,
    *,
    by_hand: bool = False,
    known: Mapping[Action, Control] | None = None,
) -> bool:
    """Draw the two rows of buttons; True when the list of keys was asked for.

    Args:
        run: the open run; None before the first press.
        drawn: the snapshot of the run, the same as for the polling fragment; None before the first press.
        view: where the page looks; None before the first press.
        press: called with the action, and how many moments were drawn, when a button or its key is pressed. It also
            says what is missing: a field that is being filled in reaches the server only with the press itself.
        by_hand: the model follows rules, of which the page says at all times where they come from.
        known: the controls in the words of the page; None: those of the Run page.
    """
    asleep = run is not None and run.asleep
    enabled, seen = _enabled(drawn, view, asleep=asleep), view.count if view is not None else None
    of_run_page = known is None
    known = known or controls()
    if run is not None and seen is not None:
        note_drawn(run.id, seen)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="transport"):
        for action in (*GOES_ON, "pause", "stop"):
            _button(action, known[action], enabled[action], press, seen=seen, primary=action == "step")
            if action == "walk":
                _pace(run)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="looks"):
        for action in VIEWS:
            _button(action, known[action], enabled[action], press, seen=seen, small=True)
        asked = _button("keys", known["keys"], True, None, small=True)
        if run is not None:
            st.page_link(
                "pages/traces.py",
                label=t("Open the trace"),
                icon=":material/receipt_long:",
                query_params=address.trace_link(run.id),
            )
            if of_run_page:
                notebook_link(run.id)
            share_menu(run)
            if of_run_page:
                st.caption(kept_line(run), width="content")
        elif of_run_page:
            st.caption(t("An agent is a loop round a message list."), width="content")
            st.page_link(
                "pages/learn.py",
                label=t("New here? Begin the course"),
                icon=":material/school:",
                query_params=address_learn.course_link(),
            )
        if by_hand:
            hand_written()
    return asked


def hand_written() -> None:
    """Say that what the model does comes from rules that somebody wrote."""
    st.badge(
        t("rules written by hand"),
        icon=":material/edit_note:",
        color="orange",
        help=t("No model is asked. What is said depends on the request by rules that somebody wrote into the script."),
    )


def _enabled(drawn: Drawn | None, view: View | None, *, asleep: bool) -> dict[Action, bool]:
    """Which buttons can be pressed. While the page looks back, nothing moves the run, so that looking stays looking."""
    busy = drawn is not None and drawn.busy
    past = view is not None and view.past
    can_move = not past and (drawn is None or not (busy or drawn.done or drawn.waiting))
    moves: dict[Action, bool] = dict.fromkeys(("step_over", "next_call", "continue", "walk"), can_move)
    return moves | {
        "step": can_move or (drawn is not None and drawn.stepping),
        "pause": busy,
        "stop": drawn is not None and not drawn.done and not asleep,
        "back": view is not None and not busy and view.number > 1,
        "forward": past and not busy,
        "now": past,
        "reset": drawn is not None,
    }


def _button(
    action: Action,
    control: Control,
    enabled: bool,
    press: Press | None,
    *,
    seen: int | None = None,
    primary: bool = False,
    small: bool = False,
) -> bool:
    return st.button(
        control.label,
        key=action,
        icon=control.icon,
        shortcut=control.key,
        help=control.help,
        type="primary" if primary else "tertiary" if small else "secondary",
        disabled=not enabled,
        on_click=press,
        args=(action, seen) if press else None,
    )


def _pace(run: OpenRun | None) -> None:
    def changed() -> None:
        if run is not None:
            run.runner.pace_s = _pace_s()

    address.seed(address.PACE, PACES_S[1])
    st.selectbox(
        t("Pace of the walk"),
        PACES_S,
        format_func=lambda pace: f"{pace:g} s",
        key=address.PACE,
        persist_state="session",
        label_visibility="collapsed",
        width=86,
        on_change=changed,
    )


def _pace_s() -> float:
    return float(address.setting(address.PACE, PACES_S[1]))


def move(run: OpenRun, action: Action, seen: int | None, *, rests: Callable[[], bool] | None = None) -> None:
    """Do what a button asks for; the work itself happens in the run's own thread.

    Args:
        run: the open run.
        action: what was pressed.
        seen: how many moments of the run the page had drawn when it was pressed; None: it had drawn no run. A press
            that was meant for what another tab has moved on since is not carried out; those of the same tab all are,
            however quick they come.
    """
    take_lead(run)
    match action:
        case "back":
            look(run, -1)
            return
        case "forward":
            look(run, 1)
            return
        case "now":
            look(run, None)
            return
        case "reset":
            _leave(run)
            return
    address.look_at(None)
    if refused := _start(run, action, seen, rests):
        address.tell(refused)
        return
    if action != "pause":
        run.runner.wait(SETTLE_SCRIPTED_S if action == "step" and not run.setup.live else SETTLE_S)
    tabs().wake_others(run.id)


def _start(run: OpenRun, action: Action, seen: int | None, rests: Callable[[], bool] | None) -> str | None:
    """Give the run's thread its budget; a sentence where the press is not carried out."""
    runner, own = run.runner, tabs().own
    with run.lock:  # a decision of another tab is made whole first
        if action in GOES_ON:
            if own in run.editors:
                return t("You have begun to decide about a call. Decide, or take the choice back, then go on.")
            if run.moved_by not in (None, own) and (seen != (now := moment_count(run)) or not can_be_seen(run.id)):
                told(run.id, now)
                return t("Another tab has moved this run; look at where it stands now.")
            if run.editors - {own}:
                run.editors.clear()  # told once; whoever still writes is noted again when that page is drawn
                return t("In another tab somebody is deciding about a call. Press again to go on all the same.")
        run.moved_by, run.asked, runner.rests = own, action, rests
        hold_setup()
        match action:
            case "step":
                runner.step()
            case "step_over":
                runner.step_over()
            case "next_call":
                runner.next_call()
            case "continue":
                runner.resume()
            case "walk":
                runner.walk(_pace_s())
            case "pause":
                runner.pause()
            case "stop":
                runner.stop()
    return None


def note_editor(run: OpenRun, *, writes: bool) -> None:
    """Note whether this session is writing a decision, so that another tab does not take it away unasked."""
    if (own := tabs().own) is not None:
        (run.editors.add if writes else run.editors.discard)(own)


def go_on(run: OpenRun) -> None:
    """After a person's decision: what was going on when the question came goes on by itself."""
    if run.asked is not None and run.asked != "step":
        _start(run, run.asked, moment_count(run), run.runner.rests)


def _leave(run: OpenRun) -> None:
    """Show this run no more. It is stopped if it moves, and stays open for other tabs that show it."""
    address.close_run()
    if run.runner.busy:
        run.runner.stop()
    if not tabs().wake_others(run.id):
        registry().end(run.id)
