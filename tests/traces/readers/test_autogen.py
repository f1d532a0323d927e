"""AutoGen: the thread of a team once, thoughts with what they led to, and memories where there is no thread."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise

THREAD = [
    {"type": "TextMessage", "source": "user", "content": "What is 2+3?", "models_usage": None},
    {"type": "ThoughtEvent", "source": "adder", "content": "I should add."},
    {
        "type": "ToolCallRequestEvent",
        "source": "adder",
        "content": [
            {"id": "c1", "name": "add", "arguments": '{"a": 2}'},
            {"id": "c2", "name": "log", "arguments": "{}"},
        ],
        "models_usage": {"prompt_tokens": 40, "completion_tokens": 8},
        "created_at": "2026-01-05T10:00:00Z",
    },
    {
        "type": "ToolCallExecutionEvent",
        "source": "adder",
        "content": [
            {"call_id": "c1", "name": "add", "content": "5", "is_error": False},
            {"call_id": "c2", "name": "log", "content": "no disk", "is_error": True},
        ],
        "created_at": "2026-01-05T10:00:02Z",
    },
    {"type": "ToolCallSummaryMessage", "source": "adder", "content": "5\nno disk"},
    {"type": "TextMessage", "source": "checker", "content": "APPROVE"},
]
MEMORY = [
    {"type": "SystemMessage", "content": "Add."},
    {"type": "UserMessage", "source": "user", "content": "What is 2+3?"},
    {
        "type": "AssistantMessage",
        "source": "adder",
        "thought": "Add them.",
        "content": [{"id": "c1", "name": "add", "arguments": "{}"}],
    },
    {"type": "FunctionExecutionResultMessage", "content": [{"call_id": "c1", "content": "5"}]},
]
TEAM = {
    "type": "TeamState",
    "version": "1.0.0",
    "agent_states": {
        "group_chat_manager/9": {"type": "RoundRobinManagerState", "message_thread": THREAD, "current_turn": 2},
        "adder/9": {
            "type": "ChatAgentContainerState",
            "agent_state": {"type": "AssistantAgentState", "llm_context": {"messages": MEMORY}},
            "message_buffer": [],
        },
    },
}


def test_the_thread_of_a_team_is_shown_once_with_its_speakers():
    report = opened(TEAM)
    (trace,) = report.traces
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [entry.agent for entry in trace.entries] == ["user", "adder", "adder", "adder", "checker"]
    assert [(run.message, run.ok) for run in trace.steps[0].tools] == [(2, True), (3, False)]
    assert trace.steps[0].usage.prompt_tokens == 40
    assert trace.messages[1].reasoning == "I should add."
    assert report.unread == ["a summary that only repeats the results of its calls"]


def test_without_a_thread_the_memory_of_each_agent_is_a_conversation():
    agents = {name: state for name, state in TEAM["agent_states"].items() if "manager" not in name}
    (trace,) = opened({**TEAM, "agent_states": agents}).traces
    assert trace.title == "adder"
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool"]
    assert (trace.messages[2].reasoning, trace.steps[0].tools[0].message) == ("Add them.", 3)


def test_a_team_inside_an_agent_is_a_trace_of_its_own():
    inner = {"type": "SocietyOfMindAgentState", "inner_team_state": TEAM}
    states = {**TEAM["agent_states"], "boss/9": {"type": "ChatAgentContainerState", "agent_state": inner}}
    outer, below = opened({**TEAM, "agent_states": states}).traces
    assert (below.source.parent, below.title) == (outer.trace_id, "boss")


def test_the_result_of_a_task_says_why_it_stopped():
    words = "Maximum number of messages 6 reached, current message count: 6"
    (trace,) = opened({"messages": THREAD, "stop_reason": words}).traces
    assert (trace.outcome.reason, trace.outcome.detail) == ("max_iterations", words)


def test_messages_that_stand_alone_are_one_conversation():
    report = opened((*THREAD, {"type": "ModelClientStreamingChunkEvent", "source": "adder", "content": "5"}))
    assert (report.format, len(report.traces)) == ("autogen", 1)
    assert report.traces[0].entries[0].line == 1


def test_pictures_are_parts_and_a_summary_in_other_words_stays():
    picture = {"type": "MultiModalMessage", "source": "user", "content": ["Look:", {"data": "iVBORw0KGgo="}]}
    summary = {"type": "ToolCallSummaryMessage", "source": "adder", "content": "The sum is 5."}
    (trace,) = opened([picture, *THREAD[2:4], summary]).traces
    assert [part["type"] for part in trace.messages[0].content] == ["text", "image_url"]
    assert (trace.messages[-1].text, trace.entries[-1].maker) == ("The sum is 5.", "code")


def test_a_stream_that_ends_with_its_result_is_told_once():
    piece = {"type": "ModelClientStreamingChunkEvent", "source": "adder", "content": "5"}
    words = "Maximum number of messages 6 reached, current message count: 6"
    stream = (*THREAD[:2], piece, *THREAD[2:])
    whole, streamed = opened(THREAD).traces, opened((*stream, {"messages": THREAD, "stop_reason": words})).traces
    assert [summarise(trace).roles for trace in streamed] == [summarise(trace).roles for trace in whole]
    assert streamed[0].outcome.reason == "max_iterations"
    assert len(opened((*stream, {"messages": THREAD[:2], "stop_reason": words})).traces) == 2


@given(damaged(TEAM))
def test_damage_costs_a_part_and_never_the_file(value):
    survives(value, "autogen")


@given(damaged({"messages": THREAD, "stop_reason": "done"}))
def test_damage_to_a_result_does_not_either(value):
    survives(value, "autogen")
