"""Where the time went, and what ran beside what."""

from datetime import UTC, datetime, timedelta

from agent.trace import ToolRun, Trace, TraceStep
from traces.timeline import MOST, timeline
from traces.timing import WallTime, wall_time

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds):
    return (BEGIN + timedelta(seconds=seconds)).isoformat()


def tool(name, start, seconds, **more):
    return ToolRun(
        tool_call_id=name, name=name, started=None if start is None else at(start), latency_ms=seconds * 1000, **more
    )


def two_steps():
    """2 s of model, two tools side by side (3 s and 2 s), 5 s of waiting, 1 s of model."""
    first = TraceStep(
        index=1, started=at(0), latency_ms=2000, reply=1, tools=[tool("a", 2, 3, message=2), tool("b", 2, 2, message=3)]
    )
    return Trace(steps=[first, TraceStep(index=2, started=at(10), latency_ms=1000, reply=4)])


def test_wall_time_is_split_and_what_overlaps_counts_once():
    assert wall_time(two_steps()) == WallTime(wall=11.0, model=3.0, tools=3.0, idle=5.0)


def test_without_times_of_day_the_idle_time_is_unknown():
    trace = Trace(steps=[TraceStep(index=1, latency_ms=1500, tools=[tool("a", None, 0.5)])])
    assert wall_time(trace) == WallTime(wall=None, model=1.5, tools=0.5, idle=None)


def test_what_nobody_timed_is_unknown_and_not_zero():
    trace = Trace(steps=[TraceStep(index=1, tools=[ToolRun(tool_call_id="a", name="a")])])
    assert wall_time(trace) == WallTime(wall=None, model=None, tools=None, idle=None)


def test_tools_that_ran_side_by_side_have_lanes_of_their_own():
    found = timeline(two_steps())
    assert [(span.name, span.start, span.end, span.lane, span.message) for span in found.spans] == [
        ("", 0, 2, 0, 1),
        ("a", 2, 5, 1, 2),
        ("b", 2, 4, 2, 3),
        ("", 10, 11, 0, 4),
    ]
    assert not found.assumed


def test_what_says_no_time_of_day_follows_its_call_and_is_marked_as_assumed():
    trace = Trace(
        steps=[
            TraceStep(index=1, latency_ms=1000, tools=[tool("a", None, 2), tool("b", None, 1)]),
            TraceStep(index=2, latency_ms=500),
        ]
    )
    found = timeline(trace)
    assert [(span.name, span.start, span.end, span.lane) for span in found.spans] == [
        ("", 0, 1, 0),
        ("a", 1, 3, 1),
        ("b", 1, 2, 2),
        ("", 3, 3.5, 0),
    ]
    assert found.assumed


def test_neighbours_that_no_screen_could_tell_apart_are_drawn_as_one():
    steps = [
        TraceStep(index=n + 1, started=at(n), latency_ms=10, reply=n, tools=[tool("t", n + 0.5, 0.01)])
        for n in range(5000)
    ]
    spans = timeline(Trace(steps=steps)).spans
    assert len(spans) < 2 * MOST + 2
    assert sum(span.count for span in spans) == 10_000
