"""Runner: the one worker thread that may advance a run. A page only tells it what to do and looks at what there is.

Nothing here waits: every method returns at once, and the thread ends when it has nothing to do.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable

from agent import clock
from agent.breakpoints import (
    HIT_KEPT_AS,
    KEPT_AS,
    Breakpoint,
    Hit,
    Place,
    first_hit,
    kept_hit,
    read_breakpoints,
    read_hit,
)
from agent.errors import InputError
from agent.events import AgentEvent, Phase
from agent.loop import Loop
from agent.speed import CallProgress

SLOWEST_S = 60.0
"""Seconds that a walk may take for one phase."""


class Runner:
    """Owns a loop and the only thread that may advance it, so that phases never overlap.

    After every phase, whatever the move was, the breakpoints are asked; one that fires ends the move.

    Args:
        loop: the run. Its events are still told to the ``on_event`` that it came with.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.error: BaseException | None = None
        """What ended the thread unasked: a defect of a tool or of this program, kept for the page."""
        self.hit: Hit | None = read_hit(loop.trace.extra.get(HIT_KEPT_AS), loop.run)
        """The breakpoint that the run came to, and what was seen; until the next move, also after a restart."""
        self.version = 0
        """Grows with every event and phase: when it stands still, there is nothing new to draw."""
        self.call: CallProgress | None = None
        """The model call in flight, as far as it came; None outside of one."""
        self.rests: Callable[[], bool] | None = None
        """Asked before each phase: as long as it says true the run stands still, whatever the move is; only a stop goes
        on. It must be quick. For whoever moves the run just now, so it is not kept with it."""
        self._breakpoints = read_breakpoints(loop.trace.extra.get(KEPT_AS))
        self._budget = 0.0
        self._until: Callable[[], bool] | None = None
        self._walking = False
        self._pace_s = 1.0
        self._hurried = 0
        self._busy = False
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._told = loop.on_event
        loop.on_event = self._on_event

    @property
    def busy(self) -> bool:
        """Whether the thread is at work, or waits in a walk. Take one copy of it for a whole drawing of the page."""
        return self._busy

    @property
    def pausing(self) -> bool:
        """A pause was asked for and the phase in flight has not ended yet."""
        return self._busy and self._budget <= 0

    @property
    def partial(self) -> str:
        """The text of the reply that is streaming in; empty outside of a model call."""
        call = self.call
        return call.text if call is not None else ""

    @property
    def walking(self) -> bool:
        """Whether the run goes on by itself, slowly."""
        return self._busy and self._walking

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """Where the run stands still. Kept with the run; a new list holds at once, also for a run that moves."""
        return self._breakpoints

    @breakpoints.setter
    def breakpoints(self, breakpoints: Iterable[Breakpoint]) -> None:
        with self._lock:
            self._breakpoints = tuple(breakpoints)
            self.loop.remember(KEPT_AS, [each.to_dict() for each in self._breakpoints])
            self.version += 1

    @property
    def pace_s(self) -> float:
        """Seconds from the end of one phase to the beginning of the next in a walk. A new pace holds at once.

        Raises:
            InputError: it is set to something else than a number of seconds from 0 to 60.
        """
        return self._pace_s

    @pace_s.setter
    def pace_s(self, seconds: float) -> None:
        number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
        if not (number and 0 <= seconds <= SLOWEST_S):
            raise InputError(f"the pace must be a number of seconds from 0 to {SLOWEST_S:g}, not {seconds!r}")
        self._pace_s = float(seconds)
        self._changed.set()

    def resume(self, phases: float = math.inf) -> None:
        """Perform this many phases, or go on to the end. While the thread is at work, this is its new budget."""
        self._go(phases)

    def step(self) -> None:
        """Perform one phase; while the thread is at work, one more than asked for, so that no quick press is lost.

        In a walk the next phase comes at once.
        """
        self._go(1, add=True)

    def step_over(self) -> None:
        """Go on to the end of the step at hand: until the next phase is prepare, or the run is done.

        Does nothing while the thread is at work.
        """
        self._go(until=lambda: self.loop.phase in (Phase.PREPARE, None))

    def next_call(self) -> None:
        """Go on until the run stands before a model call, the next one when it stands before one, or is done.

        Does nothing while the thread is at work.
        """
        self._go(until=lambda: self.loop.phase is Phase.CALL)

    def walk(self, pace_s: float) -> None:
        """Go on by itself, slowly: one phase at once, and each further one ``pace_s`` seconds after the one before.

        Raises:
            InputError: no such pace, see :attr:`pace_s`.
        """
        self.pace_s = pace_s
        self._go(walk=True)

    def pause(self) -> None:
        """Let the phase in flight finish and begin no other. Does nothing while the thread rests."""
        with self._lock:
            self._budget = 0
            self.version += 1
        self._changed.set()

    def stop(self) -> None:
        """End the run, also in the middle of a model call or tool; the outcome is ``stopped_by_user``."""
        self.loop.stop()
        self._go()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the thread rests; False when it still works after ``timeout_s`` seconds."""
        return self._idle.wait(timeout_s)

    def _go(
        self,
        phases: float = math.inf,
        *,
        until: Callable[[], bool] | None = None,
        add: bool = False,
        walk: bool = False,
    ) -> None:
        """Give the thread a new move; with ``until`` only while it rests, with ``add`` on top of the one at hand."""
        with self._lock:
            if self._busy and until is not None:
                return
            self.hit = None
            if self._busy and add:
                self._budget += phases
                self._hurried += 1
            else:
                self._budget, self._until, self._walking, self._hurried, self.error = phases, until, walk, 0, None
                if not self._busy and (self.loop.phase is not None or self.loop.more):
                    self._busy = True
                    self._idle.clear()
                    threading.Thread(target=self._work, name="agent-run", daemon=True).start()
        self._changed.set()

    def _work(self) -> None:
        while self._take():
            before = Place.of(self.loop.run)
            hit, defect = None, None
            self.call = CallProgress() if self.loop.phase is Phase.CALL else None
            try:
                self.loop.advance()
                hit = None if self.loop.stopping else first_hit(self._breakpoints, self.loop, before)
                if hit:
                    self.loop.remember(HIT_KEPT_AS, kept_hit(hit, self.loop.run))
            except BaseException as error:
                defect = error
            with self._lock:
                self.error, self.hit, self.call = defect, hit, None
                if hit or defect or (self._until is not None and self._until()):
                    self._budget = 0
                self.version += 1
            self._rest(clock.monotonic())

    def _take(self) -> bool:
        with self._lock:
            self._busy = self._may_go()
            self._budget -= 1
            if not self._busy:
                self._budget = 0
                self.version += 1
                self._idle.set()
            return self._busy

    def _may_go(self) -> bool:
        loop = self.loop
        going = loop.phase is not None or loop.more
        return self._budget > 0 and going and (loop.stopping or not (loop.waiting or self._held()))

    def _held(self) -> bool:
        return self.rests is not None and self.rests()

    def _rest(self, since: float) -> None:
        """In a walk: wait for the time of the next phase, or until something else is asked for."""
        while True:
            self._changed.clear()  # before looking: what changes from here on ends the waiting
            with self._lock:
                if not (self._walking and self._may_go()):
                    return
                if self._hurried:
                    self._hurried -= 1
                    return
                left = since + self._pace_s - clock.monotonic()
            if left <= 0:
                return
            self._changed.wait(left)

    def _on_event(self, event: AgentEvent) -> None:
        summary = event.type == "model.delta" and self.loop.phase is Phase.PREPARE  # for the context budget
        if summary and self.call is None:
            self.call = CallProgress()
        if self.call is not None:
            self.call.hear(event)
        self.version += 1
        if self._told:
            self._told(event)
