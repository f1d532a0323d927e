"""mini-swe-agent: message lists of version 1, and the format 1.1 with calls, costs and times."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise

T = 1_780_000_000
FINAL = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
OLD = [
    {"role": "system", "content": "Answer with one ```mswea_bash_command block."},
    {"role": "user", "content": f"Fix it. To finish: {FINAL}"},
    {"role": "assistant", "content": "```mswea_bash_command\nls\n```"},
    {"role": "user", "content": "<returncode>2</returncode>\n<output>\nno\n</output>"},
    {"role": "assistant", "content": f"```mswea_bash_command\n{FINAL}\n```"},
    {"role": "user", "content": "diff --git"},
]


def answered(second, *calls, cost=0.25):
    asked = [
        {"id": c, "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}} for c in calls
    ]
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    response = {"id": "r", "object": "chat.completion", "model": "m-1", "usage": usage}
    response["choices"] = [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": "x"}}]
    extra = {"actions": [{"command": "ls"}], "cost": cost, "timestamp": T + second, "response": response}
    return {"role": "assistant", "content": "I look.", "tool_calls": asked, "extra": extra}


def result(call_id, second, code, **more):
    extra = {"returncode": code, "timestamp": T + second, "raw_output": "a.py", **more}
    return {"role": "tool", "tool_call_id": call_id, "content": "a.py", "extra": extra}


NEW = {
    "trajectory_format": "mini-swe-agent-1.1",
    "instance_id": "repo-1",
    "info": {
        "exit_status": "Submitted", "submission": "diff --git", "mini_version": "2.0.0",
        "model_stats": {"instance_cost": 0.5, "api_calls": 2}, "config": {"model": {"model_name": "m"}},
    },
    "messages": [
        {"role": "system", "content": "You fix."},
        {"role": "user", "content": "Fix it."},
        answered(10, "c1"),
        result("c1", 12, 1, exception_info="timed out"),
        answered(20, "c2"),
        {"role": "exit", "content": "diff --git", "extra": {"exit_status": "Submitted", "submission": "diff --git"}},
    ],
}  # fmt: skip


def test_version_1_is_told_by_its_prompt_and_keeps_its_results_in_the_users_role():
    report = opened(OLD)
    (trace,) = report.traces
    assert report.format == "mini-swe-agent"
    assert [entry.maker for entry in trace.entries] == ["code", "user", "model", "environment", "model", "environment"]
    assert summarise(trace).tool_calls == 0
    assert (trace.notes[0]["text"], trace.notes[0]["message"]) == ("exit code 2", 3)
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "diff --git")


def test_the_format_1_1_says_tokens_cost_and_time_of_each_step():
    report = opened(NEW)
    (trace,) = report.traces
    first, second = trace.steps
    assert (report.format, trace.title, trace.model.name) == ("mini-swe-agent", "repo-1", "m")
    assert (first.usage.prompt_tokens, first.cost, first.model, first.finish_reason) == (100, 0.25, "m-1", "tool_calls")
    assert (second.started, second.latency_ms) == ("2026-05-28T20:26:52Z", 8000)
    assert "extra" not in trace.messages[2].extra
    assert summarise(trace).cost == summarise(trace).reported_cost == 0.5


def test_a_return_code_that_is_not_0_is_a_failed_run():
    run, last = (step.tools[0] for step in opened(NEW).traces[0].steps)
    assert (run.ok, run.latency_ms, run.message) == (False, 2000, 3)
    assert last.message is None


def test_the_message_at_the_exit_is_not_a_persons():
    (trace,) = opened(NEW).traces
    assert (trace.messages[-1].role, trace.entries[-1].maker) == ("exit", "code")
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "diff --git")


def test_an_end_at_a_limit_keeps_the_files_own_word():
    (trace,) = opened({**NEW, "info": {"exit_status": "LimitsExceeded"}, "messages": NEW["messages"][:4]}).traces
    assert trace.outcome.reason == "LimitsExceeded"


def test_items_of_the_responses_api_are_read_as_well():
    call = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'}
    answer = {"object": "response", "model": "m-1", "status": "completed", "output": [call]}
    answer |= {"usage": {"input_tokens": 100, "output_tokens": 10}, "extra": {"cost": 0.1, "timestamp": T}}
    output = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
    output["extra"] = {"returncode": 0, "timestamp": T + 3}
    (trace,) = opened({**NEW, "messages": [*NEW["messages"][:2], answer, output]}).traces
    run = trace.steps[0].tools[0]
    assert (run.message, run.ok, run.latency_ms) == (3, True, 3000)
    assert (trace.steps[0].usage.prompt_tokens, trace.steps[0].cost) == (100, 0.1)


def test_a_conversation_about_the_agent_is_not_one_of_it():
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": f"Use `{FINAL}`."}]
    assert opened(chat).format == "openai-chat"


@given(damaged(NEW))
def test_damaged_files_never_bring_the_reader_down(value):
    survives(value, "mini-swe-agent")


@given(damaged(OLD))
def test_damaged_lists_never_bring_the_reader_down(value):
    survives(value, "mini-swe-agent")
