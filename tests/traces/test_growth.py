"""Logs of model calls: each request repeats the history, the conversation stands in them once."""

import json

import pytest

from traces import open_trace, read_file

ASK = {"role": "user", "content": "What is 2+3?"}
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


def call(call_id, arguments='{"a": 2}'):
    return {"id": call_id, "type": "function", "function": {"name": "add", "arguments": arguments}}


def calling(*calls, **more):
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def answer(message, **more):
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"object": "chat.completion", "model": "m-1", "choices": [choice], "usage": USAGE, **more}


def exchange(messages, response, **more):
    return {"request": {"model": "m", "messages": messages}, "response": response, **more}


def result(call_id, content="5"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def opened(*exchanges):
    return open_trace(json.dumps(exchanges).encode())


DONE = {"role": "assistant", "content": "It is 5."}


def test_requests_that_go_on_are_one_conversation_and_nothing_is_counted_twice():
    (trace,) = opened(
        exchange([ASK], answer(calling(call("c1"))), seconds=1.5),
        exchange([ASK, calling(call("c1")), result("c1")], answer(DONE), seconds=0.5),
    )
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert [step.usage.total for step in trace.steps] == [12, 12]
    assert [step.latency_ms for step in trace.steps] == [1500, 500]
    assert [step.request.upto for step in trace.steps] == [1, 3]
    assert [step.finish_reason for step in trace.steps] == ["tool_calls", "stop"]
    assert (trace.usage.prompt_tokens, trace.usage.total) == (20, 24)
    assert (trace.model.name, trace.steps[0].model) == ("m", "m-1")
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "It is 5.")


@pytest.mark.parametrize(
    ("said", "sent_again"),
    [
        (calling(call("")), [calling(call("client-1"))]),
        (calling(call("c1")), [{**calling(call("c1")), "content": ""}]),
        (calling(call("c1", '{"a":2}')), [calling(call("c1", '{"a": 2}'))]),
        (calling(call("c1"), content=""), [{"role": "assistant", "content": ""}, calling(call("c1"))]),
        (calling(call("c1"), content="hm"), [{"role": "assistant", "content": "hm"}, calling(call("c1"))]),
        (calling(call("c1"), reasoning="thought"), [{**calling(call("c1")), "content": "<think>\nthought\n</think>"}]),
        (calling(call("c1"), refusal=None, annotations=[]), [calling(call("c1"))]),
    ],
    ids=["new id", "null to empty", "spaces", "empty split", "text split", "think", "keys dropped"],
)
def test_what_clients_rewrite_begins_no_new_conversation(said, sent_again):
    call_id = sent_again[-1]["tool_calls"][0]["id"]
    (trace,) = opened(exchange([ASK], answer(said)), exchange([ASK, *sent_again, result(call_id)], answer(DONE)))
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert trace.steps[0].tools[0].message == 2
    assert trace.messages[1].tool_calls[0].id == trace.messages[2].tool_call_id == call_id


@pytest.mark.parametrize(
    "sent_again",
    [
        "<think>\nTwo and three.\n</think>\n\n<think>\nFive.\n</think>\n\nIt is 5.",
        [{"type": "text", "text": "It is 5."}, {"type": "text", "text": "<think>\nTwo and three.\n</think>"}],
        [{"type": "text", "text": "<thinking>\nFive.\n</thinking>"}, {"type": "text", "text": "It is 5."}],
        [{"type": "thinking", "thinking": "Five."}, {"type": "text", "text": "It is 5."}],
        [{"type": "text", "text": "It is"}, {"type": "text", "text": "5."}],
    ],
    ids=["two thoughts", "thought behind", "other tag", "thought as a part", "parts apart"],
)
def test_an_answer_may_come_back_with_its_thoughts_in_tags_and_its_parts_joined(sent_again):
    (trace,) = opened(
        exchange([ASK], answer(DONE)),
        exchange(
            [ASK, {"role": "assistant", "content": sent_again}, {"role": "user", "content": "Sure?"}], answer(DONE)
        ),
    )
    assert [message.text for message in trace.messages] == ["What is 2+3?", "It is 5.", "Sure?", "It is 5."]


def test_a_client_may_give_calls_ids_of_its_own():
    again = [ASK, calling(call("0")), result("0"), calling(call("0", '{"a": 3}')), result("0", "6")]
    (trace,) = opened(
        exchange([ASK], answer(calling(call("add:0")))),
        exchange(again[:3], answer(calling(call("add:1", '{"a": 3}')))),
        exchange(again, answer(DONE)),
    )
    assert [message.role for message in trace.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert [message.tool_call_id for message in trace.messages if message.role == "tool"] == ["add:0", "add:1"]
    assert [run.message for step in trace.steps for run in step.tools] == [2, 4]


def test_an_id_that_another_run_has_is_no_new_name():
    history = [ASK, calling(call("c1")), result("c1")]
    traces = opened(
        exchange(history, answer(DONE)),
        exchange([ASK], answer(calling(call("c2")))),
        exchange([*history[:2], result("c1", "")], answer(DONE)),
    )
    assert [len(trace.messages) for trace in traces] == [4, 2, 4]


def test_runs_that_take_turns_are_told_apart_by_the_ids_of_their_calls():
    traces = opened(
        exchange([ASK], answer(calling(call("c1")))),
        exchange([ASK], answer(calling(call("c2")))),
        exchange([ASK, calling(call("c1")), result("c1", "first")], answer(DONE)),
        exchange([ASK, calling(call("c2")), result("c2", "second")], answer(DONE)),
    )
    assert [trace.messages[2].text for trace in traces] == ["first", "second"]


def test_a_request_that_leaves_out_what_was_said_before_the_last_calls_goes_on():
    second = calling(call("c2", '{"a": 3}'))
    (trace,) = opened(
        exchange([ASK], answer(calling(call("c1")))),
        exchange([ASK, calling(call("c1")), result("c1")], answer(second)),
        exchange([ASK, second, result("c2", "6")], answer(DONE)),
    )
    assert [message.role for message in trace.messages] == ["user", *["assistant", "tool"] * 2, "assistant"]
    assert [run.message for step in trace.steps for run in step.tools] == [2, 4]
    assert [(note["kind"], note["message"]) for note in trace.notes] == [("compaction", 3)]
    other = {"role": "user", "content": "Something else"}
    assert len(opened(exchange([ASK], answer(second)), exchange([other, second, result("c2")], answer(DONE)))) == 2


def test_a_changed_history_begins_a_new_conversation():
    history = [ASK, calling(call("c1"))]
    traces = opened(
        exchange([*history, result("c1", "5")], answer(DONE)),
        exchange([*history, result("c1", "")], answer({"role": "assistant", "content": "I do not know."})),
        exchange([ASK], answer(calling(call("c9")))),
    )
    assert [[message.text for message in trace.messages] for trace in traces] == [
        ["What is 2+3?", "", "5", "It is 5."],
        ["What is 2+3?", "", "", "I do not know."],
        ["What is 2+3?", ""],
    ]


def test_conversations_that_take_turns_in_a_log_are_kept_apart():
    other = {"role": "user", "content": "And 1+1?"}
    more = {"role": "user", "content": "Sure?"}
    first, second = opened(
        exchange([ASK], answer(DONE)),
        exchange([other], answer({"role": "assistant", "content": "2"})),
        exchange([ASK, DONE, more], answer({"role": "assistant", "content": "Yes."})),
    )
    assert [message.text for message in first.messages] == ["What is 2+3?", "It is 5.", "Sure?", "Yes."]
    assert [message.text for message in second.messages] == ["And 1+1?", "2"]


def test_messages_that_the_client_adds_itself_belong_to_the_conversation():
    injected = calling(call("auto"))
    (trace,) = opened(
        exchange([ASK], answer(calling(call("c1")))),
        exchange([ASK, calling(call("c1")), result("c1"), injected, result("auto")], answer(DONE)),
    )
    assert len(trace.messages) == 6
    assert [step.usage and step.usage.total for step in trace.steps] == [12, None, 12]


def test_a_failed_call_is_a_retry_of_the_answer_that_followed():
    error = {"error": {"message": "Tool call validation failed", "code": "tool_use_failed"}}
    (trace,) = opened(exchange([ASK], error, status=400), exchange([ASK], answer(DONE), status=200))
    assert len(trace.messages) == 2
    (step,) = trace.steps
    assert step.retries == [{"attempt": 1, "error": "Tool call validation failed", "wait_s": None, "status": 400}]
    assert trace.outcome.reason == "final"


def test_a_log_that_ends_with_an_error_ends_with_a_model_error():
    (trace,) = opened(exchange([ASK], {"error": "overloaded"}, status=529))
    assert (trace.outcome.reason, trace.outcome.detail) == ("model_error", "overloaded")
    assert [(step.reply, step.warnings) for step in trace.steps] == [(None, ["overloaded"])]


def chunk(delta, **more):
    return {"object": "chat.completion.chunk", "model": "m-1", "choices": [{"index": 0, "delta": delta}], **more}


PIECES = [
    chunk({"role": "assistant", "content": None}),
    chunk({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": ""}}]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": ": 2}"}}]}),
    {"object": "chat.completion.chunk", "created": 1745960879, "choices": [], "usage": {**USAGE, "cost": 0.25}},
]


@pytest.mark.parametrize("how", ["event stream", "chunks", "client chunks"])
def test_streamed_answers_are_put_together(how):
    record = exchange([ASK], None)
    if how == "event stream":
        record["response"] = "".join(f"data: {json.dumps(piece)}\n\n" for piece in PIECES) + "data: [DONE]\n\n"
    elif how == "chunks":
        record["response"] = PIECES
    else:
        record = {"request": record["request"], "client_chunks": PIECES}
    trace = open_trace(json.dumps(record).encode())[0]
    assert trace.messages[1].tool_calls[0].arguments == {"a": 2}
    assert trace.steps[0].usage.total == 12
    assert trace.steps[0].cost == 0.25
    assert trace.entries[1].at == "2025-04-29T21:07:59Z"


def test_an_answer_as_json_text_is_read():
    trace = open_trace(json.dumps(exchange([ASK], json.dumps(answer(DONE)))).encode())[0]
    assert trace.outcome.final == "It is 5."


def test_a_request_and_its_answer_in_one_flat_record_are_read():
    row = {"model": "m", "messages": [ASK], **answer(DONE)}
    assert [message.role for message in open_trace(json.dumps(row).encode())[0].messages] == ["user", "assistant"]


def test_a_response_alone_is_a_conversation_of_one_message():
    (trace,) = open_trace(json.dumps(answer(DONE)).encode())
    assert [message.role for message in trace.messages] == ["assistant"]
    assert trace.usage.total == 12


def test_further_choices_are_counted_as_unread():
    response = answer(DONE)
    response["choices"] *= 3
    report = read_file(json.dumps([exchange([ASK], response)]).encode())
    assert report.unread == ["a further choice of a response (2 times)"]


def test_a_request_without_an_answer_keeps_its_messages():
    (trace,) = opened(exchange([ASK], None))
    assert [message.role for message in trace.messages] == ["user"]
    assert trace.steps == []


@pytest.mark.parametrize(
    "finish", [("length", "truncated"), ("content_filter", "refused"), ("other", None), (None, None)]
)
def test_the_outcome_is_what_the_last_finish_reason_says(finish):
    response = answer(DONE)
    response["choices"][0]["finish_reason"] = finish[0]
    (trace,) = opened(exchange([ASK], response))
    assert trace.outcome.reason == finish[1]


def gemini(contents, parts, **usage):
    tools = {"function_declarations": [{"name": "add", "parameters": {"type": "object"}}]}
    counts = {"promptTokenCount": 20, "candidatesTokenCount": 5, "totalTokenCount": 32, **usage}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    response = {"candidates": [candidate], "modelVersion": "gemini-x", "usageMetadata": counts}
    return {"request": {"contents": contents, "tools": tools}, "response": response}


def test_a_conversation_may_move_from_one_provider_to_another():
    user = {"role": "user", "parts": [{"text": "What is 2+3?"}]}
    asks = {"role": "model", "parts": [{"functionCall": {"name": "add", "args": {"a": 2}}}]}
    gives = {"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"return_value": "5"}}}]}
    (trace,) = opened(
        gemini([user], asks["parts"]),
        gemini([user, asks, gives], [{"text": "hm", "thought": True}, {"text": "It is 5.\n"}], thoughtsTokenCount=7),
        exchange([ASK, calling(call("new")), result("new"), DONE, {"role": "user", "content": "Sure?"}], answer(DONE)),
    )
    assert [message.role for message in trace.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert trace.steps[0].tools[0].message == 2
    assert trace.messages[3].reasoning == "hm"
    usage = trace.steps[1].usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens, usage.total) == (20, 12, 7, 32)
    assert [step.model for step in trace.steps] == ["gemini-x", "gemini-x", "m-1"]
    assert [tool["function"]["name"] for tool in trace.tools] == ["add"]
