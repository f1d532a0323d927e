"""Where a run stood is read off its trace alone: on every way that a run can go, at every point of the way."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import Decision, FakeModel, Loop, Message, Phase, ToolCall, Trace
from agent.moments import Moment, moments
from agent.scripts import load_script, scenarios
from agent.trace import Entry, Request, ToolRun, TraceStep
from tests.agent.walks import PRESSES, Standing, options, standing, turns, walk
from traces import open_trace


def places(found: list[Moment]) -> list[Standing]:
    return [(moment.step, moment.phase, moment.messages) for moment in found]


@given(turns(), options(), st.lists(st.sampled_from(PRESSES), max_size=40))
@settings(max_examples=200, deadline=None)
def test_moments_are_where_the_run_really_stood(script: list[Any], opts: dict[str, Any], presses: list[str]) -> None:
    seen: list[list[Standing]] = []
    done = walk(script, opts, presses, lambda loop: seen.append(places(moments(loop.trace, loop.phase))))
    assert places(moments(done.loop.trace)) == done.stood
    for count, found in enumerate(seen, start=1):
        assert found == done.stood[:count], "and so they were at any time before"


@pytest.mark.parametrize("name", [info.name for info in scenarios()])
def test_every_scenario_is_followed(name: str) -> None:
    script = load_script(name)
    loop = script.loop(pace=0)
    loop.start(script.task)
    stood = [standing(loop)]
    while loop.phase is not None:
        before = loop.phase
        for position, pending in enumerate(loop.run.pending if loop.waiting else ()):
            if pending.decision is None:
                loop.decide(position, Decision.run())
        loop.advance()
        if loop.phase is not before:
            stood.append(standing(loop))
            assert places(moments(loop.trace, loop.phase)) == stood
    assert places(moments(loop.trace)) == stood


def test_turns_and_numbers_are_counted() -> None:
    loop = Loop(FakeModel(["one", "two"]))
    for text in ("first", "second"):
        loop.start(text)
        loop.finish()
    found = moments(loop.trace)
    assert [moment.number for moment in found] == list(range(8))
    assert [moment.turn for moment in found] == [1] * 4 + [2] * 4
    assert [moment.phase for moment in found] == [Phase.PREPARE, Phase.CALL, Phase.DECIDE, None] * 2


def test_a_run_that_was_not_started_stands_at_its_end() -> None:
    assert places(moments(Loop(FakeModel([]), system="Be brief.").trace)) == [(1, None, 1)]
    assert places(moments(Trace())) == [(1, None, 0)]


def test_a_chat_from_elsewhere_has_moments_too() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "user", "content": "b"},
        {"role": "user", "content": "c"},
        {"role": "assistant", "content": "d"},
        {"role": "user", "content": "e"},
    ]
    (trace,) = open_trace(json.dumps({"messages": chat}).encode())
    for step in trace.steps:
        step.request = None
    found = [(moment.turn, *place) for moment, place in zip(moments(trace), places(moments(trace)), strict=True)]
    prepare, call_, decide = Phase.PREPARE, Phase.CALL, Phase.DECIDE
    assert found == [
        *[(1, 1, prepare, 2), (1, 1, call_, 2), (1, 1, Phase.APPROVE, 3), (1, 1, Phase.EXECUTE, 3)],
        *[(1, 1, Phase.APPEND, 3), (1, 1, decide, 4), (1, 1, None, 4)],
        *[(2, 2, prepare, 6), (2, 2, call_, 6), (2, 2, decide, 7), (2, 2, None, 7)],
        *[(3, 3, prepare, 8), (3, 2, None, 8)],
    ]


def odd_traces() -> st.SearchStrategy[Trace]:
    number = st.none() | st.integers(-2, 9)
    runs = st.builds(ToolRun, tool_call_id=st.just("c"), name=st.just("f"), message=number)
    requests = st.none() | st.builds(Request, upto=st.integers(-2, 9))
    steps = st.builds(
        TraceStep, index=st.integers(-1, 5), reply=number, request=requests, tools=st.lists(runs, max_size=2)
    )
    phases = st.sampled_from([None, *Phase, "nowhere", 5])
    there = st.none() | st.fixed_dictionaries({"step": number, "phase": phases})
    notes = st.fixed_dictionaries(
        {"kind": st.sampled_from(["detour", "turn", "x", None]), "step": number, "phase": phases, "next": there},
        optional={"new_turn": st.booleans(), "outcome": st.none()},
    )
    roles = st.sampled_from(["system", "user", "assistant", "tool", "odd"])
    messages = st.lists(st.tuples(roles, number, st.sampled_from(["user", "code", "model"])), max_size=8)

    def build(said: list[tuple[str, int | None, str]], steps: list[TraceStep], notes: list[dict[str, Any]]) -> Trace:
        trace = Trace(steps=steps, notes=notes)
        for role, step, maker in said:
            trace.messages.append(Message(role, "x"))
            trace.entries.append(Entry(maker=maker, step=step))
        return trace

    return st.builds(build, messages, st.lists(steps, max_size=5), st.lists(notes, max_size=5))


@given(odd_traces(), st.sampled_from([None, *Phase]))
@settings(max_examples=400, deadline=None)
def test_no_trace_is_too_odd(trace: Trace, now: Phase | None) -> None:
    found = moments(trace, now)
    assert found
    assert [moment.number for moment in found] == list(range(len(found)))
    lengths = [moment.messages for moment in found]
    assert lengths == sorted(lengths), "a message list only grows"
    assert all(0 <= length <= len(trace.messages) for length in lengths)


def test_the_moments_of_a_long_run_cost_little() -> None:
    trace = Trace()
    trace.add(Message("user", "go"), "user")
    for index in range(1, 251):
        call, at = ToolCall("c1", "act", {}), len(trace.messages)
        trace.add(Message("assistant", None, (call,)), "model", index)
        trace.add(Message("tool", "ok", tool_call_id="c1"), "environment", index)
        run = ToolRun(tool_call_id="c1", name="act", message=at + 1)
        trace.steps.append(TraceStep(index=index, reply=at, request=Request(upto=at), latency_ms=1.0, tools=[run]))
    spent = []
    for _ in range(5):
        begun = time.perf_counter()
        found = moments(trace)
        spent.append(time.perf_counter() - begun)
    assert Counter(moment.phase for moment in found)[Phase.APPEND] == 250
    assert min(spent) < 0.02, "1,500 moments of 500 messages take 2 ms on a quiet machine"


def test_the_walks_of_these_tests_go_everywhere() -> None:
    """Guards the test above against scripts that no longer come by what they are there for."""
    kinds: Counter[str] = Counter()

    @given(turns(), options(), st.lists(st.sampled_from(PRESSES), max_size=40))
    @settings(max_examples=300, deadline=None, derandomize=True, database=None)
    def count(script: list[Any], opts: dict[str, Any], presses: list[str]) -> None:
        trace = walk(script, opts, presses).loop.trace
        kinds.update(str(note["kind"]) for note in trace.notes)
        kinds.update(note["text"].split()[0] + " " + str(note["phase"]) for note in trace.notes if "next" in note)
        kinds.update(f"decision {run.decision}" for step in trace.steps for run in step.tools)

    count()
    expected = ["turn", "detour", "summary", "context", "the call", "there prepare", "the None", "decision mocked"]
    assert [kind for kind in expected if not kinds[kind]] == []
