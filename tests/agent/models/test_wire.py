"""The outgoing copy of messages and schemas."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.messages import Message, ToolCall
from agent.models.profiles import PROFILES, Profile, profile_for
from agent.models.wire import HistoryEncoder, short_id, wire_message, wire_schemas
from agent.schema import portable

DEFAULT = PROFILES["default"]
STRICT = Profile(unknown_keys=False)
CALLING = Message("assistant", None, (ToolCall("c1", "add", {"a": 1}),), extra={"reasoning_content": "think"})


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_an_ordinary_message_is_shared_not_copied(profile):
    message = Message("user", "hi")
    assert wire_message(message, profile) is message.to_dict()


@pytest.mark.parametrize(
    ("content", "expected"), [("null", {"content": None}), ("empty", {"content": ""}), ("omit", {})]
)
def test_the_content_of_a_turn_that_only_calls_tools_follows_the_profile(content, expected):
    sent = wire_message(CALLING, Profile(content=content))
    assert {key: value for key, value in sent.items() if key == "content"} == expected
    assert CALLING.to_dict()["content"] is None


def test_an_empty_answer_stays_in_the_history_as_an_empty_text():
    assert wire_message(Message("assistant", None), DEFAULT) == {"role": "assistant", "content": ""}


@pytest.mark.parametrize(
    ("reasoning", "with_calls", "without"),
    [("always", True, True), ("tool_calls", True, False), ("never", False, False)],
)
def test_which_turns_go_back_with_their_reasoning_follows_the_profile(reasoning, with_calls, without):
    profile = Profile(reasoning=reasoning)
    answer = Message("assistant", "5", extra={"reasoning": "think"})
    assert ("reasoning_content" in wire_message(CALLING, profile)) is with_calls
    assert ("reasoning" in wire_message(answer, profile)) is without


def test_a_host_that_refuses_unknown_keys_gets_none():
    call = ToolCall("c1", "f", {}, extra={"extra_content": {"x": 1}})
    message = Message("assistant", None, (call,), extra={"reasoning": "r", "whatever": 1, "refusal": "no"})
    sent = wire_message(message, STRICT)
    assert sent.keys() == {"role", "content", "tool_calls"}
    assert sent["tool_calls"][0].keys() == {"id", "type", "function"}
    assert message.to_dict()["tool_calls"][0]["extra_content"] == {"x": 1}


@pytest.mark.parametrize(
    ("name", "sent"),
    [("multi_tool_use.parallel", "multi_tool_use_parallel"), ("x" * 80, "x" * 64), ("", "unnamed"), ("add", "add")],
)
def test_a_name_that_hosts_would_refuse_is_made_plain_in_the_history(name, sent):
    message = Message("assistant", None, (ToolCall("c1", name),))
    assert wire_message(message, DEFAULT)["tool_calls"][0]["function"]["name"] == sent
    assert message.tool_calls[0].name == name


@given(st.lists(st.text(min_size=1), unique=True, max_size=20))
def test_short_ids_have_nine_letters_and_digits_are_stable_and_unique(ids):
    short = [short_id(one) for one in ids]
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", one) for one in short)
    assert len(set(short)) == len(ids)
    assert [short_id(one) for one in short] == short


def test_call_and_result_stay_matched_under_short_ids():
    profile = PROFILES["mistral"]
    call = Message("assistant", None, (ToolCall("call_1700000000000", "f"),))
    result = Message("tool", "5", tool_call_id="call_1700000000000")
    call_id = wire_message(call, profile)["tool_calls"][0]["id"]
    assert wire_message(result, profile)["tool_call_id"] == call_id
    assert result.tool_call_id == "call_1700000000000"


SCHEMA = {
    "type": "object",
    "$schema": "x",
    "additionalProperties": False,
    "properties": {
        "default": {"type": "string", "default": "x", "examples": ["y"]},
        "when": {"$ref": "#/$defs/When", "description": "The day."},
        "kind": {"const": "a"},
        "either": {"oneOf": [{"type": "string", "$comment": "c"}, {"type": "null"}]},
        "all": {"allOf": [{"$ref": "#/$defs/When"}]},
        "tree": {"$ref": "#/$defs/Tree"},
    },
    "required": ["default"],
    "$defs": {
        "When": {"type": "string", "exclusiveMinimum": 0, "enum": ["today"]},
        "Tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Tree"}}},
    },
}


def test_a_plain_schema_holds_only_common_keywords_and_no_references():
    tool = {"type": "function", "function": {"name": "f", "strict": True, "parameters": SCHEMA}}
    (plain,) = wire_schemas([tool], PROFILES["gemini"])
    parameters = plain["function"]["parameters"]
    assert parameters["properties"]["default"] == {"type": "string"}
    assert parameters["properties"]["when"] == {"type": "string", "enum": ["today"], "description": "The day."}
    assert parameters["properties"]["kind"] == {"enum": ["a"]}
    assert parameters["properties"]["either"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert parameters["properties"]["all"] == {"type": "string", "enum": ["today"]}
    assert not any(f'"{word}"' in json.dumps(parameters) for word in ("$ref", "$defs", "additionalProperties", "const"))
    assert tool["function"]["parameters"] is SCHEMA


def test_a_plain_recursive_schema_ends_where_the_schema_of_a_typed_function_does():
    tool = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
    (plain,) = wire_schemas([tool], PROFILES["gemini"])
    assert plain["function"]["parameters"]["properties"]["tree"] == portable(SCHEMA)["properties"]["tree"]


def test_other_hosts_get_the_schemas_as_they_are():
    tools = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
    assert wire_schemas(tools, DEFAULT) is tools


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (None, "openai"),
        ("https://api.openai.com/v1", "openai"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://user:secret@api.mistral.ai/v1", "mistral"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", "gemini"),
        ("http://LOCALHOST:11434/v1", "ollama"),
        ("http://192.168.1.7:11434/v1", "ollama"),
        ("http://127.0.0.1:9999/v1", "default"),
        ("https://notopenai.com/v1", "default"),
    ],
)
def test_the_profile_is_found_by_the_host(url, name):
    assert profile_for(url).name == name


def test_the_preset_of_ollama_says_how_to_raise_its_context():
    assert "num_ctx" in PROFILES["ollama"].about


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_every_preset_leads_back_to_its_own_profile(profile):
    assert profile_for(profile.base_url or "http://elsewhere/v1") is profile


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6))
def test_a_request_is_the_same_whatever_was_sent_before_it(requests):
    pool = [Message("user", f"text {number} 天") for number in range(6)]
    encoder = HistoryEncoder(DEFAULT)
    for request in requests:
        messages = [pool[number] for number in request]
        assert json.loads(encoder.encode(messages)) == [message.to_dict() for message in messages]


def test_a_growing_history_is_sent_as_it_is_after_every_round():
    encoder, messages = HistoryEncoder(DEFAULT), []
    for number in range(5):
        messages += [Message("user", str(number)), CALLING]
        assert json.loads(encoder.encode(messages)) == [message.to_dict() for message in messages]
