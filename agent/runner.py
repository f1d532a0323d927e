"""Runner: the one worker thread that may advance a run. A page only tells it what to do and looks at what there is.

Nothing here waits: every method returns at once, and the thread ends when it has nothing to do.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from agent.events import AgentEvent, Phase
from agent.loop import Loop
from agent.speed import CallProgress


class Runner:
    """Owns a loop and the only thread that may advance it, so that phases never overlap.

    Args:
        loop: the run. Its events are still told to the ``on_event`` that it came with.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.error: BaseException | None = None
        """What ended the thread unasked: a defect of a tool or of this program, kept for the page."""
        self.version = 0
        """Grows with every event and phase: when it stands still, there is nothing new to draw."""
        self.call: CallProgress | None = None
        """The model call in flight, as far as it came; None outside of one."""
        self._budget = 0.0
        self._until: Callable[[], bool] | None = None
        self._busy = False
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._told = loop.on_event
        loop.on_event = self._on_event

    @property
    def busy(self) -> bool:
        """Whether the thread is at work. Take one copy of it for a whole drawing of the page."""
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

    def resume(self, phases: float = math.inf) -> None:
        """Perform this many phases, or go on to the end. While the thread is at work, this is its new budget."""
        self._go(phases, None)

    def step(self) -> None:
        """Perform one phase; while the thread is at work, one more than asked for, so that no quick press is lost."""
        self._go(1, None, add=True)

    def step_over(self) -> None:
        """Go on to the end of the step at hand: until the next phase is prepare, or the run is done.

        Does nothing while the thread is at work.
        """
        self._go(math.inf, lambda: self.loop.phase in (Phase.PREPARE, None), only_idle=True)

    def pause(self) -> None:
        """Let the phase in flight finish and begin no other. Does nothing while the thread rests."""
        with self._lock:
            self._budget = 0
            self.version += 1

    def stop(self) -> None:
        """End the run, also in the middle of a model call or tool; the outcome is ``stopped_by_user``."""
        self.loop.stop()
        self._go(math.inf, None)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the thread rests; False when it still works after ``timeout_s`` seconds."""
        return self._idle.wait(timeout_s)

    def _go(
        self, phases: float, until: Callable[[], bool] | None, *, only_idle: bool = False, add: bool = False
    ) -> None:
        with self._lock:
            if self._busy and add:
                self._budget += phases
            if self._busy and (add or only_idle):
                return
            self._budget, self._until, self.error = phases, until, None
            if not self._busy and self.loop.phase is not None:
                self._busy = True
                self._idle.clear()
                threading.Thread(target=self._work, name="agent-run", daemon=True).start()

    def _work(self) -> None:
        while self._take():
            self.call = CallProgress() if self.loop.phase is Phase.CALL else None
            try:
                self.loop.advance()
            except BaseException as error:
                with self._lock:
                    self.error, self._budget = error, 0
            self.call = None
            self.version += 1
            if self._until is not None and self._until():
                self._budget = 0

    def _take(self) -> bool:
        with self._lock:
            may_go = self.loop.phase is not None and (not self.loop.waiting or self.loop.stopping)
            self._busy = self._budget > 0 and may_go
            self._budget -= 1
            if not self._busy:
                self._budget = 0
                self.version += 1
                self._idle.set()
            return self._busy

    def _on_event(self, event: AgentEvent) -> None:
        summary = event.type == "model.delta" and self.loop.phase is Phase.PREPARE  # for the context budget
        if summary and self.call is None:
            self.call = CallProgress()
        if self.call is not None:
            self.call.hear(event)
        self.version += 1
        if self._told:
            self._told(event)
