"""A row holds what happened in a run, by the rules on the page: nothing that is not known, nothing impossible."""

import math
from dataclasses import replace

import pytest

from agent import FakeModel, ToolCall, Usage
from agent.errors import ModelError
from agent.messages import Message
from agent.models.base import ModelReply
from agent.trace import Edit
from tests.traces.experiments.rerun import CELL, STAND_IN, begun, condition, recorded, row, task_of
from traces.experiments.design.experiment import Subject
from traces.experiments.measuring.inventing import invented_in, names_in, normal
from traces.experiments.measuring.measure import decision_of, row_of, strip_of
from traces.experiments.rows import Row
from traces.experiments.subjects.task import load_subject
from traces.prices import Price, PriceTable

WORDS = Subject(name="task", task="Which word?", tools=("add",), evidence=({"answer_contains": "BANANA"},))
ADD = [ToolCall("c1", "add", {"a": 2, "b": 3})]
ONE = Price(model="*", prompt=1, completion=1)


class Live(FakeModel):
    provider = "somewhere"


def row_after(*turns, subject=WORDS, status=None, prices=None, scripted=False, faults=()):
    """The row of a run in which the model answers this."""
    task = load_subject(subject, None)
    started = begun(task, model=Live(turns))
    started.loop.finish()
    return row_of(CELL, started.loop.trace, task, first_step=0, scripted=scripted, status=status, prices=prices)


def reply(text="BANANA", calls=(), **more):
    return ModelReply(Message("assistant", text, tuple(calls)), **more)


@pytest.mark.parametrize(
    ("turns", "status", "reason", "verified"),
    [
        (["BANANA"], "ended", "final", True),
        (["PLUM"], "ended", "final", False),
        ([""], "ended", "empty_answer", False),
        ([ADD] * 20, "ended", "max_iterations", False),
        ([ModelError("429: slow down", status=429)], "error", "model_error", False),
        ([ModelError("too long", kind="context_overflow")], "error", "context_overflow", False),
        ([ADD], "error", "script_exhausted", False),
        ([ModelError("stop", kind="stopped")], "stopped", "stopped_by_user", False),
    ],
)
def test_how_a_run_ended(turns, status, reason, verified):
    result = row_after(*turns)
    assert (result.status, result.reason, result.verified) == (status, reason, verified)
    assert result.counted == (status != "stopped")


def test_what_the_provider_said_stands_in_the_row():
    assert row_after(ModelError("429: slow down", status=429)).detail == "429: slow down"


def test_a_status_that_is_known_from_outside_is_stronger():
    assert row_after("BANANA", status="stopped").status == "stopped"


def test_without_evidence_nothing_is_verified():
    assert row_after("BANANA", subject=replace(WORDS, evidence=())).verified is None


def test_reported_tokens_are_taken_and_nothing_is_marked():
    result = row_after(
        reply(None, ADD, usage=Usage(prompt_tokens=100, completion_tokens=10)),
        reply(usage=Usage(prompt_tokens=120, completion_tokens=5, total_tokens=140)),
    )
    assert (result.prompt_tokens, result.completion_tokens, result.tokens, result.estimated) == (220, 15, 235, False)


def test_tokens_that_are_not_reported_are_counted_and_marked():
    result = row_after(reply(None, ADD, usage=Usage(prompt_tokens=100, completion_tokens=10)), reply())
    assert result.estimated
    assert result.prompt_tokens > 200
    assert result.completion_tokens > 10
    assert result.tokens == result.prompt_tokens + result.completion_tokens


def test_a_run_without_an_answered_call_reports_no_tokens_and_no_cost():
    result = row_after(ModelError("no"), prices=PriceTable(own=(ONE,)))
    assert (result.tokens, result.cost, result.estimated) == (None, None, False)


def test_the_cost_is_what_the_provider_says_else_by_the_table_else_unknown():
    used = Usage(prompt_tokens=500_000, completion_tokens=500_000)
    assert row_after(reply(cost=0.25, usage=used), prices=PriceTable(own=(ONE,))).cost == 0.25
    assert row_after(reply(usage=used), prices=PriceTable(own=(ONE,))).cost == pytest.approx(1)
    assert row_after(reply(usage=used)).cost is None
    assert row_after(reply(None, ADD, cost=0.25), reply(usage=used)).cost is None, "one of its calls is not known"
    assert row_after(reply(usage=used), prices=PriceTable(own=(ONE,)), scripted=True).cost is None


def test_time_is_measured_of_live_models_alone():
    assert row_after("BANANA").latency_ms >= 0
    assert row_after("BANANA", scripted=True).latency_ms is None


def test_numbers_that_cannot_be_are_not_known():
    """A score that is NaN or negative must not reach any table."""
    task = load_subject(WORDS, None)
    started = begun(task, model=Live(["BANANA"]))
    started.loop.finish()
    trace = started.loop.trace
    for wrong in (math.nan, math.inf, -1.0):
        trace.steps[0].latency_ms = trace.steps[0].cost = wrong
        result = row_of(CELL, trace, task, first_step=0, scripted=False)
        assert (result.latency_ms, result.cost) == (None, None)


def test_calls_are_repeated_when_tool_and_arguments_are_those_of_an_earlier_one():
    again = [ToolCall("x", "add", {"b": 3, "a": 2})]
    other = [ToolCall("y", "add", {"a": 2, "b": 4})]
    unknown = [ToolCall("z", "divide", {})]
    result = row_after(ADD, again, other, unknown, [*again, *other], "BANANA")
    assert (result.steps, result.calls, result.repeated_calls, result.tool_errors) == (6, 6, 3, 1)


def test_of_a_continued_run_only_its_own_steps_count(tmp_path):
    """But a call can repeat one of the recording."""
    task = task_of(recorded("calc"), tmp_path, step=3)
    result = row(task)
    assert (result.steps, result.calls, result.tokens) == (1, 0, 246)
    repeating = row(task_of(recorded("code_word"), tmp_path, step=2), condition("drop_pairs"), STAND_IN)
    assert (repeating.steps, repeating.repeated_calls) == (2, 2)


def test_the_answer_agrees_with_the_recorded_one_however_it_is_spelt(tmp_path):
    task = task_of(recorded("code_word"), tmp_path, step=2)
    for answer, same in (("the  launch code word\nis banana", True), ("It is BANANA.", False), ("", False)):
        started = begun(task, model=Live(["", answer]))
        started.loop.finish()
        result = row_of(CELL, started.loop.trace, task, first_step=1, scripted=False)
        assert result.agrees is same
    assert row_after("BANANA").agrees is None, "nothing is recorded"


def test_a_decision_is_the_recorded_one_when_it_asks_for_the_same_calls(tmp_path):
    task = task_of(recorded("parallel"), tmp_path, mode="decision")
    asked = task.source.messages[task.recorded_step.reply].tool_calls
    for calls, same in ((asked[::-1], True), (asked[:1], False), (ADD, False)):
        started = begun(task, model=Live([calls]))
        started.loop.finish()
        result = row_of(CELL, started.loop.trace, task, first_step=0, scripted=False)
        assert (result.same_decision, result.reason, result.tool_errors) == (same, "decided", 0)
    started = begun(task, model=Live(["I know it."]))
    started.loop.finish()
    result = row_of(CELL, started.loop.trace, task, first_step=0, scripted=False)
    assert (result.same_decision, result.decision, result.answer, result.agrees) == (False, "", "I know it.", None)


def test_a_decision_whose_call_failed_is_an_error_and_not_the_recorded_one(tmp_path):
    task = task_of(recorded("calc"), tmp_path, mode="decision")
    started = begun(task, model=Live([ModelError("500")]))
    started.loop.finish()
    result = row_of(CELL, started.loop.trace, task, first_step=0, scripted=False)
    assert (result.status, result.reason, result.decision, result.same_decision) == (
        "error",
        "model_error",
        None,
        False,
    )


def test_the_strip_shows_the_messages_and_what_the_last_request_did_not_hold(tmp_path):
    assert row(task_of(recorded("missing_file"), tmp_path)).strip.count("e") == 1
    trace = recorded("calc")
    assert strip_of(trace) == "suctcta"
    trace.steps[-1].request.edits = [Edit(op="drop", message=2, by="x", count=2)]
    assert strip_of(trace) == "sucxcta"


def test_the_answer_is_cut_and_a_row_survives_its_line():
    result = row_after("BANANA " * 1000)
    assert len(result.answer) <= 2000
    assert Row.from_dict(result.to_dict()) == result


# ---- what an answer says ----


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("The code is BANANA-7, and 12.5% of 3,000.", ["12.5", "3,000", "BANANA-7"]),
        ("暗号是BANANA，共３个，文件名为「计划」。", ["3", "BANANA", "计划"]),
        ('He said “so be it” and "no", OK? `ls -la`', ["so be it", "no", "ls -la"]),
        ("1. First\n2) Second\n3、第三", []),
        ("I am A US citizen.", []),
        ("", []),
    ],
)
def test_what_an_answer_names(answer, named):
    assert sorted(names_in(answer)) == sorted(named)


@pytest.mark.parametrize(
    ("answer", "request_", "invented"),
    [
        ("It is BANANA.", "the word is banana", []),
        ("It is WALNUT.", "the word is banana", ["WALNUT"]),
        ("It is 5.", "a: 5, b: 15", []),
        ("It is 5.", "a: 15, b: 50", ["5"]),
        ("It is 1,000.", "1000 items", []),
        ("It is 12.3 km.", "12.3456", []),
        ("It is 12.4 km.", "12.3456", ["12.4"]),
        ("It is 13.", "12.6", ["13"]),
        ("答案是２０。", "结果 20", []),
        ("答案是「香蕉」。", "结果是苹果", ["香蕉"]),
        ("It is 1.2.3.", "version 1.2.3", []),
    ],
)
def test_what_of_it_the_request_does_not_hold(answer, request_, invented):
    assert invented_in(answer, [request_]) == invented


def test_a_verified_answer_is_not_invented_and_no_answer_names_nothing(tmp_path):
    assert row_after("BANANA").invented is False
    assert row_after("PLUMS").invented is True
    assert row_after(ModelError("PLUMS")).invented is False
    assert row_after("I do not know.").invented is False


def test_what_the_model_was_given_beside_the_messages_is_held():
    """Arguments of its calls, and the tools on offer."""
    asked = [ToolCall("c1", "add", {"a": 77, "b": 3})]
    assert row_after(asked, "I added 77.").invented is False
    assert row_after(asked, "I added 78.").invented is True


@pytest.mark.parametrize("other", ["it is banana", " It  is\nBANANA !", "It is BANANA。", "Ｉt is BANANA..."])
def test_answers_that_are_spelt_otherwise_are_the_same(other):
    assert normal("It is BANANA.") == normal(other)


def test_a_decision_in_words():
    assert decision_of(Message("assistant", "so", ())) == ""
    calls = (ToolCall("1", "b", {"y": 1, "x": [2]}), ToolCall("2", "a", {}))
    assert decision_of(Message("assistant", None, calls)) == 'a({})\nb({"x":[2],"y":1})'
