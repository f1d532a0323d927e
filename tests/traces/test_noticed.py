"""What noticed a fault is read off the records: with other guards and limits the same fault reads otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import (
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    Intervention,
    Limits,
    Loop,
    Message,
    ModelError,
    ModelReply,
    Tool,
    ToolCall,
    Trace,
)
from agent.faults import FAULTS, Fault
from agent.scripts import load_script, scenarios
from traces.noticed import CHECKS, Noticed, not_struck, noticed

QUICK = {"provider_429": {"wait_s": 0}, "tool_times_out": {"timeout_s": 0.02}}


def call(name: str = "act", /, number: int = 1, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", name, arguments)]


def act(answer: Any = "ok", name: str = "act", **options: Any) -> Tool:
    def func(**arguments: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Tool(name=name, description="", parameters={"type": "object"}, func=func, **options)


def struck(kind: str, turns: list[Any], tools: list[Tool] | None = None, **options: Any) -> tuple[Noticed, Loop]:
    """A run with one fault, played to its end, and what was noticed."""
    model = options.pop("model", None) or FakeModel(turns)
    loop = Loop(model, [act()] if tools is None else tools, **options)
    loop.start("go")
    loop.arm(Fault(kind, QUICK.get(kind, {})))
    while loop.phase is not None:
        loop.advance()
        for position, pending in enumerate(loop.run.pending if loop.waiting else ()):
            if pending.decision is None:
                loop.decide(position, Decision.run())
    (found,) = noticed(loop.trace)
    return found, loop


DENY = CapabilityPolicy(deny=["act"])


@pytest.mark.parametrize(
    ("kind", "options", "check"),
    [
        ("tool_raises", {}, "the runner of tools"),
        ("tool_raises", {"tools": [act(timeout=1)]}, "the runner of tools"),
        ("tool_times_out", {}, "the time limit of the tool"),
        ("tool_returns_nothing", {}, None),
        ("tool_returns_too_much", {}, None),
        (
            "tool_returns_too_much",
            {"context": ContextBudget(100_000, max_result_tokens=200)},
            "the cap on long results",
        ),
        ("malformed_arguments", {}, "the check of the arguments"),
        ("malformed_arguments", {"policy": DENY}, "the permission check"),
        ("unknown_tool", {}, "the list of tools"),
        ("repeated_calls", {}, None),
        ("repeated_calls", {"limits": Limits.guarded()}, "the guard against repeated calls"),
        ("repeated_calls", {"limits": Limits.guarded(repeated_calls=5)}, None),
        ("repeated_calls", {"tools": [act(idempotent=False)]}, "the check for equal calls in one reply"),
        ("repeated_calls", {"limits": Limits(calls_per_step=1)}, "the limit of calls in one reply"),
        ("cut_off_reply", {}, "the stop rule for cut-off replies"),
        ("claimed_tool_call", {}, "the search for claimed calls"),
        ("provider_429", {}, "the retry of the model call"),
        ("provider_500", {}, "the handling of failed model calls"),
        ("wrong_call_id", {}, "the outgoing check"),
        ("wrong_call_id", {"interventions": [Intervention("omit_results")]}, None),
        ("wrong_call_id", {"max_steps": 1}, None),
        ("results_not_written_back", {}, None),
        ("limit_removed", {}, None),
        ("permission_check_removed", {}, None),
    ],
)
def test_the_same_fault_is_noticed_by_what_is_there_to_notice_it(
    kind: str, options: dict[str, Any], check: str | None
) -> None:
    found, _ = struck(kind, [call(n=1), "done"], **options)
    assert (found.fault, found.step, found.check) == (kind, 1, check)
    assert found.did


def test_a_batch_is_cut_off_in_its_last_call_alone() -> None:
    found, loop = struck("cut_off_reply", [[*call(n=1), *call(number=2, n=2)], "done"])
    assert (found.check, loop.stop_reason) == ("the check of the arguments", "final")


@pytest.mark.parametrize(("limits", "ended"), [(Limits.guarded(failing_steps=1), True), (Limits(), False)])
def test_the_guard_that_ended_the_run_is_told_beside_the_check(limits: Limits, ended: bool) -> None:
    found, _ = struck("tool_raises", [call(), "done"], limits=limits)
    assert found.check == "the runner of tools"
    assert ("the run ended: consecutive_errors" in found.did) is ended


def test_a_claim_about_a_tool_that_was_called_before_is_noticed_by_nobody() -> None:
    loop = Loop(FakeModel([call(), call(), "done"]), [act()])
    loop.start("go")
    while len(loop.trace.steps) < 1 or loop.phase != "prepare":
        loop.advance()
    loop.arm(Fault("claimed_tool_call"))
    loop.finish()
    (found,) = noticed(loop.trace)
    assert (found.step, found.check, found.did) == (2, None, ("the text was taken for the final answer",))


def test_a_result_that_left_the_request_again_was_noticed_by_the_budget() -> None:
    budget = ContextBudget(16_000, max_result_tokens=100_000, summarise=False)
    found, loop = struck(
        "tool_returns_too_much", [call(n=1), call(n=2), "done"], [act("word " * 10_000)], context=budget
    )
    assert loop.stop_reason == "final"
    assert (found.check, found.did) == (
        "the context budget",
        ("the result was left out of the request of step 3",),
    )


def test_a_result_that_fits_into_no_request_ends_the_run() -> None:
    budget = ContextBudget(500, max_result_tokens=100_000, summarise=False)
    found, loop = struck("tool_returns_too_much", [call(), "done"], context=budget)
    assert loop.stop_reason == "context_overflow"
    assert (found.check, found.did) == ("the context budget", ("the message list no longer fitted, and the run ended",))


def test_a_wrong_id_reads_as_what_the_request_after_it_shows() -> None:
    found, _ = struck("wrong_call_id", [call(), "done"])
    assert "in the request of step 2 the tool message was left out" in found.did[0]
    found, _ = struck("wrong_call_id", [call(), "done"], max_steps=1)
    assert found.did == ("no further request was made",)


def test_a_failed_call_that_went_on_is_told_as_both() -> None:
    _, loop = struck("provider_500", [call(), "done"])
    loop.extend()
    loop.finish()
    (found,) = noticed(loop.trace)
    assert found.check == "the handling of failed model calls"
    assert found.did == ("the run ended: model_error", "a person let it go on, and the call was made again")


def test_a_failed_call_before_another_message_of_the_user_was_not_made_again() -> None:
    _, loop = struck("provider_500", [call(), "done"])
    loop.start("something else")
    loop.finish()
    (found,) = noticed(loop.trace)
    assert found.did == ("the run ended: model_error",)


def test_a_wait_that_led_to_no_answer_is_told_with_the_end_of_the_run() -> None:
    found, loop = struck("provider_429", [ModelError("The model server answered 401: no")])
    assert loop.stop_reason == "model_error"
    assert (found.check, found.did) == (
        "the retry of the model call",
        ("the loop waited for another attempt", "the run ended: model_error"),
    )


class Reads:
    """Asks for the same until it sees a result; a strict one refuses a request with an open call."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict

    def complete(self, messages: Any, tool_schemas: Any) -> ModelReply:
        if messages[-1].role == "tool":
            return ModelReply(Message("assistant", "it is 5"))
        if self.strict and messages[-1].tool_calls:
            raise ModelError("The model server answered 400: every tool call needs a result")
        return ModelReply(Message("assistant", None, tuple(call())))


@pytest.mark.parametrize(
    ("options", "check", "last"),
    [
        ({"limits": Limits.guarded()}, "the guard against repeated calls", "the run ended: repeated_call"),
        ({"max_steps": 4}, "the step limit", "the run ended: max_iterations"),
        ({"model": Reads(strict=True)}, "the model server", "the request of step 2 got no reply"),
    ],
)
def test_results_that_are_missing_are_noticed_by_what_the_model_then_does(
    options: dict[str, Any], check: str, last: str
) -> None:
    found, _ = struck("results_not_written_back", [], **{"model": Reads(), **options})
    assert (found.check, found.did[-1]) == (check, last)


def test_a_limit_that_ended_the_run_for_another_reason_did_not_notice_the_missing_results() -> None:
    found, loop = struck("results_not_written_back", [call(n=n) for n in range(9)], max_steps=3)
    assert loop.stop_reason == "max_iterations"
    assert (found.check, found.did) == (None, ("2 requests were sent without results",))


def test_how_far_a_run_went_without_its_limit() -> None:
    turns = [call(n=n) for n in range(200)]
    found, _ = struck("limit_removed", [*turns[:4], "done"], max_steps=3)
    assert (found.check, found.did) == (None, ("the run took 2 steps more than it was allowed before",))
    found, _ = struck("limit_removed", turns, max_steps=3)
    assert found.check == "the hard cap of steps"
    assert found.did == ("the run took 97 steps more than it was allowed before", "the run ended: max_iterations")


def test_the_steps_of_an_earlier_turn_do_not_count() -> None:
    loop = Loop(FakeModel([call(), "one", call(n=1), call(n=2), "two"]), [act()], max_steps=2)
    loop.start("first")
    loop.finish()
    loop.start("second")
    loop.arm(Fault("limit_removed"))
    loop.finish()
    (found,) = noticed(loop.trace)
    assert found.did == ("the run took 1 step more than it was allowed before",)


@pytest.mark.parametrize(
    ("policy", "did"),
    [
        (CapabilityPolicy(deny=["act"]), "act ran, which the policy denies"),
        (CapabilityPolicy(ask=["act"]), "act ran, for which a person should have been asked"),
        (CapabilityPolicy(deny=["other"]), "no tool ran that the policy would have stopped"),
        (None, "there was no policy before, so nothing changed"),
    ],
)
def test_what_ran_without_the_permission_check(policy: CapabilityPolicy | None, did: str) -> None:
    found, _ = struck("permission_check_removed", [call(), "done"], policy=policy)
    assert (found.check, found.did) == (None, (did,))


def test_a_trace_without_faults_has_nothing_to_notice() -> None:
    loop = Loop(FakeModel([call(), "done"]), [act()], interventions=[Intervention("omit_results")])
    loop.start("go")
    loop.finish()
    assert noticed(loop.trace) == []


def test_it_is_the_same_for_a_trace_that_was_saved_and_read() -> None:
    for kind in FAULTS:
        found, loop = struck(kind, [call(n=1), "done"])
        assert noticed(Trace.from_dict(loop.trace.to_dict())) == [found]


@pytest.mark.parametrize("kind", FAULTS)
def test_in_every_scenario_there_is_an_answer(kind: str) -> None:
    for info in scenarios():
        script = load_script(info.path)
        loop = script.loop(pace=0)
        loop.start(script.task)
        loop.arm(Fault(kind, QUICK.get(kind, {})))
        loop.finish()
        for found in noticed(loop.trace):
            assert found.check is None or found.check in CHECKS
            assert found.did
            assert "the records of this fault cannot be read" not in found.did


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None)
@given(
    kind=st.sampled_from(list(FAULTS)),
    params=JUNK | st.fixed_dictionaries(dict.fromkeys(("before", "call", "copies", "status"), JUNK)),
    step=st.integers(-1, 4),
    phase=JUNK,
    note=st.fixed_dictionaries({"kind": JUNK | st.just("turn"), "step": JUNK, "outcome": JUNK}),
)
def test_a_file_that_says_nonsense_about_a_fault_is_read_all_the_same(
    kind: str, params: Any, step: int, phase: Any, note: dict[str, Any]
) -> None:
    _, loop = struck("tool_returns_nothing", [call(n=1), "done"])
    strike = {"kind": kind, "params": params, "step": step, "phase": phase, "by": "user"}
    loop.trace.interventions = [strike]
    loop.trace.notes.append(note)
    (found,) = noticed(loop.trace)
    assert (found.fault, found.step) == (kind, step)


def test_a_fault_that_never_struck_is_told_when_the_run_is_over() -> None:
    loop = Loop(FakeModel(["done", call(), "done"]), [act()])
    loop.start("go")
    loop.arm(Fault("unknown_tool"))
    loop.arm(Fault("tool_raises"))
    assert not_struck(loop.trace) == []
    loop.finish()
    assert not_struck(Trace.from_dict(loop.trace.to_dict())) == ["unknown_tool", "tool_raises"]
    assert noticed(loop.trace) == []
    loop.start("again")
    assert not_struck(loop.trace) == [], "it goes on, and they are still armed"
    loop.finish()
    assert [found.fault for found in noticed(loop.trace)] == ["unknown_tool"]
    assert not_struck(loop.trace) == ["tool_raises"]
    loop.extend()
    assert not_struck(loop.trace) == []
    loop.finish()
    assert not_struck(loop.trace) == ["tool_raises"]


@given(notes=st.lists(st.fixed_dictionaries({"kind": JUNK | st.just("fault_not_struck"), "fault": JUNK})))
def test_notes_that_say_nonsense_are_passed(notes: list[dict[str, Any]]) -> None:
    loop = Loop(FakeModel(["done"]))
    loop.start("go")
    loop.finish()
    loop.trace.notes = notes
    assert not_struck(loop.trace) == []
