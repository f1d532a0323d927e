"""A script is read, checked with the place of every fault, and plays as a run."""

import json
import os

import pytest

from agent.errors import InputError
from agent.evidence import ToolSucceeded
from agent.limits import Limits
from agent.messages import ToolCall
from agent.models.json_action import JsonActionModel
from agent.scripts import load_script, parse_script, play

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
    "limit", ["failing_steps", "total_tokens", "calls_per_step", "repeated_calls", "deadline_s", "cost", "nudges"]
)
def test_no_limit_of_a_script_is_negative(limit):
    text = fault(f"limits: {{{limit}: -3}}\nturns: [a]")
    assert text.startswith(f"my.yaml, line 1, limits.{limit}: ") and ", not -3" in text


def test_a_limit_may_be_switched_off_and_nudges_may_be_none():
    script = parse_script("limits: {repeated_calls: null, deadline_s: null, cost: 0.5, nudges: 0}\nturns: [a]")
    assert script.limits == Limits(cost=0.5)


def test_a_call_of_a_tool_that_is_not_offered_is_a_warning_for_a_model_may_say_anything():
    script = parse_script("tools: [add]\npolicy: {deny: [ad]}\nturns: [{calls: [{name: ad}]}]")
    assert script.warnings == (
        "script.yaml, line 3, turns[0].calls[0].name: no tool 'ad' is offered; did you mean 'add'?",
        "script.yaml, line 2, policy.deny[0]: no tool 'ad' is offered; did you mean 'add'?",
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
    (tmp_path / "latin").write_bytes(b"title: x\nturns: [\xe9]")
    with pytest.raises(InputError, match="latin, line 2: a script must be UTF-8 text"):
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


def test_a_turn_can_be_said_many_times():
    script = parse_script("tools: [noop]\nturns:\n  - {calls: [{name: noop}], repeat: 3}\n  - Done.", "loop.yaml")
    assert [bool(turn.said.reply.message.tool_calls) for turn in script.turns] == [True, True, True, False]
    with pytest.raises(InputError, match=r"repeat"):
        parse_script("turns:\n  - {text: x, repeat: 0}", "loop.yaml")


RAW = """\
tools: [add]
turns:
  - raw:
      content: "<think>I add.</think>"
      tool_calls:
        - {id: "", type: function, function: {name: add, arguments: '{"a": 1, "b": 2}<|end|>'}}
        - {id: k1, type: function, function: {name: add, arguments: '{"a": 1'}}
        - {id: k1, type: function, function: {name: add, arguments: {a: 3, b: 4}}}
  - Done.
"""


def test_a_raw_reply_is_read_as_that_of_a_live_model_and_the_same_each_time():
    script = parse_script(RAW)
    reply = script.turns[0].said.reply
    assert [call.id for call in reply.message.tool_calls] == ["c1_1", "k1", "c1_3"]
    assert "it was given the id c1_1" in reply.warnings[0]
    assert reply.raw["tool_calls"][0]["id"] == ""
    assert script == parse_script(RAW)
    loop = script.loop()
    play(loop, script)
    texts = [message.text for message in loop.messages if message.role == "tool"]
    assert (texts[0], texts[2]) == ("3", "7")
    assert "not valid JSON" in texts[1]


def test_a_failed_model_call_ends_the_run_with_its_reason():
    for kind, reason in (("provider", "model_error"), ("context_overflow", "context_overflow")):
        script = parse_script(f"- error: {{text: too much, kind: {kind}, status: 400}}")
        loop = script.loop()
        play(loop, script)
        assert (loop.stop_reason, loop.trace.outcome.detail) == (reason, "too much")


def test_what_is_said_before_a_turn_stands_in_the_list():
    script = parse_script("""
task: Hello.
turns:
  - before: [Are you there?]
    text: Yes.
  - before: []
    text: Still here.
  - before: [{role: system, content: Be brief.}]
    text: Ok.
""")
    loop = script.loop()
    play(loop, script)
    assert [(message.role, message.text) for message in loop.messages] == [
        ("user", "Hello."),
        ("user", "Are you there?"),
        ("assistant", "Yes."),
        ("assistant", "Still here."),
        ("system", "Be brief."),
        ("assistant", "Ok."),
    ]


def test_a_script_that_has_run_out_names_the_turn_and_the_last_message():
    script = parse_script("- calls: [{name: noop}]")
    loop = script.loop()
    play(loop, script)
    assert loop.stop_reason == "script_exhausted"
    assert loop.trace.outcome.detail == (
        "the script has run out: turn 2 was asked for, it holds 1 turn; the last message was tool"
    )
    assert script.make_model().unused == 1
