"""Breakpoints: what each kind sees, once per arrival, all of them together; and what a list looks like as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agent import (
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    InputError,
    Intervention,
    Limits,
    Loop,
    Message,
    ModelReply,
    Phase,
    Runner,
    StopReason,
    Tool,
    ToolCall,
    Usage,
)
from agent.breakpoints import Breakpoint, read_breakpoints, with_breakpoint, without_breakpoint

WAIT_S = 10
Seen = list[tuple[int, str | None, str]]


def act(number: int = 1, name: str = "act", /, **arguments: object) -> ToolCall:
    return ToolCall(f"c{number}", name, arguments)


def seen_by(loop: Loop, *breakpoints: Breakpoint, decide: Callable[[Loop], None] | None = None) -> Seen:
    """Go on again and again to the end: (steps, phase, sentence) for each time that a breakpoint fired."""
    runner = Runner(loop)
    runner.breakpoints = breakpoints
    seen: Seen = []
    for _ in range(100):
        runner.resume()
        assert runner.wait(WAIT_S)
        if runner.hit:
            seen.append((len(loop.trace.steps), loop.phase, runner.hit.text))
        elif loop.waiting and decide:
            decide(loop)
        else:
            assert loop.phase is None
            return seen
    raise AssertionError("the run does not come to its end")


def test_a_call_of_a_tool_is_seen_before_approve_by_the_name_that_it_resolves_to(
    started: Callable[..., Loop], make_tool: Callable[..., Tool]
) -> None:
    tools = [make_tool(), make_tool(name="other")]
    turns = [[act(1, "other")], [act(1, "other"), act(2, "functions.act")], [act(1, "gone")], "done"]
    loop = started(*turns, tools=tools)
    found = seen_by(loop, Breakpoint("tool", "act"), Breakpoint("tool", "gone"))
    assert found == [
        (2, "approve", "the model asked for act, and it has not run yet"),
        (3, "approve", "the model asked for gone, and it has not run yet"),
    ]


@pytest.mark.parametrize("phase", Phase)
def test_a_phase_is_stood_before_once_in_every_step(started: Callable[..., Loop], phase: Phase) -> None:
    loop = started([act(1)], [act(2)], "done")
    where = [(step, at) for step, at, _ in seen_by(loop, Breakpoint("phase", phase))]
    expected = {
        Phase.PREPARE: [1, 2],  # the first prepare is where the run begins: nothing led there
        Phase.CALL: [0, 1, 2],
        Phase.DECIDE: [1, 2, 3],
    }
    assert where == [(step, phase) for step in expected.get(phase, [1, 2])]


def test_an_error_of_a_tool_is_seen_before_it_is_written_into_the_message_list(
    started: Callable[..., Loop], make_tool: Callable[..., Tool]
) -> None:
    tools = [make_tool(), make_tool(ValueError("too\nsmall"), name="bad"), make_tool(name="denied")]
    turns = [[act()], [act(1), act(2, "bad")], [act(1, "denied")], "done"]
    loop = started(*turns, tools=tools, policy=CapabilityPolicy(deny=["denied"]))
    assert seen_by(loop, Breakpoint("error")) == [(2, "append", "bad gave an error: ValueError: too small")]


def test_a_stop_rule_is_seen_before_it_fires(started: Callable[..., Loop]) -> None:
    turns = [[act(n, n=n)] for n in range(5)]
    assert seen_by(started(*turns, max_steps=2), Breakpoint("stop")) == [
        (
            2,
            "decide",
            "the run is about to stop by max_iterations: stopped by the limit of 2 steps while the model still asked "
            "for tools",
        )
    ]
    equal = [[act()] for _ in range(5)]
    loop = started(*equal, limits=Limits(repeated_calls=2))
    assert [step for step, _, _ in seen_by(loop, Breakpoint("stop", "repeated_call"))] == [2]


def test_the_final_answer_is_a_stop_only_where_it_is_asked_for_by_name(started: Callable[..., Loop]) -> None:
    others = (Breakpoint("stop"), Breakpoint("stop", "max_iterations"))
    assert seen_by(started("done"), *others) == []
    named = seen_by(started("done"), *others, Breakpoint("stop", "final"))
    assert named == [(1, "decide", "the run is about to end with its final answer")]


def test_an_empty_answer_that_is_met_with_a_nudge_is_no_stop(started: Callable[..., Loop]) -> None:
    loop = started("", "", "done", limits=Limits(nudges=1))
    assert [step for step, _, _ in seen_by(loop, Breakpoint("stop"))] == [2]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("BERLIN", (1, "approve", "message 2 (assistant) holds BERLIN")),  # arguments
        ('say "hi"', (1, "approve", 'message 2 (assistant) holds say "hi"')),  # what JSON spells otherwise
        ("zürich", (1, "approve", "message 2 (assistant) holds zürich")),
        ("sunny", (1, "decide", "message 3 (tool) holds sunny")),
        ("the end", (2, "decide", "message 4 (assistant) holds the end")),
    ],
)
def test_a_text_is_seen_where_it_comes_into_a_message(
    started: Callable[..., Loop], make_tool: Callable[..., Tool], text: str, where: tuple[int, str, str]
) -> None:
    call = ToolCall("c1", "act", {"to": ["Berlin", {"b": 'they say "hi"'}, "Zürich"]}, r'{"to": ["Z\u00fcrich"]}')
    assert seen_by(started([call], "THE END", tools=[make_tool("Sunny")]), Breakpoint("text", text)) == [where]


def test_a_text_that_was_there_before_does_not_come_again(started: Callable[..., Loop]) -> None:
    assert seen_by(started([act()], "done"), Breakpoint("text", "go")) == []


def test_a_request_is_measured_as_it_will_be_sent(started: Callable[..., Loop], make_tool: Callable[..., Tool]) -> None:
    def run(**options: Any) -> Seen:
        loop = started(*[[act(n)] for n in range(4)], "done", tools=[make_tool("word " * 300)], **options)
        return seen_by(loop, Breakpoint("tokens", 500))

    plain = run()
    assert [(step, phase) for step, phase, _ in plain] == [(2, "call"), (3, "call"), (4, "call")]
    assert "the request takes about 6" in plain[0][2]
    assert plain[0][2].endswith("tokens, more than 500")
    assert run(context=ContextBudget(480)) == [], "the budget keeps every request below"
    assert run(interventions=(Intervention("blank_results"),)) == []


def test_where_the_provider_counts_only_what_is_new_is_estimated(
    started: Callable[..., Loop], make_tool: Callable[..., Tool]
) -> None:
    first = ModelReply(Message("assistant", None, tool_calls=(act(),)), usage=Usage(9000, 10, 9010))
    loop = started(first, "done", tools=[make_tool("word " * 300)])
    (seen,) = seen_by(loop, Breakpoint("tokens", 9000))
    words = seen[2].split()
    assert 9200 < int(words[words.index("about") + 1]) < 9500


def test_the_limit_itself_is_not_more(started: Callable[..., Loop]) -> None:
    (seen,) = seen_by(started("done"), Breakpoint("tokens", 1))
    words = seen[2].split()
    size = int(words[words.index("about") + 1])
    assert seen_by(started("done"), Breakpoint("tokens", size)) == []
    assert len(seen_by(started("done"), Breakpoint("tokens", size - 1))) == 1


# ---- once per arrival ----


def test_approve_that_is_visited_twice_because_a_person_is_asked_fires_once(started: Callable[..., Loop]) -> None:
    loop = started([act()], [act(n=2)], "done", policy=CapabilityPolicy(ask=["act"]))
    found = seen_by(
        loop,
        Breakpoint("phase", "approve"),
        Breakpoint("tool", "act"),
        decide=lambda loop: loop.decide(0, Decision.run()),
    )
    assert [(step, phase) for step, phase, _ in found] == [(1, "approve"), (2, "approve")]
    assert loop.stop_reason == "final"


def test_a_decision_at_the_breakpoint_does_not_make_it_fire_again(started: Callable[..., Loop]) -> None:
    loop = started([act()], "done")
    runner = Runner(loop)
    runner.breakpoints = (Breakpoint("tool", "act"),)
    runner.resume()
    assert runner.wait(WAIT_S)
    assert runner.hit
    loop.decide(0, Decision.mock("given"))
    runner.step()
    assert runner.wait(WAIT_S)
    assert (loop.phase, runner.hit) == (Phase.EXECUTE, None)


def test_going_on_after_a_limit_does_not_make_it_fire_again_at_the_same_place(started: Callable[..., Loop]) -> None:
    loop = started(*[[act(n, n=n)] for n in range(3)], "done", max_steps=1)
    stops = (Breakpoint("stop"), Breakpoint("phase", "decide"))
    assert [step for step, _, _ in seen_by(loop, *stops)] == [1]
    loop.extend(max_steps=2)
    assert loop.phase is Phase.DECIDE
    assert [(step, phase) for step, phase, _ in seen_by(loop, *stops)] == [(2, "decide")]


def test_all_breakpoints_count_and_the_first_of_the_list_is_named(started: Callable[..., Loop]) -> None:
    every = (
        Breakpoint("phase", "decide", enabled=False),
        Breakpoint("tool", "act"),
        Breakpoint("phase", "approve"),
        Breakpoint("phase", "execute"),
        Breakpoint("stop", "final"),
    )
    loop = started([act()], "done", policy=CapabilityPolicy(ask=["act"]))
    found = seen_by(loop, *every, decide=lambda loop: loop.decide(0, Decision.run()))
    assert found == [
        (1, "approve", "the model asked for act, and it has not run yet"),
        (1, "execute", "the run stands before execute"),
        (2, "decide", "the run is about to end with its final answer"),
    ]


# ---- the list ----


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("colour", "", "known are tool, phase"),
        (None, "", "known are tool, phase"),
        ("tool", " ", "name of a tool"),
        ("tool", 3, "needs words"),
        ("phase", "think", "needs one of prepare, call"),
        ("error", "act", "needs no value"),
        ("stop", "tired", "needs a stop reason"),
        ("text", "", "needs a text"),
        ("tokens", 0, "whole number from 1"),
        ("tokens", "many", "whole number from 1"),
        ("tokens", True, "whole number from 1"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(kind: Any, value: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Breakpoint(kind, value)


@pytest.mark.parametrize("data", [None, [], {}, {"kind": "tool"}, {"kind": "error", "enabled": "yes"}])
def test_data_that_is_no_breakpoint_is_refused(data: Any) -> None:
    with pytest.raises(InputError):
        Breakpoint.from_dict(data)


def test_a_list_survives_json_and_leaves_out_what_cannot_be_read() -> None:
    listed = (
        Breakpoint("tool", "act"),
        Breakpoint("tokens", 500, enabled=False),
        Breakpoint("error"),
        *(Breakpoint("stop", reason) for reason in StopReason),
    )
    data = json.loads(json.dumps([each.to_dict() for each in listed]))
    assert read_breakpoints([*data, {"kind": "colour"}, 3, {**data[0], "since": 1}]) == listed
    assert read_breakpoints(None) == read_breakpoints({"kind": "error"}) == ()


def test_two_of_the_same_kind_and_value_are_one() -> None:
    first, second = Breakpoint("tool", "a"), Breakpoint("tool", "b")
    off = Breakpoint("tool", "a", enabled=False)
    assert with_breakpoint((first, second), off) == (off, second)
    assert with_breakpoint((first,), second) == (first, second)
    assert without_breakpoint((first, second), off.id) == (second,)


def test_a_runner_begins_with_the_breakpoints_that_the_run_keeps() -> None:
    loop = Loop(FakeModel(["done"]))
    loop.start("go")
    Runner(loop).breakpoints = (Breakpoint("phase", "decide"),)
    assert Runner(loop).breakpoints == (Breakpoint("phase", "decide"),)
    assert json.loads(json.dumps(loop.snapshot()))["trace"]["breakpoints"] == [
        {"kind": "phase", "value": "decide", "enabled": True}
    ]
