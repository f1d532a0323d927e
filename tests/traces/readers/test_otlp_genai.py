"""OpenTelemetry: OTLP and console spans, in the words of several conventions."""

import base64
import json

import pytest
from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from tests.traces.readers.spans import ANSWER, ASK, CALL, RESULT, RUN, SYSTEM, T, agent, chat, span, tool
from traces.summary import summarise

ROLES = ["system", "user", "assistant", "tool", "assistant"]


def otlp(spans, *, encode=str, scope="scopeSpans"):
    """The same spans as OTLP."""

    def value(item):
        if isinstance(item, int):
            return {"intValue": str(item)}
        return {"arrayValue": {"values": [value(i) for i in item]}} if isinstance(item, list) else {"stringValue": item}

    def convert(each):
        begin, end = T + int(each["start_time"][17:19]), each["end_time"] and T + int(each["end_time"][17:19])
        parent = each["parent_id"]
        return {
            "traceId": encode(each["context"]["trace_id"]),
            "spanId": encode(each["context"]["span_id"]),
            **({"parentSpanId": encode(parent)} if parent else {}),
            "name": each["name"],
            "kind": "SPAN_KIND_INTERNAL",
            "startTimeUnixNano": f"{begin}000000000",
            "endTimeUnixNano": f"{end}000000000",
            "attributes": [{"key": key, "value": value(item)} for key, item in each["attributes"].items()],
            "status": {"code": "STATUS_CODE_OK"},
        }

    return {"resourceSpans": [{"resource": {}, scope: [{"scope": {}, "spans": [convert(each) for each in spans]}]}]}


def javascript(each):
    """The same span as JavaScript's console exporter gives it."""
    begin, end = T + int(each["start_time"][17:19]), T + int(each["end_time"][17:19])
    return {
        "name": each["name"],
        "spanContext": {"traceId": "t", "spanId": each["context"]["span_id"]},
        "parentSpanContext": {"spanId": each["parent_id"]} if each["parent_id"] else None,
        "startTime": [begin, 0],
        "endTime": [end, 0],
        "attributes": each["attributes"],
        "status": {"code": 0},
        "events": [],
    }


def encoded(text):
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "file",
    [
        RUN,
        tuple(RUN),
        {"spans": RUN},
        {"first": RUN[:2], "second": RUN[2:]},
        otlp(RUN),
        [otlp(RUN[:1]), otlp(RUN[1:])],
        tuple(otlp([each]) for each in RUN),
        otlp(RUN, encode=encoded),
        {"batches": otlp(RUN, scope="instrumentationLibrarySpans")["resourceSpans"]},
        [javascript(each) for each in RUN],
    ],
    ids=["list", "lines", "object", "named", "otlp", "otlps", "collector", "base64", "tempo", "javascript"],
)
def test_every_container_gives_the_same_conversation(file):
    report = opened(file)
    (trace,) = report.traces
    assert (report.format, trace.title) == ("otlp-genai", "adder")
    assert [message.role for message in trace.messages] == ROLES
    assert [message.text for message in trace.messages] == ["You add.", "What is 2+3?", "", "5", "It is 5."]
    summary = summarise(trace)
    assert (summary.tokens.prompt_tokens, summary.tokens.completion_tokens, summary.duration_s) == (30, 6, 6)
    assert [step.latency_ms for step in trace.steps] == [1000, 2000]
    assert (trace.model.name, trace.model.provider, trace.outcome.reason) == ("m", "p", "final")


def test_a_tool_span_gives_the_time_of_the_call():
    (trace,) = opened(RUN).traces
    (run,) = trace.steps[0].tools
    assert (run.started, run.latency_ms, run.message) == ("2026-05-28T20:26:02Z", 500, 3)


def test_a_span_written_at_its_start_and_at_its_end_counts_once():
    begun = [{**each, "end_time": None, "attributes": {}} for each in RUN]
    (trace,) = opened([*begun, *RUN]).traces
    assert (summarise(trace).tokens.prompt_tokens, len(trace.steps)) == (30, 2)


def test_a_call_that_was_never_finished_is_there_without_an_answer():
    open_call = span(4, "chat m", 3, None, 1, attributes=chat(SYSTEM, ASK, CALL, RESULT, tokens=(0, 0)))
    (trace,) = opened([open_call, *RUN[1:]]).traces
    assert ([message.role for message in trace.messages], len(trace.steps)) == (ROLES[:-1], 2)


def test_a_call_that_failed_is_an_error():
    failed = span(4, "chat m", 3, 5, 1, status={"status_code": "ERROR", "description": "overloaded"})
    failed["attributes"] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    run = {**RUN[1], "attributes": tool(**{"gen_ai.tool.call.result": "5"})}
    (trace,) = opened([failed, run, *RUN[2:]]).traces
    assert (trace.outcome.reason, trace.outcome.detail, summarise(trace).tool_results) == (
        "model_error",
        "overloaded",
        1,
    )


def test_results_that_no_later_call_repeats_come_from_the_tool_spans():
    """A client that leaves the history to the provider sends results alone, or nothing."""
    run = tool(**{"gen_ai.tool.call.result": "5"})
    for told in ([RESULT], []):
        spans = [
            span(4, "chat m", 3, 5, 1, attributes=chat(*told, gave=ANSWER)),
            span(3, "execute_tool add", 2, 2.5, 1, attributes=run),
            *RUN[2:],
        ]
        (trace,) = opened(spans).traces
        assert [message.role for message in trace.messages] == ROLES
        assert summarise(trace).unpaired_calls == 0


def test_the_last_call_is_answered_by_its_tool_span_without_a_call_id():
    run = {"openinference.span.kind": "TOOL", "tool.name": "add", "output.value": "5"}
    (trace,) = opened([span(3, "add", 2, 2.5, 1, attributes=run), *RUN[2:]]).traces
    assert [message.role for message in trace.messages] == ROLES[:-1]
    assert (trace.messages[-1].text, trace.steps[0].tools[0].latency_ms) == ("5", 500)


def test_a_tool_that_failed_is_marked():
    failed = {**RUN[1], "status": {"status_code": "ERROR"}, "events": [{"name": "exception", "attributes": {}}]}
    (trace,) = opened([RUN[0], failed, *RUN[2:]]).traces
    assert trace.steps[0].tools[0].ok is False


def test_numbers_without_words_are_steps_and_tool_runs_and_the_trace_says_so():
    spans = [
        span(4, "chat m", 3, 5, 1, attributes=chat(tokens=(20, 4))),
        RUN[1],
        span(2, "chat m", 1, 2, 1, attributes=chat()),
        RUN[3],
    ]
    (trace,) = opened(spans).traces
    assert (trace.messages, trace.usage.prompt_tokens) == ([], 30)
    assert [[(run.name, run.latency_ms) for run in step.tools] for step in trace.steps] == [[("add", 500)], []]
    assert [note["kind"] for note in trace.notes] == ["content"]
    assert (summarise(trace).tool_calls, summarise(trace).unpaired_calls) == (1, 0)


def test_calls_without_words_are_rebuilt_from_tool_spans_that_have_them():
    run = tool(**{"gen_ai.tool.call.arguments": '{"a": 2}', "gen_ai.tool.call.result": "5"})
    spans = [span(2, "chat m", 1, 2, 1, attributes=chat()), span(3, "add", 2, 3, 1, attributes=run), RUN[3]]
    (trace,) = opened(spans).traces
    assert [message.role for message in trace.messages] == ["assistant", "tool"]
    assert trace.messages[0].tool_calls[0].arguments == {"a": 2}
    assert (trace.steps[0].usage.prompt_tokens, trace.steps[0].tools[0].latency_ms) == (10, 1000)


def test_words_that_stand_only_in_the_agent_are_put_beside_the_numbers_of_its_calls():
    whole = {**agent("adder"), "pydantic_ai.all_messages": json.dumps([SYSTEM, ASK, CALL, RESULT, ANSWER])}
    spans = [
        span(1, "adder run", 0, 6, attributes=whole),
        span(2, "chat m", 1, 2, 1, attributes=chat()),
        span(4, "chat m", 3, 5, 1, attributes=chat(tokens=(20, 4))),
    ]
    (trace,) = opened(spans).traces
    assert [message.role for message in trace.messages] == ROLES
    assert [step.usage.prompt_tokens for step in trace.steps] == [10, 20]


def test_an_agent_below_another_is_a_trace_of_its_own():
    inner = [
        span(5, "invoke_agent helper", 2.1, 2.4, 3, attributes=agent("helper")),
        span(6, "chat m", 2.2, 2.3, 5, attributes=chat(ASK, gave=ANSWER, tokens=(7, 1))),
    ]
    outer, helper = opened([*RUN, *inner]).traces
    assert (outer.title, helper.title, helper.source.parent) == ("adder", "helper", outer.trace_id)
    assert (outer.usage.prompt_tokens, helper.usage.prompt_tokens) == (30, 7)


def test_two_instrumentations_of_one_call_count_once_nested_and_side_by_side():
    twice = {"openinference.span.kind": "LLM", "llm.token_count.prompt": 10, "llm.token_count.completion": 2}
    second = twice | {"output.value": "What?"}
    nested = [*RUN[2:], span(9, "OpenAI.create", 1.01, 1.99, 2, attributes=second)]
    beside = [*RUN[2:], span(9, "OpenAI.create", 1.01, 1.99, 1, attributes=twice)]
    for spans in (nested, beside):
        report = opened(spans)
        (trace,) = report.traces
        assert (trace.usage.prompt_tokens, [call.name for call in trace.messages[2].tool_calls]) == (10, ["add"])
        assert "not added" in report.warnings[0]


def test_calls_that_stand_alone_join_where_one_continues_the_other():
    def alone(number, begin, attributes):
        return span(
            number,
            "chat m",
            begin,
            begin + 1,
            context={"trace_id": f"t{number}", "span_id": "s"},
            attributes=attributes,
        )

    spans = [
        alone(1, 1, chat(SYSTEM, ASK, gave=CALL)),
        alone(2, 3, chat(SYSTEM, ASK, CALL, RESULT, gave=ANSWER)),
        alone(3, 5, chat({"role": "user", "parts": [{"type": "text", "content": "Hello"}]}, gave=ANSWER)),
    ]
    assert [len(trace.messages) for trace in opened(spans).traces] == [5, 2]


def test_many_traces_of_one_file_are_many_conversations():
    other = [{**each, "context": {**each["context"], "trace_id": "0xb2"}} for each in RUN]
    assert [len(trace.messages) for trace in opened([*RUN, *other]).traces] == [5, 5]


def test_system_texts_with_the_time_of_day_make_no_new_conversation():
    clock = "You are a helpful assistant that adds numbers for people. It is {}."
    told = [{"role": "system", "parts": [{"type": "text", "content": clock.format(time)}]} for time in ("9:00", "9:01")]
    spans = [
        span(2, "chat m", 1, 2, 1, attributes=chat(told[0], ASK, gave=CALL)),
        span(4, "chat m", 3, 5, 1, attributes=chat(told[1], ASK, CALL, RESULT, gave=ANSWER)),
        RUN[3],
    ]
    assert [len(trace.messages) for trace in opened(spans).traces] == [5]


# -- other words ---------------------------------------------------------------------------------------------------


def one(attributes, **more):
    (trace,) = opened([span(1, "call", 0, 1, attributes=attributes, **more)]).traces
    return trace


def test_traceloop_numbers_its_prompts():
    trace = one(
        {
            "llm.request.type": "chat",
            "gen_ai.system": "OpenAI",
            "gen_ai.request.model": "m",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "What is 2+3?",
            "gen_ai.prompt.1.role": "assistant",
            "gen_ai.prompt.1.tool_calls.0.id": "c1",
            "gen_ai.prompt.1.tool_calls.0.name": "add",
            "gen_ai.prompt.1.tool_calls.0.arguments": '{"a": 2}',
            "gen_ai.prompt.2.role": "tool",
            "gen_ai.prompt.2.tool_call_id": "c1",
            "gen_ai.prompt.2.content": "5",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "It is 5.",
            "gen_ai.completion.0.finish_reason": "stop",
            "gen_ai.usage.prompt_tokens": 10,
            "gen_ai.usage.completion_tokens": 2,
            "llm.usage.total_tokens": 12,
            "llm.request.functions.0.name": "add",
        }
    )
    assert [message.role for message in trace.messages] == ROLES[1:]
    assert (trace.messages[1].tool_calls[0].arguments, trace.messages[2].tool_call_id) == ({"a": 2}, "c1")
    assert (trace.usage.total, trace.tools[0]["function"]["name"], trace.outcome.reason) == (12, "add", "final")


def test_messages_in_events_are_read():
    calls = json.dumps([{"id": "c1", "function": {"name": "add"}}])
    choice = {"message": json.dumps({"content": "It is 5."}), "finish_reason": "stop"}
    events = [
        {"name": "gen_ai.system.message", "attributes": {"content": "You add."}},
        {"name": "gen_ai.user.message", "attributes": {"content": "What is 2+3?"}},
        {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": calls}},
        {"name": "gen_ai.tool.message", "attributes": {"id": "c1", "content": "5"}},
        {"name": "gen_ai.choice", "attributes": choice},
    ]  # fmt: skip
    assert [message.role for message in one(chat(), events=events).messages] == ROLES
    written = {**chat(), "events": json.dumps([{"event.name": e["name"], **e["attributes"]} for e in events])}
    assert [message.role for message in one(written).messages] == ROLES


def test_blocks_of_bedrock_in_events_are_read():
    """Strands keeps the provider's content blocks as JSON text in the events of its spans."""

    def event(name, key, blocks, **more):
        return {"name": name, "attributes": {key: json.dumps(blocks), **more}}

    use = {"toolUse": {"toolUseId": "c1", "name": "add", "input": {"a": 2}}}
    result = {"toolResult": {"toolUseId": "c1", "content": [{"text": "5"}], "status": "success"}}
    asked = event("gen_ai.user.message", "content", [{"text": "What is 2+3?"}])
    calls = event("gen_ai.choice", "message", [{"text": "I add."}, use], finish_reason="tool_use")
    again = [
        asked,
        event("gen_ai.assistant.message", "content", [{"text": "I add."}, use]),
        event("gen_ai.tool.message", "content", [result]),
        event("gen_ai.choice", "message", [{"text": "It is 5."}], finish_reason="end_turn"),
    ]
    ran = [
        event("gen_ai.tool.message", "content", {"a": 2}, id="c1"),
        event("gen_ai.choice", "message", [{"text": "5"}]),
    ]
    spans = [
        span(2, "chat", 1, 2, 1, attributes=chat(), events=[asked, calls]),
        span(3, "execute_tool add", 2, 3, 1, attributes=tool(), events=ran),
        span(4, "chat", 3, 4, 1, attributes=chat(), events=again),
        RUN[3],
    ]
    (trace,) = opened(spans).traces
    assert [message.role for message in trace.messages] == ROLES[1:]
    assert [message.text for message in trace.messages] == ["What is 2+3?", "I add.", "5", "It is 5."]
    assert trace.steps[0].tools[0].latency_ms == 1000
    (unanswered,) = opened(spans[:2]).traces
    assert [message.text for message in unanswered.messages] == ["What is 2+3?", "I add.", "5"]


def test_prompts_of_whole_events_and_attributes_are_read():
    told, gave = json.dumps([{"role": "user", "content": "Hi"}]), json.dumps([{"role": "assistant", "content": "Ho"}])
    events = [
        {"name": "gen_ai.content.prompt", "attributes": {"gen_ai.prompt": told}},
        {"name": "gen_ai.content.completion", "attributes": {"gen_ai.completion": gave}},
    ]
    for trace in (one(chat(), events=events), one({**chat(), "gen_ai.prompt": told, "gen_ai.completion": gave})):
        assert [(message.role, message.text) for message in trace.messages] == [("user", "Hi"), ("assistant", "Ho")]


def test_the_vercel_sdk_is_read_and_its_outer_spans_are_not_added():
    named = {"toolCallId": "c1", "toolName": "add"}
    call, result = {"type": "tool-call", **named, "input": {"a": 2}}, {"type": "tool-result", **named}
    told = [
        {"role": "user", "content": [{"type": "text", "text": "What is 2+3?"}]},
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [{**result, "output": {"type": "text", "value": "5"}}]},
    ]
    numbers = {"ai.usage.inputTokens": 10, "ai.usage.outputTokens": 2}
    outer = {"ai.operationId": "ai.streamText", "ai.telemetry.functionId": "adder", **numbers}
    first = {
        "ai.operationId": "ai.streamText.doStream",
        "ai.model.id": "m",
        "ai.prompt.messages": json.dumps(told[:1]),
        "ai.prompt.tools": [json.dumps({"type": "function", "name": "add", "inputSchema": {"type": "object"}})],
        "ai.response.toolCalls": json.dumps(told[1]["content"]),
        "ai.response.finishReason": "tool-calls",
        "ai.response.msToFirstChunk": 120.5,
        **numbers,
    }
    second = {**first, "ai.prompt.messages": json.dumps(told), "ai.response.text": "It is 5."}
    second |= {"ai.response.toolCalls": None, "ai.response.finishReason": "stop", "ai.response.reasoning": "Add."}
    run = {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "add",
        "ai.toolCall.id": "c1",
        "ai.toolCall.result": "5",
    }
    (trace,) = opened(
        [
            span(1, "ai.streamText", 0, 9, attributes=outer),
            span(2, "ai.streamText.doStream", 1, 2, 1, attributes=first),
            span(3, "ai.toolCall", 2, 3, 1, attributes=run),
            span(4, "ai.streamText.doStream", 3, 4, 1, attributes=second),
        ]
    ).traces
    assert [message.role for message in trace.messages] == ROLES[1:]
    assert (trace.title, trace.usage.prompt_tokens, trace.steps[0].first_token_ms) == ("adder", 20, 120.5)
    assert trace.tools[0]["function"]["parameters"] == {"type": "object"}
    assert (trace.messages[-1].reasoning, trace.messages[2].text) == ("Add.", "5")


def test_images_and_thoughts_of_parts_are_what_they_are():
    parts = [
        {"type": "text", "content": "What is this?"},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "iVBORw0KGgo="},
        {"type": "uri", "modality": "image", "uri": "https://example.org/a.png"},
    ]
    answer = {
        "role": "assistant",
        "parts": [{"type": "reasoning", "content": "A cat."}, {"type": "text", "content": "Cat"}],
    }
    trace = one(chat({"role": "user", "parts": parts}, gave=answer))
    urls = [part["image_url"]["url"] for part in trace.messages[0].content[1:]]
    assert urls == ["data:image/png;base64,iVBORw0KGgo=", "https://example.org/a.png"]
    assert (trace.messages[1].reasoning, trace.messages[1].text) == ("A cat.", "Cat")


def test_parts_in_the_old_place_of_prompts_keep_their_calls():
    attributes = chat(gave=None) | {
        "gen_ai.prompt": json.dumps([ASK, CALL, RESULT]),
        "gen_ai.completion": '{"text": "5"}',
    }
    trace = one(attributes)
    assert ([each.role for each in trace.messages], trace.steps[0].tools[0].message) == (ROLES[1:], 2)


def test_instructions_beside_a_system_message_are_kept_and_the_same_words_are_said_once():
    for told, texts in (("Be brief.", ["Be brief.", "You add."]), ("You add.", ["You add."])):
        said = json.dumps([{"type": "text", "content": told}])
        trace = one(chat(SYSTEM, ASK, gave=ANSWER) | {"gen_ai.system_instructions": said})
        assert [each.text for each in trace.messages if each.role == "system"] == texts


def test_words_that_were_kept_back_are_no_words_and_the_trace_says_so():
    asked = {"role": "user", "parts": [{"type": "text"}]}
    call = {"role": "assistant", "parts": [{"type": "text"}, {"type": "tool_call", "id": "c1", "name": "add"}]}
    answer = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "name": "add"}]}
    trace = one(chat(asked, call, answer, gave={"role": "assistant", "parts": [{"type": "text"}]}))
    assert [(each.role, each.content) for each in trace.messages] == [(role, None) for role in ROLES[1:]]
    assert "were not recorded" in trace.notes[0]["text"]


def test_an_image_that_a_tool_gave_is_an_image():
    image = {"kind": "binary", "media_type": "image/png", "data": "iVBORw0KGgo="}
    answer = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": image}]}
    assert one(chat(ASK, CALL, answer, gave=ANSWER)).messages[2].content[0]["type"] == "image_url"


def test_cached_tokens_larger_than_the_prompt_were_counted_beside_it():
    cached = {"gen_ai.usage.cache_read.input_tokens": 100, "gen_ai.usage.details.reasoning_tokens": 1}
    usage = one(chat(ASK, gave=ANSWER, **cached)).usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.reasoning_tokens) == (110, 100, 1)


def test_jaeger_and_bare_attributes_are_read():
    def tags(attributes):
        return [{"key": key, "type": "string", "value": value} for key, value in attributes.items()]

    spans = [
        {"traceID": "t", "spanID": "1", "operationName": "main", "startTime": T * 10**6, "duration": 10**7, "tags": []},
        {
            "traceID": "t",
            "spanID": "2",
            "operationName": "chat m",
            "references": [{"refType": "CHILD_OF", "traceID": "t", "spanID": "1"}],
            "startTime": T * 1_000_000,
            "duration": 2_000_000,
            "tags": tags(chat(ASK, gave=ANSWER)),
        },
    ]  # fmt: skip
    (trace,) = opened({"data": [{"traceID": "t", "spans": spans, "processes": {}}]}).traces
    assert (trace.title, len(trace.messages), trace.steps[0].latency_ms) == ("main", 2, 2000)
    (bare,) = opened(chat(ASK, gave=ANSWER)).traces
    assert (len(bare.messages), bare.usage.prompt_tokens) == (2, 10)


def test_spans_of_something_else_are_no_conversation_and_are_counted():
    report = opened([span(1, "GET /", 0, 1, attributes={"http.method": "GET"})])
    assert (report.format, report.traces) == ("otlp-genai", [])
    assert report.unread == ["a trace without a model call, a tool run or words"]


def test_an_export_without_spans_is_still_otlp():
    report = opened({"resourceSpans": []})
    assert (report.format, report.traces, report.unread) == ("otlp-genai", [], ["a record that is no span"])


def test_spans_that_go_in_a_circle_are_read_with_a_warning():
    circle = [{**RUN[3], "parent_id": "0x2"}, *RUN[:3]]
    report = opened(circle)
    assert (len(report.traces[0].messages), "circle" in report.warnings[0]) == (5, True)


@given(damaged(RUN))
def test_damaged_spans_never_bring_the_reader_down(value):
    survives(value, "otlp-genai")


@given(damaged(otlp(RUN)))
def test_damaged_otlp_never_brings_the_reader_down(value):
    survives(value, "otlp-genai")
