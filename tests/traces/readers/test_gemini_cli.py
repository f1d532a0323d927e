"""Gemini CLI sessions: one document, or lines that replace, set and take back."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise

TOKENS = {"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 2, "total": 117}


def message(number, kind, content, **more):
    at = f"2026-05-01T10:00:{number:02}.000Z"
    return {"id": f"m{number}", "timestamp": at, "type": kind, "content": content, **more}


def tool_call(call_id, status="success", **more):
    response = {"functionResponse": {"id": call_id, "name": "read_file", "response": {"output": "text of a.py"}}}
    call = {"id": call_id, "name": "read_file", "args": {"path": "a.py"}, "status": status, "result": [response]}
    return {**call, "timestamp": "2026-05-01T10:00:03.000Z", **more}


HEAD = {"sessionId": "s1", "projectHash": "h1", "startTime": "2026-05-01T10:00:00.000Z"}
ASKED = message(0, "user", [{"text": "Read a.py."}])
ANSWERED = message(
    2, "gemini", "I read.", model="gemini-x", tokens=TOKENS, thoughts=[{"subject": "Plan", "description": "Read it."}],
    toolCalls=[tool_call("c1"), tool_call("c2", "error"), tool_call("c3", "executing", result=None)],
)  # fmt: skip
ENDED = message(5, "gemini", "It is text.", model="gemini-x", tokens=TOKENS)
SESSION = {**HEAD, "summary": "Reading", "messages": [ASKED, message(1, "info", "Update available"), ANSWERED, ENDED]}


def test_calls_and_results_stand_inside_the_models_message():
    report = opened(SESSION)
    (trace,) = report.traces
    assert (report.format, trace.title) == ("gemini-cli", "Reading")
    assert [m.role for m in trace.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert trace.messages[1].reasoning == "Plan\nRead it."
    assert trace.messages[2].text == "text of a.py"
    assert [(run.message, run.ok) for run in trace.steps[0].tools] == [(2, True), (3, False), (None, None)]
    assert (trace.notes[0]["kind"], trace.notes[0]["text"]) == ("info", "Update available")


def test_thoughts_are_part_of_the_completion_and_tool_prompts_of_the_prompt():
    usage = opened(SESSION).traces[0].steps[0].usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (102, 40, 15)
    assert (usage.reasoning_tokens, usage.total_tokens) == (5, 117)


def test_a_line_with_a_known_id_replaces_the_message():
    lines = (
        HEAD,
        ASKED,
        {**ANSWERED, "toolCalls": [], "content": "I re"},
        ANSWERED,
        ENDED,
        {"$set": {"summary": "New"}},
    )
    report = opened(lines)
    (trace,) = report.traces
    assert report.format == "gemini-cli"
    assert [m.text for m in trace.messages if m.role == "assistant"] == ["I read.", "It is text."]
    assert (trace.title, summarise(trace).tokens.total) == ("New", 234)
    assert trace.entries[1].line == 4


def test_a_rewind_takes_back_a_message_and_all_after_it():
    report = opened((HEAD, ASKED, ANSWERED, ENDED, {"$rewindTo": "m2"}, message(6, "gemini", "Anew.")))
    assert [m.text for m in report.traces[0].messages] == ["Read a.py.", "Anew."]
    assert report.unread == ["a message that was taken back by a rewind (2 times)"]


def test_a_rewind_to_an_unknown_message_takes_back_everything():
    (trace,) = opened((HEAD, ASKED, ENDED, {"$rewindTo": "gone"}, message(6, "user", "Hello."))).traces
    assert [m.text for m in trace.messages] == ["Hello."]


def test_a_checkpoint_sets_all_messages_anew():
    (trace,) = opened((HEAD, ANSWERED, {"$set": {"messages": [ASKED]}}, ENDED)).traces
    assert [m.text for m in trace.messages] == ["Read a.py.", "It is text."]


def test_each_session_of_a_file_is_a_trace():
    assert len(opened([SESSION, {**SESSION, "sessionId": "s2"}]).traces) == 2


def test_a_session_without_a_project_is_told_by_who_speaks():
    for name in ("gemini", "model"):
        talk = [{"type": "user", "content": "Hi"}, {"type": name, "content": "Hello."}]
        report = opened({"sessionId": "s", "messages": talk})
        assert report.format == "gemini-cli"
        assert [message.role for message in report.traces[0].messages] == ["user", "assistant"]


@given(damaged([HEAD, ASKED, ANSWERED, {"$set": {"messages": [ASKED]}}, ENDED, {"$rewindTo": "m5"}]))
def test_damaged_lines_never_bring_the_reader_down(lines):
    survives(lines, "gemini-cli")


@given(damaged(SESSION))
def test_damaged_documents_never_bring_the_reader_down(value):
    survives(value, "gemini-cli")
