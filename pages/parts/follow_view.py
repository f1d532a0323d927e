"""A run as those see it who follow: the picture, status, table and tabs of the Run page, and nothing that moves it.

At first one looks where the one looks who moves the run. Whatever is pressed here is a look of one's own, and one
button leads back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from pages.parts import address_follow, selection
from pages.parts.charts import step_charts
from pages.parts.faults import noticed_panel
from pages.parts.follow_stage import Seen, Stage, stage_of
from pages.parts.keys import Control, controls
from pages.parts.message_table import message_table
from pages.parts.message_view import message_view
from pages.parts.notes import notes_list
from pages.parts.request_view import request_view
from pages.parts.runs import OpenRun
from pages.parts.status import live, status_box
from pages.parts.tools_view import tools_view
from pages.parts.transport import Drawn
from pages.parts.words import t

POLL_S = 0.8
"""Seconds between two looks at a run that moves: forty may look at once."""


@dataclass(frozen=True, slots=True)
class _Look:
    """Where this page looks, from one look at the address and at who leads."""

    seen: Seen
    alone: bool
    message: int | None
    """Position of the message that is selected; None: the newest is shown."""


def follow_view(run: OpenRun) -> None:
    """Draw the run, from one look at it."""
    stage, drawn = stage_of(run), Drawn.of(run)
    look = _look(stage)
    view, key = look.seen.view, f"follow-{stage.id}"
    _bar(stage, look)
    box = status_box()
    live(run, drawn, view, box, None, every_s=POLL_S)
    goes_on = view.phase is not None
    choose = partial(_choose, stage, view.number - 1 if view.past else None)
    selection.choose(key, look.message)
    message_table(view.trace, key=key, live=goes_on, added=view.added, choose=choose)
    _tabs(run, look, key, partial(choose, key), live=goes_on)


def _look(stage: Stage) -> _Look:
    alone, lead = address_follow.alone(), stage.run.lead
    if alone:
        return _Look(stage.look(address_follow.at()), True, selection.chosen(_own(stage)))
    return _Look(stage.look(lead.at), False, lead.message)


def _bar(stage: Stage, look: _Look) -> None:
    """The buttons of looking, and where the page looks."""
    known, view = controls(), look.seen.view
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="follow-looks"):
        _button(known["back"], "back", partial(_go, stage, -1), enabled=view.number > 1)
        _button(known["forward"], "forward", partial(_go, stage, 1), enabled=view.past)
        _button(known["now"], "now", partial(_go, stage, None), enabled=view.past)
        rejoin = Control(
            t("With the teacher"), "T", ":material/co_present:", t("Look again where the one looks who moves the run")
        )
        _button(rejoin, "rejoin", address_follow.rejoin, enabled=look.alone, primary=True)
        place = t("moment {n} of {count}", n=view.number, count=view.count)
        if look.alone:
            st.markdown(f":orange-badge[:material/explore: {t('on my own: {place}', place=place)}]", width="content")
        else:
            where = t("with the teacher: {place}", place=place)
            st.markdown(f":blue-badge[:material/co_present: {where}]", width="content")


def _button(control: Control, name: str, press: Callable[[], None], *, enabled: bool, primary: bool = False) -> None:
    st.button(
        control.label,
        key=f"follow-{name}",
        icon=control.icon,
        shortcut=control.key,
        help=control.help,
        type="primary" if primary and enabled else "tertiary",
        disabled=not enabled,
        on_click=press,
    )


def _tabs(run: OpenRun, look: _Look, key: str, choose: partial[None], *, live: bool) -> None:
    """Below the table: one message, the request, the charts, the tools, what else happened. Only one is drawn."""
    view, reading = look.seen
    trace = view.trace
    names = [t("Message"), t("Request"), t("Charts"), t("Tools"), t("Notes and faults")]
    message, request, charts, tools, notes = st.tabs(names, key=f"tabs-{key}", on_change="rerun")
    if message.open and trace.messages:
        with message:
            last = len(trace.messages) - 1
            shown = last if look.message is None or look.message > last else look.message
            message_view(reading, shown, key="message", choose=choose)
    if request.open:
        with request:
            request_view(run, trace, None, key=f"request-{key}")
    if charts.open:
        with charts:
            step_charts(reading, key=key, choose=choose, selected=look.message, live=live)
    if tools.open:
        with tools:
            tools_view(trace, key=f"tools-{key}")
    if notes.open:
        with notes:
            noticed_panel(trace)
            notes_list(trace)


# ---- what a press does. Where the page looks is asked anew: the run may have gone on since it was drawn ----


def _own(stage: Stage) -> str:
    """Names what this session has selected by itself."""
    return f"follow-own-{stage.id}"


def _go(stage: Stage, steps: int | None) -> None:
    """Look so many moments further (negative: back), or at now for None, on one's own."""
    look = _look(stage)
    selection.choose(_own(stage), look.message)
    view = look.seen.view
    at = view.count - 1 if steps is None else max(0, min(view.number - 1 + steps, view.count - 1))
    address_follow.look_alone(None if at == view.count - 1 else at)


def _choose(stage: Stage, at: int | None, table: str, position: int | None) -> None:
    """Look at a message of the moment that is drawn, on one's own."""
    selection.choose(_own(stage), position)
    address_follow.look_alone(at)
