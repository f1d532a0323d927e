"""OpenCode: exported sessions, and the events of a run without a screen."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise

T = 1_780_000_000_000
TOKENS = {"input": 10, "output": 20, "reasoning": 5, "cache": {"read": 80, "write": 3}}


def tool(call_id, status, **state):
    state = {"status": status, "input": {"command": "ls"}, "time": {"start": T + 3000, "end": T + 4500}, **state}
    return {"type": "tool", "tool": "bash", "callID": call_id, "state": state}


def assistant(number, parts, **more):
    info = {"id": f"msg_{number}", "role": "assistant", "sessionID": "ses_1", "modelID": "m", "providerID": "p"}
    info |= {"time": {"created": T + 1000, "completed": T + 5000}, "cost": 0.5, "tokens": TOKENS, "mode": "build"}
    return {"info": {**info, **more}, "parts": parts}


FINISH = {"type": "step-finish", "reason": "tool-calls", "cost": 0.5, "tokens": TOKENS}
ASKED = {
    "info": {"id": "msg_0", "role": "user", "sessionID": "ses_1", "time": {"created": T}},
    "parts": [
        {"type": "text", "text": "List."},
        {"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,iVBORw0KGgo="},
    ],
}
ANSWERED = assistant(
    1,
    [
        {"type": "step-start", "snapshot": "x"},
        {"type": "reasoning", "text": "Look.", "time": {"start": T + 1200, "end": T + 1500}},
        {"type": "text", "text": "I look."},
        tool("c1", "completed", output="a.py", metadata={"exit": 0}),
        tool("c2", "error", error="no such command"),
        tool("c3", "running"),
        FINISH,
        {"type": "patch", "hash": "x", "files": []},
    ],
)
SESSION = {
    "info": {"id": "ses_1", "title": "Listing", "time": {"created": T, "updated": T + 9000}},
    "messages": [ASKED, ANSWERED, assistant(2, [{"type": "text", "text": "Done."}], finish="stop")],
}


def test_parts_are_messages_calls_and_results():
    report = opened(SESSION)
    (trace,) = report.traces
    assert (report.format, trace.title) == ("opencode", "Listing")
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert trace.messages[0].content[1]["image_url"]["url"].startswith("data:image/png")
    assert (trace.messages[1].reasoning, trace.messages[1].text) == ("Look.", "I look.")
    assert [(run.message, run.ok, run.latency_ms) for run in trace.steps[0].tools] == [
        (2, True, 1500), (3, False, 1500), (None, None, None)
    ]  # fmt: skip
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "Done.")


def test_tokens_are_those_of_the_message_and_not_those_of_its_step_once_more():
    (trace,) = opened(SESSION).traces
    usage = trace.steps[0].usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.cache_write_tokens) == (93, 80, 3)
    assert (usage.completion_tokens, usage.reasoning_tokens) == (25, 5)
    assert (summarise(trace).tokens.prompt_tokens, summarise(trace).cost) == (186, 1.0)


def test_the_model_is_done_when_it_has_asked_for_its_last_tool():
    (trace,) = opened(SESSION).traces
    assert (trace.steps[0].latency_ms, trace.steps[0].first_token_ms) == (2000, 200)
    assert (trace.steps[1].latency_ms, summarise(trace).duration_s) == (4000, 9.0)


def test_several_steps_in_one_message_have_the_tokens_of_their_own():
    parts = [{"type": "step-start"}, tool("c1", "completed", output="1"), FINISH]
    parts += [{"type": "step-start"}, {"type": "text", "text": "Done."}, {**FINISH, "tokens": {**TOKENS, "output": 1}}]
    (trace,) = opened({**SESSION, "messages": [assistant(1, parts)]}).traces
    assert [step.usage.completion_tokens for step in trace.steps] == [25, 6]


def test_a_failed_call_is_a_retry_of_the_next():
    error = {"name": "APIError", "data": {"message": "overloaded", "statusCode": 529}}
    failed = assistant(1, [], error=error, tokens={"input": 0, "output": 0}, cost=0)
    (trace,) = opened({**SESSION, "messages": [ASKED, failed, SESSION["messages"][2]]}).traces
    assert [(retry["error"], retry["status"]) for retry in trace.steps[0].retries] == [("overloaded", 529)]


def test_an_aborted_answer_ends_by_its_user():
    error = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
    zeros = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    stopped = assistant(1, [{"type": "text", "text": "I wa"}], error=error, tokens=zeros)
    (trace,) = opened({**SESSION, "messages": [ASKED, stopped]}).traces
    assert (trace.outcome.reason, trace.steps[0].usage) == ("stopped_by_user", None)


def test_a_session_of_a_sub_agent_names_the_one_that_called_it():
    child = {**SESSION, "info": {"id": "ses_2", "parentID": "ses_1", "title": "Child"}}
    first, second = opened([SESSION, child]).traces
    assert second.source.parent == first.trace_id


def test_a_session_as_other_programs_write_it_is_read_the_same_way():
    ran = {"type": "tool", "tool": "bash", "args": {"command": "ls"}, "status": "completed", "output": "a.py"}
    info = {"id": "m2", "role": "assistant", "timestamp": "2026-05-01T10:00:04Z", "model_id": "m"}
    flat = {
        "id": "ses_1",
        "title": "Listing",
        "messages": [
            {
                "info": {"id": "m1", "role": "user", "timestamp": "2026-05-01T10:00:00Z"},
                "parts": [{"type": "text", "text": "List."}],
            },
            {"info": {**info, "tokens": {"input": 9, "output": 2}}, "parts": [ran]},
        ],
    }
    report = opened(flat)
    (trace,) = report.traces
    assert (report.format, trace.title, trace.steps[0].model) == ("opencode", "Listing", "m")
    assert [message.text for message in trace.messages] == ["List.", "", "a.py"]
    assert trace.messages[1].tool_calls[0].arguments == {"command": "ls"}
    summary = summarise(trace)
    assert (summary.duration_s, summary.tokens.total, summary.unpaired_calls) == (4.0, 11, 0)


def test_what_a_compaction_wrote_is_marked():
    made = {
        **ASKED,
        "parts": [{"type": "text", "text": "Go on.", "synthetic": True}, {"type": "compaction", "auto": True}],
    }
    (trace,) = opened({**SESSION, "messages": [made]}).traces
    assert (trace.entries[0].maker, trace.notes[0]["kind"]) == ("code", "compaction")


def test_events_of_a_run_are_put_together_by_message():
    def event(kind, part, message="msg_1"):
        return {"type": kind, "timestamp": T, "sessionID": "ses_1", "part": {**part, "messageID": message}}

    report = opened(
        (
            event("step_start", {"type": "step-start"}),
            event("tool_use", tool("c1", "completed", output="a.py")),
            event("step_finish", FINISH),
            event("text", {"type": "text", "text": "Done."}, "msg_2"),
            {"type": "error", "timestamp": T, "sessionID": "ses_1", "error": {"name": "APIError", "data": {}}},
        )
    )
    (trace,) = report.traces
    assert report.format == "opencode"
    assert [message.text for message in trace.messages] == ["", "a.py", "Done."]
    assert (trace.steps[0].usage.prompt_tokens, trace.outcome.reason) == (93, "model_error")


@given(damaged(SESSION))
def test_damaged_sessions_never_bring_the_reader_down(value):
    survives(value, "opencode")


@given(damaged([{"type": "text", "sessionID": "ses_1", "part": {"messageID": "1", "type": "text", "text": "x"}}] * 2))
def test_damaged_events_never_bring_the_reader_down(value):
    survives(value, "opencode")
