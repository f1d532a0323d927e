"""The player: a trace with all of its moments, at which of them it stands, and what the page shows of that one."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import streamlit as st

from agent.events import Phase
from agent.moments import moments
from agent.rewind import rewind
from agent.trace import Trace
from pages.parts import address_replay
from pages.parts.history import View
from traces.opening import paused_gc
from traces.pacing import Pace, clock, place_at, starts, waits

Press = Literal["start", "back", "play", "pause", "step", "step_over", "next_call", "end"]
"""What can be pressed."""

_KEPT = 8
"""Views of one trace that are kept: pressing to and fro, and the tabs that show the same, cost nothing."""


class Reel:
    """A trace that nobody changes any more, moment by moment. Sessions that show it share it.

    Args:
        trace: the trace.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.moments = moments(trace)
        self.look_s = 0.0
        """Seconds that the last look at a moment took the server: it grows with the trace."""
        self._views: OrderedDict[int, View] = OrderedDict()
        self._starts: dict[Pace, list[float]] = {}
        self._lock = threading.Lock()

    @property
    def last(self) -> int:
        """Place of the last moment, from 0."""
        return len(self.moments) - 1

    @cached_property
    def clock(self) -> list[float | None]:
        """What the clock of the recording said at each moment."""
        return clock(self.trace, self.moments)

    def starts(self, pace: Pace) -> list[float]:
        """When each moment comes, in seconds from the beginning."""
        if pace not in self._starts:
            self._starts[pace] = starts(waits(self.trace, self.moments, pace))
        return self._starts[pace]

    def view(self, place: int) -> View:
        """What the page shows of the moment at this place.

        Raises:
            InputError: the trace keeps settings that make no sense.
        """
        with self._lock:
            if place not in self._views:
                self._views[place] = self._look(place)
            self._views.move_to_end(place)
            while len(self._views) > _KEPT:
                self._views.popitem(last=False)
            return self._views[place]

    def _look(self, place: int) -> View:
        moment, earlier = self.moments[place], self.moments[place - 1] if place else None
        begun = time.perf_counter()
        with paused_gc():
            then = rewind(self.trace, moment)
        self.look_s = time.perf_counter() - begun
        return View(
            trace=then.trace,
            moment=moment,
            number=place + 1,
            count=len(self.moments),
            before=earlier.messages if earlier else moment.messages,
            led_here=earlier.phase if earlier else None,
            state=then.state,
            pending=tuple(then.pending),
        )

    def after(self, place: int, press: Press) -> int:
        """Where a press leads from a place."""
        ahead = range(place + 1, len(self.moments))
        match press:
            case "step":
                return min(place + 1, self.last)
            case "back":
                return max(place - 1, 0)
            case "step_over":  # until decide is done: the first moment that is the beginning of something
                return next((at for at in ahead if self._begins(at)), self.last)
            case "next_call":
                return next((at for at in ahead if self.moments[at].phase is Phase.CALL), self.last)
            case "start":
                return 0
            case "end":
                return self.last
        return place

    def _begins(self, place: int) -> bool:
        return self.moments[place].phase in (Phase.PREPARE, None)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the player stands, from one look at the address and the time."""

    place: int
    """Of the moment, from 0."""
    playing: bool
    shown_s: float
    """Seconds on screen from the beginning of the replay to now."""
    whole_s: float
    """Seconds on screen that the whole replay takes."""


def standing(reel: Reel) -> Standing:
    """Where the player stands now. It is asked once for each drawing, so that nothing on the page disagrees."""
    reached = reel.starts(address_replay.pace())
    begun_at, whole_s = address_replay.at(len(reached)), reached[-1]
    since = address_replay.since(whole_s - reached[begun_at])
    if since is None:
        return Standing(begun_at, False, reached[begun_at], whole_s)
    elapsed = max(time.time() - since, 0.0)
    place = place_at(reached, begun_at, elapsed)
    return Standing(place, place < reel.last, min(reached[begun_at] + elapsed, whole_s), whole_s)


def reel_of(trace: Trace) -> Reel:
    """The trace, moment by moment, worked out once."""
    return _reel((id(trace), len(trace.messages)), trace)


@st.cache_resource(max_entries=8, show_spinner=False)
def _reel(key: tuple[int, int], _trace: Trace) -> Reel:
    """Kept together with its trace, so that no other object can get the identity that the key is made of."""
    return Reel(_trace)
