import json

import pytest

from agent.errors import InputError
from traces import open_trace, read_file


def call(call_id, name="add", arguments='{"a": 1}'):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def as_bytes(value):
    return json.dumps(value).encode()


def lines(*values):
    return "\n".join(json.dumps(value) for value in values).encode()


@pytest.fixture(params=["list", "object", "json text", "lines", "row", "row of lists"])
def conversation(request, chat):
    """The same conversation in every shape in which people keep it."""
    return {
        "list": as_bytes(chat),
        "object": as_bytes({"model": "m", "messages": chat}),
        "json text": as_bytes([{"messages": json.dumps(chat)}]),
        "lines": lines(*chat),
        "row": lines({"messages": chat}, {"messages": chat[:1]}),
        "row of lists": as_bytes([chat]),
    }[request.param]


def test_a_conversation_is_read_from_every_shape(conversation, chat):
    trace = open_trace(conversation)[0]
    assert [message.role for message in trace.messages] == [message["role"] for message in chat]
    assert [entry.maker for entry in trace.entries] == ["user", "model", "environment", "model"]
    first, second = trace.steps
    assert (first.tools[0].name, first.tools[0].arguments, first.tools[0].message) == ("add", {"a": 1}, 2)
    assert (second.reply, second.tools) == (3, [])
    assert (trace.title, trace.task, trace.outcome.final) == ("What is 2+3?", "What is 2+3?", "It is 5.")
    assert trace.source.kind == "import"
    assert trace.source.format == "openai-chat"


def test_what_is_not_reported_stays_unknown(chat):
    trace = open_trace(as_bytes(chat))[0]
    assert trace.created is None
    assert trace.outcome.reason is None
    assert trace.usage.total is None
    assert all(entry.at is None for entry in trace.entries)
    assert [(step.usage, step.latency_ms, step.finish_reason) for step in trace.steps] == [(None, None, None)] * 2


def test_each_row_of_a_data_set_is_a_conversation_with_its_own_keys(chat):
    tools = [{"type": "function", "function": {"name": "add"}}]
    rows = [{"messages": chat, "tools": tools, "task_id": f"task-{n}", "reward": n} for n in range(3)]
    traces = open_trace(lines(*rows))
    assert [trace.title for trace in traces] == ["task-0", "task-1", "task-2"]
    assert traces[2].extra["imported"] == {"task_id": "task-2", "reward": 2}
    assert traces[0].tools == tools
    assert [trace.entries[0].line for trace in traces] == [1, 2, 3]


def test_no_key_of_a_row_is_in_the_way_of_another(chat):
    row = {"messages": chat, "title": "named", "about": 1, "self": 2, "format": 3}
    (trace,) = open_trace(as_bytes(row))
    assert trace.title == "named"
    assert trace.extra["imported"] == {"title": "named", "about": 1, "self": 2, "format": 3}


def test_ids_of_imported_traces_are_the_same_at_every_reading_and_differ_within_a_file(chat):
    data = lines({"messages": chat}, {"messages": chat})
    first, second = open_trace(data)
    assert first.trace_id != second.trace_id
    assert [trace.trace_id for trace in open_trace(data)] == [first.trace_id, second.trace_id]


def test_legacy_function_calls_are_calls_and_their_results_are_paired():
    report = read_file(
        as_bytes(
            [
                {"role": "assistant", "content": "", "function_call": {"name": "add", "arguments": "{}"}},
                {"role": "function", "name": "add", "content": "5"},
            ]
        )
    )
    (trace,) = report.traces
    run = trace.steps[0].tools[0]
    assert run.message == 1
    assert trace.messages[0].tool_calls[0].id == trace.messages[1].tool_call_id == run.tool_call_id != ""
    assert trace.messages[1].role == "function"
    assert trace.entries[0].raw["function_call"] == {"name": "add", "arguments": "{}"}
    assert trace.entries[1].raw["name"] == "add"
    assert any("no id" in sentence for sentence in report.repaired)


@pytest.mark.parametrize("missing", ["", None])
def test_calls_without_an_id_take_that_of_their_result(missing):
    chat = [
        {"role": "assistant", "content": None, "tool_calls": [call(missing), call(missing, "sub")]},
        {"role": "tool", "tool_call_id": "given-1", "content": "1"},
        {"role": "tool", "tool_call_id": "given-2", "content": "2"},
    ]
    trace = open_trace(as_bytes(chat))[0]
    assert [call.id for call in trace.messages[0].tool_calls] == ["given-1", "given-2"]
    assert [run.message for run in trace.steps[0].tools] == [1, 2]


def test_an_unanswered_call_and_an_orphan_result_are_both_kept():
    chat = [
        {"role": "assistant", "content": None, "tool_calls": [call("a")]},
        {"role": "tool", "tool_call_id": "b", "content": "5"},
    ]
    trace = open_trace(as_bytes(chat))[0]
    run = trace.steps[0].tools[0]
    assert (run.message, run.decision) == (None, "unknown")
    assert len(trace.messages) == 2
    assert trace.entries[1].step is None


@pytest.mark.parametrize("content", ['{"error": "no such city"}', '{"error": {"code": 1}}'])
def test_a_result_that_is_an_error_is_marked(content):
    chat = [
        {"role": "assistant", "content": None, "tool_calls": [call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": content},
    ]
    assert open_trace(as_bytes(chat))[0].steps[0].tools[0].ok is False


@pytest.mark.parametrize("content", ["5", '{"error": null}', '{"value": "error"}', '{"error": ', "error: no"])
def test_a_result_that_is_none_is_not(content):
    chat = [
        {"role": "assistant", "content": None, "tool_calls": [call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": content},
    ]
    assert open_trace(as_bytes(chat))[0].steps[0].tools[0].ok is None


def test_arguments_that_are_no_json_keep_the_call():
    chat = [{"role": "assistant", "content": None, "tool_calls": [call("a", "patch", "*** Begin Patch")]}]
    (found,) = open_trace(as_bytes(chat))[0].messages[0].tool_calls
    assert (found.name, found.text) == ("patch", "*** Begin Patch")
    assert found.problem


def test_every_kind_of_reasoning_is_kept():
    chat = [
        {"role": "assistant", "content": "a", "reasoning_content": "deep"},
        {"role": "assistant", "content": "b", "reasoning": "open"},
        {
            "role": "assistant",
            "content": "c",
            "reasoning_details": [{"type": "reasoning.summary", "summary": "routed"}],
        },
    ]
    messages = open_trace(as_bytes(chat))[0].messages
    assert [message.reasoning for message in messages] == ["deep", "open", "routed"]
    assert messages[2].extra["reasoning_details"] == chat[2]["reasoning_details"]


@pytest.mark.parametrize("thought", [[{"type": "text", "text": "hm"}], "hm"])
def test_thoughts_among_the_parts_of_an_answer_are_reasoning(thought):
    parts = [{"type": "thinking", "thinking": thought}, {"type": "text", "text": "hello"}]
    response = {"model": "m", "choices": [{"message": {"role": "assistant", "content": parts}}]}
    (trace,) = open_trace(json.dumps(response).encode())
    assert (trace.messages[0].reasoning, trace.messages[0].text) == ("hm", "hello")
    assert trace.entries[0].raw["content"] == parts


def test_messages_of_several_tasks_in_one_list_are_conversations_of_their_own():
    talk = [
        {"task_id": "a", "role": "user", "content": "2+3?"},
        {"task_id": "a", "role": "assistant", "content": "5"},
        {"task_id": "b", "role": "user", "content": "Which docs?"},
        {"task_id": "b", "role": "user", "tool": {"tool": "query_docs", "args": {"query": "docs"}}},
    ]
    report = read_file(json.dumps(talk).encode())
    assert [[message.role for message in trace.messages] for trace in report.traces] == [
        ["user", "assistant"],
        ["user"] * 2,
    ]
    assert report.traces[1].messages[1].content[0]["args"] == {"query": "docs"}
    assert report.unread == []


def test_mistral_requests_are_of_the_form_of_openai():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "hello"}]
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": parts}]}
    assert read_file(json.dumps(request).encode()).format == "openai-chat"


def test_a_thought_at_the_head_of_the_text_is_no_part_of_the_answer():
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "<think>hm</think>\nhello"}]
    trace = open_trace(as_bytes(chat))[0]
    assert trace.outcome.final == "hello"
    assert trace.messages[1].content == "<think>hm</think>\nhello"


def test_keys_that_are_present_but_null_do_no_harm():
    empty = {"function_call": None, "tool_calls": None, "tool_call_id": None, "name": None}
    trace = open_trace(
        as_bytes([{"role": "user", "content": "hi", **empty}, {"role": "assistant", "content": "x", **empty}])
    )[0]
    assert [message.to_dict() for message in trace.messages] == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "x"},
    ]


def test_odd_entries_of_a_message_list_are_repaired_and_counted():
    report = read_file(
        as_bytes(
            [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": {"odd": 1}},
                {"role": "user", "content": ["bare text", {"type": "text", "text": "b"}]},
                "a bare string",
            ]
        )
    )
    (trace,) = report.traces
    assert [message.text for message in trace.messages] == ["hi", '{"odd": 1}', "bare text\nb"]
    assert trace.entries[1].raw["content"] == {"odd": 1}
    assert len(report.unread) == 1
    assert len(report.repaired) == 2


def test_content_parts_are_kept_as_they_are():
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    trace = open_trace(as_bytes([{"role": "user", "content": [{"type": "text", "text": "look"}, image]}]))[0]
    assert trace.messages[0].content[1] == image
    assert trace.title == "look"


@pytest.mark.parametrize(
    "foreign",
    [
        {"trajectory": [], "history": [], "info": {"exit_status": "submitted"}},
        {"a": 1},
        [],
        [1, 2],
        "text",
    ],
)
def test_shapes_of_other_formats_are_not_taken_for_this_one(foreign):
    report = read_file(as_bytes(foreign), "other.json")
    assert (report.format, report.traces) == (None, [])
    assert report.tree == foreign
    assert "expected one of" in report.unread[0]
    with pytest.raises(InputError, match=r"other\.json: .*the file holds"):
        open_trace(as_bytes(foreign), "other.json")


SAID = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ({"schema": "agent-trace/9", "messages": SAID}, "an unknown version of our own format (agent-trace/9)"),
        ({"messages": [{"role": "user", "content": [{"image": "a.png"}]}]}, "blocks have no type"),
    ],
)
def test_what_only_looks_like_this_format_is_refused_by_its_name(data, name):
    for content in (as_bytes(data), lines(*(data if isinstance(data, list) else [data, data]))):
        report = read_file(content, "other.json")
        assert (report.format, report.traces) == (None, [])
        assert report.unread[0].startswith("this looks like ") and name in report.unread[0]


def test_a_log_of_several_formats_gives_what_is_of_this_one():
    other = {"schema": "agent-trace/9", "messages": SAID}
    ours = {"request": {"messages": SAID[:1]}, "response": {"choices": [{"message": SAID[1]}]}}
    report = read_file(lines(other, ours))
    assert [len(trace.messages) for trace in report.traces] == [2]
    assert len(report.unread) == 1


@pytest.mark.parametrize(
    "shared",
    [{"images": []}, {"thinking": {"type": "enabled"}}, {"system": "s"}, {"info": {}}, {"schema": "x/1"}],
)
def test_keys_that_other_formats_share_with_this_one_do_no_harm(shared):
    assert read_file(as_bytes({"model": "m", "messages": SAID, **shared})).format == "openai-chat"


def test_results_without_a_single_call_are_warned_about(chat):
    lost = [{"role": "user", "content": "hi"}, {"role": "tool", "content": "5"}]
    report = read_file(lines({"messages": lost}, {"messages": chat}))
    assert len(report.traces) == 2
    (warning,) = report.warnings
    assert warning.startswith("1 of the conversations hold tool results but not one tool call")


@pytest.mark.parametrize("end", ["\n\n", "\n", "\r\n\r\n"])
def test_a_recorded_stream_is_read_however_its_lines_end(end):
    chunks = [{"choices": [{"delta": {"content": text}}]} for text in ("Hel", "lo")]
    body = end.join([": comment", *(f"data: {json.dumps(chunk)}" for chunk in chunks), "data: [DONE]"])
    (trace,) = open_trace(as_bytes({"request": {"messages": SAID[:1]}, "response": body}))
    assert trace.messages[-1].text == "Hello"


def test_tools_with_names_of_any_kind_are_kept_once():
    tools = [{"name": ["odd"]}, {"name": ["odd"]}, {"name": "add"}]
    request = {"messages": SAID[:1], "tools": tools}
    log = [{"request": request, "response": {"choices": [{"message": SAID[1]}]}}] * 2
    assert len(open_trace(as_bytes(log))[0].tools) == 3


def test_the_user_can_choose_the_format(chat):
    assert read_file(as_bytes(chat), format="openai-chat").format == "openai-chat"
    with pytest.raises(InputError, match="native"):
        read_file(as_bytes({"schema": "agent-trace/1", "messages": 3}), format="agent-trace/1")
    with pytest.raises(InputError, match=r"no format 'excel'; choose one of agent-trace/1"):
        read_file(as_bytes(chat), format="excel")


def test_an_empty_message_list_is_a_file_without_a_conversation():
    report = read_file(as_bytes({"messages": []}))
    assert (report.format, report.traces) == ("openai-chat", [])


def test_the_conversations_of_an_archive_are_read_together(chat, tmp_path):
    import zipfile

    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("one.json", json.dumps(chat))
        archive.writestr("two.jsonl", json.dumps({"messages": chat[:2]}))
        archive.writestr("odd.json", '{"a": 1}')
    report = read_file(path)
    assert [len(trace.messages) for trace in report.traces] == [4, 2]
    assert len({trace.trace_id for trace in report.traces}) == 2
    assert "odd.json" in report.unread[0]
