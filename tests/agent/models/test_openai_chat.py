"""OpenAIModel against a real server: what is sent, what is read, the same with and without streaming."""

import pytest

from agent.errors import InputError, ModelError
from agent.messages import Message, ToolCall
from agent.models.base import CallControl
from agent.models.openai_chat import OpenAIModel
from agent.models.profiles import PROFILES, Profile
from agent.usage import Usage

USER = Message("user", "What is 2+3?")


@pytest.fixture
def model(server):
    """Makes a model of the test server."""

    def make(**options):
        return OpenAIModel("stub-1", **{"base_url": server.url, "api_key": "key-1234567", **options})

    return make


def told(model, *request):
    """The reply, and everything that was told while the call went on."""
    events = []
    reply = model.complete(*request, control=CallControl(emit=lambda type, payload: events.append((type, payload))))
    return reply, events


def test_a_plain_request_holds_only_what_was_asked_for(server, model):
    server.say("5")
    assert model().complete([USER], []).message == Message("assistant", "5")
    (request,) = server.requests
    assert request.body == {"model": "stub-1", "messages": [{"role": "user", "content": "What is 2+3?"}]}
    assert request.headers["authorization"] == "Bearer key-1234567"


def test_every_option_reaches_the_server(server, model, tools):
    server.say("5")
    options = {"temperature": 0, "max_tokens": 9, "seed": 4, "tool_choice": "required", "parallel_tool_calls": False}
    model(**options, extra_body={"top_k": 1}).complete([USER], tools)
    assert server.bodies[0].items() >= {**options, "top_k": 1}.items()
    assert server.bodies[0]["tools"] == tools


def test_options_about_tools_are_left_out_where_there_are_no_tools(server, model):
    server.say("5")
    model(tool_choice="auto", parallel_tool_calls=False).complete([USER], [])
    assert server.bodies[0].keys() == {"model", "messages"}


def test_address_and_key_come_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    server.say("5")
    OpenAIModel("m").complete([USER], [])
    assert server.requests[0].headers["authorization"] == "Bearer from-the-environment"


def test_a_server_without_keys_needs_none(server):
    server.say("5")
    assert OpenAIModel("m", base_url=f"{server.url}/chat/completions").complete([USER], []).message.content == "5"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"base_url": "localhost:8080"},
        {"base_url": "http://"},
        {"base_url": "http://host:port/v1"},
        {"base_url": "http://\u202e.x/v1"},
        {"base_url": "http://a..b/v1"},
        {"base_url": "http://x\0y/v1"},
        {"base_url": "http://x/v1", "api_key": "密钥"},
        {"base_url": "http://x/v1", "api_key": "two words"},
        {"base_url": "http://x/v1", "profile": "nobody"},
        {"base_url": "http://x/v1", "extra_body": {"messages": []}},
        {"base_url": "http://x/v1", "extra_body": {"when": object()}},
        {"base_url": "http://x/v1", "timeout_s": 0},
        {"base_url": "http://x/v1", "max_retries": -1},
    ],
)
def test_what_cannot_work_is_refused_at_once(monkeypatch, options):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError) as refused:
        OpenAIModel("m", **options)
    assert options.get("api_key", "never") not in str(refused.value)


def test_the_request_is_never_changed_and_half_characters_can_be_sent(server, model):
    server.say("5")
    messages = [Message("user", "half \ud83d of a pair 天气")]
    model().complete(messages, [])
    assert server.bodies[0]["messages"][0]["content"] == "half \ufffd of a pair 天气"
    assert messages == [Message("user", "half \ud83d of a pair 天气")]


@pytest.mark.parametrize("finish_reason", ["stop", "", None, "function_call", "tool_calls"])
def test_calls_are_there_whatever_the_finish_reason_says(server, model, tools, call, finish_reason):
    server.calls(call("add", '{"a":2,"b":3}'), finish_reason=finish_reason)
    reply = model().complete([USER], tools)
    assert reply.message.tool_calls == (ToolCall("c1", "add", {"a": 2, "b": 3}),)
    assert reply.finish_reason == finish_reason


def test_a_reply_says_what_the_provider_said_about_it(server, model):
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12, "cost": 0.25}
    server.message({"content": "5"}, "stop", usage=usage)
    reply = model().complete([USER], [])
    assert reply.usage == Usage(prompt_tokens=9, completion_tokens=3, total_tokens=12)
    assert (reply.finish_reason, reply.model, reply.cost, reply.first_token_ms) == ("stop", "stub", 0.25, None)
    assert (reply.raw, reply.warnings, reply.retries) == (None, (), ())


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": None, "completion_tokens": None, "prompt_tokens_details": None}]
)
def test_unknown_usage_is_unknown(server, model, usage):
    server.message({"content": "5"}, usage=usage)
    assert model().complete([USER], []).usage is None


@pytest.mark.parametrize(
    ("message", "finish_reason"),
    [
        ({"content": None, "refusal": "I can't help"}, "stop"),
        ({"content": "", "refusal": "no"}, "stop"),
        ({"content": "so far"}, "content_filter"),
        ({"content": None, "tool_calls": []}, "tool_calls"),
    ],
)
def test_refusals_filters_and_empty_replies_come_through_as_they_are(server, model, message, finish_reason):
    server.message(message, finish_reason)
    reply = model().complete([USER], [])
    assert reply.finish_reason == finish_reason
    assert reply.message.content == message["content"]
    assert reply.message.extra.get("refusal") == message.get("refusal")
    assert len(server.requests) == 1


def test_a_streamed_reply_is_told_as_it_comes_and_equals_the_whole_one(server, model, tools, call):
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    server.deltas({"reasoning_content": "hm"}, {"content": "Fi"}, {"content": "ve"}, {"tool_calls": [call("add")]})
    server.answers[-1].events.append({"choices": [], "usage": usage})
    reply, events = told(model(stream=True), [USER], tools)
    assert events == [
        ("model.delta", {"reasoning": "hm"}),
        ("model.delta", {"text": "Fi"}),
        ("model.delta", {"text": "ve"}),
    ]
    extra = {"reasoning_content": "hm"}
    assert reply.message == Message("assistant", "Five", (ToolCall("c1", "add"),), extra=extra)
    assert reply.usage == Usage(prompt_tokens=9, completion_tokens=3, total_tokens=12)
    assert reply.first_token_ms > 0
    assert server.bodies[0]["stream_options"] == {"include_usage": True}


def test_a_stream_without_a_finish_reason_is_complete_when_it_says_done(server, model):
    server.deltas({"content": "Five"}, finish_reason=None)
    reply = model(stream=True).complete([USER], [])
    assert (reply.message.content, reply.finish_reason) == ("Five", None)


def test_a_server_that_does_not_stream_is_understood_and_the_other_way_round(server, model):
    server.say("whole").deltas({"content": "streamed"})
    assert model(stream=True).complete([USER], []).message.content == "whole"
    assert model(stream=False).complete([USER], []).message.content == "streamed"


def test_a_host_that_refuses_stream_options_is_asked_once_more_without_them_visibly(server, model):
    server.rules.usage_in_stream = False
    server.deltas({"content": "5"}).deltas({"content": "6"})
    stub = model(stream=True)
    reply, events = told(stub, [USER], [])
    assert reply.message.content == "5"
    assert [retry.status for retry in reply.retries] == [400]
    assert events[0][0] == "model.retry"
    assert stub.complete([USER], []).retries == ()
    assert ["stream_options" in body for body in server.bodies] == [True, False, False]


def test_pieces_that_could_belong_to_several_calls_run_nothing(server, model, tools, call):
    first, second = call("add", '{"a":', id="a", index=0), call("add", '{"a":', id="b", index=1)
    stray = {"index": 5, "function": {"arguments": "2}"}}
    server.deltas({"tool_calls": [first, second]}, {"tool_calls": [stray]})
    reply = model(stream=True).complete([USER], tools)
    assert [bool(made.problem) for made in reply.message.tool_calls] == [True, True]
    assert reply.warnings


@pytest.mark.parametrize("stream", [False, True])
def test_arguments_cut_off_by_the_length_limit_never_run(server, model, tools, call, stream):
    if stream:
        server.deltas({"tool_calls": [call("add", '{"a": 2, "b"', index=0)]}, finish_reason="length")
    else:
        server.calls(call("add", '{"a": 2, "b"'), finish_reason="length")
    reply = model(stream=stream).complete([USER], tools)
    (made,) = reply.message.tool_calls
    assert (made.arguments, made.text) == ({}, '{"a": 2, "b"')
    assert "length limit" in made.problem
    assert reply.raw


def conversation(message, result="5"):
    """The request after one round of tools."""
    results = [Message("tool", result, tool_call_id=call.id) for call in message.tool_calls]
    return [USER, message, *results]


def test_broken_arguments_come_back_to_a_strict_server_as_valid_json(server, model, tools, call):
    server.calls(call("add", '{"s":1}{"s":2}')).say("sorry")
    stub = model()
    first = stub.complete([USER], tools).message
    assert stub.complete(conversation(first), tools).message.content == "sorry"


@pytest.mark.parametrize(
    ("rule", "content"), [("string", "empty"), ("key", "null"), ("not_empty", "null"), ("not_empty", "omit")]
)
def test_each_kind_of_strict_host_is_served_by_a_profile(server, model, tools, call, rule, content):
    server.rules.content = rule
    server.calls(call("add"), content="").say("5")
    stub = model(profile=Profile(content=content))
    first = stub.complete([USER], tools).message
    assert first.content is None
    assert stub.complete(conversation(first), tools).message.content == "5"


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_goes_back_with_calls_by_default(server, model, tools, call, key):
    server.rules.needs_reasoning = key == "reasoning_content"
    server.calls(call("add"), **{key: "think"}).say("5")
    stub = model()
    stub.complete(conversation(stub.complete([USER], tools).message), tools)
    assert server.bodies[1]["messages"][1][key] == "think"


def test_a_history_from_elsewhere_is_accepted_by_a_host_with_strict_ids_and_keys(server, model, tools, call):
    server.rules.id_pattern, server.rules.closed_messages = "[a-zA-Z0-9]{9}", True
    ids = ("call_1700000000000", "0b3e7d2c-1f7a")
    calls = tuple(ToolCall(one, "multi_tool_use.parallel", extra={"extra_content": {}}) for one in ids)
    history = conversation(Message("assistant", None, calls, extra={"reasoning_content": "think"}))
    server.say("5")
    assert model(profile=PROFILES["mistral"]).complete(history, tools).message.content == "5"
    assert [made.id for made in calls] == list(ids)


def test_the_server_really_is_strict(server, model, tools):
    calls = Message("assistant", None, (ToolCall("a", "add"), ToolCall("b", "add")))
    with pytest.raises(ModelError, match="must be followed by tool messages"):
        model().complete([USER, calls, Message("tool", "5", tool_call_id="a")], tools)


TEXT_CALL = '<tool_call>{"name":"add","arguments":{"a":2,"b":3}}</tool_call>'


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_written_as_text_is_reported_and_run_only_on_request(server, model, tools, stream):
    for _ in range(2):
        server.deltas({"content": TEXT_CALL}) if stream else server.say(TEXT_CALL)
    reported = model(stream=stream).complete([USER], tools)
    assert (reported.message.content, reported.message.tool_calls) == (TEXT_CALL, ())
    assert "parser" in reported.warnings[0]
    run = model(stream=stream, text_calls=True).complete([USER], tools)
    (made,) = run.message.tool_calls
    assert (made.name, made.arguments, run.message.content) == ("add", {"a": 2, "b": 3}, None)
    assert run.raw["content"] == TEXT_CALL
    assert run.warnings


def test_one_connection_serves_many_calls(server, model):
    stub = model()
    for number in range(3):
        server.say(str(number))
        stub.complete([USER], [])
    assert len({request.client for request in server.requests}) == 1
