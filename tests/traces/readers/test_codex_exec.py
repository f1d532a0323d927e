"""What ``codex exec --json`` prints: items that begin, grow and end."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise


def item(event, item_id, kind, **more):
    return {"type": f"item.{event}", "item": {"id": item_id, "type": kind, **more}}


def command(event, item_id, words, **more):
    return item(event, item_id, "command_execution", command=words, **more)


USAGE = {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 20}
RUN = (
    {"type": "thread.started", "thread_id": "t1"},
    {"type": "turn.started"},
    item("completed", "i0", "reasoning", text="Look first."),
    command("started", "i1", "ls", aggregated_output="", exit_code=None, status="in_progress"),
    command("started", "i2", "pwd", aggregated_output="", exit_code=None, status="in_progress"),
    command("completed", "i2", "pwd", aggregated_output="/repo\n", exit_code=0, status="completed"),
    command("completed", "i1", "ls", aggregated_output="none\n", exit_code=2, status="failed"),
    item("completed", "i3", "mcp_tool_call", server="docs", tool="find", arguments={"q": "x"},
         result={"content": [{"type": "text", "text": "found"}]}, status="completed"),
    item("updated", "i4", "todo_list", items=[]),
    item("completed", "i4", "todo_list", items=[{"text": "look", "completed": True}]),
    item("completed", "i5", "agent_message", text="Done."),
    {"type": "turn.completed", "usage": USAGE},
)  # fmt: skip


def test_items_become_answers_and_results():
    report = opened(RUN)
    (trace,) = report.traces
    assert report.format == "codex-exec"
    roles = [message.role for message in trace.messages]
    assert roles == ["assistant", "tool", "tool", "assistant", "tool", "assistant"]
    assert (trace.messages[0].reasoning, trace.messages[-1].text) == ("Look first.", "Done.")
    assert [(run.name, run.message, run.ok) for run in trace.steps[0].tools] == [
        ("command_execution", 2, False),
        ("command_execution", 1, True),
    ]
    call = trace.messages[3].tool_calls[0]
    assert (call.name, call.arguments, trace.messages[4].text) == ("docs__find", {"q": "x"}, "found")
    assert (trace.notes[0]["kind"], trace.notes[0]["text"]) == ("plan", "[x] look")
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "Done.")


def test_an_image_that_a_server_gave_is_an_image():
    result = {"content": [{"type": "text", "text": "one"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]}
    shown = item("completed", "i1", "mcp_tool_call", server="s", tool="look", result=result, status="completed")
    (trace,) = opened((RUN[0], shown)).traces
    words, image = trace.messages[1].content
    assert (words["text"], image["image_url"]["url"]) == ("one", "data:image/png;base64,AAAA")


def test_the_tokens_of_the_thread_are_stated_once():
    resumed = (*RUN, {"type": "turn.started"}, {"type": "turn.completed", "usage": {**USAGE, "input_tokens": 300}})
    tokens = summarise(opened(resumed).traces[0]).tokens
    assert (tokens.prompt_tokens, tokens.cached_tokens, tokens.completion_tokens) == (300, 60, 20)


def test_a_run_that_fails_or_is_cut_keeps_what_there_is():
    failed = {"type": "turn.failed", "error": {"message": "stream closed"}}
    (trace,) = opened((*RUN[:5], failed)).traces
    assert (trace.outcome.reason, trace.outcome.detail) == ("model_error", "stream closed")
    assert [run.message for run in trace.steps[0].tools] == [None, None]


def test_a_declined_command_was_denied():
    declined = command("completed", "i1", "rm -r /", aggregated_output="", exit_code=None, status="declined")
    (trace,) = opened((RUN[0], declined)).traces
    assert (trace.steps[0].tools[0].decision, trace.steps[0].tools[0].ok) == ("denied", False)


def test_each_thread_is_a_trace():
    assert len(opened((*RUN, {**RUN[0], "thread_id": "t2"}, *RUN[1:])).traces) == 2


@given(damaged(list(RUN)))
def test_damaged_lines_never_bring_the_reader_down(lines):
    survives(lines, "codex-exec")
