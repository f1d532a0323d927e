"""SWE-agent: both eras, demonstrations, replays and files of several attempts."""

import json

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise


def called(number, action="ls", thought="I look."):
    call = {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    return {
        "role": "assistant", "content": thought, "thought": thought, "action": action, "agent": "main",
        "tool_calls": [call], "message_type": "action",
    }  # fmt: skip


def answered(number, content="a.py"):
    return {
        "role": "tool",
        "content": content,
        "agent": "main",
        "message_type": "observation",
        "tool_call_ids": [number],
    }


NEW = {
    "history": [
        {"role": "system", "content": "You fix.", "agent": "main", "message_type": "system_prompt"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Fix it."}],
            "agent": "main",
            "message_type": "observation",
        },
        called(1),
        answered("c1"),
        {**called(2, "submit"), "thinking_blocks": [{"type": "thinking", "thinking": "Sure."}]},
        answered("c2", "done"),
    ],
    "trajectory": [
        {
            "action": "ls",
            "observation": "a.py",
            "execution_time": 0.25,
            "messages": [{"role": "system", "content": "x"}],
        },
        {"action": "submit", "observation": "done", "execution_time": 1.5, "state": {}},
    ],
    "info": {
        "exit_status": "submitted",
        "submission": "diff --git",
        "model_stats": {"tokens_sent": 900, "tokens_received": 50, "instance_cost": 0.75, "api_calls": 2},
    },
    "replay_config": json.dumps({"agent": {"model": {"name": "m"}}, "problem_statement": {"id": "repo-1"}}),
}
OLD = {
    "environment": "swe_main",
    "history": [
        {"role": "system", "content": "You fix.", "agent": "primary"},
        {"role": "user", "content": "Here is a demonstration: ...", "agent": "primary", "is_demo": True},
        {"role": "user", "content": "Fix it.", "agent": "primary"},
        {
            "role": "assistant",
            "content": "I look.\n```\nls\n```",
            "thought": "I look.",
            "action": "ls",
            "agent": "primary",
        },
        {"role": "user", "content": "a.py", "agent": "primary"},
    ],
    "trajectory": [{"action": "ls", "observation": "a.py", "response": "I look.", "state": "{}"}],
    "info": {"exit_status": "submitted (exit_cost)", "submission": None, "model_stats": {"tokens_sent": 0}},
}


def test_calls_are_paired_by_the_list_of_ids_and_the_prompt_of_each_step_is_not_repeated():
    report = opened(NEW)
    (trace,) = report.traces
    assert (report.format, trace.title, trace.model.name) == ("swe-agent", "repo-1", "m")
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert [step.tools[0].message for step in trace.steps] == [3, 5]
    assert [step.tools[0].latency_ms for step in trace.steps] == [250, 1500]
    assert [message.reasoning for message in trace.messages if message.role == "assistant"] == ["", "Sure."]
    assert {entry.agent for entry in trace.entries} == {"main"}


def test_tokens_and_cost_are_totals_of_the_file():
    summary = summarise(opened(NEW).traces[0])
    assert (summary.tokens.prompt_tokens, summary.tokens.completion_tokens, summary.cost) == (900, 50, 0.75)
    assert (summary.outcome, opened(NEW).traces[0].outcome.final) == ("final", "diff --git")


def test_a_demonstration_is_marked_and_is_not_the_task():
    (trace,) = opened(OLD).traces
    assert (trace.task, trace.notes[0]["kind"], trace.notes[0]["message"]) == ("Fix it.", "demonstration", 1)
    assert [entry.maker for entry in trace.entries] == ["code", "code", "user", "model", "environment"]
    assert trace.steps[0].tools == []


def test_zeros_of_a_replay_are_not_known_and_a_limit_is_not_the_end_of_the_task():
    summary = summarise(opened(OLD).traces[0])
    assert (summary.tokens.total, summary.cost, summary.outcome) == (None, None, "cost_budget")


def test_a_history_alone_opens():
    report = opened({"history": NEW["history"]})
    assert (report.format, len(report.traces[0].messages)) == ("swe-agent", 6)


STEPS = {
    "trajectory": [
        {
            "query": [{"role": "system", "content": "You fix."}, {"role": "user", "content": "Fix it."}],
            "response": "I look.", "thought": "I look.", "action": "ls", "observation": "a.py", "execution_time": 0.5,
        },
        {
            **called(2), "response": "I print.", "observation": "x", "tool_call_ids": ["c2"], "execution_time": 0.25,
        },
        {"response": "I submit.", "thought": "I submit.", "action": "submit", "observation": "", "state": "{}"},
    ],
    "info": {"exit_status": "submitted"},
}  # fmt: skip


def test_steps_without_a_history_tell_it():
    report = opened(STEPS)
    (trace,) = report.traces
    roles = [message.role for message in trace.messages]
    assert roles == ["system", "user", "assistant", "user", "assistant", "tool", "assistant"]
    assert (report.format, trace.task, trace.outcome.reason) == ("swe-agent", "Fix it.", "final")
    assert [(run.message, run.latency_ms) for run in trace.steps[1].tools] == [(5, 250)]


def test_attempts_are_traces():
    report = opened({**NEW, "attempts": [NEW, {**NEW, "info": {"exit_status": "exit_context"}}]})
    assert [trace.title for trace in report.traces] == ["repo-1 · attempt 1 of 2", "repo-1 · attempt 2 of 2"]
    assert report.traces[1].outcome.reason == "context_overflow"


def test_a_thought_outside_the_content_is_reasoning():
    apart = {**called(1, thought="I look."), "content": ""}
    assert opened({"history": [apart]}).traces[0].messages[0].reasoning == "I look."


@given(damaged(NEW))
def test_damaged_files_never_bring_the_reader_down(value):
    survives(value, "swe-agent")


@given(damaged(STEPS))
def test_damaged_steps_never_bring_the_reader_down(value):
    survives(value, "swe-agent")


@given(damaged(OLD))
def test_damaged_old_files_never_bring_the_reader_down(value):
    survives(value, "swe-agent")
