"""What the model says: cut off, empty, past the result, past the error, or of calls that were never made."""

from __future__ import annotations

import pytest

from tests.traces.lint.talk import asks, call, found, names, result, says, talk, tool, user

WEATHER = [tool("get_weather", city="string")]


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_reply_that_was_cut_off(reason: str) -> None:
    trace = talk(user("go"), {**says("and so on and"), "_finish_reason": reason})
    assert names(trace) == ["cut_off_reply"]


def test_an_empty_answer_and_one_that_is_nothing_but_thoughts() -> None:
    assert names(talk(user("go"), says(""))) == ["empty_answer"]
    assert names(talk(user("go"), says("<think>hm</think>"))) == ["empty_answer"]


def test_a_cut_off_answer_is_not_also_an_empty_one() -> None:
    assert names(talk(user("go"), {**says(""), "_finish_reason": "length"})) == ["cut_off_reply"]


def test_an_answer_with_another_number_than_the_result() -> None:
    trace = talk(user("Add 17 and 25."), asks(call("add", a=17, b=25)), result("42"), says("The sum is 43."))
    (finding,) = found(trace, "result_ignored")
    assert (finding.message, finding.evidence, finding.cost_calls) == (3, (2, 3), 1)
    assert finding.sentence == "add gave 42, but the answer in message 4 says another number."


@pytest.mark.parametrize("answer", ["The sum is 42.", "17 + 25 = 42", "It is 17 and 25 added.", "Forty-two.", "42.0"])
def test_an_answer_that_may_rest_on_the_result(answer: str) -> None:
    assert names(talk(user("Add 17 and 25."), asks(call("add", a=17, b=25)), result("42"), says(answer))) == []


@pytest.mark.parametrize("answer", ["I don't have access to real-time data.", "作为AI，我无法获取实时天气。"])
def test_an_answer_that_cannot_know_what_the_tool_just_said(answer: str) -> None:
    trace = talk(user("Weather?"), asks(call("get_weather", city="Rome")), result("sunny"), says(answer))
    assert names(trace) == ["result_ignored"]


def test_an_error_that_the_answer_passes_over() -> None:
    trace = talk(
        user("Delete it."), asks(call("delete", id=3)), result('{"error": "locked"}'), says("Done, it is gone.")
    )
    (finding,) = found(trace, "swallowed_error")
    assert finding.evidence == (2, 3)


@pytest.mark.parametrize(
    "answer",
    [
        "I have called get_weather for Berlin. It is sunny.",
        "我已经调用了 get_weather 工具。",
        "I've searched the web for you: it is sunny.",
        "I have saved the forecast to weather.txt.",
        "我已经搜索了相关资料，天气晴朗。",
        "我已将结果保存到文件中。",
        "I ran the tests and everything passes.",
    ],
)
def test_a_call_that_is_claimed_and_was_never_made(answer: str) -> None:
    (finding,) = found(talk(user("go"), says(answer), tools=WEATHER), "claimed_call")
    assert finding.message == 1


@pytest.mark.parametrize(
    "answer",
    [
        "I can search the web for you if you like.",
        "You should save the result to a file.",
        "I have not run the tests.",
        "Shall I send the email?",
        "我可以搜索一下吗？",
        "The search found nothing.",
    ],
)
def test_what_is_no_claim(answer: str) -> None:
    assert names(talk(user("go"), says(answer), tools=WEATHER)) == []


def test_a_claim_that_another_tool_may_have_made_true() -> None:
    trace = talk(user("go"), asks(call("bash", command="pytest")), result("4 passed"), says("I ran the tests: 4 pass."))
    assert names(trace) == []


def test_what_was_done_in_an_earlier_turn_is_no_false_claim() -> None:
    trace = talk(
        user("go"), asks(call("web_search", q="x")), result("sunny"), says("Sunny."), user("How do you know?"),
        says("I searched the web."),
    )  # fmt: skip
    assert names(trace) == []


def test_a_reply_that_makes_up_its_own_observation() -> None:
    text = 'Thought: look\nAction: search\nAction Input: "x"\nObservation: it is sunny\nFinal Answer: sunny'
    assert names(talk(user("go"), says(text))) == ["several_steps_in_one_reply"]


def test_an_example_of_such_a_reply_is_none() -> None:
    text = "A ReAct agent writes:\n```\nAction: search\nObservation: it is sunny\n```\nThat is all."
    assert names(talk(user("go"), says(text))) == []
