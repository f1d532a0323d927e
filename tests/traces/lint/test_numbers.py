"""Times and tokens that are far from the rest, the cache, secrets, and habits."""

from __future__ import annotations

from typing import Any

import pytest

from agent import FakeModel, Intervention, Loop, Tool, ToolCall
from agent.context import ContextBudget
from agent.messages import Message
from agent.trace import Edit, Request, Trace, TraceStep
from tests.traces.lint.talk import asks, call, found, names, result, says, talk, used, user
from traces.lint import Severity, lint

SECRET = "sk-proj-" + "a1B2c3D4" * 5


def steps(count: int, **numbers: Any) -> list[dict[str, Any]]:
    return [
        message
        for n in range(count)
        for message in (
            {**asks(call("look", at=n)), **{key: value[n] for key, value in numbers.items()}},
            result(f"seen {n}"),
        )
    ]


def test_a_model_call_far_slower_than_the_others() -> None:
    latency = [900.0, 1100.0, 1000.0, 950.0, 30_000.0, 1050.0, 1000.0, 990.0, 1010.0]
    (finding,) = found(talk(user("go"), *steps(9, _latency_ms=latency), says("ok")), "latency_outlier")
    assert (finding.step, finding.severity) == (5, Severity.NOTE)


def test_seven_calls_are_too_few_to_say_so() -> None:
    assert names(talk(user("go"), *steps(7, _latency_ms=[1000.0] * 6 + [30_000.0]), says("ok"))) == []


def test_a_long_answer_may_take_long() -> None:
    latency, usage = [1000.0] * 8 + [30_000.0], [used(100, 20)] * 8 + [used(100, 600)]
    assert names(talk(user("go"), *steps(9, _latency_ms=latency, _usage=usage))) == []


def test_time_that_goes_backwards() -> None:
    first, second = "2026-01-01T10:00:00Z", "2026-01-01T09:00:00Z"
    trace = talk({**user("go"), "_at": first}, {**says("ok"), "_at": second})
    (finding,) = found(trace, "time_backwards")
    assert (finding.message, finding.evidence, finding.facts["seconds"]) == (1, (0, 1), 3600)


def test_many_messages_out_of_order_are_one_finding() -> None:
    messages = [{**user(str(n)), "_at": f"2026-01-01T10:{59 - n:02d}:00Z"} for n in range(20)]
    (finding,) = found(talk(*messages), "time_backwards")
    assert len(finding.evidence) == 19


def test_results_of_calls_that_ran_at_once_may_come_in_any_order() -> None:
    trace = talk(
        {**user("go"), "_at": "2026-01-01T10:00:00Z"},
        {**asks(call("a", "1"), call("b", "2")), "_at": "2026-01-01T10:00:01Z"},
        {**result("x", "1"), "_at": "2026-01-01T10:00:20Z"},
        {**result("y", "2"), "_at": "2026-01-01T10:00:05Z"},
        {**says("ok"), "_at": "2026-01-01T10:00:30Z"},
    )
    assert names(trace) == []


def test_a_result_that_makes_the_prompt_jump() -> None:
    usage = [used(500), used(900), used(40_900)]
    messages = steps(3, _usage=usage)
    messages[3]["content"] = "line of a log\n" * 8000
    (finding,) = found(talk(user("go"), *messages, {**says("ok"), "_usage": used(41_000)}), "token_jump")
    assert (finding.message, finding.step) == (4, 3)
    assert finding.cost_tokens == 2 * 40_000


def test_calls_without_usage_beside_calls_with_usage() -> None:
    (finding,) = found(
        talk(user("go"), {**asks(call("a")), "_usage": used(10)}, result("x"), says("x")), "usage_missing"
    )
    assert finding.facts == {"count": 1, "all": 2}


def test_no_usage_at_all_is_no_finding() -> None:
    assert names(talk(user("go"), asks(call("a")), result("x"), says("x"))) == []


def test_a_secret_is_found_and_never_shown() -> None:
    trace = talk(user(f"my key is {SECRET}"), asks(call("login", api_key=SECRET)), result("ok"), says("ok"))
    findings = found(trace, "secret")
    assert [finding.message for finding in findings] == [0, 1]
    assert all(SECRET[:12] not in str(finding.to_dict()) for finding in findings)


def test_what_was_redacted_before_is_no_secret() -> None:
    assert names(talk(user("api_key=[redacted: api_key] is set"), says("ok"))) == []


# ---- the cache ----


def native(edits: list[list[Edit]], *, prompts: tuple[int, ...] = (), cached: tuple[int, ...] = ()) -> Trace:
    """A run of ours with one step for each list of edits."""
    trace = Trace()
    trace.add(Message("system", "You are a careful helper who counts."), "code")
    trace.add(Message("user", "Count to ten and say every number. " * 20), "user")
    for number, changes in enumerate(edits, 1):
        upto = len(trace.messages)
        reply = trace.add(Message("assistant", f"Number {number}."), "model", number)
        step = TraceStep(index=number, reply=reply, request=Request(upto=upto, edits=changes))
        if prompts:
            step.usage = used(prompts[number - 1], 10, cached[number - 1] if cached else None)
        trace.steps.append(step)
        trace.add(Message("user", "Go on."), "user")
    return trace


def replaced(position: int, role: str, text: str, by: str = "edit") -> Edit:
    return Edit(op="replace", message=position, by=by, with_={"role": role, "content": text})


def test_another_system_text_loses_the_whole_cache() -> None:
    (finding,) = found(native([[], [replaced(0, "system", "Now it is 10:05.")]]), "prefix_changed")
    assert "another system text" in finding.sentence
    assert finding.step == 2
    assert (finding.cost_tokens or 0) > 100


def test_a_changed_message_loses_what_stands_after_it() -> None:
    same = [replaced(1, "user", "Count.", by="blank")]
    (finding,) = found(native([[], same, same]), "prefix_changed")
    assert finding.sentence == "The request of step 2 differs from the one before at message 2: changed by blank."


def test_what_the_context_budget_leaves_out_is_told() -> None:
    (finding,) = found(native([[], [Edit(op="drop", message=1, by="context")]]), "prefix_changed")
    assert "context budget" in finding.sentence


def test_an_edit_at_the_end_changes_no_prefix() -> None:
    added = {"role": "user", "content": "Hurry."}
    assert names(native([[], [Edit(op="insert", message=4, by="nudge", with_=added)]])) == []


def test_a_cache_that_was_used_in_spite_of_it_was_not_lost() -> None:
    edits = [[], [replaced(1, "user", "x")]]
    assert names(native(edits, prompts=(5000, 5100), cached=(0, 5000))) == []


def test_a_cache_that_is_lost_after_a_pause() -> None:
    numbers = {
        "_usage": [used(5000, 10, 4900), used(5200, 10, 0)],
        "_started": ["2026-01-01T10:00:00Z", "2026-01-01T10:20:00Z"],
    }
    (finding,) = found(talk(user("go"), *steps(2, **numbers)), "cache_lost")
    assert finding.sentence.endswith("20 minutes lie between them.")
    assert (finding.cost_tokens, finding.step) == (5000, 2)


def test_a_cache_that_works_is_no_finding() -> None:
    usage = [used(5000, 10, 0), used(5200, 10, 4900), used(5400, 10, 5100)]
    assert names(talk(user("go"), *steps(3, _usage=usage))) == []


# ---- habits ----


def test_tool_results_in_user_messages_are_one_finding() -> None:
    trace = talk(
        user("go"), says("Action: ls"), user("Observation: a.txt"), says("ok"), user("Observation: b"), says("b")
    )
    (finding,) = found(trace, "result_in_user_message")
    assert (finding.message, finding.evidence) == (2, (2, 4))


def test_a_run_without_a_step_limit() -> None:
    loop = Loop(FakeModel(["hello"]), max_steps=None)
    loop.start("go")
    loop.finish()
    assert names(loop.trace) == ["no_step_limit"]


def test_a_step_limit_that_an_intervention_took_away_is_no_habit() -> None:
    loop = Loop(FakeModel(["hello"]), max_steps=3, interventions=[Intervention("no_step_limit")])
    loop.start("go")
    loop.finish()
    assert loop.trace.config["max_steps"] is None
    assert names(loop.trace) == []


def test_a_run_with_a_step_limit_is_sound() -> None:
    loop = Loop(FakeModel(["hello"]), max_steps=3)
    loop.start("go")
    loop.finish()
    assert names(loop.trace) == []


@pytest.mark.parametrize("question", ["Are you done?", "Is the task complete?", "任务完成了吗？"])
def test_the_model_is_asked_whether_it_is_done(question: str) -> None:
    (finding,) = found(talk(user("go"), says("Here it is."), user(question), says("Yes.")), "asks_if_done")
    assert finding.message == 2


def test_a_user_who_asks_for_something_else_is_none() -> None:
    assert names(talk(user("go"), says("Here it is."), user("Is the shop open today?"), says("Yes."))) == []


def read(part: int) -> str:
    return f"part {part}: " + "many words of a long log " * 200


def test_a_budget_that_makes_the_model_ask_again() -> None:
    calls = [[ToolCall("c", "read", {"part": part})] for part in (1, 2, 3, 4, 1)]
    tools = [Tool(name="read", description="", parameters={"type": "object"}, func=read)]
    loop = Loop(FakeModel([*calls, "done"]), tools, context=ContextBudget(1500, summarise=False))
    loop.start("go")
    loop.finish()
    assert [finding.step for finding in found(loop.trace, "asked_again")] == [5]
    assert found(loop.trace, "left_out_silently") == []


def test_results_that_are_left_out_without_a_word() -> None:
    trace = talk(user("go"), asks(call("a", x=1)), result("1"), asks(call("a", x=2)), result("2"), says("1 and 2"))
    for step in trace.steps:
        step.request = Request(upto=step.reply or 0)
    trace.steps[-1].request = Request(upto=5, edits=[Edit(op="drop", message=1, by="context", count=2)])
    (finding,) = found(trace, "left_out_silently")
    assert (finding.step, finding.evidence) == (3, (2,))


def test_findings_come_in_the_order_of_the_messages() -> None:
    trace = talk(user("go"), result("1", "x"), says(""), user("again"), result("2", "y"), says("ok"))
    assert [finding.message for finding in lint(trace)] == [1, 2, 4]
