"""From runs of our own to scripts and back: the loop says a recording again, with everything that was decided then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agent import (
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    JsonActionModel,
    Limits,
    Loop,
    Message,
    ModelError,
    ModelReply,
    Tool,
    ToolCall,
    ToolFailure,
    Trace,
    Usage,
    tool,
)
from agent.faults import Fault
from agent.interventions import Intervention
from agent.models.replies import read_message
from agent.trace import Edit, Request
from tests.traces.scripted import ASK, call, imported, is_same, run_of
from traces.scripting import replay, script_data


def test_a_run_becomes_a_script_that_people_can_read(trace: Trace) -> None:
    data = script_data(trace)
    assert list(data) == ["title", "system", "task", "options", "tools", "max_steps", "turns", "replay", "recorded"]
    assert (data["system"], data["task"], data["max_steps"]) == ("You add.", "What is 2+3?", 8)
    first, last = data["turns"]
    (asked,) = first["calls"]
    assert {key: asked[key] for key in ("name", "arguments", "id", "result")} == {
        "name": "add",
        "arguments": {"a": 2, "b": 3},
        "id": "c1",
        "result": "5",
    }
    assert first["usage"] == {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "cached_tokens": 40}
    assert last["text"] == "It is 5."
    is_same(trace)


def test_a_replay_has_the_numbers_of_the_recording(trace: Trace) -> None:
    again = replay(trace).trace
    for mine, theirs in zip(again.steps, trace.steps, strict=True):
        assert (mine.usage, mine.finish_reason) == (theirs.usage, theirs.finish_reason)


def test_no_tool_is_run(add: Tool) -> None:
    trace = run_of([ASK, "It is 5."], [add])
    trace.messages[2] = Message("tool", "recorded", tool_call_id="c1")
    assert replay(trace).loop.messages[2].text == "recorded"


def test_the_form_of_the_provider_is_kept(add: Tool) -> None:
    sent = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("", arguments='{"a": 2, "b": 3}<|im_end|>'), call("", "add", "{not json")],
        "reasoning": "hm",
    }
    reading = read_message(sent)
    reply = ModelReply(reading.message, raw=reading.raw, warnings=reading.warnings)
    trace = run_of([reply, "done"], [add])
    first = script_data(trace)["turns"][0]
    assert first["raw"] == sent
    assert [result.get("ok", "error" in result) for result in first["results"]] == [False, True]
    is_same(trace)


def test_keys_that_we_do_not_know_are_said_again(add: Tool) -> None:
    message = Message("assistant", "hm", tuple(ASK), extra={"signature": "s", "reasoning_content": "think"})
    trace = run_of([ModelReply(message), "done"], [add])
    assert script_data(trace)["turns"][0]["message"]["signature"] == "s"
    assert replay(trace).loop.messages[1].to_dict() == message.to_dict()
    is_same(trace)


def test_reasoning_stands_beside_the_text(add: Tool) -> None:
    message = Message("assistant", None, tuple(ASK), extra={"reasoning_content": "think"})
    trace = run_of([ModelReply(message), "done"], [add])
    assert script_data(trace)["turns"][0]["reasoning"] == "think"
    is_same(trace)


def test_what_code_and_people_decided_is_taken_from_the_recording(add: Tool) -> None:
    calls = [ToolCall(f"c{n}", "add", {"a": n, "b": 1}) for n in range(6)] + [ToolCall("c6", "nothing", {})]
    policy = CapabilityPolicy(ask=["add"])
    loop = Loop(FakeModel([calls, "done"]), [add], policy=policy, limits=Limits(calls_per_step=6))
    loop.start("go")
    while not loop.waiting:
        loop.advance()
    said = [Decision.run(), Decision.edit({"a": 9, "b": 9}), Decision.mock("given"), Decision.skip("no")]
    for position, decision in enumerate([*said, Decision.reject("never"), Decision("denied", "user", "no")]):
        loop.decide(position, decision)
    loop.finish()
    replayed = replay(loop.trace)
    assert replayed.differences == ()
    assert [tool.ok for tool in replayed.trace.steps[0].tools] == [True, True, True, False, False, False, False]
    assert "policy" not in script_data(loop.trace)


def test_a_policy_denies_again(add: Tool) -> None:
    trace = run_of([ASK, "no"], [add], policy=CapabilityPolicy(deny=["add"]))
    assert script_data(trace)["policy"] == {"deny": ["add"]}
    assert replay(trace).trace.steps[0].tools[0].decision == "denied"
    is_same(trace)


def test_a_result_that_was_cut_is_whole_in_the_script(add: Tool) -> None:
    def long() -> str:
        return "word " * 500

    tool = Tool("long", "", {}, long)
    trace = run_of([[ToolCall("c1", "long", {})], "done"], [tool], context=ContextBudget(800, 50))
    assert len(trace.messages[2].text) < 400
    assert script_data(trace)["turns"][0]["calls"][0]["result"] == long()
    is_same(trace)


def test_the_loop_nudges_again(add: Tool) -> None:
    trace = run_of(["", "done"], [add], limits=Limits(nudges=1))
    assert [len(turn.get("before", ())) for turn in script_data(trace)["turns"]] == [0, 0]
    assert script_data(trace)["limits"] == {"nudges": 1}
    is_same(trace)


def test_a_summary_and_a_refused_request_are_turns(add: Tool) -> None:
    def fill() -> str:
        return "word " * 300

    refused = ModelError("too long", kind="context_overflow")
    said: list[Any] = [[ToolCall("c1", "fill", {})], [ToolCall("c2", "fill", {})], refused, "a summary", "done"]
    loop = Loop(FakeModel(said), [Tool("fill", "", {}, fill)], context=ContextBudget(900, 350))
    loop.start("go " * 150)
    loop.finish()
    loop.start("and now?")
    loop.finish()
    kinds = [note["kind"] for note in loop.trace.notes]
    assert "detour" in kinds
    assert "error" in script_data(loop.trace)["turns"][2]
    replayed = replay(loop.trace)
    assert replayed.differences == ()
    assert [note["kind"] for note in replayed.trace.notes] == kinds


def test_a_failed_call_fails_again(add: Tool) -> None:
    trace = run_of([ASK, ModelError("no more", status=429)], [add])
    assert script_data(trace)["turns"][1]["error"] == {"text": "no more"}
    is_same(trace)


def test_faults_that_changed_a_message_or_a_request_strike_again(add: Tool) -> None:
    loop = Loop(FakeModel([ASK, ASK, "done"]), [add])
    loop.start("go")
    loop.arm(Fault("wrong_call_id"))
    loop.advance()
    loop.advance()
    loop.arm(Fault("results_not_written_back"))
    loop.finish()
    assert script_data(loop.trace)["turns"][0]["faults"] == ["wrong_call_id", "results_not_written_back"]
    is_same(loop.trace)


def test_results_that_were_never_written_back(add: Tool) -> None:
    trace = run_of([ASK, ASK, "done"], [add], interventions=[Intervention("omit_results")])
    data = script_data(trace)
    assert data["interventions"] == [{"kind": "omit_results", "params": {}}]
    assert not any("faults" in turn for turn in data["turns"])
    is_same(trace)


def test_results_that_were_written_back_again_later_are_not_followed_strictly(add: Tool) -> None:
    trace = run_of([ASK, ASK, ASK, "done"], [add], interventions=[Intervention("omit_results")])
    assert script_data(trace)["replay"] == {"mode": "strict"}
    trace.steps[-1].request = Request(upto=7)  # as after a resume without the intervention
    assert script_data(trace)["replay"] == {"mode": "lenient"}


def test_what_was_reported_as_zero_is_not_left_out() -> None:
    trace = run_of([ModelReply(Message("assistant", "done"), usage=Usage(3, 2, 5, cached_tokens=0))])
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "cached_tokens": 0}
    assert script_data(trace)["turns"][0]["usage"] == usage
    assert replay(trace).trace.steps[0].usage == trace.steps[0].usage


def test_a_fault_of_a_tool_is_its_result(add: Tool) -> None:
    loop = Loop(FakeModel([ASK, "done"]), [add])
    loop.start("go")
    loop.arm(Fault("tool_raises"))
    loop.finish()
    assert "faults" not in script_data(loop.trace)["turns"][0]
    is_same(loop.trace)


def test_requests_that_were_changed_from_outside_are_not_followed_strictly(add: Tool) -> None:
    trace = run_of([ASK, ASK, "done"], [add], interventions=[Intervention("blank_results")])
    trace.steps[1].request = Request(upto=3)  # as in a fork that switched it on after step 2
    assert script_data(trace)["replay"] == {"mode": "lenient"}
    replayed = replay(trace)
    assert replayed.differences == ()
    assert any("the request of step 3 is not the recorded one" in remark for remark in replayed.remarks)


def test_a_replay_that_takes_too_long_is_cut_off_and_says_so(add: Tool) -> None:
    replayed = replay(run_of([ASK, "done"], [add]), stop_after_s=0)
    assert replayed.remarks[0] == "stopped after 0 seconds: the rest was not replayed"


def test_json_actions_are_said_in_the_words_of_the_model(add: Tool) -> None:
    said = ['{"action": "tool", "tool": "add", "params": {"a": 2, "b": 3}}'] * 2
    said += ['{"action": "tool", "tool": "other", "params": 1}', '{"thought": "x", "action": "final", "response": "5"}']
    loop = Loop(JsonActionModel(FakeModel(said)), [add])
    loop.start("go")
    loop.finish()
    data = script_data(loop.trace)
    assert [turn["text"] for turn in data["turns"]] == said
    assert [answer["arguments"] for answer in data["tools"][0]["results"]] == [{"a": 2, "b": 3}] * 2
    is_same(loop.trace)


def test_several_turns_of_the_user(add: Tool) -> None:
    loop = Loop(FakeModel([ASK, "5", "", "still 5"]), [add], max_steps=2)
    for words in ("go", "again", [Message("system", "Be brief."), Message("user", [{"type": "text", "text": "now"}])]):
        loop.start(words)
        loop.finish()
    before = [turn.get("before") for turn in script_data(loop.trace)["turns"]]
    assert before[:3] == [None, None, ["again"]]
    assert [message["role"] for message in before[3] or ()] == ["system", "user"]
    is_same(loop.trace)


def test_a_run_that_was_stopped_ends_as_far_as_it_went(add: Tool) -> None:
    loop = Loop(FakeModel([ASK, "5"]), [add])
    loop.start("go")
    for _ in range(4):
        loop.advance()
    loop.stop()
    loop.finish()
    replayed = replay(loop.trace)
    assert replayed.differences == ()
    assert replayed.remarks == (
        "a person ended the recorded run (stopped_by_user); the replay ended with script_exhausted",
    )


def test_tools_and_options_that_changed_are_not_compared(add: Tool) -> None:
    loop = Loop(FakeModel([ASK, "5"], options={"temperature": 0}), [add])
    loop.start("go")
    loop.finish()
    snapshot = loop.snapshot()
    more = Tool("more", "", {}, dict)
    loop = Loop.resume(snapshot, model=FakeModel([ASK, "5", "5"], options={"temperature": 1}), tools=[add, more])
    loop.start("again")
    loop.finish()
    data = script_data(loop.trace)
    assert data["replay"] == {"mode": "strict", "ignore": ["tools", "options.temperature"]}
    assert data["options"] == {"model": "script", "temperature": 1}
    is_same(loop.trace)


def test_more_steps_than_the_hard_cap(save: Callable[..., Any]) -> None:
    chat: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(130):
        chat.append({"role": "assistant", "content": None, "tool_calls": [call(f"c{number}")]})
        chat.append({"role": "tool", "tool_call_id": f"c{number}", "content": "same"})
    replayed = replay(imported(chat, save))
    assert (replayed.differences, len(replayed.trace.steps)) == ((), 131)
    assert replayed.remarks == ("the recording does not go on from here: the script has run out",)


LOOK = Message("assistant", "Let me see.", (ToolCall("a", "add", {"a": 2, "b": 3}), ToolCall("b", "fail", {})))
THINK = Message("assistant", None, (ToolCall("a", "add", {"a": 5, "b": 4}),), extra={"reasoning_content": "hm"})
RUN = [ModelReply(LOOK), ModelReply(THINK), ModelReply(replace(LOOK, content=None)), "It is 9."]


def fail() -> str:
    """Never works."""
    raise ToolFailure("no such thing")


@pytest.mark.parametrize(
    "changes",
    [
        [Intervention("blank_results")],
        [Intervention("drop_pairs", {"tools": ["fail"]})],
        [Intervention("omit_results", {"max_age": 0})],
        [Intervention("shuffle_ids")],
        [Intervention("replace_results", {"find": "5", "text": "6"}), Intervention("truncate_results", {"size": 1})],
        [Intervention("drop_errors"), Intervention("results_as_user"), Intervention("drop_reasoning")],
        [Intervention("reorder_results"), Intervention("keep_last_results", {"count": 2, "how": "drop"})],
        [Intervention("drop_system", {"paragraph": 2}), Intervention("swap_results")],
        [Intervention("no_step_limit"), Intervention("no_guards"), Intervention("hide_tool", {"tool": "fail"})],
    ],
    ids=lambda changes: "-".join(change.kind for change in changes),
)
@pytest.mark.parametrize("budget", [None, ContextBudget(230, summarise=False)], ids=["whole", "budget"])
def test_a_run_under_interventions_is_followed_strictly(
    add: Tool, changes: list[Intervention], budget: ContextBudget | None
) -> None:
    loop = Loop(
        FakeModel(RUN), [add, tool(fail)], system="You add.\n\nBe brief.", interventions=changes, context=budget
    )
    loop.start("What is 2+3? Then add 4. " + "Take your time. " * 5)
    loop.finish()
    assert loop.stop_reason == "final"
    assert budget is None or any(edit.by == "context" for edit in edits_of(loop.trace))
    data = script_data(loop.trace)
    assert data["replay"] == {"mode": "strict"}
    written = [Intervention(item["kind"], item["params"]) for item in data.get("interventions", [])]
    assert written == [change for change in changes if change.changes_requests]
    replayed = replay(loop.trace)
    assert (replayed.differences, replayed.remarks) == ((), ())
    assert [request.to_dict() for request in requests_of(replayed.trace)] == [
        request.to_dict() for request in requests_of(loop.trace)
    ]


def test_interventions_of_which_one_came_later_are_not_followed_strictly(add: Tool) -> None:
    loop = Loop(FakeModel([ASK, ASK, "done"]), [add], interventions=[Intervention("blank_results")])
    loop.start("go")
    while len(loop.trace.steps) < 2:
        loop.advance()
    loop.extend(interventions=(Intervention("blank_results"), Intervention("drop_errors"), Intervention("drop_pairs")))
    loop.finish()
    data = script_data(loop.trace)
    assert data["replay"] == {"mode": "lenient"}
    replayed = replay(loop.trace)
    assert any("the request of step 3 is not the recorded one" in remark for remark in replayed.remarks)


def requests_of(trace: Trace) -> list[Request]:
    return [step.request for step in trace.steps if step.request is not None]


def edits_of(trace: Trace) -> list[Edit]:
    return [edit for request in requests_of(trace) for edit in request.edits]
