"""Evidence looks at facts: the answer, the files, the results of tools."""

import pytest

from agent.evidence import AnswerContains, FileContains, ToolSucceeded, verify
from agent.messages import ToolCall
from agent.trace import Evidence, Outcome, ToolRun, Trace, TraceStep


@pytest.fixture
def trace():
    runs = [
        ToolRun(tool_call_id="c1", name="add", arguments={"a": 2, "b": 3}, ok=True),
        ToolRun(tool_call_id="c2", name="get_order", arguments={"order_id": "B9"}, ok=False),
    ]
    return Trace(steps=[TraceStep(index=1, tools=runs)], outcome=Outcome(reason="final", final="The sum is 5."))


def test_nothing_checked_means_not_verified_either_way(trace):
    assert verify([], trace) == (None, [])


def test_all_checks_hold(trace):
    verified, answers = verify([AnswerContains("5"), ToolSucceeded("add", {"a": 2, "b": 3})], trace)
    assert verified is True
    assert [(answer.ok, answer.detail) for answer in answers] == [(True, ""), (True, "")]


def test_one_failing_check_decides_even_beside_an_unknown_one(trace):
    verified, answers = verify([lambda trace: None, AnswerContains("6")], trace)
    assert verified is False
    assert [answer.ok for answer in answers] == [None, False]


def test_an_unknown_answer_leaves_the_task_unverified(trace):
    assert verify([AnswerContains("5"), lambda trace: None], trace)[0] is None


def test_a_check_that_raises_is_unknown_and_says_why(trace):
    def broken(trace):
        raise RuntimeError("the shop is closed")

    assert verify([broken], trace)[1] == [
        Evidence(check="broken", ok=None, detail="the check itself failed: RuntimeError: the shop is closed")
    ]


def test_a_missing_answer_is_said_to_be_missing():
    answer = AnswerContains("5")(Trace())
    assert (answer.ok, answer.detail) == (False, "there is no answer")


@pytest.mark.parametrize(
    ("check", "detail"),
    [
        (ToolSucceeded("multiply"), "it was never called"),
        (ToolSucceeded("get_order"), "it gave only errors"),
        (ToolSucceeded("add", {"a": 1}), "it was never called with these arguments"),
    ],
)
def test_a_tool_that_did_not_succeed_is_told_apart(trace, check, detail):
    answer = check(trace)
    assert (answer.ok, answer.detail) == (False, detail)


def test_a_file_is_looked_at_when_the_check_is_asked(trace, tmp_path):
    check = FileContains(tmp_path / "report.txt", "total 5")
    assert check(trace).ok is False
    (tmp_path / "report.txt").write_text("the total 5 is right", encoding="utf-8")
    assert check(trace).ok is True
    assert FileContains(tmp_path / "report.txt")(trace).check == "the file report.txt exists"


def test_a_file_that_is_no_text_is_unknown_not_a_crash(trace, tmp_path):
    (tmp_path / "image").write_bytes(b"\xff\xfe\xff")
    verified, answers = verify([FileContains(tmp_path / "image", "x")], trace)
    assert verified is None and "UnicodeDecodeError" in answers[0].detail


def test_a_claim_of_a_call_that_was_never_made_does_not_pass_for_done(go):
    result = go(["I used the act tool and it returned 42."])
    assert result.reason == "final"
    assert result.trace.outcome.verified is False
    assert [note["kind"] for note in result.trace.notes] == ["claimed_call"]


def test_an_answer_about_a_call_that_was_made_passes(go):
    result = go([[ToolCall("c1", "act", {})], "I used the act tool and it returned nothing."])
    assert result.trace.outcome.verified is None
    assert result.trace.notes == []


def test_evidence_is_a_field_of_its_own(go):
    result = go(
        ["The order is shipped."], evidence=[lambda trace: "shipped" in trace.outcome.final, lambda trace: False]
    )
    assert result.reason == "final"
    assert result.trace.outcome.verified is False
    assert [item.ok for item in result.trace.outcome.evidence] == [True, False]
