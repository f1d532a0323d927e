"""The many ways in which the same fault is worded: in English and in Chinese, as text and as JSON."""

from __future__ import annotations

import pytest

from tests.traces.lint.talk import asks, call, found, names, result, says, talk, tool, used, user
from traces.lint import lint

TOOLS = [tool("get_weather", city="string"), tool("send_email", to="string"), tool("write_file", path="string")]
KEY = "sk-proj-" + "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize(
    "answer",
    [
        "I just checked with get_weather: sunny.",
        "Using get_weather, I found that it is sunny.",
        "Based on the tool results, it is sunny.",
        "I looked up the weather for you: sunny.",
        "I've created the file report.txt.",
        "I've deleted your old file.",
        "The email has been sent to Bob.",
        "Your reservation has been cancelled.",
        "我已经使用 get_weather 查询了天气，晴。",
        "通过调用get_weather，我得知今天晴。",
        "工具返回的结果显示今天晴。",
        "我已经帮你创建了文件 a.txt。",
        "已为您发送邮件给 Bob。",
        "邮件已发送。",
        "文件已保存到 report.txt。",
    ],
)
def test_a_claim_while_no_tool_was_called(answer: str) -> None:
    assert names(talk(user("go"), says(answer), tools=TOOLS)) == ["claimed_call"]
    acted = talk(user("go"), asks(call("get_weather", city="Rome")), result("sunny"), says(answer), tools=TOOLS)
    assert names(acted) == [], "a call may have made it true"


@pytest.mark.parametrize(
    "given",
    [
        "The tool get_weather returned: sunny",
        "Result of get_weather: sunny",
        "[get_weather result]: sunny",
        "工具返回结果：晴",
        "工具 get_weather 的结果：晴",
        '{"tool": "get_weather", "result": "sunny"}',
    ],
)
def test_a_result_in_a_user_message(given: str) -> None:
    trace = talk(user("go"), says("I look."), user(given), says("Sunny."), tools=TOOLS)
    assert names(trace) == ["result_in_user_message"]


@pytest.mark.parametrize("question", ["Is it done?", "完成了吗？", "你确定完成了吗？", "都做完了吗"])
def test_the_model_is_asked_whether_it_is_done(question: str) -> None:
    assert names(talk(user("go"), says("Here."), user(question), says("Yes."))) == ["asks_if_done"]


def test_actions_one_after_another() -> None:
    text = '{"action": "tool", "tool": "a", "params": {}}\n{"action": "final", "response": "done"}'
    (finding,) = lint(talk(user("go"), says(text)))
    assert finding.sentence == "Message 2 holds several actions, of which only one can be taken at a time."


@pytest.mark.parametrize(
    ("given", "answer"), [('{"result": 42}', "The sum is 43."), ("42", "结果是43。"), ('{"sum": 42.5}', "It is 17.")]
)
def test_an_answer_with_another_number(given: str, answer: str) -> None:
    trace = talk(user("add"), asks(call("add")), result(given), says(answer))
    assert names(trace) == ["result_ignored"]


def test_an_answer_that_cannot_look_it_up() -> None:
    trace = talk(user("?"), asks(call("look")), result("sunny"), says("I cannot access real-time weather data."))
    assert names(trace) == ["result_ignored"]


@pytest.mark.parametrize(
    "error",
    [
        "[Errno 2] No such file or directory: 'a'",
        '{"status": "error", "message": "no such file"}',
        '{"success": false, "message": "no such file"}',
        "Error at 2026-01-01T10:00:0{n}Z: no such file (request req_{n}, 1{n} ms)",
    ],
)
def test_the_same_error_in_words_of_its_own(error: str) -> None:
    asked = [
        message
        for n in range(3)
        for message in (asks(call("read", f"c{n}", path="a")), result(error.replace("{n}", str(n)), f"c{n}"))
    ]
    assert names(talk(user("go"), *asked, says("It could not be read."))) == ["same_error_retried"]


def test_no_finding_repeats_a_secret() -> None:
    failed = [m for n in "ab" for m in (asks(call("get_weather", n, city=[KEY])), result(f"Error: bad key {KEY}", n))]
    sum_of_it = talk(user("go"), *failed, says(f"I called send_email with {KEY}."), tools=TOOLS)
    assert {"same_error_retried", "arguments_not_schema", "claimed_call"} <= set(names(sum_of_it))
    assert not any("abcdefgh" in str(finding.to_dict()) for finding in lint(sum_of_it))


# -- files that do not hold everything -----------------------------------------------------------------------------


def test_a_log_that_begins_in_the_middle_holds_results_of_lost_calls() -> None:
    messages = result("found", "lost"), says("That is all."), result("again", "gone"), says("Still all.")
    (finding,) = found(talk(*messages, format="claude-code"), "orphan_result")
    assert finding.message == 2, "what comes after the model spoke answers nothing"
    assert len(found(talk(*messages), "orphan_result")) == 2, "a list as it was sent has no middle"


def test_a_session_that_was_interrupted_while_the_model_thought_has_no_empty_answer() -> None:
    thought = {"role": "assistant", "content": "", "reasoning_content": "Let me see."}
    assert names(talk(user("go"), thought, format="claude-code")) == []
    assert names(talk(user("go"), {**thought, "_finish_reason": "stop"}, format="claude-code")) == ["empty_answer"]
    assert names(talk(user("go"), thought)) == ["empty_answer"]
    hidden = {"role": "assistant", "content": None, "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}
    assert names(talk(user("go"), hidden, user("and"), says("Done."), format="codex-rollout")) == []


@pytest.mark.parametrize("end", ["…[trimmed]", "\n[...truncated for the report...]", "... (output omitted)"])
def test_arguments_that_the_file_cut_short_were_none_of_the_model(end: str) -> None:
    wrote = {"id": "c", "function": {"name": "write", "arguments": '{"text": "once upon a ' + end}}
    assert names(talk(user("go"), asks(wrote), result("ok"), says("Done."))) == []


def test_telemetry_without_words_is_no_run_of_empty_calls() -> None:
    step = asks(call("get_weather")), result("")
    quiet = talk(user(""), *step, *step, *step, says(""), tools=TOOLS)
    assert names(quiet) == []
    assert "arguments_not_schema" in names(talk(user("go"), *step, says("ok"), tools=TOOLS))


# -- jumps ---------------------------------------------------------------------------------------------------------


def test_a_jump_that_nothing_in_the_file_explains_blames_no_message() -> None:
    ends = {**says("ok"), "_usage": used(50_000)}
    trace = talk(user("go"), {**asks(call("look")), "_usage": used(5000)}, result("cut short"), ends)
    (finding,) = found(trace, "token_jump")
    assert finding.sentence.endswith("in step 2, and no message of the file explains it.")
    assert finding.message == 3


def test_steps_without_an_answer_count_as_requests_in_between() -> None:
    trace = talk(user("go"), *({**says(f"{n}"), "_usage": used(10_000 + 4_500 * n)} for n in range(6)))
    for step in trace.steps[1:-1]:
        step.reply = None
    assert found(trace, "token_jump") == []
