"""The guards of a run: the same call with the same outcome again, and steps that only fail; honest work goes on."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from agent import (
    FakeModel,
    Limits,
    RunResult,
    Tool,
    ToolCall,
    run,
)


def call(**arguments: object) -> list[ToolCall]:
    return [ToolCall("c1", "act", arguments)]


NAMES = ("act", "other")
GUARDS = {"limits": Limits.guarded(), "max_steps": 30}


def test_the_third_equal_call_with_an_equal_outcome_stops(go: Callable[..., RunResult]) -> None:
    result = go([call(cmd="noop")] * 9, **GUARDS)
    assert (result.reason, len(result.trace.steps)) == ("repeated_call", 3)
    assert "act" in result.steps[-1].detail
    assert "3 times" in result.steps[-1].detail


def test_a_cosmetic_argument_does_not_make_it_another_call(go: Callable[..., RunResult]) -> None:
    turns = [call(cmd="ls", description=f"look number {n}") for n in range(9)]
    assert go(turns, **GUARDS).reason == "repeated_call"


def test_repeats_are_seen_through_spelling_and_order_of_keys(make_tool: Callable[..., Tool]) -> None:
    def turn(n: int) -> list[ToolCall]:
        arguments = {"filter": {"a": 1, "b": 2}} if n % 2 else {"filter": {"b": 2, "a": 1}}
        return [ToolCall("c1", ("act", "functions.act")[n % 2], arguments)]

    result = run(FakeModel([turn(n) for n in range(9)]), [make_tool()], "go", max_steps=20, limits=Limits.guarded())
    assert (result.reason, len(result.trace.steps)) == ("repeated_call", 3)


def test_a_tool_whose_only_argument_is_a_thought_is_not_repeating(make_tool: Callable[..., Tool]) -> None:
    turns = [[ToolCall("c1", "act", {"thought": f"idea {n}"})] for n in range(6)]
    result = run(FakeModel([*turns, "done"]), [make_tool()], "go", max_steps=20, limits=Limits.guarded())
    assert result.reason == "final"


@pytest.mark.parametrize("period", [2, 3, 4])
def test_cycles_of_up_to_four_steps_count(go: Callable[..., RunResult], period: int) -> None:
    turns = [call(n=n % period) for n in range(20)]
    result = go(turns, **GUARDS)
    assert (result.reason, len(result.trace.steps)) == ("repeated_call", 3 * period)


def test_order_within_one_reply_does_not_matter(go: Callable[..., RunResult]) -> None:
    one, two = ToolCall("a", "act", {"n": 1}), ToolCall("b", "act", {"n": 2})
    assert go([[one, two], [two, one], [one, two], "done"], **GUARDS).reason == "repeated_call"


def test_nine_equal_calls_in_one_reply_are_repeats_and_all_are_answered(go: Callable[..., RunResult]) -> None:
    nine = [ToolCall(f"c{n}", "act", {"command": "date"}) for n in range(9)]
    result = go([nine, "done"], **GUARDS)
    assert result.reason == "repeated_call"
    assert [m.tool_call_id for m in result.messages if m.role == "tool"] == [f"c{n}" for n in range(9)]


def test_honest_polling_goes_on(make_tool: Callable[..., Tool], go: Callable[..., RunResult]) -> None:
    progress = itertools.count(0, 10)
    result = go([call(job=7)] * 8 + ["done"], make_tool(lambda **_: f"{next(progress)} %"), **GUARDS)
    assert result.reason == "final"


def test_a_retry_after_an_error_goes_on(make_tool: Callable[..., Tool], go: Callable[..., RunResult]) -> None:
    answers = iter([OSError("busy"), OSError("busy"), "ok"])
    assert go([call()] * 3 + ["done"], make_tool(lambda **_: next(answers)), **GUARDS).reason == "final"


def test_pagination_goes_on(make_tool: Callable[..., Tool], go: Callable[..., RunResult]) -> None:
    turns = [call(page=n) for n in range(8)]
    assert go([*turns, "done"], make_tool(lambda page: f"rows of page {page}"), **GUARDS).reason == "final"


def test_the_plain_loop_has_no_guards(go: Callable[..., RunResult]) -> None:
    assert go([call()] * 6 + ["done"]).reason == "final"


def test_three_failing_steps_in_a_row_stop(make_tool: Callable[..., Tool], go: Callable[..., RunResult]) -> None:
    turns = [call(city=name) for name in ("Atlantis", "Atlantis City", "Atlantide", "Atlantida")]
    result = go(turns, make_tool(lambda city: LookupError(f"no place called {city}")), **GUARDS)
    assert (result.reason, len(result.trace.steps)) == ("consecutive_errors", 3)


def test_one_success_among_parallel_failures_is_progress(
    make_tool: Callable[..., Tool], go: Callable[..., RunResult]
) -> None:
    def turn(n: int) -> list[ToolCall]:
        return [ToolCall("a", "act", {"n": n, "ok": True}), ToolCall("b", "act", {"n": n, "ok": False})]

    answer = make_tool(lambda n, ok: n if ok else ValueError("no"))
    assert go([turn(n) for n in range(5)] + ["done"], answer, **GUARDS).reason == "final"


def test_a_success_in_between_resets_the_count(make_tool: Callable[..., Tool], go: Callable[..., RunResult]) -> None:
    answers = iter([ValueError("1"), ValueError("2"), "fine", ValueError("3"), ValueError("4"), "fine"])
    turns = [call(n=n) for n in range(6)]
    assert go([*turns, "done"], make_tool(lambda n: next(answers)), **GUARDS).reason == "final"


def test_repeats_in_one_reply_count_whatever_stands_beside_them(go: Callable[..., RunResult]) -> None:
    same = [ToolCall(f"c{n}", "act", {"city": "Oslo"}) for n in range(3)]
    other = ToolCall("d", "other", {"item": "tea"})
    tools = [Tool(name=name, description="", parameters={"type": "object"}, func=lambda **_: "ok") for name in NAMES]
    result = go([[*same, other], "done"], *tools, **GUARDS)
    assert (result.reason, result.steps[-1].detail) == (
        "repeated_call",
        "repeated_call: act: the same call with the same outcome 3 times",
    )
    assert go([[*same[:2], other], "done"], *tools, **GUARDS).reason == "final", "twice is not three times"


def test_different_calls_of_one_reply_are_no_repeats(go: Callable[..., RunResult]) -> None:
    six = [ToolCall(f"c{n}", "act", {"n": n}) for n in range(6)]
    assert go([six, "done"], **GUARDS).reason == "final"
