"""OpenInference: spans as Phoenix exports them, flat, nested and as rows of a table."""

import json

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from tests.traces.readers.spans import span
from traces.summary import summarise

FIRST = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m",
    "llm.provider": "p",
    "llm.invocation_parameters": '{"temperature": 0}',
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "You add.",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "What is 2+3?",
    "llm.input_messages.1.message.contents.1.message_content.type": "image",
    "llm.input_messages.1.message.contents.1.message_content.image.image.url": "data:image/png;base64,iVBORw0KGgo=",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "add",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a": 2}',
    "llm.tools.0.tool.json_schema": '{"type": "function", "function": {"name": "add"}}',
    "llm.token_count.prompt": 10,
    "llm.token_count.completion": 2,
    "llm.token_count.prompt_details.cache_read": 4,
    "llm.token_count.completion_details.reasoning": 1,
    "output.value": json.dumps({"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant"}}]}),
}
SECOND = {
    **{key: value for key, value in FIRST.items() if ".message" not in key or "input" in key},
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "add",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"a": 2}',
    "llm.input_messages.3.message.role": "tool",
    "llm.input_messages.3.message.tool_call_id": "c1",
    "llm.input_messages.3.message.content": "5",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "It is 5.",
    "output.value": "It is 5.",
}
TOOL = {"openinference.span.kind": "TOOL", "tool.name": "add", "input.value": '{"a": 2}', "output.value": "5"}
RUN = [
    span(1, "main", 0, 9, attributes={"openinference.span.kind": "CHAIN"}, span_kind="CHAIN"),
    span(2, "ChatCompletion", 1, 2, 1, attributes=FIRST, span_kind="LLM"),
    span(3, "add", 2, 3, 1, attributes=TOOL, span_kind="TOOL", status_code="ERROR", status_message="slow"),
    span(4, "ChatCompletion", 4, 6, 1, attributes=SECOND, span_kind="LLM"),
]


def nested(attributes):
    """Flat attributes as the objects and lists that they stand for."""
    from traces.unfold import branch

    names = dict.fromkeys(key.split(".")[0] for key in attributes)
    return {name: branch(attributes, name) for name in names}


def row(each):
    """A span as a row of a data frame."""
    data = {f"attributes.{key}": value for key, value in each["attributes"].items()}
    about = {key: each[key] for key in ("name", "parent_id", "start_time", "end_time")}
    return {**about, "context.trace_id": "t", "context.span_id": each["context"]["span_id"], **data}


def check(report):
    (trace,) = report.traces
    assert report.format == "openinference"
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert trace.messages[1].content[1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="},
    }
    summary = summarise(trace)
    assert (summary.tool_calls, summary.unpaired_calls, summary.orphan_results) == (1, 0, 0)
    assert (summary.tokens.prompt_tokens, summary.tokens.cached_tokens, summary.tokens.reasoning_tokens) == (20, 8, 2)
    assert [step.latency_ms for step in trace.steps] == [1000, 2000]
    assert (trace.tools, trace.config["request"]["temperature"]) == (
        [{"type": "function", "function": {"name": "add"}}],
        0,
    )
    return trace


def test_flat_attributes_are_a_conversation():
    trace = check(opened(RUN))
    assert (trace.title, trace.steps[0].finish_reason) == ("main", "tool_calls")
    assert (trace.steps[0].tools[0].latency_ms, trace.steps[0].tools[0].ok) == (1000, False)


def test_nested_attributes_and_rows_say_the_same():
    check(opened([{**each, "attributes": nested(each["attributes"])} for each in RUN]))
    check(opened(tuple(row(each) for each in RUN)))


def test_messages_that_were_lost_make_no_new_conversation():
    """An instrumentation that drops assistant messages without text leaves a gap in the numbers."""
    lossy = {key: value for key, value in SECOND.items() if not key.startswith("llm.input_messages.2")}
    (trace,) = opened([*RUN[:3], {**RUN[3], "attributes": lossy}]).traces
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]


def test_plumbing_with_the_kind_of_an_agent_does_not_cut_the_conversation():
    """LangGraph gives every visit of a node a span of its own, and the tools another."""
    node = {"openinference.span.kind": "AGENT"}
    spans = [
        RUN[0],
        span(5, "agent", 1, 2, 1, attributes=node),
        {**RUN[1], "parent_id": "0x5"},
        span(6, "tools", 2, 3, 1, attributes={"openinference.span.kind": "CHAIN"}),
        {**RUN[2], "parent_id": "0x6"},
        span(7, "agent", 4, 6, 1, attributes=node),
        {**RUN[3], "parent_id": "0x7"},
    ]
    trace = check(opened(spans))
    assert (trace.title, trace.steps[0].tools[0].latency_ms) == ("agent", 1000)


def test_tools_that_no_model_asked_for_by_name_stand_in_the_step_before_them():
    """Code that a model wrote calls tools by itself."""
    other = {"openinference.span.kind": "TOOL", "tool.name": "search", "input.value": '{"q": "x"}'}
    (trace,) = opened([*RUN[:3], span(9, "search", 3, 3.5, 1, attributes=other), RUN[3]]).traces
    assert [[run.name for run in step.tools] for step in trace.steps] == [["add", "search"], []]
    assert (trace.steps[0].tools[1].latency_ms, trace.steps[0].tools[1].arguments) == (500, {"q": "x"})


def test_langchain_and_plain_values_are_read_where_there_are_no_messages():
    human = {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Hi"}}
    said = {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"content": "Ho"}}
    values = [
        (json.dumps({"messages": [[human]]}), json.dumps({"generations": [[{"text": "Ho", "message": said}]]})),
        ("Hi", "Ho"),
        (json.dumps(json.dumps({"input": "Hi"})), json.dumps({"output": "Ho"})),
    ]
    for told, gave in values:
        data = {"openinference.span.kind": "LLM", "input.value": told, "output.value": gave}
        (trace,) = opened([span(1, "llm", 0, 1, attributes=data)]).traces
        assert [(message.role, message.text) for message in trace.messages] == [("user", "Hi"), ("assistant", "Ho")]


def test_a_chain_without_model_calls_shows_what_went_in_and_came_out():
    data = {"openinference.span.kind": "CHAIN", "input.value": '{"question": "Hi"}', "output.value": '{"answer": "Ho"}'}
    (trace,) = opened([span(1, "rag", 0, 1, attributes=data), span(2, "inner", 0, 1, 1, attributes=data)]).traces
    assert [(message.role, message.text) for message in trace.messages] == [("user", "Hi"), ("assistant", "Ho")]


def test_an_agent_without_model_calls_is_told_by_its_tool_runs():
    wrapped = {**TOOL, "input.value": '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"a": 2}}'}
    agent = {
        "openinference.span.kind": "AGENT",
        "input.value": '{"task": "What is 2+3?"}',
        "output.value": "It is 5.",
        "llm.token_count.prompt": 20,
        "llm.token_count.completion": 4,
    }
    step = {"openinference.span.kind": "CHAIN", "input.value": "{}", "output.value": "5"}
    spans = [
        span(1, "agent.run", 0, 9, attributes=agent),
        span(2, "Step 1", 1, 3, 1, attributes=step),
        span(3, "add", 1, 2, 2, attributes=wrapped),
        span(4, "add", 2, 3, 2, attributes=wrapped),
        span(5, "Step 2", 4, 6, 1, attributes=step),
        span(6, "add", 5, 6, 5, attributes=wrapped),
    ]
    (trace,) = opened(spans).traces
    roles = ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]
    assert [message.role for message in trace.messages] == roles
    assert [[(run.arguments, run.latency_ms) for run in step.tools] for step in trace.steps] == [
        [({"a": 2}, 1000)] * 2, [({"a": 2}, 1000)], []
    ]  # fmt: skip
    assert (trace.usage.prompt_tokens, trace.messages[-1].text, summarise(trace).unpaired_calls) == (20, "It is 5.", 0)
    assert "is known from the tool runs" in trace.notes[0]["text"]


@given(damaged(RUN))
def test_damaged_spans_never_bring_the_reader_down(value):
    survives(value, "openinference")
