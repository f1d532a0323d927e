"""What the tools of a script answer: what stands beside the calls, then the list of the tool, then the tool itself."""

import json

import pytest

from agent.approval import Decision
from agent.fork import fork
from agent.loop import Loop
from agent.messages import ToolCall
from agent.moments import moments
from agent.scripts import parse_script, play
from agent.tools import RunContext


def played(text, **options):
    script = parse_script(text)
    loop = script.loop(**options)
    play(loop, script)
    return loop


def answers(loop):
    return [message.text for message in loop.messages if message.role == "tool"]


def oks(loop):
    return [(tool.ok, tool.decision) for step in loop.trace.steps for tool in step.tools]


def test_what_stands_beside_a_call_is_its_answer_and_without_it_the_tool_runs():
    loop = played("""
- calls:
    - {name: add, arguments: {a: 2, b: 3}, result: about five}
    - {name: add, arguments: {a: 2, b: 4}}
    - {name: add, arguments: {a: 2, b: 5}, result: {sum: 7}}
    - {name: add, arguments: {a: 2, b: 6}, error: out of fingers, retryable: false}
    - {name: add, arguments: {a: 2, b: 7}, result: it broke, ok: false}
    - {name: add, arguments: {a: 2, b: 8}, result: null}
- Done.
""")
    assert answers(loop) == [
        "about five",
        "6",
        '{"sum": 7}',
        '{"error": "out of fingers", "retryable": false}',
        "it broke",
        "null",
    ]
    assert [ok for ok, _ in oks(loop)] == [True, True, True, False, False, True]


def test_equal_calls_of_several_turns_have_their_own_answers_though_their_ids_repeat():
    calls = [f"- calls: [{{name: add, arguments: {{a: 1, b: 1}}, id: c1, result: {n}}}]" for n in (5, 6, 7)]
    assert answers(played("\n".join([*calls, "- Done."]))) == ["5", "6", "7"]


def test_a_call_without_an_answer_is_not_given_that_of_an_equal_one():
    loop = played("""
- calls: [{name: add, arguments: {a: 1, b: 1}, result: first}, {name: add, arguments: {a: 1, b: 1}}]
- calls: [{name: add, arguments: {a: 1, b: 1}}]
- Done.
""")
    assert answers(loop) == ["first", "2", "2"]


def test_a_call_that_is_made_at_another_time_gets_the_nearest_answer():
    script = parse_script("""
- calls: [{name: add, arguments: {a: 1, b: 1}, result: first}]
- a
- b
- calls: [{name: add, arguments: {b: 1, a: 1}, result: second}]
""")
    (tool,) = script.make_tools()
    given = [tool.run({"a": 1, "b": 1}, RunContext(model_call=number, tool_call_id="x")).text for number in range(5)]
    assert given == ["first", "first", "second", "second", "second"]


LISTED = """
tools:
  - name: look
    results:
      - {arguments: {id: 1}, result: pending}
      - {arguments: {id: 1}, result: done}
      - any
      - {result: other}
      - {arguments: {id: 2}, error: no such id, retryable: false}
turns:
"""


def listed(*ids):
    turns = "\n".join(f"  - calls: [{{name: look, arguments: {{id: {n}}}}}]" for n in ids)
    return answers(played(f"{LISTED}{turns}\n  - Done."))


def test_answers_for_the_same_arguments_are_used_up_in_order_and_the_last_one_stays():
    assert listed(1, 1, 1) == ["pending", "done", "done"]
    assert listed(2, 2) == ['{"error": "no such id", "retryable": false}'] * 2


def test_answers_for_any_arguments_are_used_up_by_the_calls_that_have_no_answer_of_their_own():
    assert listed(3, 4, 5) == ["any", "other", "other"]
    assert listed(1, 3, 2, 4, 1) == ["pending", "any", '{"error": "no such id", "retryable": false}', "other", "done"]


def test_equal_calls_of_one_reply_use_the_list_up_in_their_order_whichever_runs_first():
    text = """
tools: [{name: look, results: [{result: a, took_ms: 30}, {result: b}, {result: c, took_ms: 10}]}]
turns: [{calls: [{name: look}, {name: look}, {name: look}]}, Done.]
"""
    assert [answers(played(text, parallel=parallel)) for parallel in (True, False)] == [["a", "b", "c"]] * 2


def test_a_tool_without_an_answer_says_so():
    loop = played("tools: [{name: look}]\nturns: [{calls: [{name: look, arguments: {id: 1}}]}, Done.]")
    words = 'the script holds no result for look({"id": 1})'
    assert json.loads(answers(loop)[0]) == {"error": words, "retryable": False}
    assert oks(loop) == [(False, "run")]


def test_the_parameters_of_a_scripts_own_tool_are_offered_and_not_enforced():
    text = """
tools:
  - name: look
    description: Look it up.
    parameters: {type: object, properties: {id: {type: integer}}, required: [id]}
    results: [found]
turns: [{calls: [{name: look, arguments: {name: x}}]}, Done.]
"""
    loop = played(text)
    function = loop.trace.tools[0]["function"]
    assert (function["description"], function["parameters"]["required"]) == ("Look it up.", ["id"])
    assert answers(loop) == ["found"]


def test_calls_that_no_tool_can_take_may_have_written_answers_too():
    loop = played("""
tools: [add]
turns:
  - calls:
      - {name: gone, arguments: {a: 1}, result: was here once}
      - {name: add, arguments: '{"a": 1', result: read all the same}
      - {name: gone}
      - {name: add, arguments: '{"a": 2'}
  - Done.
""")
    assert answers(loop)[:2] == ["was here once", "read all the same"]
    assert "unknown tool 'gone'" in answers(loop)[2]
    assert "not valid JSON" in answers(loop)[3]


def test_results_beside_a_whole_message_belong_to_its_calls_in_their_order():
    calls = [ToolCall(f"c{n}", "add", {"a": n, "b": 1}).to_dict() for n in (1, 2, 3)]
    for whole in ("message", "raw"):
        turn = {whole: {"tool_calls": calls}, "results": ["one", None, {"error": "three"}]}
        loop = played(json.dumps({"tools": ["add"], "turns": [turn, "Done."]}))
        assert answers(loop) == ["one", "3", '{"error": "three", "retryable": true}']


def test_real_tools_can_be_asked_in_place_of_what_is_written():
    script = parse_script("- calls: [{name: add, arguments: {a: 2, b: 3}, result: about five}]\n- Done.")
    loop = script.loop(tools=script.make_tools(real=True))
    play(loop, script)
    assert answers(loop) == ["5"]


def test_a_written_answer_takes_its_time_at_the_pace_of_the_run():
    text = "- calls: [{name: noop, result: x, took_ms: 40}]\n- Done."
    slow, at_once = (played(text, pace=pace).trace.steps[0].tools[0].latency_ms for pace in (1, 0))
    assert slow >= 40
    assert at_once < 40


def test_edited_arguments_get_the_answer_of_those_arguments():
    script = parse_script(LISTED + "  - calls: [{name: look, arguments: {id: 1}, result: mine}]\n  - Done.")
    (tool,) = script.make_tools()
    call_id = script.turns[0].calls[0].id
    assert tool.run({"id": 1}, RunContext(tool_call_id=call_id)).text == "mine"
    assert tool.run({"id": 7}, RunContext(tool_call_id=call_id)).text == "any"


@pytest.mark.parametrize("phases", range(1, 18))
def test_a_resumed_run_and_a_fork_get_the_same_answers(phases):
    turns = "\n".join(f"  - calls: [{{name: look, arguments: {{id: {n}}}}}]" for n in (1, 3, 1, 4))
    script = parse_script(f"{LISTED}{turns}\n  - Done.")
    loop = script.loop()
    loop.start(script.opening)
    for _ in range(phases):
        loop.advance()
    snapshot = json.loads(json.dumps(loop.snapshot()))
    loop.finish()
    assert answers(loop) == ["pending", "any", "done", "other"]
    for begin in (snapshot, fork(loop.trace, moments(loop.trace)[phases])):
        again = Loop.resume(begin, model=script.make_model(), tools=script.make_tools())
        again.finish()
        assert answers(again) == answers(loop)


def test_results_stand_in_the_order_of_the_calls_whenever_they_come():
    text = """
tools: [{name: slow, results: [{result: late, took_ms: 12}]}, {name: fast, results: [soon]}, noop]
policy: {deny: [noop]}
turns:
  - calls: [{name: slow, id: a}, {name: noop, id: b}, {name: fast, id: c}, {name: fast, id: d, error: broke}]
  - Done.
"""
    lists = {json.dumps([message.to_dict() for message in played(text).messages]) for _ in range(20)}
    assert len(lists) == 1
    (same,) = lists
    told = [
        (message["tool_call_id"], message["content"][:9]) for message in json.loads(same) if message["role"] == "tool"
    ]
    assert told == [("a", "late"), ("b", '{"error":'), ("c", "soon"), ("d", '{"error":')]


def test_a_name_that_the_registry_mends_has_its_written_answer_too():
    assert answers(
        played("""
tools: [add]
turns:
  - calls: [{name: functions.add, arguments: {a: 2, b: 3}, result: about five}, {name: add, arguments: {a: 1, b: 1}}]
  - Done.
""")
    ) == ["about five", "2"]


def test_what_was_answered_to_arguments_that_cannot_be_read_is_no_answer_to_a_call_without_any():
    assert answers(
        played("""
tools: [noop]
turns:
  - calls: [{name: noop, arguments: '{"a', error: cannot be read}]
  - calls: [{name: noop}]
  - Done.
""")
    ) == ['{"error": "cannot be read", "retryable": true}', "ok"]


def test_tools_that_share_a_table_still_share_it():
    loop = played("""
tools: [cancel_order, get_order]
turns:
  - calls: [{name: cancel_order, arguments: {order_id: A1002}}]
  - calls: [{name: get_order, arguments: {order_id: A1002}}]
  - Done.
""")
    assert [json.loads(text)["status"] for text in answers(loop)] == ["cancelled", "cancelled"]


def decided(loop, decisions):
    """Run to the end; the person who is asked about calls says this, one after the other, and then to run them."""
    while loop.phase is not None:
        for position, pending in enumerate(loop.run.pending if loop.waiting else ()):
            if pending.decision is None:
                loop.decide(position, next(decisions, Decision.run()))
        loop.advance()
    return answers(loop)


def test_an_edited_call_uses_up_the_answer_that_it_got():
    script = parse_script("""
tools: [{name: look, results: [{arguments: {id: 2}, result: one}, {arguments: {id: 2}, result: two}]}]
policy: {ask: [look]}
turns:
  - calls: [{name: look, arguments: {id: 1}}, {name: look, arguments: {id: 2}}]
  - Done.
""")
    loop = script.loop()
    loop.start(script.opening)
    assert [text.splitlines()[-1] for text in decided(loop, iter([Decision.edit({"id": 2})]))] == ["one", "two"]


def test_calls_that_no_tool_can_take_are_answered_after_a_resume_as_well():
    script = parse_script("""
tools: [add]
policy: {ask: [add]}
turns:
  - calls:
      - {name: ghost, arguments: {b: 1, a: 2}, result: boo}
      - {name: add, arguments: '{"x', result: what?}
      - {name: add, arguments: {a: 1, b: 1}}
  - Done.
""")
    loop = script.loop()
    loop.start(script.opening)
    while not loop.waiting:
        loop.advance()
    snapshot = json.loads(json.dumps(loop.snapshot()))
    again = Loop.resume(snapshot, model=script.make_model(), tools=script.make_tools())
    assert decided(loop, iter(())) == decided(again, iter(())) == ["boo", "what?", "2"]
