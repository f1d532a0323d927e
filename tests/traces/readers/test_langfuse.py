"""Langfuse: exports of the app and of the API, with every dialect inside."""

import json

import pytest
from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.readers.langfuse import usage_of
from traces.summary import summarise

ROLES = ["system", "user", "assistant", "tool", "assistant"]
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}
TOLD = [{"role": "system", "content": "You add."}, {"role": "user", "content": "What is 2+3?"}]
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "5"}
ANSWER = {"role": "assistant", "content": "It is 5."}


def observation(number, kind, begin, end, parent="0", **more):
    data = {"id": str(number), "traceId": "t", "type": kind, "name": f"{kind.lower()}-{number}", "level": "DEFAULT"}
    data |= {"startTime": f"2026-05-28T20:26:{begin:06.3f}Z", "endTime": f"2026-05-28T20:26:{end:06.3f}Z"}
    return {**data, "parentObservationId": parent, "input": None, "output": None, "usageDetails": {}, **more}


FIRST = observation(2, "GENERATION", 1, 2, input=json.dumps(TOLD), output=json.dumps(ASKED), model="m",
                    usageDetails={"input": 10, "output": 2, "total": 12}, costDetails={"total": 0.25},
                    completionStartTime="2026-05-28T20:26:01.400Z")  # fmt: skip
TOOL = observation(3, "TOOL", 2, 2.5, name="add", input='{"a": 2}', output="5", latency=500)
SECOND = observation(4, "GENERATION", 3, 5, input=[*TOLD, ASKED, RESULT], output="It is 5.", model="m",
                     usageDetails='{"input": 20, "output": 4, "total": 24}', totalCost="0.5")  # fmt: skip
ROOT = observation(0, "SPAN", 0, 6, parent="outside", input={"question": "What is 2+3?"})
TRACE = {"id": "t", "name": "adding", "latency": 6.5, "scores": [
    {"name": "correct", "value": 1, "dataType": "BOOLEAN", "comment": "it is"}, {"name": "tone", "stringValue": "kind"}
]}  # fmt: skip
OBSERVATIONS = [SECOND, ROOT, TOOL, FIRST]
EXPORT = {"trace": TRACE, "observations": OBSERVATIONS}


@pytest.mark.parametrize(
    "file",
    [
        EXPORT,
        [EXPORT],
        {**TRACE, "observations": OBSERVATIONS},
        {"trace": {**TRACE, "observations": OBSERVATIONS}, "observations": OBSERVATIONS},
        {"data": [{**TRACE, "observations": OBSERVATIONS}], "meta": {"page": 1}},
        (EXPORT,),
    ],
    ids=["app", "list", "api", "both", "page", "lines"],
)
def test_every_container_gives_the_conversation_once(file):
    report = opened(file)
    (trace,) = report.traces
    assert (report.format, trace.title) == ("langfuse", "adding")
    assert [message.role for message in trace.messages] == ROLES
    summary = summarise(trace)
    assert (summary.tokens.prompt_tokens, summary.tokens.total, summary.cost) == (30, 36, 0.75)
    assert (summary.duration_s, [step.latency_ms for step in trace.steps]) == (6.5, [1000, 2000])
    assert (trace.steps[0].first_token_ms, trace.steps[0].tools[0].latency_ms) == (400, 500)
    checks = [(check.check, check.ok, check.detail) for check in trace.outcome.evidence]
    assert checks == [("correct", True, "1: it is"), ("tone", None, "kind")]


def test_observations_alone_are_read():
    assert [message.role for message in opened(OBSERVATIONS).traces[0].messages] == ROLES
    assert [message.role for message in opened(tuple(OBSERVATIONS)).traces[0].messages] == ROLES


PARTS = [{"role": message["role"], "parts": [{"type": "text", "content": message["content"]}]} for message in TOLD]
PYDANTIC = [{"event.name": f"gen_ai.{message['role']}.message", **message} for message in TOLD]
LANGCHAIN = [{"type": "system", "content": "You add."}, {"type": "human", "content": "What is 2+3?"}]


@pytest.mark.parametrize(
    "told, gave",
    [
        (
            {"system": [{"text": "You add."}], "messages": [{"role": "user", "content": [{"text": "What is 2+3?"}]}]},
            {"output": {"message": {"role": "assistant", "content": [{"text": "It is 5."}]}}, "stopReason": "end_turn"},
        ),
        (TOLD, ANSWER),
        ({"messages": TOLD, "tools": [CALL]}, {"choices": [{"message": ANSWER, "finish_reason": "stop"}]}),
        (PARTS, [{"role": "assistant", "parts": [{"type": "text", "content": "It is 5."}], "finish_reason": "stop"}]),
        (PYDANTIC, {"event.name": "gen_ai.choice", "index": 0, "message": ANSWER}),
        (LANGCHAIN, {"type": "ai", "content": "It is 5."}),
        ({"system": "You add.", "messages": TOLD[1:]}, "It is 5."),
        ({"system": "You add.", "prompt": "What is 2+3?"}, {"text": "It is 5.", "toolCalls": []}),
        ("system: You add.\nuser: What is 2+3?", "It is 5."),
        (
            {
                "contents": [{"role": "user", "parts": [{"text": "What is 2+3?"}]}],
                "config": {"system_instruction": "You add."},
            },
            {"content": {"role": "model", "parts": [{"text": "It is 5."}]}, "finish_reason": "STOP"},
        ),
        (
            {"instructions": "You add.", "model": "m", "input": "What is 2+3?"},
            {
                "object": "response",
                "output": [{"type": "message", "content": [{"type": "output_text", "text": "It is 5."}]}],
            },
        ),
        (
            {"system": "You add.", "max_tokens": 9, "messages": TOLD[1:]},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "text", "text": "It is 5."}],
                "stop_reason": "end_turn",
            },
        ),
    ],
    ids=[
        "bedrock",
        "chat",
        "api",
        "parts",
        "events",
        "langchain",
        "vercel",
        "prompt",
        "text",
        "gemini",
        "responses",
        "anthropic",
    ],
)
@pytest.mark.parametrize("times", [0, 1, 2])
def test_every_dialect_is_read_from_json_and_from_text(told, gave, times):
    for _ in range(times):
        told, gave = json.dumps(told), json.dumps(gave)
    (trace,) = opened(
        {"trace": TRACE, "observations": [observation(1, "GENERATION", 1, 2, input=told, output=gave)]}
    ).traces
    assert [(message.role, message.text) for message in trace.messages] == [
        ("system", "You add."), ("user", "What is 2+3?"), ("assistant", "It is 5.")
    ]  # fmt: skip


def test_items_of_the_responses_api_are_one_conversation_with_its_instructions():
    call = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 2}', "id": "fc_1"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "5"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 5."}]}
    common = {"modelParameters": {"instructions": "You add.", "temperature": 1}}
    first = {**FIRST, "input": json.dumps(TOLD[1:]), "output": json.dumps({"object": "response", "output": [call]})}
    second = {**SECOND, "input": [*TOLD[1:], call, result], "output": {"object": "response", "output": [said]}}
    (trace,) = opened({"trace": TRACE, "observations": [{**second, **common}, {**first, **common}]}).traces
    assert [message.role for message in trace.messages] == ROLES
    assert (trace.messages[0].text, trace.config["request"]) == ("You add.", {"temperature": 1})


def test_a_generation_round_another_is_not_added():
    outer = observation(9, "GENERATION", 1, 2, input=TOLD, output="It is 5.", usageDetails={"input": 99, "output": 99})
    report = opened({"trace": TRACE, "observations": [outer, {**FIRST, "parentObservationId": "9"}]})
    assert (report.traces[0].usage.prompt_tokens, "not added" in report.warnings[0]) == (10, True)
    assert report.traces[0].messages[-1].tool_calls[0].name == "add"


def test_the_last_call_without_words_has_the_answer_of_the_span_round_it():
    empty = {**SECOND, "input": None, "output": None}
    (trace,) = opened({"trace": TRACE, "observations": [{**ROOT, "output": "It is 5."}, FIRST, TOOL, empty]}).traces
    assert [message.role for message in trace.messages] == ROLES
    assert (trace.messages[-1].text, trace.steps[-1].usage.prompt_tokens) == ("It is 5.", 20)
    assert [note["kind"] for note in trace.notes] == ["content"]


def test_attributes_in_the_metadata_say_what_the_observation_leaves_out():
    attributes = {"ai.operationId": "ai.streamText.doStream", "ai.response.finishReason": "tool-calls"}
    attributes |= {"ai.response.toolCalls": json.dumps([{"toolCallId": "c1", "toolName": "add", "input": {"a": 2}}])}
    attributes |= {"ai.usage.cachedInputTokens": "4", "gen_ai.response.model": "m-1"}
    only_text = {**FIRST, "output": "I add.", "metadata": json.dumps({"attributes": attributes})}
    (trace,) = opened({"trace": TRACE, "observations": [only_text]}).traces
    assert [call.name for call in trace.messages[-1].tool_calls] == ["add"]
    assert (trace.usage.cached_tokens, trace.steps[0].model, trace.steps[0].finish_reason) == (4, "m-1", "tool-calls")


def test_a_failed_generation_and_a_failed_tool_are_errors():
    failed = {**SECOND, "output": None, "level": "ERROR", "statusMessage": "overloaded"}
    (trace,) = opened({"trace": TRACE, "observations": [FIRST, {**TOOL, "level": "ERROR"}, failed]}).traces
    assert (trace.outcome.reason, trace.outcome.detail, trace.steps[0].tools[0].ok) == (
        "model_error",
        "overloaded",
        False,
    )


def test_spans_that_give_tool_messages_are_tool_runs():
    given = {"type": "tool", "tool_call_id": "c1", "content": "5", "status": "success"}
    (trace,) = opened({"trace": TRACE, "observations": [FIRST, observation(3, "SPAN", 2, 2.5, output=given)]}).traces
    assert (trace.messages[-1].text, trace.steps[0].tools[0].latency_ms) == ("5", 500)


@pytest.mark.parametrize(
    "stated, prompt, completion, cached",
    [
        ({"input": 10, "output": 2, "total": 12}, 10, 2, None),
        ({"input": 10, "output": 2, "total": 12, "input_cached_tokens": 4}, 10, 2, 4),
        ({"input": 10, "output": 2, "total": 112, "input_cache_read": 100}, 110, 2, 100),
        ({"input": 10, "output": 2, "total": 15, "output_reasoning": 3}, 10, 5, None),
        ({"promptTokens": 10, "completionTokens": 2}, 10, 2, None),
    ],
)
def test_tokens_follow_one_rule_whoever_wrote_them(stated, prompt, completion, cached):
    usage = usage_of({"usageDetails": stated})
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (prompt, completion, cached)


def test_no_tokens_are_not_zero_tokens():
    assert usage_of({"usageDetails": {}, "usage": None}) is None


def test_a_result_whose_role_is_the_name_of_its_tool_is_one():
    named = {"role": "add", "content": "5", "additional_kwargs": {}}
    second = {**SECOND, "input": json.dumps([*TOLD, ASKED, named])}
    tool = observation(3, "SPAN", 2, 2.5, name="add", input='{"a": 2}', output=json.dumps(named))
    (trace,) = opened({"trace": TRACE, "observations": [FIRST, tool, second]}).traces
    assert [message.role for message in trace.messages] == ROLES
    (run,) = trace.steps[0].tools
    assert (run.message, run.latency_ms, trace.messages[3].name) == (3, 500, "add")


@given(damaged(EXPORT))
def test_damaged_exports_never_bring_the_reader_down(value):
    survives(value, "langfuse")
