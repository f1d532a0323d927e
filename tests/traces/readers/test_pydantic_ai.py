"""pydantic-ai: message histories of the first and the second version."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives

AT = "2026-05-28T20:26:{:02d}Z".format
HISTORY = [
    {
        "kind": "request",
        "instructions": "Be brief.",
        "parts": [
            {"part_kind": "system-prompt", "content": "You add.", "timestamp": AT(0)},
            {
                "part_kind": "user-prompt",
                "timestamp": AT(1),
                "content": ["What?", {"kind": "binary", "media_type": "image/png", "data": "iVBORw0KGgo="}],
            },
        ],
    },
    {
        "kind": "response",
        "timestamp": AT(3),
        "model_name": "m",
        "finish_reason": "tool_call",
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 4, "details": {"reasoning_tokens": 3}},
        "parts": [
            {"part_kind": "thinking", "content": "Add."},
            {"part_kind": "text", "content": "I add."},
            {"part_kind": "tool-call", "tool_name": "add", "args": '{"a": 2}', "tool_call_id": "c1"},
            {"part_kind": "tool-call", "tool_name": "add", "args": {"a": 3}, "tool_call_id": "c2"},
        ],
    },
    {
        "kind": "request",
        "instructions": "Be brief.",
        "parts": [
            {"part_kind": "tool-return", "tool_name": "add", "tool_call_id": "c1", "content": {"sum": 5}},
            {"part_kind": "retry-prompt", "tool_name": "add", "tool_call_id": "c2",
             "content": [{"loc": ["b"], "msg": "missing", "type": "missing"}]},
        ],
    },
    {
        "kind": "response",
        "timestamp": AT(6),
        "vendor_details": {"finish_reason": "stop"},
        "usage": {"request_tokens": 20, "response_tokens": 4, "total_tokens": 24},
        "parts": [{"part_kind": "text", "content": "It is 5."}],
    },
]  # fmt: skip
ROLES = ["system", "system", "user", "assistant", "tool", "tool", "assistant"]


def test_requests_and_responses_are_messages():
    report = opened(HISTORY)
    (trace,) = report.traces
    assert (report.format, [message.role for message in trace.messages]) == ("pydantic-ai", ROLES)
    asked = trace.messages[3]
    assert (asked.text, asked.reasoning, [call.arguments for call in asked.tool_calls]) == (
        "I add.", "Add.", [{"a": 2}, {"a": 3}]
    )  # fmt: skip
    assert trace.messages[2].content[1]["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="
    assert ([message.text for message in trace.messages[4:6]]) == ['{"sum": 5}', "b: missing"]
    assert [(run.message, run.ok) for run in trace.steps[0].tools] == [(4, None), (5, False)]
    usage = trace.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.reasoning_tokens) == (30, 9, 4, 3)
    assert ([entry.at for entry in trace.entries[:4]], trace.model.name) == ([None, AT(0), AT(1), AT(3)], "m")
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "It is 5.")


def test_histories_in_objects_and_lines_are_read():
    for file in ({"messages": HISTORY}, tuple(HISTORY), ({"message_history": HISTORY},)):
        assert [message.role for message in opened(file).traces[0].messages] == ROLES


def test_parts_that_were_saved_alone_are_put_together():
    parts = [part for item in HISTORY for part in item["parts"]]
    (trace,) = opened(parts).traces
    assert [message.role for message in trace.messages] == ROLES[1:]
    assert [len(step.tools) for step in trace.steps] == [2, 0]


def test_outcomes_of_the_second_version_are_errors_or_not():
    answers = [
        {"part_kind": "tool-return", "tool_name": "add", "tool_call_id": "c1", "content": "5", "outcome": "success"},
        {"part_kind": "tool-return", "tool_name": "add", "tool_call_id": "c2", "content": "no", "outcome": "retried"},
    ]
    (trace,) = opened([HISTORY[1], {"kind": "request", "parts": answers}]).traces
    assert [run.ok for run in trace.steps[0].tools] == [None, False]


def test_a_retry_without_a_tool_is_a_message_of_its_own():
    retry = {"kind": "request", "parts": [{"part_kind": "retry-prompt", "content": "Answer in JSON."}]}
    (trace,) = opened([HISTORY[3], retry]).traces
    assert (trace.messages[1].role, trace.messages[1].text.splitlines()[0]) == ("user", "Answer in JSON.")


IMAGE = {"kind": "binary", "media_type": "image/png", "data": "iVBORw0KGgo="}


def test_an_image_that_a_tool_gave_is_an_image():
    answers = [
        {"part_kind": "tool-return", "tool_name": "add", "tool_call_id": "c1", "content": IMAGE},
        {"part_kind": "tool-return", "tool_name": "add", "tool_call_id": "c2", "content": ["See:", IMAGE, {"a": 1}]},
    ]
    (trace,) = opened([HISTORY[1], {"kind": "request", "parts": answers}]).traces
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    assert trace.messages[1].content == [image]
    assert [part.get("text") or part for part in trace.messages[2].content] == ["See:", image, '{"a": 1}']


def test_newer_parts_are_what_they_are_and_bookkeeping_says_nothing():
    request = {
        "kind": "request",
        "parts": [
            {"part_kind": "instruction-baseline", "parts": []},
            {"part_kind": "instruction-delta", "content": "Be kind."},
            {"part_kind": "speech", "speaker": "user", "transcript": "Hello"},
            {
                "part_kind": "user-prompt",
                "content": [{"kind": "text-content", "content": "Hi"}, {"kind": "cache-point"}],
            },
            {"part_kind": "retry-feedback", "content": "Answer in JSON."},
        ],
    }
    asked = {"part_kind": "builtin-tool-call", "tool_name": "web_search", "args": {"q": "x"}, "tool_call_id": "w1"}
    gave = {"part_kind": "builtin-tool-return", "tool_name": "web_search", "content": "y", "tool_call_id": "w1"}
    response = {"kind": "response", "parts": [asked, gave, {"part_kind": "speech", "transcript": "Ho"}]}
    (trace,) = opened([request, response]).traces
    assert [(each.role, each.text.splitlines()[0]) for each in trace.messages[:4]] == [
        ("system", "Be kind."), ("user", "Hello"), ("user", "Hi"), ("user", "Answer in JSON.")
    ]  # fmt: skip
    said = trace.messages[4]
    assert ([part["type"] for part in said.content], said.tool_calls) == (
        ["builtin-tool-call", "builtin-tool-return", "text"], ()
    )  # fmt: skip


@given(damaged(HISTORY))
def test_damaged_histories_never_bring_the_reader_down(value):
    survives(value, "pydantic-ai")
