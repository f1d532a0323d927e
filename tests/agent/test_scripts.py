"""A script is read, checked with the place of every fault, and plays as a run."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import InputError
from agent.evidence import ToolSucceeded
from agent.limits import Limits
from agent.messages import ToolCall
from agent.models.json_action import JsonActionModel
from agent.scripts import load_script, parse_script

WHOLE = """\
title: Order
title_zh: 订单
summary: One look-up.
system: Be brief.
task: Where is A1001?
tools: [get_order]
max_steps: 5
limits: {repeated_calls: 3, deadline_s: 2}
policy: {ask: [get_order]}
context: {max_tokens: 900}
turns:
  - text: I look it up.
    reasoning: It is an order number.
    calls:
      - {name: get_order, arguments: {order_id: A1001}, id: k1}
    usage: {prompt_tokens: 100, completion_tokens: 9, reasoning_tokens: 4}
    latency_ms: 20.5
  - Shipped.
evidence:
  - tool_succeeded: get_order
"""


def fault(text, name="my.yaml"):
    with pytest.raises(InputError) as caught:
        parse_script(text, name)
    return str(caught.value)


def test_every_field_of_a_script_arrives():
    script = parse_script(WHOLE, "shop.yaml")
    assert (script.name, script.title, script.title_zh, script.summary) == ("shop", "Order", "订单", "One look-up.")
    assert (script.system, script.users, script.task) == ("Be brief.", ("Where is A1001?",), "Where is A1001?")
    assert (script.tools, script.max_steps) == (("get_order",), 5)
    assert script.limits == Limits(repeated_calls=3, deadline_s=2)
    assert script.policy.check("get_order")[0] == "ask"
    assert script.context.max_tokens == 900
    assert script.evidence == (ToolSucceeded("get_order"),)
    first, last = script.turns
    assert first.said.latency_ms == 20.5
    assert first.said.reply.message.text == "I look it up."
    assert first.said.reply.message.reasoning == "It is an order number."
    assert first.said.reply.message.tool_calls == (ToolCall("k1", "get_order", {"order_id": "A1001"}),)
    assert (first.said.reply.usage.prompt_tokens, first.said.reply.usage.reasoning_tokens) == (100, 4)
    assert (first.said.reply.finish_reason, last.said.reply.finish_reason) == ("tool_calls", "stop")
    assert (last.said.reply.message.text, last.said.reply.usage) == ("Shipped.", None)


def test_json_and_yaml_say_the_same():
    data = {"task": "Add.", "turns": [{"calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]}, "3"]}
    text = json.dumps(data, indent=1)
    assert parse_script(text, "a.json") == parse_script(text, "a.yaml")


def test_a_bare_list_of_turns_is_a_script_with_the_tools_that_it_calls():
    script = parse_script("- calls: [{name: add, arguments: {a: 1, b: 2}}]\n- It is 3.")
    assert (script.tools, script.warnings) == (("add",), ())
    assert script.task


def test_a_script_plays_from_start_to_finish():
    loop = parse_script("- calls: [{name: add, arguments: {a: 1, b: 2}}]\n- It is 3.").loop()
    list(loop.events("Add."))
    assert [m.text for m in loop.messages] == ["Add.", "", "3", "It is 3."]


def test_several_user_messages_are_turns_of_one_conversation():
    script = parse_script("user: [Hello., Bye.]\nturns: [Hi!, See you.]")
    loop = script.loop()
    for text in script.users:
        list(loop.events(text))
    assert [m.text for m in loop.messages] == ["Hello.", "Hi!", "Bye.", "See you."]


def test_options_of_the_loop_take_the_place_of_what_the_script_says():
    loop = parse_script(WHOLE).loop(max_steps=1, policy=None, pace=0)
    list(loop.events("x"))
    assert (loop.stop_reason, loop.trace.steps[0].tools[0].ok) == ("max_iterations", True)


def test_the_pace_scales_the_latencies_of_the_turns():
    script = parse_script(WHOLE)
    assert [turn.latency_ms for turn in script.make_model(pace=2).turns] == [41, 0]


def test_under_json_action_the_turns_are_the_raw_words_of_the_model():
    action = json.dumps({"thought": "t", "action": "tool", "tool": "add", "params": {"a": 1, "b": 2}})
    script = parse_script(f"protocol: json_action\ntools: [add]\nturns:\n  - '{action}'\n  - done")
    assert isinstance(script.make_model(), JsonActionModel)
    loop = script.loop()
    list(loop.events("x"))
    assert loop.trace.steps[0].tools[0].arguments == {"a": 1, "b": 2}


def test_calls_without_an_id_get_ids_that_differ():
    script = parse_script("- calls: [{name: noop}, {name: noop}]\n- calls: [{name: noop}]")
    ids = [call.id for turn in script.turns for call in turn.said.reply.message.tool_calls]
    assert len(set(ids)) == 3


def test_arguments_given_as_text_are_sent_as_they_are():
    script = parse_script("- calls: [{name: add, arguments: '{\"a\": 1'}]")
    call = script.turns[0].said.reply.message.tool_calls[0]
    assert (call.text, call.arguments) == ('{"a": 1', {}) and call.problem


def test_yaml_values_mean_what_json_values_mean():
    script = parse_script("- calls: [{name: t, arguments: {a: no, b: 12:30, c: 2026-11-29, d: 1e3, e: 010, f: true}}]")
    assert script.turns[0].said.reply.message.tool_calls[0].arguments == {
        "a": "no",
        "b": "12:30",
        "c": "2026-11-29",
        "d": 1000.0,
        "e": "010",
        "f": True,
    }


def test_an_empty_answer_can_be_said_on_purpose():
    assert parse_script("- {text: ''}").turns[0].said.reply.message.text == ""


def test_max_steps_can_be_taken_away():
    assert parse_script("max_steps: null\nturns: [x]").max_steps is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tasks: x\nturns: [a]", "my.yaml, line 1, tasks: unknown key 'tasks'; did you mean 'task'?"),
        (
            "turns:\n  - a\n  - calls:\n      - nmae: add\n",
            "my.yaml, line 4, turns[1].calls[0].name: the key 'name' is missing (and 1 more)",
        ),
        (
            "turns:\n  - calls:\n      - {name: add, args: {}}\n",
            "my.yaml, line 3, turns[0].calls[0].args: unknown key 'args'; did you mean 'arguments'?",
        ),
        (
            "tools: [ad]\nturns: [a]",
            "my.yaml, line 1, tools[0]: there is no tool 'ad' in the toolbox; did you mean 'add'?",
        ),
        ("turns: a", "my.yaml, line 1, turns: expected a list, found 'a'"),
        ("task: x", "my.yaml: the key 'turns' is missing"),
        ("turns: []", "my.yaml, line 1, turns: list should have at least 1 item"),
        ("max_steps: '3'\nturns: [a]", "my.yaml, line 1, max_steps: expected a whole number, found '3'"),
        ("max_steps: true\nturns: [a]", "my.yaml, line 1, max_steps: expected a whole number, found true"),
        ("max_steps: 0\nturns: [a]", "my.yaml, line 1, max_steps: input should be greater than or equal to 1, found 0"),
        ("turns:\n  - usage: {}\n", "my.yaml, line 2, turns[0]: a turn needs a text or calls"),
        ("- a\n- 5\n", "my.yaml, line 2, [1]: expected a mapping, found 5"),
        ("limits: {repeat: 3}\nturns: [a]", "my.yaml, line 1, limits.repeat: unknown key 'repeat'"),
        (
            "turns: [a]\nlimits:\n  repeated_calls: 1",
            "my.yaml, line 3, limits.repeated_calls: repeated_calls must be a whole number from 2",
        ),
        ("limits: {deadline_s: -1}\nturns: [a]", "my.yaml, line 1, limits.deadline_s: deadline_s must be a number"),
        ("limits: {cost: 1e999}\nturns: [a]", "my.yaml, line 1, limits.cost: cost must be a number above 0"),
        (
            "context: {max_tokens: 0}\nturns: [a]",
            "my.yaml, line 1, context.max_tokens: input should be greater than or equal to 1, found 0",
        ),
        ("context: {}\nturns: [a]", "my.yaml, line 1, context.max_tokens: the key 'max_tokens' is missing"),
        ("task: x\nuser: [y]\nturns: [a]", "my.yaml, line 2, user: give the user's words as task"),
        ("protocol: jsonaction\nturns: [a]", "my.yaml, line 1, protocol: expected 'native' or 'json_action', found 'jsonaction'"),
        ("protocol: json_action\nturns: [{calls: [{name: add}]}]", "my.yaml, line 2, turns[0].calls: under json_action"),
        ("evidence: [{}]\nturns: [a]", "my.yaml, line 1, evidence[0]: a check needs exactly one of the keys"),
        ("turns: [a]\nturns: [b]", "my.yaml, line 2: this is not valid YAML: the key 'turns' stands twice"),
        ("turns: [a\ntask: x", "my.yaml, line 2: this is not valid YAML"),
        ("turns: &a [x]\nuser: *a", "my.yaml, line 2: this is not valid YAML: aliases (*name) are not allowed"),
        ("!!python/object/apply:os.system ['true']", "my.yaml, line 1: this is not valid YAML"),
        ("- calls: [{name: t, arguments: {d: !!timestamp 2026-11-29}}]", "my.yaml, line 1: this is not valid YAML"),
        ("? [a]\n: b", "my.yaml, line 1: this is not valid YAML: a key must be a text"),
        ("just words", "my.yaml: a script is a mapping with the key turns, or a list of turns; found 'just words'"),
        ("", "my.yaml: a script is a mapping with the key turns, or a list of turns; found nothing"),
        ("\x00", "my.yaml: this is not valid YAML"),
        ("[" * 5000, "my.yaml"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place_and_what_was_expected(text, expected):
    assert fault(text).startswith(expected)


@pytest.mark.parametrize(
    "limit", ["failing_steps", "total_tokens", "calls_per_step", "repeated_calls", "deadline_s", "cost", "nudges"]
)
def test_no_limit_of_a_script_is_negative(limit):
    text = fault(f"limits: {{{limit}: -3}}\nturns: [a]")
    assert text.startswith(f"my.yaml, line 1, limits.{limit}: ") and ", not -3" in text


def test_a_limit_may_be_switched_off_and_nudges_may_be_none():
    script = parse_script("limits: {repeated_calls: null, deadline_s: null, cost: 0.5, nudges: 0}\nturns: [a]")
    assert script.limits == Limits(cost=0.5)


def test_a_fault_in_json_is_told_with_its_line():
    assert fault('{"turns": ["a', "my.json") == "my.json, line 1: this is not valid JSON: Unterminated string starting"
    assert fault('{"turns": [\n"a",\n]}', "my.json").startswith("my.json, line 3: this is not valid JSON")
    assert fault('{"turns":\n [5]}', "my.json").startswith("my.json, line 2, turns[0]: expected a mapping, found 5")


def test_a_call_of_a_tool_that_is_not_offered_is_a_warning_for_a_model_may_say_anything():
    script = parse_script("tools: [add]\npolicy: {deny: [ad]}\nturns: [{calls: [{name: ad}]}]")
    assert script.warnings == (
        "turns[0].calls[0].name: no tool 'ad' is offered; did you mean 'add'?",
        "policy.deny: no tool 'ad' is offered; did you mean 'add'?",
    )


def test_a_script_is_loaded_from_a_file_whose_name_becomes_its_name(tmp_path):
    path = tmp_path / "my run.yml"
    path.write_bytes("\ufefftask: 你好\nturns: [好]".encode())
    script = load_script(path)
    assert (script.name, script.title, script.task) == ("my run", "my run", "你好")


def test_a_folder_with_the_name_of_a_scenario_does_not_hide_it(tmp_path, monkeypatch):
    (tmp_path / "calc").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_script("calc").tools == ("add", "multiply")


def test_what_is_no_script_file_is_said(tmp_path):
    (tmp_path / "latin").write_bytes(b"turns: [\xe9]")
    with pytest.raises(InputError, match="latin: a script must be UTF-8 text"):
        load_script(tmp_path / "latin")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        load_script(tmp_path)
    with pytest.raises(InputError, match="the name of the script is empty"):
        load_script("")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe' cannot be read: it is not a regular file"):
        load_script(tmp_path / "pipe")
    with pytest.raises(InputError, match="there is no file or scenario 'clac'; did you mean 'calc'"):
        load_script("clac")
    with pytest.raises(InputError, match="there is no file or scenario"):
        load_script("x" * 5000)


def test_a_text_that_is_no_script_by_its_size_is_refused():
    assert fault("# " + "x" * 1_000_001).startswith("my.yaml: a script may have 1,000,000 characters")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["turns", "tools", "text", "calls", "name", "arguments", "usage", "limits", "user", "evidence"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON)
def test_whatever_the_data_the_answer_is_a_script_or_an_input_error(data):
    try:
        parse_script(json.dumps(data), "any.json")
    except InputError as error:
        assert str(error).startswith("any.json")


def test_a_turn_can_be_said_many_times():
    script = parse_script("tools: [noop]\nturns:\n  - {calls: [{name: noop}], repeat: 3}\n  - Done.", "loop.yaml")
    assert [bool(turn.said.reply.message.tool_calls) for turn in script.turns] == [True, True, True, False]
    with pytest.raises(InputError, match=r"repeat"):
        parse_script("turns:\n  - {text: x, repeat: 0}", "loop.yaml")
