"""LangSmith: trees, flat lists, lines, webhooks and dumps without any tree."""

import pytest
from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise

ROLES = ["system", "user", "assistant", "tool", "assistant"]


def message(kind, content, **more):
    name = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}[kind]
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": content, **more}}


CALL = {"id": "c1", "name": "add", "args": {"a": 2}, "type": "tool_call"}
TOLD = [message("system", "You add."), message("human", "What is 2+3?")]
ASKED = message(
    "ai",
    "",
    tool_calls=[CALL],
    usage_metadata={"input_tokens": 10, "output_tokens": 2, "total_tokens": 12},
    response_metadata={"model_name": "m-1", "finish_reason": "tool_calls"},
)
RESULT = message("tool", "5", tool_call_id="c1")
ANSWER = message("ai", "It is 5.")


def run(number, kind, begin, end, parent="0", **more):
    data = {"id": str(number), "name": f"{kind}-{number}", "run_type": kind, "trace_id": "0", "parent_run_id": parent}
    data |= {"start_time": f"2026-05-28T20:26:0{begin}.000000", "end_time": f"2026-05-28T20:26:0{end}.000000"}
    return {**data, "inputs": {}, "outputs": None, "error": None, **more}


def generations(said, reason=None):
    return {"generations": [[{"text": "", "message": said, "generation_info": {"finish_reason": reason}}]]}


ROOT = run(
    0,
    "chain",
    0,
    6,
    None,
    name="adder",
    inputs={"input": "What is 2+3?"},
    prompt_tokens=30,
    completion_tokens=6,
    total_tokens=36,
    total_cost="0.75",
    feedback_stats={"score": {"avg": 0.5}},
)
FIRST = run(
    1,
    "llm",
    1,
    2,
    inputs={"messages": [TOLD]},
    outputs=generations(ASKED),
    total_cost=0.25,
    first_token_time="2026-05-28T20:26:01.250000",
    extra={"invocation_params": {"model": "m", "tools": [{"type": "function", "function": {"name": "add"}}]}},
)
TOOL = run(2, "tool", 2, 3, name="add", inputs={"input": "{'a': 2}"}, outputs={"output": RESULT})
SECOND = run(
    3,
    "llm",
    3,
    5,
    inputs={"messages": [[*TOLD, ASKED, RESULT]]},
    outputs=generations(ANSWER, "stop"),
    prompt_tokens=20,
    completion_tokens=4,
    total_tokens=24,
    prompt_token_details={"cache_read": 8},
)
FLAT = [SECOND, TOOL, FIRST, ROOT]


def nested():
    bare = [{key: value for key, value in each.items() if key != "parent_run_id"} for each in (FIRST, TOOL, SECOND)]
    return {**ROOT, "child_runs": bare}


def ordered():
    stamp = "20260528T202600000000Z"
    return [
        {
            **{k: v for k, v in each.items() if k not in ("parent_run_id", "trace_id")},
            "dotted_order": f"{stamp}0" if each is ROOT else f"{stamp}0.{stamp}{each['id']}",
        }
        for each in FLAT
    ]


@pytest.mark.parametrize(
    "file",
    [FLAT, tuple(FLAT), {"runs": FLAT}, nested(), [nested()], ordered()],
    ids=["flat", "lines", "webhook", "tree", "trees", "dotted"],
)
def test_every_form_gives_the_same_conversation(file):
    report = opened(file)
    (trace,) = report.traces
    assert (report.format, trace.title) == ("langsmith", "adder")
    assert [each.role for each in trace.messages] == ROLES
    summary = summarise(trace)
    assert (summary.tokens.prompt_tokens, summary.tokens.cached_tokens, summary.cost) == (30, 8, 0.25)
    assert (summary.reported.prompt_tokens, summary.reported_cost, summary.duration_s) == (30, 0.75, 6)
    assert [step.latency_ms for step in trace.steps] == [1000, 2000]
    assert (trace.steps[0].first_token_ms, trace.steps[0].finish_reason, trace.steps[0].model) == (
        250,
        "tool_calls",
        "m-1",
    )
    assert (trace.steps[0].tools[0].latency_ms, trace.outcome.reason) == (1000, "final")
    assert (trace.outcome.evidence[0].check, trace.tools[0]["function"]["name"]) == ("score", "add")


def test_a_dump_without_a_tree_is_put_in_order_by_time_and_none_as_text_is_none():
    """The newest first, two traces mixed, no types and no parents."""
    keys = ("id", "name", "start_time", "end_time", "inputs", "outputs", "error")
    bare = [{key: each[key] if each[key] is not None else "None" for key in keys} for each in FLAT]
    later = {**bare[0], "id": "9", "start_time": "2026-05-28T21:00:00", "end_time": "2026-05-28T21:00:01"}
    report = opened([later, *bare])
    assert report.format == "langsmith"
    assert [[each.role for each in trace.messages] for trace in report.traces] == [ROLES, ROLES]


def test_the_root_alone_shows_its_messages():
    flat = [{"type": "human", "content": "Hi"}, {"type": "ai", "content": "Ho"}]
    root = run(0, "chain", 0, 6, None, inputs={"messages": flat[:1]}, outputs={"messages": flat})
    (trace,) = opened([root]).traces
    assert [(each.role, each.text) for each in trace.messages] == [("user", "Hi"), ("assistant", "Ho")]


def test_openai_messages_and_an_error_are_read():
    told = {"messages": [{"role": "user", "content": "Hi"}], "model": "m"}
    wrapped = run(
        1,
        "llm",
        1,
        2,
        inputs=told,
        outputs={
            "choices": [{"message": {"role": "assistant", "content": "Ho"}}],
            "usage_metadata": {"input_tokens": 3, "output_tokens": 1},
        },
    )
    failed = run(2, "llm", 3, 4, inputs={"messages": [{"role": "user", "content": "?"}]}, error="busy")
    first, second = opened([wrapped, failed]).traces
    assert ([each.text for each in first.messages], first.usage.prompt_tokens) == (["Hi", "Ho"], 3)
    assert (second.outcome.reason, second.outcome.detail) == ("model_error", "busy")


def test_a_tool_that_failed_gives_its_error_as_the_result():
    failed = {**TOOL, "outputs": None, "error": "ValueError: no", "inputs": {"a": 2}}
    (trace,) = opened([FIRST, failed]).traces
    assert (trace.messages[-1].text, trace.steps[0].tools[0].ok) == ("ValueError: no", False)


def test_the_root_alone_has_the_numbers_of_all_its_answers_and_knows_short_messages():
    flat = [{"type": "human", "content": "What is 2+3?"}, *({"type": "ai", **ASKED["kwargs"]} for _ in range(2))]
    root = run(0, "chain", 0, 6, None, inputs={"messages": [["user", "What is 2+3?"]]}, outputs={"messages": flat})
    (trace,) = opened([root]).traces
    assert [each.role for each in trace.messages] == ["user", "assistant", "assistant"]
    assert ([step.usage.prompt_tokens for step in trace.steps], trace.steps[0].finish_reason) == (
        [10, 10],
        "tool_calls",
    )


HALVES = {
    "post": [{key: value for key, value in each.items() if key not in ("outputs", "end_time")} for each in FLAT],
    "patch": [
        {key: each.get(key) for key in ("id", "trace_id", "parent_run_id", "outputs", "end_time", "error")}
        | {"dotted_order": f"2026Z{each['id']}"}
        for each in FLAT
    ],
}


@pytest.mark.parametrize("file", [HALVES, (*HALVES["post"], *HALVES["patch"])], ids=["batch", "lines"])
def test_the_two_halves_of_a_run_are_put_together(file):
    whole, halves = opened(FLAT).traces, opened(file).traces
    assert [summarise(trace).roles for trace in halves] == [summarise(trace).roles for trace in whole]
    assert [trace.usage for trace in halves] == [trace.usage for trace in whole]


@given(damaged(HALVES))
def test_damaged_halves_never_bring_the_reader_down(value):
    survives(value, "langsmith")


@given(damaged(FLAT))
def test_damaged_runs_never_bring_the_reader_down(value):
    survives(value, "langsmith")


@given(damaged(nested()))
def test_damaged_trees_never_bring_the_reader_down(value):
    survives(value, "langsmith")
