"""How long a replay stays at each moment, where it stands after a time, and what the clock said."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import Message, ToolCall, Trace
from agent.moments import moments
from agent.trace import ToolRun, TraceStep
from traces.pacing import BEAT_S, Pace, clock, place_at, starts, waits

BEGIN = datetime(2026, 1, 1, 12, tzinfo=UTC)
RECORDED = Pace(fixed_s=None)


def at(seconds):
    return (BEGIN + timedelta(seconds=seconds)).isoformat()


def run_of(name, start, seconds, message):
    started = None if start is None else at(start)
    return ToolRun(tool_call_id=name, name=name, started=started, latency_ms=seconds * 1000, message=message)


@pytest.fixture
def trace():
    """2 s of model, two tools side by side (3 s and 2 s), 5 s of nothing, 1 s of model."""
    made = Trace()
    made.add(Message("user", "go"), "user", at=at(0))
    made.add(Message("assistant", None, (ToolCall("a", "a", {}), ToolCall("b", "b", {}))), "model", 1, at=at(2))
    made.add(Message("tool", "1", tool_call_id="a"), "environment", 1, at=at(5))
    made.add(Message("tool", "2", tool_call_id="b"), "environment", 1, at=at(5))
    made.add(Message("assistant", "done"), "model", 2, at=at(11))
    both = [run_of("a", 2, 3, 2), run_of("b", 2, 2, 3)]
    made.steps.append(TraceStep(index=1, started=at(0), latency_ms=2000, reply=1, tools=both))
    made.steps.append(TraceStep(index=2, started=at(10), latency_ms=1000, reply=4))
    made.outcome.reason = "final"
    return made


def shown(trace, pace):
    found = moments(trace)
    phases = [str(moment.phase) if moment.phase else "end" for moment in found]
    return list(zip(phases, waits(trace, found, pace), strict=True))


def test_a_fixed_pace_gives_every_phase_the_same_time_and_the_end_none(trace):
    stays = [seconds for _, seconds in shown(trace, Pace(fixed_s=0.5))]
    assert stays == [0.5] * (len(stays) - 1) + [0]


def test_as_recorded_calls_and_tools_take_their_time_and_the_rest_is_a_beat(trace):
    assert shown(trace, RECORDED) == [
        ("prepare", BEAT_S),
        ("call", 2),
        ("approve", BEAT_S),
        ("execute", 3),
        ("append", BEAT_S),
        ("decide", BEAT_S),
        ("prepare", BEAT_S),
        ("call", 1),
        ("decide", BEAT_S),
        ("end", 0),
    ]


def test_faster_than_recorded_everything_is_shorter(trace):
    usual, fast = shown(trace, RECORDED), shown(trace, Pace(fixed_s=None, times=10))
    assert [seconds / 10 for _, seconds in usual] == pytest.approx([seconds for _, seconds in fast])


def test_long_waits_are_cut_and_short_ones_stay(trace):
    stays = dict(shown(trace, Pace(fixed_s=None, longest_s=1.5)))
    assert (stays["execute"], stays["append"]) == (1.5, BEAT_S)
    assert max(stays.values()) == 1.5


def test_tools_that_do_not_say_when_they_began_count_one_by_one(trace):
    for run in trace.steps[0].tools:
        run.started = None
    assert dict(shown(trace, RECORDED))["execute"] == 5


def test_a_call_that_was_not_timed_takes_the_time_until_its_reply(trace):
    trace.steps[0].latency_ms = None
    assert shown(trace, RECORDED)[1] == ("call", 2)


def test_without_any_time_every_phase_is_a_beat(trace):
    for step in trace.steps:
        step.started = step.latency_ms = None
        for run in step.tools:
            run.started = run.latency_ms = None
    for entry in trace.entries:
        entry.at = None
    assert {seconds for _, seconds in shown(trace, RECORDED)[:-1]} == {BEAT_S}
    assert set(clock(trace, moments(trace))) == {None}


def test_the_clock_of_the_recording_at_each_moment(trace):
    read = [seconds - BEGIN.timestamp() for seconds in clock(trace, moments(trace))]
    assert read == [0, 0, 2, 2, 5, 5, 5, 10, 11, 11]


def test_the_clock_never_goes_back(trace):
    trace.entries[1].at = at(100)
    read = clock(trace, moments(trace))
    assert read == sorted(read)


def test_a_trace_without_a_step_has_one_moment():
    found = moments(Trace())
    assert waits(Trace(), found, RECORDED) == [0]
    assert place_at(starts([0]), 0, 1e9) == 0


@given(
    stays=st.lists(st.floats(0.001, 100), max_size=30).map(lambda seconds: [*seconds, 0.0]),
    data=st.data(),
    elapsed=st.floats(0, 5000),
)
def test_the_place_is_the_last_moment_whose_time_has_come(stays, data, elapsed):
    reached = starts(stays)
    begun = data.draw(st.integers(0, len(stays) - 1))
    place = place_at(reached, begun, elapsed)
    now = reached[begun] + elapsed
    assert reached[place] <= now + 1e-3
    assert place == len(stays) - 1 or reached[place + 1] > now - 1e-3
    assert place_at(reached, begun, elapsed + 1) >= place >= begun
    assert place_at(reached, begun, -elapsed) == begun
