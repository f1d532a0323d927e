"""Pacing: how long a replay of a trace stays at each of its moments, and what the clock said then. Nothing runs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from agent.events import Phase
from agent.moments import Moment
from agent.trace import ToolRun, Trace, TraceStep
from traces.times import timestamp

BEAT_S = 0.4
"""Seconds for a phase whose time was not recorded, or is too short to be seen."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a replay goes."""

    fixed_s: float | None = 1.0
    """Seconds for every phase; None: as recorded."""
    times: float = 1.0
    """How many times faster than recorded."""
    longest_s: float | None = None
    """Where a recorded wait is cut, in seconds on screen; None: nowhere."""


def waits(trace: Trace, moments: Sequence[Moment], pace: Pace) -> list[float]:
    """Seconds that the replay stays at each moment before it goes on to the next; 0 at the last.

    As recorded, a model call takes as long as the model did and an execute as long as its tools; every other phase,
    and a time that is not known, is a short beat.

    Args:
        trace: the trace.
        moments: all of its moments, see :func:`agent.moments.moments`.
        pace: how fast.
    """
    if pace.fixed_s is not None:
        return [pace.fixed_s] * (len(moments) - 1) + [0.0]
    shown = [recorded_s(trace, here, after) / pace.times for here, after in pairwise(moments)]
    if pace.longest_s is not None:
        shown = [min(seconds, pace.longest_s) for seconds in shown]
    return [*shown, 0.0]


def starts(waits: Sequence[float]) -> list[float]:
    """Seconds from the beginning at which each moment is reached."""
    return list(accumulate(waits[:-1], initial=0.0))


def place_at(starts: Sequence[float], begun_at: int, elapsed_s: float) -> int:
    """The moment at which a replay stands.

    Args:
        starts: as :func:`starts` gives them.
        begun_at: place of the moment at which it began to play, from 0.
        elapsed_s: seconds since then.
    """
    return max(begun_at, bisect_right(starts, starts[begun_at] + max(elapsed_s, 0.0) + _ROUNDING_S) - 1)


_ROUNDING_S = 1e-6
"""Sums of seconds are not exact; without this a moment would come one look too late."""


def recorded_s(trace: Trace, here: Moment, after: Moment) -> float:
    """Seconds that the phase between two moments took, as far as the trace says."""
    record = _record(trace, here)
    if record is None:
        return BEAT_S
    if here.phase is Phase.CALL and after.phase is not Phase.PREPARE:
        return max(_call_s(trace, record), BEAT_S)
    if here.phase is Phase.EXECUTE:
        return max(_tools_s(record.tools), BEAT_S)
    return BEAT_S


def clock(trace: Trace, moments: Sequence[Moment]) -> list[float | None]:
    """What the clock of the recording said at each moment, in Unix seconds; None before the first time that is known.

    It never goes back, also where the times of a file do.
    """
    latest: float | None = None
    read: list[float | None] = []
    for moment in moments:
        for at in _times(trace, moment):
            latest = at if latest is None else max(latest, at)
        read.append(latest)
    return read


def _times(trace: Trace, moment: Moment) -> Iterator[float]:
    """When what led to a moment was over, as far as it is known."""
    if moment.messages:
        yield from _known(trace.entries[moment.messages - 1].at)
    record = _record(trace, moment)
    if record is None:
        return
    if moment.phase is Phase.CALL:
        yield from _known(record.started)
    elif moment.phase in (Phase.APPROVE, Phase.EXECUTE):
        yield from _known(record.started, record.latency_ms or 0.0)
    elif moment.phase is Phase.APPEND:
        for run in record.tools:
            yield from _known(run.started, run.latency_ms or 0.0)


def _known(text: str | None, later_ms: float = 0.0) -> Iterator[float]:
    at = timestamp(text)
    if at is not None:
        yield at + later_ms / 1000


def _record(trace: Trace, moment: Moment) -> TraceStep | None:
    return trace.steps[moment.step - 1] if moment.step <= len(trace.steps) else None


def _call_s(trace: Trace, record: TraceStep) -> float:
    """Seconds of a model call: as it was measured, else from when it was asked to when its reply came."""
    if record.latency_ms is not None:
        return record.latency_ms / 1000
    begun = timestamp(record.started)
    ended = None if record.reply is None else timestamp(trace.entries[record.reply].at)
    return 0.0 if begun is None or ended is None else max(ended - begun, 0.0)


def _tools_s(runs: Sequence[ToolRun]) -> float:
    """Seconds until all tools were done. Where some do not say when they began, as if they came one by one."""
    timed = [(timestamp(run.started), run.latency_ms / 1000) for run in runs if run.latency_ms is not None]
    begun = [at for at, _ in timed if at is not None]
    if not timed or len(begun) < len(timed):
        return sum(seconds for _, seconds in timed)
    return max(at + seconds for at, (_, seconds) in zip(begun, timed, strict=True)) - min(begun)
