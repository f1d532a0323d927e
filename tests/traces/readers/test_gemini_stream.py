"""What ``gemini --output-format stream-json`` prints: texts in pieces, and several runs in one file."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise


def event(second, kind, **more):
    return {"type": kind, "timestamp": f"2026-05-01T10:00:{second:02}.000Z", **more}


STATS = {"total_tokens": 130, "input_tokens": 100, "output_tokens": 20, "cached": 40, "duration_ms": 5000}
RUN = (
    event(0, "init", session_id="s1", model="gemini-x"),
    event(0, "message", role="user", content="List."),
    event(2, "message", role="assistant", content="I li", delta=True),
    event(3, "message", role="assistant", content="st.", delta=True),
    event(3, "tool_use", tool_name="ls", tool_id="c1", parameters={"path": "."}),
    event(3, "tool_use", tool_name="ls", tool_id="c2", parameters={"path": "x"}),
    event(4, "tool_result", tool_id="c1", status="success", output="a.py"),
    event(5, "tool_result", tool_id="c2", status="error", error={"type": "no", "message": "not there"}),
    event(6, "message", role="assistant", content="Done.", delta=True),
    event(7, "result", status="success", stats=STATS),
)


def test_pieces_are_joined_and_calls_belong_to_the_text_before_them():
    report = opened(RUN)
    (trace,) = report.traces
    assert report.format == "gemini-stream"
    assert [m.text for m in trace.messages] == ["List.", "I list.", "a.py", "not there", "Done."]
    assert [(run.latency_ms, run.ok) for run in trace.steps[0].tools] == [(1000, True), (2000, False)]
    assert (trace.model.name, trace.steps[0].latency_ms, trace.outcome.reason) == ("gemini-x", 3000, "final")


def test_the_totals_are_those_of_the_run():
    summary = summarise(opened(RUN).traces[0])
    assert (summary.tokens.prompt_tokens, summary.tokens.cached_tokens, summary.tokens.total) == (100, 40, 130)
    assert summary.duration_s == 7.0


def test_runs_that_follow_one_another_are_traces_unless_they_go_on():
    other = ({**RUN[0], "session_id": "s2"}, *RUN[1:])
    assert len(opened((*RUN, *other)).traces) == 2
    (trace,) = opened((*RUN, *RUN)).traces
    assert (len(trace.messages), summarise(trace).tokens.total) == (10, 260)


def test_a_message_that_others_write_too_is_no_mark_of_a_run():
    said = {"type": "message", "timestamp": "2026-05-01T10:00:00Z", "role": "user", "content": "List."}
    assert opened((said, {"type": "tool_call", "tool": "ls"})).format == "openai-chat"


def test_a_run_that_fails_says_why():
    failed = event(1, "result", status="error", error={"type": "quota", "message": "quota exceeded"})
    (trace,) = opened((*RUN[:2], event(1, "error", severity="warning", message="slow"), failed)).traces
    assert (trace.outcome.reason, trace.outcome.detail) == ("model_error", "quota exceeded")
    assert (trace.notes[0]["kind"], trace.notes[0]["text"]) == ("warning", "slow")


@given(damaged(list(RUN)))
def test_damaged_lines_never_bring_the_reader_down(lines):
    survives(lines, "gemini-stream")
