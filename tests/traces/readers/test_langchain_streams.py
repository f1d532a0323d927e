"""LangChain and LangGraph while they run: pieces of an answer, states, what each node adds, and events."""

import pytest
from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from tests.traces.readers.test_langchain import FLAT

CALL = {"id": "c1", "name": "add", "args": {"a": 2}, "type": "tool_call"}
ASK = {"type": "human", "content": "What is 2+3?"}
NUMBERS = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
ASKED = {"type": "ai", "content": "", "tool_calls": [CALL], "usage_metadata": NUMBERS}
RESULT = {"type": "tool", "content": "5", "tool_call_id": "c1", "name": "add"}
ANSWER = {"type": "ai", "content": "It is 5.", "usage_metadata": {**NUMBERS, "input_tokens": 20, "total_tokens": 22}}
THREAD = [ASK, ASKED, RESULT, ANSWER]
ROLES = ["user", "assistant", "tool", "assistant"]


def piece(content, chunk=None, usage=None, id="r1"):
    chunks = [] if chunk is None else [{"type": "tool_call_chunk", **chunk}]
    data = {"type": "AIMessageChunk", "id": id, "content": content, "tool_call_chunks": chunks}
    return {**data, "tool_calls": [], "usage_metadata": usage}


PIECES = [
    piece("I "),
    piece("add.", {"index": 0, "id": "c1", "name": "add", "args": ""}),
    piece("", {"index": 0, "id": None, "name": None, "args": '{"a": '}),
    piece("", {"index": 0, "id": None, "name": None, "args": "2}"}),
    piece("", usage=NUMBERS),
]


@pytest.mark.parametrize("file", [[ASK, *PIECES, RESULT], (ASK, *PIECES, RESULT), {"messages": [ASK, *PIECES, RESULT]}])
def test_pieces_of_an_answer_are_one_message(file):
    (trace,) = opened(file).traces
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool"]
    asked = trace.messages[1]
    assert (asked.text, [(call.id, call.name, call.arguments) for call in asked.tool_calls]) == (
        "I add.",
        [("c1", "add", {"a": 2})],
    )
    assert (trace.usage.prompt_tokens, trace.steps[0].tools[0].message) == (10, 2)


def test_answers_that_only_look_like_pieces_stay_apart():
    (trace,) = opened([ASK, piece("One.", id="r1"), piece("Two.", id="r2")]).traces
    assert [message.text for message in trace.messages] == ["What is 2+3?", "One.", "Two."]


def test_pieces_of_blocks_are_put_together():
    said = [
        piece([{"type": "thinking", "thinking": "Ad", "index": 0}]),
        piece([{"type": "thinking", "thinking": "d.", "index": 0}]),
        piece([{"type": "text", "text": "It is", "index": 1}]),
        piece([{"type": "text", "text": " 5.", "index": 1}]),
    ]
    (trace,) = opened([ASK, *said]).traces
    assert [(message.text, message.reasoning) for message in trace.messages[1:]] == [("It is 5.", "Add.")]


def test_states_of_a_graph_are_one_conversation_and_another_thread_is_another():
    states = [{"messages": THREAD[:count]} for count in (1, 2, 3, 4)]
    report = opened((states[0], {"messages": FLAT[1:2]}, *states[1:]))
    assert [[message.role for message in trace.messages] for trace in report.traces] == [ROLES, ["user"]]
    assert report.traces[0].usage.total == 34


def test_what_each_node_adds_is_one_conversation():
    updates = ({"agent": {"messages": [ASKED]}}, {"tools": {"messages": [RESULT]}, "log": None})
    (trace,) = opened((*updates, {"agent": {"messages": [ANSWER]}})).traces
    assert [message.role for message in trace.messages] == ROLES[1:]
    assert ([entry.agent for entry in trace.entries], trace.usage.total) == (["agent", None, "agent"], 34)


# -- events --------------------------------------------------------------------------------------------------------


def event(name, run, data, above=("0",), **more):
    return {"event": name, "run_id": run, "name": more.pop("called", run), "parent_ids": list(above), "data": data}


EVENTS = [
    event("on_chain_start", "0", {"input": {"messages": [["human", "What is 2+3?"]]}}, (), called="adder"),
    event("on_chat_model_start", "m1", {"input": {"messages": [[ASK]]}}),
    event("on_chat_model_stream", "m1", {"chunk": piece("I ")}),
    event("on_chat_model_end", "m1", {"output": ASKED}),
    event("on_tool_start", "t1", {"input": {"a": 2}}, called="add"),
    event("on_tool_end", "t1", {"output": RESULT}, called="add"),
    event("on_chat_model_start", "m2", {"input": {"messages": [[ASK, ASKED, RESULT]]}}),
    event("on_chat_model_end", "m2", {"output": ANSWER}),
    event("on_chain_end", "0", {"output": {"messages": THREAD}}, (), called="adder"),
]


@pytest.mark.parametrize(
    "file",
    [
        EVENTS,
        tuple(EVENTS),
        tuple({"event": "events", "data": each} for each in EVENTS),
        [{key: value for key, value in each.items() if key != "parent_ids"} for each in EVENTS],
    ],
    ids=["list", "lines", "served", "without parents"],
)
def test_events_are_a_conversation_in_the_order_of_the_file(file):
    report = opened(file)
    (trace,) = report.traces
    assert (report.format, [message.role for message in trace.messages]) == ("langchain", ROLES)
    assert (trace.usage.prompt_tokens, [run.message for run in trace.steps[0].tools]) == (30, [2])
    assert ([entry.at for entry in trace.entries], report.unread) == ([None] * 4, [])


def test_a_stream_that_was_cut_off_keeps_what_was_said():
    (trace,) = opened([*EVENTS[:2], *(event("on_chat_model_stream", "m1", {"chunk": each}) for each in PIECES)]).traces
    assert [message.role for message in trace.messages] == ["user", "assistant"]
    assert (trace.messages[1].text, trace.messages[1].tool_calls[0].arguments) == ("I add.", {"a": 2})


def test_a_tool_that_failed_gives_its_error():
    failed = event("on_tool_error", "t1", {"error": "no such number", "input": {"a": 2}}, called="add")
    (trace,) = opened([*EVENTS[:5], failed]).traces
    assert (trace.messages[-1].text, trace.steps[0].tools[0].ok) == ("no such number", False)


@given(damaged(EVENTS))
def test_damaged_events_never_bring_the_reader_down(value):
    survives(value, "langchain")


@given(damaged([ASK, *PIECES, RESULT]))
def test_damaged_pieces_never_bring_the_reader_down(value):
    survives(value, "langchain")


@given(damaged([{"messages": THREAD[:2]}, {"messages": THREAD}, {"agent": {"messages": [ANSWER]}}]))
def test_damaged_states_never_bring_the_reader_down(value):
    survives(value, "langchain")
