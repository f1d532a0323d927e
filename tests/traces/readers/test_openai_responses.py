"""The OpenAI Responses API: items become turns, calls are linked by ``call_id``, answers are chained by id."""

import json

import pytest

from traces import read_file

ASK = {"role": "user", "content": "What is 2+3?"}
USAGE = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 8},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 29,
}


def thinks(*summary, **more):
    return {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": s} for s in summary], **more}


def calls(call_id, **more):
    return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": "add", "arguments": '{"a": 2}'}


def gives(call_id, output="5", **more):
    return {"type": "function_call_output", "call_id": call_id, "output": output, **more}


def says(text, **more):
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": [part], **more}


def response(*output, id="resp_1", **more):
    body = {"id": id, "object": "response", "created_at": 1758054446, "model": "gpt-x-1", "status": "completed"}
    return {**body, "output": list(output), "usage": USAGE, "instructions": "Be brief.", **more}


def request(*items, **more):
    tools = [{"type": "function", "name": "add", "parameters": {}}, {"type": "web_search"}, {"type": "file_search"}]
    return {"model": "gpt-x", "instructions": "Be brief.", "input": list(items), "tools": tools, **more}


def opened(*records):
    return read_file(json.dumps(records).encode())


def test_a_growing_log_is_one_conversation():
    report = opened(
        {"request": request(ASK), "response": response(thinks("Hm."), calls("c1"))},
        {"request": request(ASK, thinks("Hm."), calls("c1"), gives("c1")), "response": response(says("It is 5."))},
    )
    (trace,) = report.traces
    assert (report.format, report.unread, report.repaired) == ("openai-responses", [], [])
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert trace.messages[2].reasoning == "Hm."
    (run,) = trace.steps[0].tools
    assert (run.tool_call_id, run.name, run.arguments, run.message) == ("c1", "add", {"a": 2}, 3)
    usage = trace.steps[0].usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (20, 8, 9)
    assert (usage.reasoning_tokens, usage.total) == (4, 29)
    assert [step.finish_reason for step in trace.steps] == ["tool_calls", "stop"]
    assert (trace.outcome.reason, trace.outcome.final, trace.created) == ("final", "It is 5.", "2025-09-16T20:27:26Z")
    names = [tool.get("name") or tool["function"]["name"] for tool in trace.tools]
    assert names == ["add", "web_search", "file_search"]


def test_an_answer_that_a_request_names_is_gone_on_from():
    second = request(gives("c1"), previous_response_id="resp_1")
    other = request({"role": "user", "content": "Who?"}, instructions="Be kind.", previous_response_id="resp_2")
    report = opened(
        {"request": request(ASK), "response": response(calls("c1"))},
        {"request": request(ASK), "response": response(says("Another run."), id="resp_x")},
        {"request": second, "response": response(says("It is 5."), id="resp_2")},
        {"request": other, "response": response(says("I."), id="resp_3")},
    )
    one, _ = report.traces
    assert [message.text for message in one.messages] == [
        "Be brief.",
        "What is 2+3?",
        "",
        "5",
        "It is 5.",
        "Be kind.",
        "Who?",
        "I.",
    ]
    assert one.steps[0].tools[0].message == 3
    assert [step.request.upto for step in one.steps] == [2, 4, 7]


def test_a_conversation_that_the_provider_keeps_is_gone_on_with():
    held = {"conversation": "conv_1"}
    report = opened(
        {"request": {}, "response": {"id": "conv_1", "object": "conversation"}},
        {"request": request(ASK, **held), "response": response(calls("c1"))},
        {"request": request(gives("c1"), conversation={"id": "conv_1"}), "response": response(says("5."), id="r2")},
    )
    (trace,) = report.traces
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert trace.steps[0].tools[0].message == 3


def test_an_answer_made_in_the_background_is_counted_once():
    asked = {"request": request(ASK), "response": response(status="queued", usage=None)}
    waiting = {"request": None, "response": response(status="in_progress", usage=None)}
    ready = {"request": None, "response": response(says("It is 5."))}
    (trace,) = opened(asked, waiting, ready, ready).traces
    assert [message.text for message in trace.messages] == ["Be brief.", "What is 2+3?", "It is 5."]
    assert (len(trace.steps), trace.usage.total, trace.outcome.reason) == (1, 29, "final")


def test_what_ran_at_the_provider_is_a_part_of_the_answer():
    items = [
        ASK,
        {"type": "tool_search_call", "execution": "server", "arguments": {"query": "add"}, "status": "completed"},
        {"type": "tool_search_output", "execution": "server", "tools": [], "status": "completed"},
        {"type": "program", "call_id": "p1", "code": "add(2, 3)"},
        calls("c1"),
        gives("c1"),
        {"type": "program_output", "call_id": "p1", "result": "5", "status": "completed"},
        says("It is 5."),
    ]
    (trace,) = opened(items).traces
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    kinds = [[part["type"] for part in trace.messages[place].content] for place in (1, 3)]
    assert kinds == [["tool_search_call", "tool_search_output", "program"], ["program_output", "text"]]
    assert [run.message for step in trace.steps for run in step.tools] == [2]


def test_a_compaction_is_no_answer_in_the_words_of_the_user():
    compacted = response(
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "compaction", "id": "cmp", "encrypted_content": "Z"},
        object="response.compaction",
        status=None,
    )
    (trace,) = opened({"request": request(ASK), "response": compacted}).traces
    assert [part["type"] for part in trace.messages[-1].content] == ["compaction"]


@pytest.mark.parametrize("as_lines", [False, True])
def test_a_list_of_items_with_and_without_a_type(as_lines):
    items = [ASK, thinks("Hm."), calls("c1"), calls("c2"), gives("c1"), gives("c2"), says("5."), ASK]
    items.append({"role": "assistant", "content": "Still 5."})
    text = "\n".join(json.dumps(item) for item in items) if as_lines else json.dumps(items)
    report = read_file(text.encode())
    (trace,) = report.traces
    assert report.format == "openai-responses"
    roles = ["user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert [message.role for message in trace.messages] == roles
    assert [run.message for run in trace.steps[0].tools] == [2, 3]


HOSTED = [
    {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "x"}},
    {"type": "file_search_call", "id": "fs", "queries": ["x"], "results": []},
    {"type": "code_interpreter_call", "id": "ci", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]},
    {"type": "mcp_call", "id": "mcp", "name": "find", "server_label": "s", "arguments": "{}", "output": "x"},
    {"type": "mcp_list_tools", "id": "mcpl", "server_label": "s", "tools": []},
]


@pytest.mark.parametrize("item", HOSTED)
def test_tools_that_ran_at_the_provider_are_parts_of_the_answer(item):
    again = {**item, "outputs": None, "results": None}
    report = opened(
        {"request": request(ASK), "response": response(item, says("Found."))},
        {"request": request(ASK, again, says("Found."), ASK), "response": response(says("Again."))},
    )
    (trace,) = report.traces
    assert trace.messages[2].content == [item, {"type": "text", "text": "Found."}]
    assert [step.tools for step in trace.steps] == [[], []]


CLIENT_TOOLS = [
    (
        {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"},
        ("patch", {"input": "*** Begin"}),
    ),
    (
        {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "c", "output": "ok"},
        ("local_shell", {"type": "exec", "command": ["ls"]}),
    ),
    (
        {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "ok", "stderr": ""}]},
        ("shell", {"commands": ["ls"]}),
    ),
    (
        {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file", "path": "a"}},
        {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no such file"},
        ("apply_patch", {"type": "delete_file", "path": "a"}),
    ),
    (
        {"type": "computer_call", "id": "cu", "call_id": "c", "action": {"type": "click", "x": 1, "y": 2}},
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0"},
        },
        ("computer", {"type": "click", "x": 1, "y": 2}),
    ),
]


@pytest.mark.parametrize(("call", "result", "expected"), CLIENT_TOOLS)
def test_every_tool_that_the_program_runs_is_a_call_with_a_result(call, result, expected):
    (trace,) = read_file(json.dumps([ASK, call, result]).encode()).traces
    (run,) = trace.steps[0].tools
    assert ((run.name, run.arguments), run.message) == (expected, 2)
    assert run.ok is (False if result.get("status") == "failed" else None)
    if call["type"] == "computer_call":
        assert trace.messages[2].content[0]["image_url"]["url"].startswith("data:image/png")


def test_media_are_parts_and_never_text():
    content = [
        {"type": "input_text", "text": "Look."},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"},
    ]
    drawn = {"type": "image_generation_call", "id": "ig", "result": "iVBORw0"}
    record = {"request": request({"role": "user", "content": content}), "response": response(drawn)}
    (trace,) = opened(record).traces
    assert [part["type"] for part in trace.messages[1].content] == ["text", "image_url", "file"]
    assert trace.messages[2].content == [
        {"type": "image_generation_call", "id": "ig"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0"}},
    ]


@pytest.mark.parametrize(
    ("body", "finish", "outcome"),
    [
        (response(says("It")), "stop", "final"),
        (
            response(says("It"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "length",
            "truncated",
        ),
        (
            response(says("It"), status="incomplete", incomplete_details={"reason": "content_filter"}),
            "content_filter",
            "refused",
        ),
    ],
)
def test_how_an_answer_ended(body, finish, outcome):
    (trace,) = opened({"request": request(ASK), "response": body}).traces
    assert (trace.steps[0].finish_reason, trace.outcome.reason) == (finish, outcome)


def test_a_failed_response_is_an_error():
    failed = response(status="failed", error={"code": "server_error", "message": "It broke."})
    (trace,) = opened({"request": request(ASK), "response": failed}).traces
    assert (trace.outcome.reason, trace.outcome.detail) == ("model_error", "It broke.")


EVENTS = [
    {"type": "response.created", "response": {"id": "resp_1", "object": "response", "status": "in_progress"}},
    {"type": "response.output_text.delta", "output_index": 0, "delta": "It is "},
    {"type": "response.output_text.delta", "output_index": 0, "delta": "5."},
    {"type": "response.output_item.done", "output_index": 1, "item": calls("c1")},
    {"type": "response.completed", "response": response()},
]


@pytest.mark.parametrize(
    "recorded",
    [
        EVENTS,
        "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in EVENTS),
        {"status": 101, "headers": {}, "body": None, "ws_events": EVENTS},
        {"body": None, "sse_events": [{"event": event["type"], "data": json.dumps(event)} for event in EVENTS]},
    ],
)
def test_a_recorded_stream_is_one_answer(recorded):
    (trace,) = opened({"request": request(ASK), "response": recorded}).traces
    assert trace.messages[-1].text == "It is 5."
    assert [run.name for run in trace.steps[0].tools] == ["add"]
    assert trace.steps[0].usage.total == 29


def test_reasoning_that_only_the_provider_can_read():
    (trace,) = opened({"request": request(ASK), "response": response(thinks(encrypted_content="Z"), says("5"))}).traces
    assert trace.messages[-1].extra["reasoning_details"] == [{"type": "reasoning.encrypted", "data": "Z"}]


def test_a_tool_whose_result_is_in_the_answer_ran_at_the_provider():
    call = {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}
    output = {"type": "shell_call_output", "call_id": "c", "output": []}
    (trace,) = opened({"request": request(ASK), "response": response(call, output, says("Done."))}).traces
    assert (len(trace.messages), trace.steps[0].tools) == (3, [])


@pytest.mark.parametrize(
    "foreign",
    [
        {"input": "text", "output": "text"},
        {"input": [{"role": "user", "content": "hi"}], "target": "x"},
        [{"type": "tool_call", "name": "f"}, {"type": "text", "text": "x"}],
        {"model": "text-embedding", "input": "a", "response": {"object": "list", "data": [{"embedding": [0.1]}]}},
    ],
)
def test_shapes_of_others_are_not_taken_for_this_one(foreign):
    assert read_file(json.dumps(foreign).encode()).format != "openai-responses"
