"""Calls and results that do not fit together, wrong arguments, tools that do not exist."""

from __future__ import annotations

import pytest

from tests.traces.lint.talk import asks, call, found, names, result, says, talk, tool, user
from traces.lint import Severity


def test_a_result_without_a_call() -> None:
    (finding,) = found(talk(user("go"), result("7", "lost"), says("7")), "orphan_result")
    assert (finding.message, finding.call_id, finding.severity) == (1, "lost", Severity.ERROR)
    assert finding.sentence == "Message 2 is a tool result for lost, and no open call has this id."


def test_a_second_result_for_one_call() -> None:
    trace = talk(user("go"), asks(call("add")), result("3"), result("3"), says("3"))
    assert [finding.message for finding in found(trace, "orphan_result")] == [3]


def test_a_call_without_a_result_while_the_conversation_goes_on() -> None:
    trace = talk(user("go"), asks(call("add"), call("sub", "d")), result("3"), says("3"))
    (finding,) = found(trace, "unanswered_call")
    assert (finding.message, finding.call_id, finding.step) == (1, "d", 1)


def test_an_open_call_followed_by_the_user_is_refused_by_a_provider() -> None:
    assert names(talk(user("go"), asks(call("add")), user("and?"))) == ["unanswered_call"]


def test_a_session_that_was_ended_by_the_user_leaves_a_call_open() -> None:
    messages = (user("go"), asks(call("add")), result("3"), asks(call("add", "d")), user("[interrupted]"))
    assert names(talk(*messages, format="claude-code")) == []


def test_a_file_that_keeps_no_results_is_not_full_of_open_calls() -> None:
    messages = (user("go"), asks(call("add")), asks(call("sub", "d")), user("more"), says("done"))
    assert names(talk(*messages, format="some-log")) == []


def test_a_result_before_its_call_is_told_once() -> None:
    trace = talk(user("go"), result("3", "x"), asks(call("add", "x")), user("and?"), says("3"))
    (finding,) = found(trace, "result_not_after_call")
    assert finding.evidence == (1, 2)
    assert names(trace) == ["result_not_after_call"]


def test_a_result_that_comes_late() -> None:
    trace = talk(user("go"), asks(call("add")), user("wait"), result("3"), says("3"))
    (finding,) = found(trace, "result_not_after_call")
    assert (finding.message, finding.evidence) == (3, (1, 3))


def test_the_order_of_a_log_is_no_order_of_a_request() -> None:
    messages = (user("go"), asks(call("add")), user("wait"), result("3"), says("3"))
    assert names(talk(*messages, format="claude-code")) == []


def test_one_id_for_two_calls_of_a_block() -> None:
    trace = talk(user("go"), asks(call("add"), call("sub")), result("3"), result("4"), says("3 and 4"))
    (finding,) = found(trace, "duplicate_id")
    assert (finding.message, finding.facts["count"]) == (1, 2)


@pytest.mark.parametrize("arguments", ['{"a": 1', "[1]", "a=1"])
def test_arguments_that_are_no_json_object(arguments: str) -> None:
    broken = {"id": "c", "function": {"name": "add", "arguments": arguments}}
    trace = talk(user("go"), asks(broken), result('{"error": "bad arguments"}'), says("It failed."))
    (finding,) = found(trace, "arguments_not_json")
    assert (finding.message, finding.call_id) == (1, "c")


ADD = [tool("add", a="integer", b="integer")]


def test_arguments_that_do_not_match_the_schema() -> None:
    trace = talk(user("go"), asks(call("add", a=1, x=2)), result("?"), says("?"), tools=ADD)
    (finding,) = found(trace, "arguments_not_schema")
    assert "b is missing" in finding.sentence
    assert finding.message == 1


def test_a_schema_that_is_broken_says_nothing() -> None:
    broken = {"type": "function", "function": {"name": "add", "parameters": {"type": "objekt"}}}
    assert names(talk(user("go"), asks(call("add", a=1)), result("1"), says("1"), tools=[broken])) == []


def test_an_unknown_tool() -> None:
    trace = talk(
        user("go"), asks(call("sub", a=1)), result('{"error": "unknown tool: sub"}'), says("Sorry."), tools=ADD
    )
    (finding,) = found(trace, "unknown_tool")
    assert (finding.severity, finding.message) == (Severity.ERROR, 1)


def test_a_tool_that_answered_but_is_not_listed_is_only_a_note() -> None:
    trace = talk(user("go"), asks(call("sub")), result("1"), asks(call("sub", x=1)), result("2"), says("ok"), tools=ADD)
    (finding,) = found(trace, "unlisted_tool")
    assert finding.severity is Severity.NOTE


def test_a_call_at_the_very_end_is_not_judged_for_its_tool() -> None:
    assert names(talk(user("go"), asks(call("submit")), tools=ADD)) == []
