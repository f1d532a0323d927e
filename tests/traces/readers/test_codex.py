"""Codex rollouts: items are what is said, events give numbers, and running totals come twice."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise


def record(kind, second, **payload):
    return {"timestamp": f"2026-05-01T10:00:{second:02}.000Z", "type": kind, "payload": payload}


def item(kind, second, **payload):
    return record("response_item", second, type=kind, **payload)


def event(kind, second, **payload):
    return record("event_msg", second, type=kind, **payload)


def said(role, second, words):
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", second, role=role, content=[{"type": kind, "text": words}])


def tokens(second, *counts):
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
    total = dict(zip(names, counts, strict=True))
    return event("token_count", second, info={"total_token_usage": total, "last_token_usage": {"input_tokens": 9e9}})


ROLLOUT = (
    record("session_meta", 0, id="t1", cwd="/repo", cli_version="0.128.0", model_provider="openai"),
    event("thread_name_updated", 0, thread_name="Tidy up"),
    record("turn_context", 0, model="gpt-a", effort="high"),
    said("developer", 0, "<permissions instructions>"),
    said("user", 0, "<environment_context>\n  <cwd>/repo</cwd>"),
    said("user", 1, "Tidy up."),
    event("user_message", 1, message="Tidy up."),
    event("token_count", 1, info=None),
    item("reasoning", 2, summary=[{"type": "summary_text", "text": "Look."}], encrypted_content="x"),
    said("assistant", 3, "I look."),
    event("agent_message", 3, message="I look."),
    item("function_call", 4, call_id="c1", name="exec_command", arguments='{"cmd": "ls"}'),
    item("custom_tool_call", 4, call_id="c2", name="apply_patch", input="*** Begin Patch"),
    tokens(4, 100, 40, 20, 5, 120),
    event("exec_command_end", 5, call_id="c1", exit_code=1, duration={"secs": 1, "nanos": 500000000}),
    item("function_call_output", 6, call_id="c1", output="no such file"),
    item("custom_tool_call_output", 7, call_id="c2", output='{"output": "ok", "metadata": {"exit_code": 0}}'),
    tokens(7, 100, 40, 20, 5, 120),
    record("turn_context", 7, model="gpt-b"),
    item("web_search_call", 8, status="completed", action={"type": "search", "query": "tidy"}),
    said("assistant", 9, "Done."),
    tokens(9, 250, 140, 30, 8, 280),
    event("task_complete", 10, last_agent_message="Done."),
)  # fmt: skip


def test_items_are_the_conversation_and_events_do_not_repeat_it():
    report = opened(ROLLOUT)
    (trace,) = report.traces
    assert report.format == "codex-rollout"
    roles = [message.role for message in trace.messages]
    assert roles == ["developer", "user", "user", "assistant", "tool", "tool", "assistant"]
    assert (trace.title, trace.task) == ("Tidy up", "Tidy up.")
    first = trace.messages[3]
    assert (first.text, first.reasoning) == ("I look.", "Look.")
    assert [call.name for call in first.tool_calls] == ["exec_command", "apply_patch"]
    assert first.tool_calls[1].arguments == {"input": "*** Begin Patch"}
    assert [run.message for run in trace.steps[0].tools] == [4, 5]
    assert trace.messages[6].content[0]["type"] == "web_search_call"


def test_tokens_are_what_the_running_total_grew_by():
    (trace,) = opened(ROLLOUT).traces
    first, second = (step.usage for step in trace.steps)
    assert (first.prompt_tokens, first.cached_tokens) == (100, 40)
    assert (first.completion_tokens, first.reasoning_tokens) == (20, 5)
    assert (second.prompt_tokens, second.completion_tokens, second.total_tokens) == (150, 10, 160)
    summary = summarise(trace)
    assert summary.tokens == summary.reported
    assert summary.reported.total == 280


def test_the_model_may_change_between_turns():
    (trace,) = opened(ROLLOUT).traces
    assert [step.model for step in trace.steps] == ["gpt-a", "gpt-b"]
    assert trace.config["effort"] == "high"


def test_times_and_exit_codes_of_tools_come_from_events_else_from_outputs_and_lines():
    (trace,) = opened(ROLLOUT).traces
    command, patch = trace.steps[0].tools
    assert (command.latency_ms, command.ok) == (1500, False)
    assert (patch.latency_ms, patch.ok) == (3000, True)
    assert (trace.steps[0].latency_ms, summarise(trace).duration_s) == (3000, 10.0)


def test_an_output_may_say_its_exit_code_and_time_in_words():
    output = "Chunk ID: 1\nWall time: 2.5000 seconds\nProcess exited with code 3\nOutput:\nProcess exited with code 0"
    lines = (ROLLOUT[0], item("function_call", 1, call_id="c", name="exec_command", arguments="{}"))
    (trace,) = opened((*lines, item("function_call_output", 9, call_id="c", output=output))).traces
    assert (trace.steps[0].tools[0].latency_ms, trace.steps[0].tools[0].ok) == (2500, False)


def test_an_output_that_says_nothing_but_its_exit_code_is_believed():
    ran = item("function_call", 2, call_id="c", name="shell", arguments="{}")
    (trace,) = opened((ran, item("function_call_output", 3, call_id="c", output="Exit code: 1\nNo."))).traces
    assert [run.ok for run in trace.steps[0].tools] == [False]


def test_what_the_program_writes_is_not_the_users():
    (trace,) = opened(ROLLOUT).traces
    assert [entry.maker for entry in trace.entries][:3] == ["code", "code", "user"]


def test_a_compaction_is_a_note_and_its_call_a_step_without_words():
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Tidy up."}]}]
    compacted = record("compacted", 11, message="Summary.", replacement_history=history)
    (trace,) = opened((*ROLLOUT, compacted, tokens(12, 300, 140, 40, 8, 340))).traces
    assert len(trace.messages) == 7
    assert ("compaction", "Summary.") in [(note["kind"], note["text"]) for note in trace.notes]
    assert (trace.steps[-1].reply, trace.steps[-1].usage.total_tokens) == (None, 60)
    assert summarise(trace).tokens.total == 340


def test_a_total_that_begins_anew_counts_as_it_is():
    more = (said("user", 11, "And?"), said("assistant", 12, "So."), tokens(12, 7, 0, 3, 0, 10))
    (trace,) = opened((*ROLLOUT, *more)).traces
    assert trace.steps[-1].usage.total_tokens == 10


def test_how_a_session_ends():
    aborted = (*ROLLOUT[:-1], event("turn_aborted", 10, reason="interrupted"))
    failed = (*ROLLOUT[:-1], event("error", 10, message="usage limit reached"))
    assert opened(ROLLOUT).traces[0].outcome.reason == "final"
    assert opened(aborted).traces[0].outcome.reason == "stopped_by_user"
    (trace,) = opened(failed).traces
    assert (trace.outcome.reason, trace.notes[0]["text"]) == ("model_error", "usage limit reached")


def test_a_session_cut_with_an_open_call_keeps_it():
    (trace,) = opened(ROLLOUT[:13]).traces
    assert [run.message for run in trace.steps[0].tools] == [None, None]


def test_who_speaks_in_events_alone_is_heard():
    lines = (
        event("user_message", 0, message="Hello?"),
        item("function_call", 1, call_id="c", name="shell", arguments="{}"),
        event("agent_message", 2, message="Hello."),
    )
    (trace,) = opened(lines).traces
    assert [(message.role, message.text) for message in trace.messages] == [
        ("user", "Hello?"), ("assistant", "Hello.")
    ]  # fmt: skip
    assert trace.steps[0].tools[0].name == "shell"


OLD = (
    {"id": "t0", "timestamp": "2025-05-01T10:00:00.000Z", "instructions": None, "git": {}},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
)


def test_thoughts_that_stand_in_events_alone_are_read_there():
    thought = event("agent_reasoning", 2, text="Look.")
    (alone,) = opened((said("user", 1, "Tidy up."), thought, said("assistant", 3, "Done."))).traces
    assert [(message.text, message.reasoning) for message in alone.messages][1] == ("Done.", "Look.")
    report = opened((ROLLOUT[5], thought, ROLLOUT[8], ROLLOUT[9]))
    assert [message.reasoning for message in report.traces[0].messages] == ["", "Look."]
    assert len(report.unread) == 1


def test_tokens_written_to_the_cache_are_counted():
    info = {"total_token_usage": {"input_tokens": 90, "cache_write_input_tokens": 30, "output_tokens": 2}}
    (trace,) = opened((said("assistant", 1, "Done."), event("token_count", 2, info=info))).traces
    assert (trace.usage.prompt_tokens, trace.usage.cache_write_tokens) == (90, 30)


def test_the_oldest_files_hold_bare_items():
    for value in (OLD, {"session": OLD[0], "items": list(OLD[1:])}):
        report = opened(value)
        assert report.format == "codex-rollout"
        assert [message.text for message in report.traces[0].messages] == ["Hi", "Hello."]


@given(damaged(list(ROLLOUT)))
def test_damaged_lines_never_bring_the_reader_down(lines):
    survives(lines, "codex-rollout")


@given(damaged({"session": OLD[0], "items": list(OLD[1:])}))
def test_damaged_old_files_never_bring_the_reader_down(value):
    survives(value, "codex-rollout")
