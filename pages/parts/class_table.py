"""Who is where: one row a seat, drawn anew every few seconds, and what the teacher can do about one of them."""

from __future__ import annotations

import time

import pandas as pd
import streamlit as st

from agent.errors import InputError
from agent.models.metered import Used
from pages.parts import address, address_class, address_follow
from pages.parts.class_rooms import Rooms, rooms, wake
from pages.parts.data import data_folder
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.outcome import reason_words
from pages.parts.phases import phase_words
from pages.parts.polling import of_this_drawing
from pages.parts.projector import scaled
from pages.parts.runs import OpenRun, registry
from pages.parts.tabs import tabs
from pages.parts.view_links import view_id
from pages.parts.words import loop_words, t
from traces.classroom.klass import Klass, Seat
from traces.classroom.presence import Where
from traces.lessons.answers import Answers, Score
from traces.lessons.course import course
from traces.lessons.exercises.catalogue import catalogue

POLL_S = 3.0
"""Seconds between two looks at the class."""
_MOST_ROWS = 40
_NOTHING = "–"
COURSE, SYSTEMS = ":course", ":systems"
"""Where somebody is that reads the list of lessons, or compares the five systems. No lesson can have such a name."""


def class_table(klass: Klass) -> None:
    """Draw the table and, above it, the buttons about the seat that was pressed.

    Args:
        klass: the class.
    """

    @st.fragment(run_every=POLL_S)
    @of_this_drawing
    def watch() -> None:
        here = rooms()
        seats = here.classes.seats(klass.id)
        if not seats:
            st.caption(t("Nobody has joined yet. A student opens the link, or types the code on the Learn page."))
            return
        runs = {run.id: run for run in registry().listed()}
        scores = Answers(data_folder()).scores_of_class(klass.id)
        chosen = next((seat for seat in seats if seat.id == address_class.chosen_seat()), None)
        _about(chosen, here.presence.where(chosen.id) if chosen is not None else None, runs)
        _table(klass, seats, _frame(here, klass, seats, runs, scores))

    watch()


def _table(klass: Klass, seats: list[Seat], frame: pd.DataFrame) -> None:
    """The browser knows rows by their position, so with a row less the table is another one."""
    key = f"class-seats-{klass.id}-{hash(tuple(seat.number for seat in seats)) & 0xFFFFFF:x}"
    column = st.column_config
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        height=scaled(HEADER_PX + ROW_PX * min(_MOST_ROWS, len(seats))),
        row_height=scaled(ROW_PX),
        column_config={
            "number": column.NumberColumn(t("No."), width=scaled(44), format="%d"),
            "name": column.TextColumn(t("Name"), width=scaled(140)),
            "where": column.TextColumn(t("Where"), width=scaled(180)),
            "state": column.TextColumn(t("Run"), width=scaled(300)),
            "score": column.TextColumn(t("Score"), width=scaled(70)),
            "calls": column.TextColumn(t("Calls"), width=scaled(80)) if klass.terms else None,
            "tokens": column.TextColumn(t("Tokens"), width=scaled(140)) if klass.terms else None,
            "seen": column.TextColumn(t("Last seen"), width=scaled(120)),
        },
        on_select=lambda: _choose(key, seats),
        selection_mode="single-cell",
        alt=t("The students of the class, where each is, and how far"),
    )


def _choose(key: str, seats: list[Seat]) -> None:
    cells = address.setting(key).selection.cells
    if cells and cells[0][0] < len(seats):
        address_class.choose_seat(seats[cells[0][0]].id)


def _frame(
    here: Rooms, klass: Klass, seats: list[Seat], runs: dict[str, OpenRun], scores: dict[str, Score]
) -> pd.DataFrame:
    titles = _titles()
    lent, used = here.lendings.of(klass.id), here.classes.used(klass.id)
    rows = []
    for seat in seats:
        where = here.presence.where(seat.id)
        took = lent.meter.used(seat.id) if lent is not None else used.get(seat.id, Used())
        score = scores.get(seat.id, Score())
        rows.append(
            {
                "number": seat.number,
                "name": seat.name,
                "where": _NOTHING if where is None else titles.get(where.what, _NOTHING),
                "state": _NOTHING if where is None else _state(runs.get(where.run)),
                "score": f"{score.right} / {score.answered}" if score.answered else _NOTHING,
                "calls": f"{took.calls} / {klass.terms.calls}" if klass.terms else "",
                "tokens": f"{'≈ ' if took.estimated else ''}{took.tokens:,} / {klass.terms.tokens:,}"
                if klass.terms
                else "",
                "seen": _seen(where),
            }
        )
    return pd.DataFrame(rows)


def _titles() -> dict[str, str]:
    """What a seat may be at, in the language of the page."""
    spoken = address.language()
    titles = {lesson.name: lesson.title.of(spoken) for lesson in course(data_folder()).lessons}
    exercises = {f"exercise:{info.name}": info.title.of(spoken) for info in catalogue()}
    pages = {COURSE: t("The course"), SYSTEMS: t("The five systems side by side"), "": t("Run page")}
    return titles | exercises | pages


def _state(run: OpenRun | None) -> str:
    """Where a run stands: its step and phase, or why it stopped."""
    if run is None:
        return _NOTHING
    phase, reason = run.loop.phase, run.loop.stop_reason
    if phase is None:
        return reason_words(reason)[1] if reason is not None else _NOTHING
    words = t("step {n}: {phase}", n=len(run.loop.trace.steps) or 1, phase=phase_words(phase).word)
    return f"{words} · {t('waiting')}" if run.loop.waiting else words


def _seen(where: Where | None) -> str:
    """How long ago something was done there, and whether a page of it is still open."""
    if where is None:
        return _NOTHING
    ago = time.monotonic() - where.at
    words = t("just now") if ago < 10 else t("{n} s ago", n=int(ago)) if ago < 60 else t("{n} min ago", n=int(ago / 60))
    return words if any(map(tabs().is_here, where.sessions)) else t("{when}, gone", when=words)


def _about(seat: Seat | None, where: Where | None, runs: dict[str, OpenRun]) -> None:
    """What can be done about a seat. The buttons are there before one is chosen, so that nothing moves then."""
    run = runs.get(where.run) if where is not None else None
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="class-about"):
        st.text(t("Press a row:") if seat is None else f"{seat.number} · {seat.name}", width="content")
        st.page_link(
            "pages/follow.py",
            label=t("Look at the run"),
            icon=":material/visibility:",
            query_params=address_follow.view_link(view_id(run.id)) if run is not None else None,
            disabled=run is None,
        )
        st.button(
            t("Reset the run"),
            key="class-reset",
            icon=":material/restart_alt:",
            disabled=run is None,
            on_click=_reset,
            args=(seat, run),
            help=t("The student's page begins again and says why. The old run is kept under Traces."),
        )
        st.button(
            t("End the run"),
            key="class-stop",
            icon=":material/stop:",
            disabled=run is None or run.done or run.asleep,
            on_click=_end_run,
            args=(run,),
        )
        with st.popover(
            t("Take the seat away"), icon=":material/person_remove:", type="tertiary", disabled=seat is None
        ):
            st.caption(t("The student leaves the class and loses what is lent to it. Answers are kept."))
            st.button(t("Take it away"), key="class-remove", type="primary", on_click=_remove, args=(seat,))


def _reset(seat: Seat | None, run: OpenRun | None) -> None:
    if seat is None or run is None:
        return
    if run.runner.busy:
        run.runner.stop()
    rooms().presence.reset(seat.id, run.id)
    if (klass := rooms().classes.get(seat.klass)) is not None:
        wake(klass, seat.id)


def _end_run(run: OpenRun | None) -> None:
    if run is not None and not run.done:
        with run.lock:
            run.asked = "stop"
            run.runner.stop()
        tabs().wake_others(run.id)


def _remove(seat: Seat | None) -> None:
    if seat is None:
        return
    sessions = rooms().presence.sessions([seat.id])
    try:
        rooms().classes.remove(seat.id)
    except InputError as error:
        address.tell(loop_words(str(error)))
        return
    if (lent := rooms().lendings.of(seat.klass)) is not None:
        lent.meter.forbid(seat.id)
    rooms().presence.forget(seat.id)
    address_class.choose_seat(None)
    tabs().wake(sessions)
