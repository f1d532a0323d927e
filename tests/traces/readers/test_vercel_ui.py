"""UIMessages of the Vercel AI SDK, versions 4 and 5."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise


def tool(state, call_id="c1", name="tool-add", **more):
    return {"type": name, "toolCallId": call_id, "state": state, "input": {"a": 2}, **more}


CHAT = [
    {
        "id": "1",
        "role": "user",
        "metadata": {"createdAt": 1_780_000_000_000},
        "parts": [
            {"type": "text", "text": "What is 2+3?"},
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo="},
        ],
    },
    {
        "id": "2",
        "role": "assistant",
        "metadata": {"model": "m", "usage": {"inputTokens": 30, "outputTokens": 6, "totalTokens": 36}},
        "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": "Add."},
            tool("output-available", output={"sum": 5}),
            tool("output-error", "c2", errorText="no such number"),
            {"type": "step-start"},
            {**tool("output-available", "c3", "dynamic-tool", output="5"), "toolName": "mcp_add"},
            tool("input-available", "c4"),
            {"type": "step-start"},
            {"type": "source-url", "sourceId": "s", "url": "https://example.org"},
            {"type": "data-weather", "data": {}},
            {"type": "text", "text": "It is 5.", "state": "done"},
        ],
    },
]


def test_steps_of_one_message_are_messages_with_their_results():
    report = opened(CHAT)
    (trace,) = report.traces
    assert report.format == "vercel-ui"
    assert [message.role for message in trace.messages] == [
        "user", "assistant", "tool", "tool", "assistant", "tool", "assistant"
    ]  # fmt: skip
    assert trace.messages[0].content[1]["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="
    assert (trace.messages[1].reasoning, [call.name for call in trace.messages[1].tool_calls]) == ("Add.", ["add"] * 2)
    assert [(run.name, run.ok, run.message) for step in trace.steps for run in step.tools] == [
        ("add", None, 2), ("add", False, 3), ("mcp_add", None, 5), ("add", None, None)
    ]  # fmt: skip
    summary = summarise(trace)
    assert (summary.tokens.total, summary.unpaired_calls, summary.orphan_results, trace.model.name) == (36, 1, 0, "m")
    assert (trace.entries[0].at, trace.outcome.final) == ("2026-05-28T20:26:40Z", "It is 5.")


def test_chats_and_lines_are_read():
    assert [len(trace.messages) for trace in opened({"id": "x", "title": "Sum", "messages": CHAT}).traces] == [7]
    assert [len(trace.messages) for trace in opened(tuple(CHAT)).traces] == [7]
    assert opened({"title": "Sum", "messages": CHAT}).traces[0].title == "Sum"


def test_version_4_keeps_calls_beside_the_text():
    call = {"state": "result", "toolCallId": "c1", "toolName": "add", "args": {"a": 2}, "result": 5}
    chat = [
        {"id": "1", "role": "user", "content": "What is 2+3?", "createdAt": "2026-05-28T20:26:40.000Z"},
        {"id": "2", "role": "assistant", "content": "It is 5.", "toolInvocations": [call], "reasoning": "Add."},
    ]
    (trace,) = opened({"messages": chat}).traces
    assert [(message.role, message.text) for message in trace.messages] == [
        ("user", "What is 2+3?"), ("assistant", ""), ("tool", "5"), ("assistant", "It is 5.")
    ]  # fmt: skip
    assert trace.messages[1].reasoning == "Add."


def test_parts_of_version_4_hold_the_invocation():
    call = {"state": "result", "toolCallId": "c1", "toolName": "add", "args": {"a": 2}, "result": "5"}
    parts = [{"type": "step-start"}, {"type": "tool-invocation", "toolInvocation": call}, {"type": "text", "text": "5"}]
    (trace,) = opened([{"id": "2", "role": "assistant", "content": "5", "parts": parts}]).traces
    assert [message.role for message in trace.messages] == ["assistant", "tool", "assistant"]


def test_a_call_that_a_person_denied_is_marked():
    (trace,) = opened([{"role": "assistant", "parts": [tool("output-denied")]}]).traces
    (run,) = trace.steps[0].tools
    assert (run.ok, run.decision, trace.messages[1].text) == (False, "denied", "denied by the user")


@given(damaged(CHAT))
def test_damaged_chats_never_bring_the_reader_down(value):
    survives(value, "vercel-ui")
