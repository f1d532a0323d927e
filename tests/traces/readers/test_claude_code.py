"""Claude Code: split answers, sub-agents, rewinds, compaction, and what runs without a screen print."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise

USAGE = {"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 7}


def line(kind, uuid, parent, second, message, **more):
    at = f"2026-05-01T10:00:{second:02}.000Z"
    return {
        "type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": at, "sessionId": "s1", "message": message, **more
    }  # fmt: skip


def user(uuid, parent, second, content, **more):
    return line("user", uuid, parent, second, {"role": "user", "content": content}, **more)


def answer(uuid, parent, second, *blocks, message_id=None, **more):
    message = {"id": message_id or f"msg_{uuid}", "role": "assistant", "model": "claude-x", "usage": USAGE}
    message |= {"content": list(blocks), "stop_reason": "tool_use"}
    return line("assistant", uuid, parent, second, message, **more)


def say(words):
    return {"type": "text", "text": words}


def call(call_id, name="Bash", **given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id, content, **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


SESSION = (
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    user("u1", None, 0, "List the files."),
    answer("a1", "u1", 2, {"type": "thinking", "thinking": "Look first.", "signature": "x"}, message_id="m1"),
    answer("a2", "a1", 3, say("I look."), message_id="m1"),
    answer("a3", "a2", 4, call("c1", command="ls"), message_id="m1"),
    user("r1", "a3", 9, [result("c1", "a.py")], toolUseResult={"durationMs": 1500}),
    answer("a4", "a3", 4, call("c2", command="pwd"), message_id="m1"),
    user("r2", "a4", 6, [result("c2", "no", is_error=True)]),
    answer("a5", "r2", 12, say("Done.")),
)


def test_the_lines_of_one_answer_are_one_message_that_is_counted_once():
    report = opened(SESSION)
    (trace,) = report.traces
    assert report.format == "claude-code"
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    first = trace.messages[1]
    assert (first.text, first.reasoning, [c.name for c in first.tool_calls]) == ("I look.", "Look first.", ["Bash"] * 2)
    assert [run.message for run in trace.steps[0].tools] == [2, 3]
    assert (trace.usage.prompt_tokens, trace.usage.cached_tokens, trace.usage.cache_write_tokens) == (210, 180, 10)
    assert (trace.usage.completion_tokens, trace.steps[0].model) == (14, "claude-x")
    assert [entry.line for entry in trace.entries] == [2, 3, 6, 8, 9]


def test_a_tool_says_itself_how_long_it_took_else_its_lines_do():
    (trace,) = opened(SESSION).traces
    first, second = trace.steps[0].tools
    assert (first.latency_ms, first.ok) == (1500, None)
    assert (second.latency_ms, second.ok) == (2000, False)
    assert (trace.steps[0].started, trace.steps[0].latency_ms) == ("2026-05-01T10:00:00.000Z", 4000)


def test_while_an_answer_is_streamed_its_last_line_knows_the_tokens():
    early = answer("a1", "u1", 1, say("I "), message_id="m")
    early["message"]["usage"] = {**USAGE, "output_tokens": 1}
    (trace,) = opened((user("u1", None, 0, "Hi"), early, answer("a2", "a1", 2, say("go."), message_id="m"))).traces
    assert (trace.usage.completion_tokens, trace.usage.prompt_tokens) == (7, 105)


def test_parallel_calls_whose_results_hang_on_different_lines_are_no_branches():
    report = opened(SESSION)
    assert len(report.traces) == 1
    assert len(report.traces[0].messages) == 5


REWOUND = (
    user("u1", None, 0, "Write a poem."),
    answer("a1", "u1", 1, say("Which?")),
    user("u2", "a1", 2, "About rain."),
    answer("a2", "u2", 3, say("Rain, rain.")),
    user("u3", "a1", 4, "About snow."),
    answer("a3", "u3", 5, say("Snow, snow.")),
)


def test_what_a_rewind_took_back_is_a_trace_of_its_own():
    main, branch = opened(REWOUND).traces
    assert [message.text for message in main.messages] == ["Write a poem.", "Which?", "About snow.", "Snow, snow."]
    assert [message.text for message in branch.messages] == ["About rain.", "Rain, rain."]
    assert branch.source.parent == main.trace_id
    (note,) = main.notes
    assert (note["kind"], note["message"]) == ("rewind", 2)
    assert branch.trace_id in note["text"]


def test_a_branch_inside_a_branch_stays_there():
    again = (
        *REWOUND[:4],
        user("u4", "a2", 3, "Longer."),
        user("u5", "a2", 3, "Shorter."),
        *REWOUND[4:],
    )
    main, branch = opened(again).traces
    assert len(main.messages) == 4
    assert [m.text for m in branch.messages] == ["About rain.", "Rain, rain.", "Longer.", "Shorter."]


def test_prompts_without_a_parent_are_turns_and_not_branches():
    (trace,) = opened((user("u1", None, 0, "One"), answer("a1", None, 1, say("1")), user("u2", None, 2, "Two"))).traces
    assert [message.text for message in trace.messages] == ["One", "1", "Two"]


def side(item, **more):
    return {**item, "isSidechain": True, **more}


def test_a_sub_agent_is_a_trace_that_names_who_called_it():
    main, agent = opened(
        (
            user("u1", None, 0, "Find it."),
            answer("a1", "u1", 1, call("c1", "Task", description="Search", subagent_type="Explore", prompt="Go")),
            side(user("s1", None, 2, "Go"), agentId="ag1"),
            side(answer("s2", "s1", 3, say("Found.")), agentId="ag1"),
            user("r1", "a1", 4, [result("c1", "Found.")], toolUseResult={"agentId": "ag1", "totalDurationMs": 2500}),
        )
    ).traces
    assert [message.text for message in main.messages] == ["Find it.", "", "Found."]
    assert (agent.title, agent.source.parent, len(agent.messages)) == ("Search", main.trace_id, 2)
    assert main.steps[0].tools[0].latency_ms == 2500
    assert main.notes[0]["message"] == 2
    assert main.usage.completion_tokens == 7


def test_older_sidechains_without_an_id_are_told_apart_by_their_first_line():
    traces = opened(
        (
            user("u1", None, 0, "Both."),
            side(user("s1", None, 1, "First")),
            side(user("t1", None, 1, "Second")),
            side(answer("s2", "s1", 2, say("1"))),
            side(answer("t2", "t1", 2, say("2"))),
        )
    ).traces
    assert [[message.text for message in trace.messages] for trace in traces] == [
        ["Both."], ["First", "1"], ["Second", "2"]
    ]  # fmt: skip


def test_a_file_of_a_sub_agent_alone_has_no_parent():
    (trace,) = opened((side(user("s1", None, 0, "Go"), agentId="ag1"), side(answer("s2", "s1", 1, say("1"))))).traces
    assert (trace.source.parent, trace.extra["imported"]["agent"]) == (None, "ag1")


def test_a_compaction_is_a_note_and_its_summary_was_not_written_by_a_person():
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "logicalParentUuid": "u0"}
    boundary |= {"compactMetadata": {"trigger": "manual", "preTokens": 155000}, "sessionId": "s1"}
    (trace,) = opened(
        (
            boundary,
            user("u1", "b", 0, "This session is being continued", isCompactSummary=True),
            user("u2", "u1", 1, "Go on."),
        )
    ).traces
    assert trace.notes[0]["text"] == "the conversation was compacted (manual, 155,000 tokens before)"
    assert (trace.notes[1]["kind"], trace.notes[1]["message"]) == ("compaction", 0)
    assert [entry.maker for entry in trace.entries] == ["code", "user"]
    assert trace.task == "Go on."


def test_lines_without_ids_are_told_in_their_order():
    lines = [
        user("", None, 0, "Go."),
        answer("", None, 2, say("1"), message_id="m1"),
        answer("", None, 5, {"type": "text", "text": None}, message_id="m2"),
    ]
    lines.append(user("", None, 6, "Summary.", isCompactSummary=True))
    (trace,) = opened(tuple(lines)).traces
    assert [message.role for message in trace.messages] == ["user", "assistant", "assistant", "user"]
    assert (trace.notes[0]["message"], trace.steps[1].latency_ms) == (3, 3000)


def test_what_the_program_writes_in_the_role_of_the_user_is_not_the_task():
    lines = (
        user("u1", None, 0, "<command-name>/clear</command-name>"),
        user("u2", "u1", 1, "A reminder.", isMeta=True),
        user("u3", "u2", 2, "Help."),
    )
    (trace,) = opened(lines).traces
    assert (trace.task, [entry.maker for entry in trace.entries]) == ("Help.", ["code", "code", "user"])


def test_an_answer_that_the_program_wrote_has_no_numbers():
    failed = answer("a1", "u1", 1, say("API Error: 529 overloaded"), isApiErrorMessage=True)
    failed["message"]["model"] = "<synthetic>"
    (trace,) = opened((user("u1", None, 0, "Hi"), failed)).traces
    assert summarise(trace).models == []
    assert trace.usage.total is None
    assert (trace.entries[1].maker, trace.notes[0]["kind"]) == ("code", "error")


def test_refused_calls_of_the_model_are_retries_of_the_next_step():
    error = {"type": "system", "subtype": "api_error", "uuid": "e", "parentUuid": "u1", "sessionId": "s1"}
    error |= {"error": {"status": 529, "message": "overloaded"}}
    (trace,) = opened((user("u1", None, 0, "Hi"), error, answer("a1", "e", 3, say("Hello.")))).traces
    assert [(retry["error"], retry["status"]) for retry in trace.steps[0].retries] == [("overloaded", 529)]


def test_a_resumed_session_goes_on_under_another_id_and_repeats_nothing():
    more = {**user("u2", "a5", 20, "More."), "sessionId": "s2"}
    report = opened((*SESSION, SESSION[-1], more))
    (trace,) = report.traces
    assert [message.text for message in trace.messages][-2:] == ["Done.", "More."]
    assert any("twice" in sentence for sentence in report.unread)


def test_two_sessions_in_one_file_are_two_traces():
    other = {**user("x1", None, 0, "Another thing."), "sessionId": "s9"}
    assert [trace.task for trace in opened((*SESSION, other)).traces] == ["List the files.", "Another thing."]


def test_titles_come_from_people_before_the_program():
    lines = ({"type": "summary", "summary": "Made", "leafUuid": "a5"}, *SESSION)
    assert opened(lines).traces[0].title == "Made"
    named = (*lines, {"type": "custom-title", "customTitle": "Mine", "sessionId": "s1"})
    assert opened(named).traces[0].title == "Mine"


def test_an_export_of_the_web_version_holds_the_same_lines():
    report = opened({"loglines": list(SESSION)})
    assert report.format == "claude-code"
    assert len(report.traces[0].messages) == 5


def test_a_run_without_a_screen_states_its_totals_and_its_end():
    lines = (
        {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-x", "tools": ["Bash"]},
        {"type": "assistant", "session_id": "s", "uuid": "1", "parent_tool_use_id": None,
         "message": {"id": "m", "role": "assistant", "content": [call("c1", "Task", description="Look")]}},
        {"type": "user", "session_id": "s", "uuid": "2", "parent_tool_use_id": "c1",
         "message": {"role": "user", "content": "Look there."}},
        {"type": "user", "session_id": "s", "uuid": "3",
         "message": {"role": "user", "content": [result("c1", "seen")]}},
        {"type": "result", "subtype": "success", "session_id": "s", "result": "All seen.", "duration_ms": 9000,
         "total_cost_usd": 0.25, "usage": {"input_tokens": 3, "output_tokens": 4}},
    )  # fmt: skip
    main, agent = opened(lines).traces
    summary = summarise(main)
    assert (summary.reported_cost, summary.reported.prompt_tokens, summary.duration_s) == (0.25, 3, 9.0)
    assert (main.outcome.reason, main.outcome.final) == ("final", "All seen.")
    assert (agent.title, agent.source.parent, agent.messages[0].text) == ("Look", main.trace_id, "Look there.")
    assert [tool["function"]["name"] for tool in main.tools] == ["Bash"]


def test_images_are_content_parts():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    (trace,) = opened((user("u1", None, 0, [image, say("What is it?")]),)).traces
    assert trace.messages[0].content[0]["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="


def test_broken_lines_cost_themselves():
    broken = (*SESSION, "text", user("b1", "a5", 30, None), {**SESSION[1], "uuid": "b2", "message": "text"})
    broken = (*broken, {**SESSION[1], "uuid": "b3", "message": {"role": "user", "contenst": []}})
    report = opened(broken)
    assert len(report.traces[0].messages) == 7
    assert {"a line that is no object", "a line without a readable message", "a message without content"} <= set(
        report.unread
    )


def test_a_file_of_nothing_but_lines_of_the_program_is_told_by_them():
    for record in (
        {"type": "summary", "summary": "Listing files", "leafUuid": "x"},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s1", "content": []},
        {"type": "system", "uuid": "x", "parentUuid": None, "sessionId": "s1", "content": "Running a hook"},
    ):
        assert opened((record,)).format == "claude-code"


def test_lines_of_other_programs_that_look_alike_are_not_taken():
    other = line("assistant", "1", None, 0, {"role": "model", "parts": [{"text": "Hi"}]})
    assert opened((other, other)).format != "claude-code"


@given(damaged([*SESSION, *REWOUND, side(user("s1", None, 1, "First"))]))
def test_damaged_lines_never_bring_the_reader_down(lines):
    survives(lines, "claude-code")


@given(st.integers(0, 4000))
def test_a_file_torn_anywhere_opens(cut):
    text = "\n".join(json.dumps(item) for item in SESSION)
    survives([text[:cut]], "claude-code")
