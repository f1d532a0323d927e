"""OpenAI Agents SDK: traces with spans in the order of their ends, and saved states."""

import pytest
from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}
TOLD = [{"role": "system", "content": "You add."}, {"role": "user", "content": "What is 2+3?"}]
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "5"}
ANSWER = {"role": "assistant", "content": "It is 5."}
ROLES = ["system", "user", "assistant", "tool", "assistant"]


def span(number, kind, begin, end, parent=1, error=None, **data):
    return {
        "object": "trace.span",
        "id": f"span_{number}",
        "trace_id": "trace_1",
        "parent_id": f"span_{parent}" if parent else None,
        "started_at": f"2026-05-28T20:26:0{begin}.000000+00:00",
        "ended_at": f"2026-05-28T20:26:0{end}.000000+00:00",
        "span_data": {"type": kind, **data},
        "error": error,
    }


def generation(number, begin, end, told, gave, tokens, parent=1):
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    return span(number, "generation", begin, end, parent, input=told, output=[gave], model="m", usage=usage)


TRACE = {"object": "trace", "id": "trace_1", "workflow_name": "adding", "group_id": None, "metadata": {}}
AGENT = span(1, "agent", 0, 6, None, name="adder", handoffs=[], tools=["add"], output_type="str")
FUNCTION = span(3, "function", 2, 3, name="add", input='{"a": 2}', output="5")
FIRST = generation(2, 1, 2, TOLD, ASKED, (10, 2))
SECOND = generation(4, 3, 5, [*TOLD, ASKED, RESULT], ANSWER, (20, 4))
SPANS = [FIRST, FUNCTION, SECOND, AGENT]


@pytest.mark.parametrize(
    "file",
    [
        [TRACE, *SPANS],
        (TRACE, *SPANS),
        {"data": [TRACE, *SPANS]},
        ({"event": "trace_start", "trace": TRACE}, *({"event": "span_end", "span": each} for each in SPANS)),
        {**TRACE, "spans": SPANS},
    ],
    ids=["list", "lines", "payload", "events", "nested"],
)
def test_generations_and_functions_are_a_conversation(file):
    report = opened(file)
    (trace,) = report.traces
    assert (report.format, trace.title) == ("openai-agents", "adder")
    assert [message.role for message in trace.messages] == ROLES
    summary = summarise(trace)
    assert (summary.tokens.prompt_tokens, summary.tokens.completion_tokens, summary.duration_s) == (30, 6, 6)
    assert (trace.steps[0].tools[0].latency_ms, trace.steps[1].latency_ms) == (1000, 2000)


def test_a_conversation_that_is_handed_to_another_agent_stays_one():
    other = [{"role": "system", "content": "You check."}, *TOLD[1:], ASKED, RESULT]
    checker = span(7, "agent", 5, 9, None, name="checker")
    checked = generation(8, 6, 7, other, {**ASKED, "tool_calls": [{**CALL, "id": "c2"}]}, (30, 2), 7)
    again = [*other, {**ASKED, "tool_calls": [{**CALL, "id": "c2"}]}, {**RESULT, "tool_call_id": "c2"}]
    back = generation(10, 8, 9, [TOLD[0], *again[1:]], ANSWER, (40, 2))
    (trace,) = opened([TRACE, FIRST, FUNCTION, AGENT, checker, checked, back]).traces
    assert [message.role for message in trace.messages] == [
        "system", "user", "assistant", "tool", "system", "assistant", "tool", "assistant"
    ]  # fmt: skip
    assert [entry.agent for entry in trace.entries if entry.agent] == ["checker", "adder"]
    assert (trace.usage.prompt_tokens, [run.message for step in trace.steps for run in step.tools]) == (80, [3, 6])


def test_agents_that_are_told_the_same_but_hear_nothing_of_each_other_are_apart():
    alone = generation(8, 2, 4, [{"role": "system", "content": "You check."}, *TOLD[1:]], ANSWER, (30, 2), 7)
    report = opened([TRACE, FIRST, FUNCTION, SECOND, AGENT, span(7, "agent", 2, 5, None, name="checker"), alone])
    assert [len(trace.messages) for trace in report.traces] == [5, 3]


def test_turns_and_tasks_round_everything_change_nothing():
    turn = span(9, "custom", 0, 6, name="turn", data={"sdk_span_type": "turn", "usage": {"input_tokens": 99}})
    inside = [{**each, "parent_id": "span_9"} for each in SPANS[:3]]
    (trace,) = opened([TRACE, *inside, turn, AGENT]).traces
    assert ([message.role for message in trace.messages], trace.usage.prompt_tokens) == (ROLES, 30)


def test_responses_without_words_are_rebuilt_from_the_functions():
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12, "input_tokens_details": {"cached_tokens": 4}}
    first = span(2, "response", 1, 2, response_id="resp_1", usage=usage)
    last = span(4, "response", 3, 5, response_id="resp_2", usage=usage)
    (trace,) = opened([TRACE, first, FUNCTION, last, AGENT]).traces
    assert [message.role for message in trace.messages] == ["assistant", "tool"]
    assert (len(trace.steps), trace.usage.prompt_tokens, trace.usage.cached_tokens) == (2, 20, 8)
    assert {note["kind"] for note in trace.notes} == {"content"}


def test_an_agent_used_as_a_tool_is_a_trace_of_its_own():
    inner = span(5, "agent", 2, 3, 3, name="helper")
    said = generation(6, 2, 3, [{"role": "user", "content": "2+3"}], ANSWER, (7, 1), parent=5)
    outer, helper = opened([TRACE, *SPANS, inner, said]).traces
    assert (helper.title, helper.source.parent, helper.usage.prompt_tokens) == ("helper", outer.trace_id, 7)


def test_errors_and_guardrails_are_told():
    failed = {**FUNCTION, "error": {"message": "no such number", "data": None}}
    guard = span(8, "guardrail", 0, 1, name="no maths", triggered=True)
    (trace,) = opened([TRACE, FIRST, failed, SECOND, AGENT, guard]).traces
    assert trace.steps[0].tools[0].ok is False
    assert [note["text"] for note in trace.notes] == ["the guardrail no maths stopped the run"]


def test_data_that_was_left_out_leaves_steps_and_tool_runs():
    without = [
        {**each, "span_data": {**each["span_data"], "input": None, "output": None}}
        for each in (FIRST, FUNCTION, SECOND)
    ]
    (trace,) = opened([TRACE, *without, AGENT]).traces
    assert (trace.messages, trace.usage.prompt_tokens, [run.name for run in trace.steps[0].tools]) == ([], 30, ["add"])


ITEM = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 2}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "5"}
STATE = {
    "$schemaVersion": "1.5",
    "current_agent": {"name": "adder"},
    "original_input": "What is 2+3?",
    "trace": TRACE,
    "model_responses": [
        {"response_id": "r1", "output": [ITEM], "usage": {"requests": 1, "input_tokens": 10, "output_tokens": 2,
         "input_tokens_details": [{"cached_tokens": 4}]}},
        {"response_id": "r2", "output": [], "usage": {"requests": 0, "input_tokens": 0, "output_tokens": 0}},
    ],
    "generated_items": [
        {"type": "tool_call_item", "raw_item": ITEM, "agent": {"name": "adder"}},
        {"type": "tool_call_output_item", "raw_item": OUTPUT, "output": "5"},
        {"type": "tool_call_item", "raw_item": {**ITEM, "call_id": "c2"}},
        {"type": "tool_approval_item", "raw_item": {**ITEM, "call_id": "c2"}},
    ],
    "current_step": {"type": "next_step_interruption", "data": {"interruptions": [{"tool_name": "add"}]}},
}  # fmt: skip


def test_a_saved_state_says_who_spoke():
    items = [{**STATE["generated_items"][0], "agent": {"name": "adder"}}, STATE["generated_items"][1]]
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "5"}]}
    items.append({"type": "message_output_item", "raw_item": said, "agent": {"name": "checker"}})
    (trace,) = opened({**STATE, "current_agent": {"name": "checker"}, "generated_items": items}).traces
    assert [entry.agent for entry in trace.entries] == [None, "adder", None, "checker"]


def test_a_saved_state_counts_shared_history_once_and_says_what_it_used_in_all():
    said = {"type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": "Mine."}]}
    items = [{"type": "message_output_item", "raw_item": said}]
    used = {"usage": {"requests": 1, "input_tokens": 7, "output_tokens": 2, "total_tokens": 9}}
    state = {**STATE, "original_input": [said], "generated_items": items, "model_responses": [], "context": used}
    (trace,) = opened(state).traces
    assert ([each.text for each in trace.messages], summarise(trace).tokens.total) == (["Mine."], 9)


def test_a_saved_state_is_read_and_says_what_it_waits_for():
    report = opened(STATE)
    (trace,) = report.traces
    assert (report.format, trace.title) == ("openai-agents", "adding")
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert (trace.usage.prompt_tokens, trace.usage.cached_tokens, trace.steps[1].usage) == (10, 4, None)
    assert trace.outcome.detail == "the run waits for a person to approve add"


@given(damaged([TRACE, *SPANS]))
def test_damaged_spans_never_bring_the_reader_down(value):
    survives(value, "openai-agents")


@given(damaged(STATE))
def test_damaged_states_never_bring_the_reader_down(value):
    survives(value, "openai-agents")
