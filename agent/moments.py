"""Moments: every point at which a run stood between two phases, read off its trace. Looking back runs nothing.

The usual way from phase to phase follows from the steps; where a run left it (it was stopped, a request was refused, a
turn that was over went on), a note of the trace says so. Where an imported trace says less, the way is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from agent.events import APPEND, APPROVE, CALL, DECIDE, EXECUTE, PREPARE, Maker, Phase
from agent.noting import DETOUR
from agent.trace import Trace, TraceStep


@dataclass(frozen=True, slots=True)
class Moment:
    """A run between two phases."""

    step: int
    """The step at hand, from 1; before prepare and call the one that they are the beginning of."""
    phase: Phase | None
    """What came next; None: the turn was over."""
    messages: int
    """How many messages the list held."""
    turn: int = 1
    """The user's turn, from 1."""
    number: int = 0
    """Place among all moments of the run, from 0; it stays the same while the run goes on."""


def moments(trace: Trace, now: Phase | None = None) -> list[Moment]:
    """Every moment of a run, from its start up to now, in order. There is always at least one.

    A run that waited for a person stood before approve all that time: that is one moment.

    Args:
        trace: of any run, also of one from elsewhere.
        now: the phase that comes next in a run that goes on; None: it is over.
    """
    return list(_Walk(trace, now))


class _Detour(NamedTuple):
    """Where a run left the usual way, and where it went on."""

    step: int
    phase: Phase | None
    to_step: int
    to: Phase | None
    new_turn: bool


class _Walk:
    """Follows a run from moment to moment."""

    def __init__(self, trace: Trace, now: Phase | None) -> None:
        self._trace, self._now = trace, now
        self._steps = trace.steps
        self._total = len(trace.messages)
        found = (_detour(note) for note in trace.notes)
        self._detours = [detour for detour in found if detour is not None]
        self._detours.reverse()
        self._starts = [at for at in range(self._total) if _begins_turn(trace, at)]
        self._starts.reverse()
        self._begun = 0  # steps whose model call was made
        self._step, self._messages, self._turn = 1, self._total, 0
        self._phase: Phase | None = None

    def __iter__(self) -> Iterator[Moment]:
        if self._starts or self._steps:
            self._messages = 0
            self._begin_turn()
        number = 0
        while True:
            for moment in self._whole_step(number):
                yield moment
                number += 1
            yield self._moment(number)
            number += 1
            if not self._move():
                return

    def _moment(self, number: int) -> Moment:
        said = self._phase is PREPARE and self._is_now()  # what no request tells of yet
        messages = self._total if said else self._messages
        return Moment(self._step, self._phase, messages, max(self._turn, 1), number)

    def _whole_step(self, number: int) -> list[Moment]:
        """The moments before the decide of a step that went its usual way: the quick way through most of a long run."""
        step, turn, given = self._step, self._turn, self._messages
        if self._phase is not PREPARE or self._detours or step >= len(self._steps):
            return []
        record = self._steps[step - 1]
        if record.reply is None or not record.tools:
            return []
        self._begun, self._phase = step, DECIDE
        self._reach(record.reply + 1)
        asked = self._messages
        self._close(record)
        return [
            Moment(step, PREPARE, given, turn, number),
            Moment(step, CALL, given, turn, number + 1),
            Moment(step, APPROVE, asked, turn, number + 2),
            Moment(step, EXECUTE, asked, turn, number + 3),
            Moment(step, APPEND, asked, turn, number + 4),
        ]

    # ---- one move ----

    def _move(self) -> bool:
        """Go to the next moment; False when there is none."""
        detour = self._ahead()
        if detour and detour.phase is self._phase and (detour.phase is None or detour.step == self._step):
            self._leave_usual_way(self._detours.pop())
            return True
        if self._is_now():
            return False
        if self._phase is None:
            self._begin_turn()
            return True
        following = self._usual()
        if following is None and self._now is not None and not self._more_turns() and not self._ends_here():
            return False  # the phase was looked up later than the trace: the run has moved on since
        self._go(following)
        return True

    def _is_now(self) -> bool:
        """Whether the run has not gone on from here, as far as the trace says."""
        if self._phase is None and not self._more_turns():
            return True
        if self._detours or self._phase is not self._now or self._begun < len(self._steps) - 1 or self._more_turns():
            return False
        record = self._record()
        if self._phase in (PREPARE, CALL):
            return record is None or record.reply is None
        return self._begun >= len(self._steps)

    def _usual(self) -> Phase | None:
        """The phase that follows where nothing unusual happens."""
        record = self._record()
        if self._phase is PREPARE:
            return CALL if record or self._now is CALL or self._left_at(self._step, CALL) else None
        if self._phase is CALL:
            if record is None:
                return None
            answered = record.reply is not None and not self._asked_again()
            return APPROVE if answered and record.tools else DECIDE
        if self._phase is DECIDE:
            return PREPARE if self._goes_round() else None
        return _AFTER.get(self._phase)

    def _goes_round(self) -> bool:
        """After decide: whether there is one more step in this turn."""
        if self._ends_here():
            return False
        if self._left_at(self._begun + 1, PREPARE) or self._left_at(self._begun + 1, CALL):
            return True
        if self._begun < len(self._steps):
            start = self._next_start()
            return start is None or start >= self._sent(self._steps[self._begun])
        return self._now in (PREPARE, CALL) and not self._more_turns()

    def _go(self, phase: Phase | None) -> None:
        """The usual way on."""
        record = self._record()
        if self._phase is CALL and record is not None:
            self._begun = self._step
            if record.reply is not None and not self._asked_again():
                self._reach(record.reply + 1)
        elif self._phase is APPEND:
            self._close(record)
        elif phase is PREPARE:
            self._step = self._begun + 1
            if self._nudged():
                self._reach(self._messages + 1)
            self._take_sent()
        elif phase is None:
            self._step = max(self._begun, 1)
        self._phase = phase

    def _leave_usual_way(self, detour: _Detour) -> None:
        if self._phase in (APPROVE, EXECUTE, APPEND) and detour.to is not self._phase:
            self._close(self._record())
        if self._phase is CALL and detour.to is PREPARE and not detour.new_turn:
            self._begun = self._step
        if detour.new_turn:
            self._begin_turn()
        else:
            self._step, self._phase = min(max(detour.to_step, 1), len(self._steps) + 1), detour.to

    def _begin_turn(self) -> None:
        start, record = self._next_start(), self._steps[self._begun] if self._begun < len(self._steps) else None
        if start is not None and (record is None or start < self._sent(record)):
            self._messages = start + 1
        self._step, self._phase = self._begun + 1, PREPARE
        self._turn += 1
        self._take_sent()

    # ---- what the trace says ----

    def _record(self) -> TraceStep | None:
        return self._steps[self._step - 1] if self._step <= len(self._steps) else None

    def _ahead(self) -> _Detour | None:
        return self._detours[-1] if self._detours else None

    def _left_at(self, step: int, phase: Phase) -> bool:
        detour = self._ahead()
        return detour is not None and detour.step == step and detour.phase is phase

    def _ends_here(self) -> bool:
        detour = self._ahead()
        return detour is not None and detour.phase is None and detour.step <= max(self._begun, 1)

    def _asked_again(self) -> bool:
        """The run ended without a reply here, and went on later with a call of the same step."""
        detour = self._ahead()
        return detour is not None and (detour.phase, detour.to, detour.to_step) == (None, PREPARE, self._step)

    def _next_start(self) -> int | None:
        """Position of the message that begins the next turn."""
        while self._starts and self._starts[-1] < self._messages:
            self._starts.pop()
        return self._starts[-1] if self._starts else None

    def _more_turns(self) -> bool:
        return self._next_start() is not None or self._begun < len(self._steps)

    def _sent(self, record: TraceStep) -> int:
        """How many messages the list held when the request of this step was made."""
        if record.request is not None:
            return min(record.request.upto, self._total)
        return self._total if record.reply is None else record.reply

    def _take_sent(self) -> None:
        """An imported trace may hold more before a step than the messages that are known to come there."""
        detour, record = self._ahead(), self._record()
        if record is not None and (detour is None or detour.phase is None or detour.step != self._step):
            self._reach(self._sent(record))

    def _nudged(self) -> bool:
        at = self._messages
        return at < self._total and self._trace.messages[at].role == "user" and not _begins_turn(self._trace, at)

    def _close(self, record: TraceStep | None) -> None:
        """Every call of the step has its result in the list."""
        for run in record.tools if record else ():
            if run.message is not None:
                self._reach(run.message + 1)

    def _reach(self, messages: int) -> None:
        self._messages = min(max(self._messages, messages), self._total)


_AFTER: dict[Phase | None, Phase] = {APPROVE: EXECUTE, EXECUTE: APPEND, APPEND: DECIDE}


def _begins_turn(trace: Trace, at: int) -> bool:
    entry = trace.entries[at]
    return trace.messages[at].role == "user" and entry.step is None and entry.maker != Maker.CODE


def _detour(note: Any) -> _Detour | None:
    """What a note says about the way of the run; None where it says nothing, or nothing that can be used."""
    kind = note.get("kind") if isinstance(note, dict) else None
    if kind not in ("turn", DETOUR) or not isinstance(note.get("step"), int):
        return None
    if kind == "turn":
        return _Detour(note["step"], None, note["step"] + 1, PREPARE, True)
    there = note.get("next")
    if not isinstance(there, dict) or not isinstance(there.get("step"), int):
        return None
    try:
        left, to = (Phase(phase) if phase else None for phase in (note.get("phase"), there.get("phase")))
    except ValueError:
        return None
    return _Detour(note["step"], left, there["step"], to, bool(note.get("new_turn")))
