"""ATIF: results in the step of their call, sub-agents as traces of their own, totals beside the sum."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise


def call(name, call_id):
    return {"tool_call_id": call_id, "function_name": name, "arguments": {"path": "a.txt"}}


TRAJECTORY = {
    "schema_version": "ATIF-v1.6",
    "session_id": "outer",
    "agent": {
        "name": "worker",
        "version": "1",
        "model_name": "m-1",
        "tool_definitions": [{"type": "function", "function": {"name": "read"}}],
    },
    "steps": [
        {"step_id": 1, "timestamp": "2026-01-05T10:00:00Z", "source": "user", "message": "Read the file."},
        {
            "step_id": 2,
            "timestamp": "2026-01-05T10:00:04Z",
            "source": "agent",
            "message": "Reading.",
            "reasoning_content": "It must be here.",
            "tool_calls": [call("read", "c1"), call("list", "c2")],
            "observation": {"results": [{"content": "hello"}, {"source_call_id": "c1", "content": None}]},
            "metrics": {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "cached_tokens": 40,
                "cost_usd": 0.01,
                "prompt_token_ids": [1, 2, 3],
                "extra": {"latency_ms": 900},
            },
        },
        {"step_id": 3, "source": "agent", "message": "It says hello.", "metrics": {"prompt_tokens": 120}},
    ],
    "final_metrics": {"total_prompt_tokens": 500, "total_completion_tokens": 30, "total_cost_usd": 0.05},
}


def changed(steps=None, **changes):
    return {**TRAJECTORY, **({} if steps is None else {"steps": steps}), **changes}


def test_results_answer_the_calls_of_their_step_by_id_and_then_by_order():
    trace = opened(TRAJECTORY).traces[0]
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [(run.name, run.message) for run in trace.steps[0].tools] == [("read", 3), ("list", 2)]
    assert trace.messages[1].reasoning == "It must be here."
    assert trace.messages[3].text == ""


def test_numbers_of_a_step_and_totals_of_the_file():
    trace = opened(TRAJECTORY).traces[0]
    step, summary = trace.steps[0], summarise(trace)
    assert (step.usage.prompt_tokens, step.usage.cached_tokens, step.cost, step.latency_ms) == (100, 40, 0.01, 900)
    assert (summary.tokens.prompt_tokens, summary.reported.prompt_tokens, summary.reported_cost) == (220, 500, 0.05)
    assert "prompt_token_ids" not in str(trace.to_dict())


def test_copied_context_counts_where_it_comes_from():
    steps = [{**step, "is_copied_context": True} if step["step_id"] == 2 else step for step in TRAJECTORY["steps"]]
    trace = opened(changed(steps)).traces[0]
    assert trace.usage.prompt_tokens == 120
    assert trace.notes[0]["kind"] == "copied"


def test_a_step_that_asked_no_model_is_made_by_code():
    steps = [{**TRAJECTORY["steps"][1], "llm_call_count": 0}]
    assert opened(changed(steps)).traces[0].entries[0].maker == "code"


def test_embedded_sub_agents_have_the_outer_trace_as_parent():
    child = changed(TRAJECTORY["steps"][:1], trajectory_id="inner", schema_version="ATIF-v1.7")
    outer, inner = opened(changed(subagent_trajectories=[child])).traces
    assert inner.source.parent == outer.trace_id
    assert inner.title == "worker"
    assert outer.source.parent is None


def test_a_sub_agent_is_found_by_the_id_that_a_result_names_wherever_it_stands():
    result = {"source_call_id": "c1", "content": "done", "subagent_trajectory_ref": [{"session_id": "inner"}]}
    steps = [{**TRAJECTORY["steps"][1], "observation": {"results": [result]}}]
    child = changed(TRAJECTORY["steps"][:1], session_id="inner")
    outer, inner = opened({"child": child, "parent": changed(steps)}).traces
    assert inner.source.parent == outer.trace_id


def test_trajectories_that_refer_to_each_other_still_open():
    def one(name, other):
        result = {"content": "", "subagent_trajectory_ref": {"session_id": other}}
        return changed([{**TRAJECTORY["steps"][1], "observation": {"results": [result]}}], session_id=name)

    assert len(opened([one("a", "b"), one("b", "a")]).traces) == 2


def test_an_agent_that_writes_its_actions_as_text_is_answered_by_messages():
    steps = [{"step_id": 1, "source": "agent", "message": "ls", "observation": {"results": [{"content": "a.txt"}]}}]
    trace = opened(changed(steps)).traces[0]
    assert [message.role for message in trace.messages] == ["assistant", "user"]
    assert trace.entries[1].maker == "environment"


def test_one_look_at_the_terminal_answers_all_calls_of_its_step():
    seen = {"results": [{"content": "$ ls"}]}
    trace = opened(changed([{**TRAJECTORY["steps"][1], "observation": seen}])).traces[0]
    assert [run.message for run in trace.steps[0].tools] == [1, 1]


def test_steps_in_the_words_of_openai_chat_are_read_too():
    chat = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    steps = [
        {"role": "assistant", "content": None, "tool_calls": [chat], "metrics": {"prompt_tokens": 7}},
        {"role": "tool", "tool_call_id": "c1", "content": "hello"},
    ]
    trace = opened(changed(steps)).traces[0]
    assert (trace.steps[0].tools[0].message, trace.usage.prompt_tokens) == (1, 7)


def test_an_observation_of_the_system_answers_no_call():
    system = {
        "step_id": 3,
        "source": "system",
        "message": "Compacted.",
        "observation": {"results": [{"content": "short"}]},
    }
    asked = {**TRAJECTORY["steps"][1], "observation": None}
    trace = opened(changed([asked, system])).traces[0]
    assert [run.message for run in trace.steps[0].tools] == [None, None]


def test_pictures_are_parts_and_an_unknown_part_is_kept_and_told():
    parts = [
        {"type": "text", "text": "Look:"},
        {"type": "image", "source": {"media_type": "image/png", "path": "shots/1.png"}},
        {"type": "smell", "note": "rose"},
    ]
    report = opened(changed([{"step_id": 1, "source": "user", "message": parts}]))
    assert [part["type"] for part in report.traces[0].messages[0].content] == ["text", "image_url", "smell"]
    assert report.unread == ["a content part of the type smell"]


@given(damaged(changed(subagent_trajectories=[changed(trajectory_id="inner")])))
def test_damage_costs_a_part_and_never_the_file(value):
    survives(value, "atif")
