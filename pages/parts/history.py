"""Where the page looks: at the run as it stands, or back at an earlier moment of it. Looking never runs anything."""

from __future__ import annotations

from dataclasses import dataclass

from agent.events import AgentState, Phase
from agent.moments import Moment, moments
from agent.rewind import rewind
from agent.state import PendingCall
from agent.trace import Trace
from pages.parts import address
from pages.parts.runs import OpenRun


@dataclass(frozen=True, slots=True)
class View:
    """What the page shows of a run."""

    trace: Trace
    """As it was at this moment, without secrets."""
    moment: Moment
    number: int
    """Place of the moment among all of them, from 1."""
    count: int
    """Moments of the run up to now."""
    before: int
    """Messages before the phase that led here."""
    led_here: Phase | None
    """That phase; None at the very start."""
    state: AgentState
    pending: tuple[PendingCall, ...]
    """The calls of the reply at hand."""

    @property
    def past(self) -> bool:
        """True when this is an earlier moment than where the run stands."""
        return self.number < self.count

    @property
    def phase(self) -> Phase | None:
        """What comes next from here; None when the turn is over."""
        return self.moment.phase

    @property
    def added(self) -> range:
        """Positions of the messages that the phase before added."""
        return range(self.before, self.moment.messages)


def view_of(run: OpenRun) -> View:
    """What the URL asks for: a moment of this run, or where it stands now.

    While the run moves, as another tab may have told it to, that is all there is to see.
    """
    with run.lock:  # no move begins meanwhile
        trace = run.trace()
        found = moments(trace, run.loop.phase)
        index = len(found) - 1 if run.runner.busy else _index(found)
        moment, earlier = found[index], found[index - 1] if index else None
        here = run.loop.run if index == len(found) - 1 else rewind(trace, moment)
    return View(
        trace=trace if here is run.loop.run else here.trace,
        moment=moment,
        number=index + 1,
        count=len(found),
        before=earlier.messages if earlier else moment.messages,
        led_here=earlier.phase if earlier else None,
        state=here.state,
        pending=tuple(here.pending),
    )


def moment_count(run: OpenRun) -> int:
    """How many moments the run has come by."""
    return len(moments(run.loop.trace, run.loop.phase))


def look(run: OpenRun, steps: int | None) -> None:
    """Look so many moments further (negative: back), or at now for None."""
    found = moments(run.trace(), run.loop.phase)
    index = len(found) - 1 if steps is None else min(max(_index(found) + steps, 0), len(found) - 1)
    address.look_at(None if index == len(found) - 1 else index)


def _index(found: list[Moment]) -> int:
    """Place of the moment that the URL names; the last one where it names none, or one that is not there."""
    last, at = len(found) - 1, address.looked_at()
    return last if at is None else min(at, last)
