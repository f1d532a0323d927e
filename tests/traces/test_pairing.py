from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.trace import ToolRun
from traces.container import open_bytes
from traces.importing import ImportBuilder
from traces.pairing import OpenCall, OpenCalls, waits
from traces.readers import openai_chat
from traces.repair import repair_message


def open_calls(*blocks):
    calls = OpenCalls()
    for message, block in enumerate(blocks):
        calls.new_block()
        for place, (call_id, name) in enumerate(block):
            calls.add(OpenCall(ToolRun(tool_call_id=call_id, name=name), message, place, has_id=bool(call_id)))
    return calls


def answered(calls, call_id, name=None):
    call = calls.answer(call_id, name)
    return call and (call.message, call.place)


def test_results_in_any_order_find_their_calls_by_id():
    calls = open_calls([("a", "f"), ("b", "f"), ("c", "f")])
    assert [answered(calls, i) for i in "cab"] == [(0, 2), (0, 0), (0, 1)]


def test_an_id_that_is_used_again_belongs_to_the_newest_turn():
    calls = open_calls([("x", "f")], [("x", "f")])
    assert answered(calls, "x") == (1, 0)


def test_equal_ids_within_one_turn_are_answered_in_order():
    calls = open_calls([("x", "f"), ("x", "f")])
    assert [answered(calls, "x"), answered(calls, "x"), answered(calls, "x")] == [(0, 0), (0, 1), None]


def test_a_late_result_still_finds_the_call_of_an_older_turn():
    calls = open_calls([("a", "f")], [("b", "f")])
    assert answered(calls, "a") == (0, 0)


def test_without_ids_the_name_decides_and_then_the_order():
    calls = open_calls([("", "f"), ("", "g"), ("", "f")])
    assert [answered(calls, "", "g"), answered(calls, "", "f"), answered(calls, "", None)] == [(0, 1), (0, 0), (0, 2)]


def test_a_result_with_an_id_takes_a_call_without_one_but_never_one_with_another():
    assert answered(open_calls([("", "f")]), "new") == (0, 0)
    assert answered(open_calls([("a", "f")]), "b") is None


def test_a_result_never_answers_a_call_of_another_tool():
    assert answered(open_calls([("", "f")]), "", "g") is None


def test_a_run_that_is_known_by_its_times_alone_waits_only_while_it_goes_on():
    asked = repair_message({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}]}).message
    states: tuple[dict[str, Any], ...] = ({"latency_ms": 5.0}, {}, {"message": 3})
    ended, goes_on, answered = (ToolRun(tool_call_id="a", name="f", **known) for known in states)
    failed = ToolRun(tool_call_id="b", name="f", ok=False)
    assert [waits(run, None) for run in (ended, goes_on, answered, failed)] == [False, True, False, False]
    assert [waits(run, asked) for run in (ended, goes_on, answered, failed)] == [True, True, False, False]


ids = st.sampled_from(["", "a", "b", "c"])
names = st.sampled_from([None, "f", "g"])
entries = st.one_of(
    st.fixed_dictionaries({"role": st.just("user"), "content": st.text(max_size=3)}),
    st.fixed_dictionaries({"role": st.just("tool"), "content": st.just("r"), "tool_call_id": ids, "name": names}),
    st.builds(
        lambda calls: {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": i, "function": {"name": n or "f", "arguments": "{}"}} for i, n in calls],
        },
        st.lists(st.tuples(ids, names), max_size=4),
    ),
)


@given(st.lists(entries, min_size=1, max_size=25))
def test_pairs_are_one_to_one_point_backwards_and_agree_on_the_id(messages):
    document = open_bytes(b"[]", "x")
    document.value = messages
    out = ImportBuilder(document, "x", "openai-chat", lambda: "d")
    openai_chat.read(document, out)
    (trace,) = out.finish().traces
    assert [message.role for message in trace.messages] == [message["role"] for message in messages]
    runs = [(step, run) for step in trace.steps for run in step.tools]
    assert len(runs) == sum(len(message.get("tool_calls") or []) for message in messages)
    taken = [run.message for _, run in runs if run.message is not None]
    assert len(taken) == len(set(taken))
    for step, run in runs:
        if run.message is not None:
            assert step.reply < run.message
            assert trace.messages[run.message].role == "tool"
            assert trace.messages[run.message].tool_call_id == run.tool_call_id != ""
            assert trace.entries[run.message].step == step.index
            assert run.tool_call_id in [call.id for call in trace.messages[step.reply].tool_calls]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_no_message_is_too_odd_to_be_repaired(value):
    for key in ("role", "content", "tool_calls", "function_call", "tool_call_id", "name", "reasoning_details"):
        message = repair_message({"role": "assistant", key: value}).message
        assert isinstance(message.text, str)
        assert isinstance(message.to_dict(), dict)
