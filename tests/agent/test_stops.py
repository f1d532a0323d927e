"""Every stop reason: a script that provokes it, and one beside it that must not."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable

import pytest

from agent import (
    CapabilityPolicy,
    Decision,
    FakeModel,
    Intervention,
    JsonActionModel,
    Limits,
    Loop,
    Message,
    ModelError,
    ModelReply,
    RunResult,
    StopReason,
    Tool,
    ToolCall,
    Usage,
    run,
)
from agent.context import ContextBudget
from agent.limits import HARD_CAP
from agent.protocol import violations

ANY = {"type": "object"}


def call(name: str = "act", /, **arguments: object) -> list[ToolCall]:
    return [ToolCall("c1", name, arguments)]


GUARDS = {"limits": Limits.guarded(), "max_steps": 30}


def test_the_list_of_reasons_is_closed() -> None:
    assert {str(reason) for reason in StopReason} == {
        *("final", "max_iterations", "repeated_call", "consecutive_errors", "truncated", "empty_answer", "refused"),
        *("deadline", "token_budget", "cost_budget", "context_overflow", "model_error", "script_exhausted"),
        *("unknown_action", "stopped_by_user", "rejected_by_user"),
    }


# ---- max_iterations ----


def test_max_iterations_makes_exactly_that_many_calls(go: Callable[..., RunResult]) -> None:
    result = go([call()] * 9, max_steps=3)
    assert result.reason == "max_iterations"
    assert len(result.trace.steps) == 3
    assert "3 steps" in result.steps[-1].detail


def test_an_answer_within_the_limit_is_final(go: Callable[..., RunResult]) -> None:
    assert go([call(), call(), "done"], max_steps=3).reason == "final"


def test_parallel_calls_are_one_step(go: Callable[..., RunResult]) -> None:
    six = [ToolCall(f"c{n}", "act", {"n": n}) for n in range(6)]
    assert go([six, "done"], max_steps=2).reason == "final"


def test_without_a_limit_a_hard_cap_holds(go: Callable[..., RunResult]) -> None:
    result = go([call()] * (HARD_CAP + 5), max_steps=None)
    assert result.reason == "max_iterations"
    assert len(result.trace.steps) == HARD_CAP
    assert "hard cap" in result.steps[-1].detail


# ---- repeated_call ----


def test_the_third_equal_call_with_an_equal_outcome_stops(go: Callable[..., RunResult]) -> None:
    result = go([call(cmd="noop")] * 9, **GUARDS)
    assert (result.reason, len(result.trace.steps)) == ("repeated_call", 3)
    assert "act" in result.steps[-1].detail
    assert "3 times" in result.steps[-1].detail


def test_a_cosmetic_argument_does_not_make_it_another_call(go: Callable[..., RunResult]) -> None:
    turns = [call(cmd="ls", description=f"look number {n}") for n in range(9)]
    assert go(turns, **GUARDS).reason == "repeated_call"


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


# ---- consecutive_errors ----


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


# ---- what the reply holds ----


def reply(content: str | None, finish: str | None = "stop", *calls: ToolCall, **extra: object) -> ModelReply:
    return ModelReply(Message("assistant", content, calls, extra=extra), finish_reason=finish)


def test_a_cut_off_answer_is_not_an_answer(go: Callable[..., RunResult]) -> None:
    result = go([reply("The capital of", "length")])
    assert (result.reason, result.final) == ("truncated", "")
    assert result.trace.outcome.fallback == "The capital of"


def test_a_call_cut_off_in_its_arguments_is_answered_and_stops(
    make_tool: Callable[..., Tool], go: Callable[..., RunResult]
) -> None:
    ran: list[object] = []
    cut = ToolCall("c1", "act", {}, text='{"city": "Os', problem="the arguments are not valid JSON")
    result = go([reply(None, "length", cut), "done"], make_tool(lambda **_: ran.append(1)))
    assert result.reason == "truncated"
    assert not ran
    assert "error" in json.loads(result.messages[-1].text)


def test_broken_arguments_without_a_cut_go_back_to_the_model(go: Callable[..., RunResult]) -> None:
    broken = ToolCall("c1", "act", {}, text='{"a":1}{"a":2}', problem="more than one object")
    result = go([reply(None, "tool_calls", broken), "done"])
    assert result.reason == "final"
    assert '{\\"a\\":1}' in result.messages[2].text or '{"a":1}' in result.messages[2].text


@pytest.mark.parametrize("text", [None, "", "  \n", "<think>only a thought</think>"])
def test_an_empty_answer_is_never_a_success(go: Callable[..., RunResult], text: str | None) -> None:
    result = go([call(), reply(text)])
    assert (result.reason, result.final) == ("empty_answer", "")


def test_reasoning_alone_is_an_empty_answer(go: Callable[..., RunResult]) -> None:
    assert go([reply("", reasoning_content="hmm")]).reason == "empty_answer"


def test_a_finish_reason_tool_calls_without_calls_is_empty_not_asked_again(go: Callable[..., RunResult]) -> None:
    result = go([reply(None, "tool_calls")] * 9)
    assert (result.reason, len(result.trace.steps)) == ("empty_answer", 1)


def test_the_text_beside_the_last_call_is_kept_as_a_fallback(go: Callable[..., RunResult]) -> None:
    save = Message("assistant", "Here is the report.", (ToolCall("c1", "act", {}),))
    result = go([ModelReply(save), reply("")])
    assert (result.reason, result.final) == ("empty_answer", "")
    assert result.trace.outcome.fallback == "Here is the report."


def test_a_nudge_is_one_visible_message_and_off_by_default(go: Callable[..., RunResult]) -> None:
    result = go([reply(""), "better now"], limits=Limits(nudges=1))
    assert (result.reason, result.final) == ("final", "better now")
    assert [message.role for message in result.messages] == ["user", "assistant", "user", "assistant"]
    assert result.trace.entries[2].maker == "code"
    assert go([reply(""), reply(""), "too late"], limits=Limits(nudges=1)).reason == "empty_answer"


def test_only_one_final_event_comes_out_of_a_nudged_run() -> None:
    loop = Loop(FakeModel([reply(""), "ok"]), limits=Limits(nudges=1))
    ends = [event.type for event in loop.events("go") if event.type in ("turn.completed", "turn.failed")]
    assert ends == ["turn.completed"]


@pytest.mark.parametrize(
    "refusal",
    [reply(None, "stop", refusal="I can't help"), reply("", "stop", refusal="no"), reply("", "content_filter")],
)
def test_a_refusal_is_told_and_not_retried(go: Callable[..., RunResult], refusal: ModelReply) -> None:
    result = go([refusal, "never said"])
    assert (result.reason, len(result.trace.steps)) == ("refused", 1)
    assert result.trace.outcome.detail


def test_presence_of_calls_decides_not_the_finish_reason(go: Callable[..., RunResult]) -> None:
    for finish in ("stop", "", None, "function_call"):
        assert go([reply("", finish, ToolCall("c1", "act", {})), "done"]).reason == "final"


def test_a_thought_at_the_head_is_not_part_of_the_answer(go: Callable[..., RunResult]) -> None:
    assert go([reply("<think>easy</think>It is 4.")]).final == "It is 4."


# ---- budgets ----


def used(prompt: int | None, completion: int | None, **more: object) -> Usage:
    return Usage(prompt, completion, **more)


def spend(*turns: object, usage: Usage | None, cost: float | None = None) -> list[ModelReply]:
    return [
        ModelReply(Message("assistant", turn if isinstance(turn, str) else None, () if isinstance(turn, str) else turn),
                   usage=usage, cost=cost)
        for turn in turns
    ]  # fmt: skip


def test_the_token_budget_counts_all_calls(go: Callable[..., RunResult]) -> None:
    turns = spend(*[call(n=n) for n in range(9)], "done", usage=used(30, 10))
    result = go(turns, limits=Limits(total_tokens=100), max_steps=20)
    assert (result.reason, len(result.trace.steps)) == ("token_budget", 3)
    assert "120 of 100" in result.steps[-1].detail


def test_unknown_usage_is_estimated_and_said_so(go: Callable[..., RunResult]) -> None:
    long = [call(text="word " * 30, n=n) for n in range(20)]
    for usage in (None, used(10, None)):
        result = go(spend(*long, "done", usage=usage), limits=Limits(total_tokens=300), max_steps=30)
        assert result.reason == "token_budget"
        assert "about" in result.steps[-1].detail
        assert all(step.usage and step.usage.estimated for step in result.trace.steps)


def test_without_a_budget_unknown_stays_unknown(go: Callable[..., RunResult]) -> None:
    assert all(step.usage is None for step in go([call(), "done"]).trace.steps)


def test_an_answer_inside_the_token_budget_is_final(go: Callable[..., RunResult]) -> None:
    assert go(spend(call(), "done", usage=used(30, 10)), limits=Limits(total_tokens=100)).reason == "final"


def test_the_cost_budget_counts_what_the_provider_reports(go: Callable[..., RunResult]) -> None:
    turns = spend(*[call(n=n) for n in range(9)], "done", usage=None, cost=0.01)
    result = go(turns, limits=Limits(cost=0.025), max_steps=20)
    assert (result.reason, len(result.trace.steps)) == ("cost_budget", 3)
    unpriced = spend(call(), call(n=2), "done", usage=None)
    assert go(unpriced, limits=Limits(cost=0.001)).reason == "final"


def test_the_deadline_counts_active_time_only(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel([call(), call(n=2), "done"]), [make_tool()], limits=Limits(deadline_s=0.2))
    loop.start("go")
    loop.advance()
    time.sleep(0.3)
    loop.finish()
    assert loop.stop_reason == "final"


def test_the_deadline_stops_a_slow_run(make_tool: Callable[..., Tool], go: Callable[..., RunResult]) -> None:
    result = go(
        [call(n=n) for n in range(50)],
        make_tool(lambda n: time.sleep(0.05)),
        limits=Limits(deadline_s=0.12),
        max_steps=50,
    )
    assert result.reason == "deadline"
    assert len(result.trace.steps) < 10


def test_a_wall_clock_that_jumps_back_changes_no_duration(
    go: Callable[..., RunResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, offset = time.time_ns, itertools.count(0, -240_000_000_000)
    monkeypatch.setattr(time, "time_ns", lambda: real() + next(offset))
    result = go([call(n=n) for n in range(5)] + ["done"], limits=Limits(deadline_s=5))
    assert result.reason == "final"
    assert all(step.latency_ms is not None and 0 <= step.latency_ms < 1000 for step in result.trace.steps)


# ---- failures of the model ----


def test_a_model_error_ends_the_run_with_the_providers_words(go: Callable[..., RunResult]) -> None:
    result = go([call(), ModelError("503: the model is overloaded", status=503)])
    assert result.reason == "model_error"
    assert "overloaded" in result.steps[-1].detail


def test_any_exception_of_a_model_ends_the_run_and_hides_secrets(go: Callable[..., RunResult]) -> None:
    result = go([RuntimeError("bad key sk-abcdefghijklmnop1234567890")])
    assert result.reason == "model_error"
    assert "sk-abcdefghijklmnop1234567890" not in json.dumps(result.trace.to_dict())


def test_context_overflow_without_a_budget_ends_the_run(go: Callable[..., RunResult]) -> None:
    result = go([ModelError("prompt has 9000 tokens, the window 4096", kind="context_overflow")])
    assert result.reason == "context_overflow"
    assert "9000" in result.steps[-1].detail


def test_context_overflow_with_a_budget_is_tried_once_more_with_less(
    make_tool: Callable[..., Tool], go: Callable[..., RunResult]
) -> None:
    turns = [call(n=1), call(n=2), ModelError("too long", kind="context_overflow"), "done"]
    big = make_tool(lambda n: f"{n} " * 300)
    result = go(turns, big, context=ContextBudget(5000))
    assert result.reason == "final"
    assert len(result.trace.steps) == 3, "the refused attempt is not a step of its own"
    again = [*turns[:3], ModelError("too long", kind="context_overflow")]
    assert go(again, big, context=ContextBudget(5000)).reason == "context_overflow"


# ---- people ----


def test_a_user_can_stop_between_two_phases(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel([call(), "done"]), [make_tool()])
    loop.start("go")
    while loop.phase != "execute":
        loop.advance()
    loop.stop()
    loop.advance()
    assert (loop.stop_reason, loop.phase) == ("stopped_by_user", None)
    assert violations(loop.messages) == []


def test_rejecting_with_stop_ends_the_run(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel([call(), "done"]), [make_tool()], policy=CapabilityPolicy(ask=["act"]))
    loop.start("go")
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.reject("too dangerous", stop=True))
    loop.finish()
    assert loop.stop_reason == "rejected_by_user"
    assert "too dangerous" in loop.messages[-1].text


def test_a_rejection_alone_goes_back_to_the_model(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel([call(), "done"]), [make_tool()], policy=CapabilityPolicy(ask=["act"]))
    loop.start("go")
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.reject("not now"))
    loop.finish()
    assert loop.stop_reason == "final"


def test_an_unknown_action_is_only_a_matter_of_the_json_protocol(
    make_tool: Callable[..., Tool], go: Callable[..., RunResult]
) -> None:
    said = '{"action": "dance"}'
    assert run(JsonActionModel(FakeModel([said])), [make_tool()], "go").reason == "unknown_action"
    assert go([said]).reason == "final"


# ---- going on after a stop ----


def test_a_limit_can_be_extended_and_the_same_run_goes_on(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel([call(n=n) for n in range(6)] + ["done"]), [make_tool()], max_steps=3)
    loop.start("go")
    loop.finish()
    assert loop.stop_reason == "max_iterations"
    loop.extend(max_steps=6)
    loop.finish()
    assert (loop.stop_reason, len(loop.trace.steps)) == ("max_iterations", 6)
    loop.extend(max_steps=2)
    loop.finish()
    assert (loop.stop_reason, len(loop.trace.steps)) == ("max_iterations", 6)
    loop.extend(max_steps=9)
    loop.finish()
    assert (loop.stop_reason, loop.trace.outcome.final) == ("final", "done")


def test_a_resumed_run_takes_new_limits(make_tool: Callable[..., Tool]) -> None:
    model, tools = FakeModel([call(n=n) for n in range(6)] + ["done"]), [make_tool()]
    first = Loop(model, tools, max_steps=3)
    first.start("go")
    first.finish()
    more = Loop.resume(first.snapshot(), model=model, tools=tools, max_steps=6)
    more.finish()
    assert (more.stop_reason, len(more.trace.steps)) == ("max_iterations", 6)
    less = Loop.resume(first.snapshot(), model=model, tools=tools, max_steps=2)
    less.finish()
    assert (less.stop_reason, len(less.trace.steps)) == ("max_iterations", 3)


def test_a_failed_call_can_be_tried_again(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel([call(), ModelError("503"), "done"]), [make_tool()])
    loop.start("go")
    loop.finish()
    assert loop.stop_reason == "model_error"
    loop.extend()
    loop.finish()
    assert loop.stop_reason == "final"


def test_the_guards_begin_anew_after_an_extension(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel([call()] * 5 + ["done"]), [make_tool()], limits=Limits.guarded())
    loop.start("go")
    loop.finish()
    assert (loop.stop_reason, len(loop.trace.steps)) == ("repeated_call", 3)
    loop.extend()
    loop.finish()
    assert loop.stop_reason == "final"


def test_a_second_turn_goes_on_with_the_same_conversation_and_script(make_tool: Callable[..., Tool]) -> None:
    loop = Loop(FakeModel(["one", call(), "two"]), [make_tool()], max_steps=2)
    loop.start("first")
    loop.finish()
    loop.start("second")
    loop.finish()
    assert loop.trace.outcome.final == "two"
    assert [m.role for m in loop.messages] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert [step.index for step in loop.trace.steps] == [1, 2, 3]


# ---- stopping is not finishing ----


def test_a_claim_of_a_call_that_was_never_made_does_not_pass_for_done(go: Callable[..., RunResult]) -> None:
    result = go(["I used the act tool and it returned 42."])
    assert result.reason == "final"
    assert result.trace.outcome.verified is False
    assert [note["kind"] for note in result.trace.notes] == ["claimed_call"]


def test_an_answer_about_a_call_that_was_made_passes(go: Callable[..., RunResult]) -> None:
    result = go([call(), "I used the act tool and it returned nothing."])
    assert result.trace.outcome.verified is None
    assert result.trace.notes == []


def test_evidence_is_a_field_of_its_own(go: Callable[..., RunResult]) -> None:
    result = go(
        ["The order is shipped."], evidence=[lambda trace: "shipped" in trace.outcome.final, lambda trace: False]
    )
    assert result.reason == "final"
    assert result.trace.outcome.verified is False
    assert [item.ok for item in result.trace.outcome.evidence] == [True, False]


# ---- three ways to break it ----


def test_without_written_back_results_the_request_lacks_them_and_the_trace_shows_it(
    make_tool: Callable[..., Tool],
) -> None:
    seen: list[list[str]] = []

    class Watch(FakeModel):
        def complete(self, messages, tool_schemas, *, control=None):  # type: ignore[no-untyped-def]
            seen.append([message.role for message in messages])
            return super().complete(messages, tool_schemas, control=control)

    broken = Intervention("omit_results")
    result = run(Watch([call(), call(), "?"]), [make_tool("42")], "go", interventions=[broken], limits=Limits.guarded())
    assert seen[2] == ["user", "assistant", "assistant"]
    assert [message.role for message in result.messages].count("tool") == 2
    assert result.trace.steps[1].request.edits[0].by == "omit_results"  # type: ignore[union-attr]
    assert result.trace.interventions[0]["kind"] == "omit_results"
