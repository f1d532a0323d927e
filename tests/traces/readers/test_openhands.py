"""OpenHands: events of both generations, saved trajectories and rows of its evaluation."""

import io
import json
import zipfile

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces import read_file
from traces.summary import summarise

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, "cache_read_input_tokens": 60}


def at(second):
    return f"2026-05-01T10:00:{second:02}.000000"


def made_by(call_id, response="r1", name="execute_bash", *calls):
    calls = calls or (call_id,)
    function = {"name": name, "arguments": '{"command": "ls"}'}
    asked = [{"id": asked_id, "type": "function", "function": function} for asked_id in calls]
    message = {"role": "assistant", "content": "I look.", "tool_calls": asked}
    choice = {"message": message, "finish_reason": "tool_calls"}
    body = {"id": response, "model": "m", "usage": USAGE, "choices": [choice]}
    return {"tool_call_metadata": {"function_name": name, "tool_call_id": call_id, "model_response": body}}


def action(number, kind, second, source="agent", args=None, **more):
    return {"id": number, "timestamp": at(second), "source": source, "action": kind, "args": args or {}, **more}


def seen(number, kind, second, cause, content="", **more):
    event = {"id": number, "timestamp": at(second), "source": "agent", "observation": kind, "content": content}
    return {**event, "cause": cause, "extras": {}, **more}


STATE = {"id": 0, "timestamp": at(0), "source": "environment", "observation": "agent_state_changed", "content": ""}
BOTH = ("execute_bash", "c1", "c2")
TALK = [
    {**STATE, "extras": {"agent_state": "running"}},
    action(1, "system", 0, args={"content": "You code.", "tools": [{"type": "function", "function": {"name": "run"}}]}),
    action(2, "message", 1, "user", {"content": "List.", "image_urls": ["data:image/png;base64,iVBORw0KGgo="]}),
    action(3, "recall", 1, "user"),
    seen(4, "recall", 1, 3),
    action(5, "run", 3, args={"command": "ls", "thought": "I look."}, **made_by("c1", "r1", *BOTH)),
    seen(6, "run", 5, 5, "a.py", extras={"metadata": {"exit_code": 0}}),
    action(7, "run", 6, args={"command": "pwd"}, **made_by("c2", "r1", *BOTH)),
    seen(8, "run", 7, 7, "no", extras={"metadata": {"exit_code": 1}}),
    action(9, "think", 8, args={"thought": "Enough."}, **made_by("c3", "r2", "think")),
    seen(10, "think", 8, 9, "Your thought has been logged."),
    action(11, "finish", 9, args={"final_thought": "There is a.py."}, **made_by("c4", "r3", "finish")),
]


def test_events_are_messages_calls_and_results():
    report = opened(TALK)
    (trace,) = report.traces
    assert report.format == "openhands"
    roles = [message.role for message in trace.messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "assistant"]
    assert trace.messages[1].content[1]["type"] == "image_url"
    assert (trace.messages[2].text, trace.messages[5].reasoning) == ("I look.", "Enough.")
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "There is a.py.")
    assert sum("not of the conversation" in sentence for sentence in report.unread) == 2


def test_parallel_calls_share_a_response_and_its_tokens_count_once():
    (trace,) = opened(TALK).traces
    runs = trace.steps[0].tools
    assert [(run.tool_call_id, run.message, run.latency_ms, run.ok) for run in runs] == [
        ("c1", 3, 2000, True), ("c2", 4, 1000, False)
    ]  # fmt: skip
    assert (trace.usage.prompt_tokens, trace.usage.cached_tokens, trace.steps[0].model) == (300, 180, "m")
    assert trace.steps[0].latency_ms == 2000
    assert [run.message for run in trace.steps[2].tools] == [None]


def test_running_totals_count_by_what_they_grew():
    def metrics(cost, prompt):
        usage = {"prompt_tokens": prompt, "completion_tokens": 5, "cache_read_tokens": 50}
        return {"llm_metrics": {"accumulated_cost": cost, "accumulated_token_usage": usage}}

    events = [{**TALK[5], **metrics(0.25, 100)}, TALK[6], {**TALK[11], **metrics(0.75, 250)}]
    (trace,) = opened(events).traces
    assert [(step.usage.prompt_tokens, step.cost) for step in trace.steps] == [(100, 0.25), (150, 0.5)]
    summary = summarise(trace)
    assert (summary.reported.prompt_tokens, summary.reported_cost) == (250, 0.75)


def test_a_thought_beside_a_call_is_no_call_and_counts_no_tokens_twice():
    both = ("execute_bash", "c1", "c2")
    think = action(6, "think", 3, args={"thought": "Hm."}, **made_by("c2", "r1", *both))
    (trace,) = opened([action(5, "run", 3, args={"command": "ls"}, **made_by("c1", "r1", *both)), think]).traces
    assert [len(step.tools) for step in trace.steps] == [1, 0]
    assert trace.usage.prompt_tokens == 100


def test_what_a_person_runs_answers_no_call_of_the_model():
    typed = action(6, "run", 4, "user", {"command": "pwd"}, message="Running command: pwd")
    (trace,) = opened([TALK[5], typed, seen(7, "run", 5, 6, "/repo"), TALK[6]]).traces
    assert [message.role for message in trace.messages] == ["assistant", "user", "user", "tool"]
    assert (trace.entries[2].maker, trace.steps[0].tools[0].message) == ("environment", 3)


def test_a_saved_trajectory_and_the_list_itself_are_the_same():
    assert len(opened({"trajectory": TALK}).traces[0].messages) == 7


def test_an_error_answers_its_call_or_is_a_note():
    (trace,) = opened([TALK[5], seen(6, "error", 4, 5, "timed out"), seen(7, "error", 5, None, "no budget")]).traces
    assert trace.steps[0].tools[0].ok is False
    assert (trace.notes[0]["kind"], trace.notes[0]["text"]) == ("error", "no budget")


def test_the_last_state_says_how_it_ended():
    stopped = {**STATE, "extras": {"agent_state": "error", "reason": "budget"}}
    (trace,) = opened([TALK[2], stopped]).traces
    assert (trace.outcome.reason, trace.outcome.detail) == ("error", "budget")


ROW = {
    "instance_id": "repo-1",
    "history": [
        {"content": "Fix it.", "wait_for_response": False, "action": "message"},
        [
            {"command": "ls", "thought": "Look.", "action": "run"},
            {"content": "no", "exit_code": 2, "observation": "run"},
        ],
        {"outputs": {"content": "Fixed."}, "thought": "", "action": "finish"},
    ],
    "metrics": {"accumulated_cost": 0.5, "costs": [0.2, 0.3]},
    "success": False,
}


def test_rows_of_an_evaluation_have_neither_ids_nor_times():
    report = opened((ROW, ROW))
    trace = report.traces[0]
    assert (report.format, len(report.traces), trace.title) == ("openhands", 2, "repo-1")
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    run = trace.steps[0].tools[0]
    assert (run.name, run.arguments, run.message, run.ok) == ("run", {"command": "ls"}, 2, False)
    assert (trace.outcome.final, trace.outcome.verified, summarise(trace).cost) == ("Fixed.", False, 0.5)


def sdk(number, kind, second, source="agent", **more):
    return {"id": f"e{number}", "timestamp": at(second), "source": source, "kind": kind, **more}


def sdk_call(number, second, call_id, thought="", **more):
    call = {"id": call_id, "name": "terminal", "arguments": '{"command": "ls"}', "origin": "completion"}
    thought = [{"type": "text", "text": thought}] if thought else []
    return sdk(
        number, "ActionEvent", second, thought=thought, tool_name="terminal", tool_call_id=call_id, tool_call=call,
        action={"kind": "TerminalAction", "command": "ls"}, llm_response_id="r1", **more,
    )  # fmt: skip


def sdk_seen(number, second, call_id, **observation):
    return sdk(
        number, "ObservationEvent", second, "environment", tool_name="terminal", tool_call_id=call_id, action_id="e",
        observation={"kind": "TerminalObservation", **observation},
    )  # fmt: skip


SDK = [
    sdk(1, "SystemPromptEvent", 0, system_prompt={"type": "text", "text": "You code."}, tools=[{"name": "terminal"}]),
    sdk(2, "MessageEvent", 1, "user", llm_message={"role": "user", "content": [{"type": "text", "text": "List."}]}),
    sdk_call(3, 3, "c1", "I look.", reasoning_content="Plan."),
    sdk_call(4, 3, "c2"),
    sdk_seen(5, 4, "c1", content=[{"type": "text", "text": "a.py"}], is_error=False, metadata={"exit_code": 0}),
    sdk(6, "AgentErrorEvent", 5, tool_name="terminal", tool_call_id="c2", error="bad arguments"),
    sdk(7, "Condensation", 6, summary="So far.", forgotten_event_ids=[]),
    sdk(8, "MessageEvent", 7, llm_message={"role": "assistant", "content": [{"type": "text", "text": "Found."}]}),
    sdk(9, "ConversationStateUpdateEvent", 8, "environment", key="execution_status", value="finished"),
]


def test_events_of_the_sdk_say_by_kind_what_they_are():
    report = opened(SDK)
    (trace,) = report.traces
    assert report.format == "openhands"
    assert [message.text for message in trace.messages] == [
        "You code.", "List.", "I look.", "a.py", "bad arguments", "Found."
    ]  # fmt: skip
    assert trace.messages[2].reasoning == "Plan."
    assert [(run.message, run.ok, run.latency_ms) for run in trace.steps[0].tools] == [
        (3, True, 1000),
        (4, False, 2000),
    ]
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "Found.")
    assert ("compaction", "So far.") in [(note["kind"], note["text"]) for note in trace.notes]


def test_a_rejected_action_of_the_sdk_was_rejected():
    refused = sdk(
        5, "UserRejectObservation", 4, "user", tool_name="terminal", tool_call_id="c1", rejection_reason="No."
    )
    (trace,) = opened([*SDK[:3], refused]).traces
    assert (trace.steps[0].tools[0].decision, trace.messages[3].text) == ("rejected", "No.")


STATS = {
    "usage_to_metrics": {
        "agent": {
            "accumulated_cost": 0.5,
            "accumulated_token_usage": {"prompt_tokens": 100, "completion_tokens": 5, "cache_read_tokens": 40},
            "token_usages": [{"response_id": "r1", "prompt_tokens": 100, "completion_tokens": 5}],
        },
        "condenser": {
            "accumulated_cost": 0.25,
            "accumulated_token_usage": {"prompt_tokens": 10, "completion_tokens": 1, "cache_read_tokens": 0},
        },
        "odd": None,
    }
}


def test_what_a_conversation_of_the_sdk_used_stands_in_its_state():
    state = {"agent": {"llm": {"model": "m"}}, "execution_status": "finished", "stats": STATS}
    call = sdk_call(3, 3, "c1")
    told = sdk(9, "ConversationStateUpdateEvent", 8, "environment", key="full_state", value=state)
    alone = sdk(9, "ConversationStateUpdateEvent", 8, "environment", key="stats", value=STATS)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as held:
        held.writestr("c/base_state.json", json.dumps(state))
        held.writestr("c/events/event-00001.json", json.dumps(SDK[1]))
        held.writestr("c/events/event-00002.json", json.dumps(call))
    for report, model in (
        (opened([SDK[1], call, told]), "m"),
        (opened({"items": [SDK[1], call, alone], "next_page_id": None}), None),
        (read_file(archive.getvalue(), "c.zip"), "m"),
    ):
        (trace,) = report.traces
        summary = summarise(trace)
        assert (summary.reported.total, summary.reported.cached_tokens, summary.reported_cost) == (116, 40, 0.75)
        assert (trace.steps[0].usage.total, trace.model.name) == (105, model)


def test_a_command_of_the_sdk_that_printed_nothing_gave_nothing():
    silent = sdk_seen(5, 4, "c1", content=[{"type": "text", "text": ""}], exit_code=0, metadata={"exit_code": 0})
    (trace,) = opened([*SDK[1:3], silent]).traces
    assert trace.messages[2].text == ""


def test_recorded_answers_of_the_server_hold_events_in_envelopes():
    ran = {"action": "run", "args": {"command": "echo hello"}}
    saw = {"observation": "command_output", "content": "hello"}
    bare = [{"id": "e1", "type": "action", **ran}, {"id": "e2", "type": "observation", **saw}]
    packed = [{"id": "e1", "type": "action", "data": ran}, {"id": "e2", "type": "observation", "data": saw}]
    for events in (bare, packed):
        report = opened({"url": "https://h.example/api", "status_code": 200, "json": events})
        (trace,) = report.traces
        assert (report.format, [message.role for message in trace.messages]) == ("openhands", ["assistant", "tool"])
        assert (trace.messages[1].text, trace.steps[0].tools[0].message) == ("hello", 1)


def test_an_archive_of_one_file_an_event_is_one_conversation():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("meta.json", '{"title": "x"}')
        for number, event in enumerate(SDK):
            archive.writestr(f"events/event-{number:05}.json", json.dumps(event))
    (trace,) = read_file(packed.getvalue(), "conversation.zip").traces
    assert len(trace.messages) == 6


@given(damaged(TALK))
def test_damaged_events_never_bring_the_reader_down(value):
    survives(value, "openhands")


@given(damaged([*SDK, sdk(10, "ConversationStateUpdateEvent", 9, "environment", key="stats", value=STATS)]))
def test_damaged_events_of_the_sdk_never_bring_the_reader_down(value):
    survives(value, "openhands")


@given(damaged(ROW))
def test_damaged_rows_never_bring_the_reader_down(value):
    survives(value, "openhands")
