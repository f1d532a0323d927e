"""What the player shows of a moment: the same picture, status, table and tabs as the Run page. Nothing is called."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from pages.parts import address_replay, selection
from pages.parts.continuing import continue_panel
from pages.parts.diagram import loop_diagram
from pages.parts.faults import noticed_panel
from pages.parts.history import View
from pages.parts.message_table import message_table
from pages.parts.message_view import message_view
from pages.parts.notes import notes_list
from pages.parts.player import Reel, Standing, standing
from pages.parts.player_bar import pace_fields, player_bar
from pages.parts.request_view import request_view
from pages.parts.status import code_or_outcome, next_lines, status_box
from pages.parts.tools_view import tools_view
from pages.parts.words import t
from traces.reading import Reading

POLL_S = 0.25
"""Seconds between two looks at a replay that plays; more where a look takes the server long, so that it can rest."""


def player(reel: Reel) -> None:
    """Draw the player, from one look at where it stands."""
    stands = standing(reel)
    if not stands.playing:
        address_replay.rest(stands.place)
    view = reel.view(stands.place)
    player_bar(reel, stands)
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        _clock(reel, stands)
    with right.container(horizontal=True, horizontal_alignment="right", gap="small"):
        pace_fields()
    box = status_box()
    with box.loop:
        loop_diagram(view.state, view.phase)
    with box.lines:
        next_lines(view, more=view.past)
    with box.code:
        code_or_outcome(view)
    key = reel.trace.trace_id
    selected = message_table(view.trace, key=f"replay-{key}", live=view.past, added=view.added)
    _tabs(reel, view, selected)


def _clock(reel: Reel, drawn: Standing) -> None:
    """Draw where the replay stands in time, and look again while it plays; the page follows when it has gone on.

    The server waits for nothing: the browser asks from time to time, and the time tells where the replay stands.
    """
    every_s = max(POLL_S, 2 * reel.look_s) if drawn.playing else None
    first = True  # the first time is part of the drawing of the page

    @st.fragment(run_every=every_s, key="player-clock")
    def watch() -> None:
        nonlocal first
        now = drawn if first else standing(reel)
        first = False
        if (now.place, now.playing) != (drawn.place, drawn.playing):
            st.rerun()
        st.markdown(_clock_words(reel, now))

    watch()


def _clock_words(reel: Reel, stands: Standing) -> str:
    """Markdown: the moment, the time on screen, and the time on the clock of the recording."""
    icon = ":material/play_arrow:" if stands.playing else ":material/pause:"
    place = t("moment {n} of {count}", n=stands.place + 1, count=len(reel.moments))
    parts = [f"{icon} :blue-badge[{place}]", f"{_minutes(stands.shown_s)} / {_minutes(stands.whole_s)}"]
    then, begun = reel.clock[stands.place], next((at for at in reel.clock if at is not None), None)
    if then is None or begun is None:
        parts.append(t("the recording gives no time"))
    else:
        clock = datetime.fromtimestamp(then, UTC).strftime("%Y-%m-%d %H:%M:%S")
        parts.append(t("recorded {clock} UTC, after {time}", clock=clock, time=_minutes(then - begun)))
    return " · ".join(parts)


def _minutes(seconds: float) -> str:
    whole = int(seconds)
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole // 60 % 60:0{2 if hours else 1}}:{whole % 60:02}"


def _tabs(reel: Reel, view: View, selected: int | None) -> None:
    """Below the table: one message, the request, the tools, what else happened, and the ways on. Only one is drawn."""
    trace, key = view.trace, reel.trace.trace_id
    names = [t("Message"), t("Request"), t("Tools"), t("Notes and faults"), t("Continue from here")]
    message, request, tools, notes, onward = st.tabs(names, key=f"replay-tabs-{key}", on_change="rerun")
    if message.open and trace.messages:
        with message:
            last = len(trace.messages) - 1
            choose = partial(selection.choose, f"replay-{key}")
            shown = last if selected is None or selected > last else selected
            message_view(Reading(trace), shown, key="message", choose=choose)
    if request.open:
        with request:
            request_view(None, trace, None, key=f"replay-request-{key}")
    if tools.open:
        with tools:
            tools_view(trace, key=f"replay-tools-{key}")
    if notes.open:
        with notes:
            noticed_panel(trace)
            notes_list(trace)
    if onward.open:
        with onward:
            continue_panel(reel, view)
