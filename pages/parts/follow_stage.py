"""What all who follow a run see of it, worked out once for all of them: its moments, and each one that is looked at."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from agent.errors import AgentError
from agent.moments import Moment, moments
from agent.rewind import rewind
from agent.shown import shown
from agent.trace import Trace
from pages.parts.history import View
from pages.parts.runs import OpenRun
from pages.parts.transport import Drawn
from pages.parts.view_links import view_id
from traces.reading import Reading

_KEPT = 8
"""Earlier moments that are kept: a class looks around in the same few."""


class Seen(NamedTuple):
    """A moment as those see it who follow."""

    view: View
    reading: Reading


class Stage:
    """An open run for those who only look. Sessions that follow it share it.

    The run's id is the secret of those who may move it, so it is taken out of all that is shown, like the key in use.

    Args:
        run: the open run.
    """

    def __init__(self, run: OpenRun) -> None:
        self.run = run
        self.id = view_id(run.id)
        self._known: tuple[Any, ...] | None = None
        self._trace = run.loop.trace
        self._moments: list[Moment] = []
        self._now: Seen | None = None
        self._past: OrderedDict[Moment, Seen] = OrderedDict()
        self._lock = threading.Lock()

    def look(self, at: int | None) -> Seen:
        """What there is to see.

        Args:
            at: the moment, from 0; None, or one that has not come yet: how the run stands.
        """
        with self._lock:
            now = self._newest()
            last = len(self._moments) - 1
            if at is None or at >= last:
                return now
            return self._earlier(at) or now

    def _newest(self) -> Seen:
        """How the run stands; worked out anew when something of it has changed."""
        run = self.run
        with run.lock:  # no move begins meanwhile
            key = _key(run)
            if self._now is not None and key == self._known:
                return self._now
            self._trace = self._clean(run.held())
            self._moments = moments(self._trace, run.loop.phase)
            state, pending = run.loop.run.state, tuple(run.loop.run.pending)
        self._known = key
        last = len(self._moments) - 1
        self._now = _seen(self._view(last, self._trace, state=state, pending=pending))
        return self._now

    def _earlier(self, at: int) -> Seen | None:
        """An earlier moment; None while the run moves so that it cannot be made out."""
        moment = self._moments[at]
        if (kept := self._past.get(moment)) is None:
            try:
                then = rewind(self._trace, moment)
            except AgentError:
                return None
            kept = _seen(self._view(at, then.trace, state=then.state, pending=tuple(then.pending)))
            self._past[moment] = kept
            while len(self._past) > _KEPT:
                self._past.popitem(last=False)
        self._past.move_to_end(moment)
        return Seen(replace(kept.view, count=len(self._moments)), kept.reading)

    def _view(self, at: int, trace: Trace, **more: Any) -> View:
        moment, earlier = self._moments[at], self._moments[at - 1] if at else None
        return View(
            trace=trace,
            moment=moment,
            number=at + 1,
            count=len(self._moments),
            before=earlier.messages if earlier else moment.messages,
            led_here=earlier.phase if earlier else None,
            **more,
        )

    def _clean(self, trace: Trace) -> Trace:
        return replace(shown(trace, self.run.unsaid), trace_id=self.id)


def stage_of(run: OpenRun) -> Stage:
    """The run for those who only look, kept for all of them."""
    return _stage(id(run), run)


@st.cache_resource(max_entries=16, show_spinner=False)
def _stage(key: int, _run: OpenRun) -> Stage:
    """Kept together with its run, so that no other object can get the identity that is the key."""
    return Stage(_run)


def _seen(view: View) -> Seen:
    return Seen(view, Reading(view.trace))


def _key(run: OpenRun) -> tuple[Any, ...]:
    """Whatever of the run the page shows; another one means that it has to be worked out anew."""
    loop = run.loop
    pending = tuple((call.begun, call.decision, call.result is None) for call in loop.run.pending)
    trace = loop.trace
    return (Drawn.of(run), loop.phase, loop.stop_reason, len(trace.notes), len(trace.interventions), pending)
