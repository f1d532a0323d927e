"""tau2-bench: simulations in which both sides call tools, ids repeat, and voice runs have no messages."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise


def asks(role, name, arguments, call_id="x", **more):
    call = {"id": call_id, "name": name, "arguments": arguments, "requestor": role}
    return {"role": role, "content": None, "tool_calls": [call], **more}


def gives(content, call_id="x", requestor="assistant", error=False):
    return {"role": "tool", "id": call_id, "content": content, "requestor": requestor, "error": error}


SIMULATION = {
    "id": "s1",
    "task_id": "7",
    "trial": 1,
    "start_time": "2026-01-05T10:00:00",
    "duration": 12.3456,
    "termination_reason": "user_stop",
    "agent_cost": 0.02,
    "user_cost": 0.5,
    "reward_info": {"reward": 0.0, "reward_breakdown": {"DB": 0.0}},
    "messages": [
        {"role": "assistant", "content": "Hello!", "timestamp": "2026-01-05T10:00:01"},
        {"role": "user", "content": "My line is dead.", "usage": {"prompt_tokens": 900}},
        asks(
            "assistant",
            "check",
            {"line": 1},
            usage={"prompt_tokens": 50, "completion_tokens": 5},
            cost=0.01,
            generation_time_seconds=1.5,
        ),
        gives("ok"),
        asks("assistant", "check", {"line": 2}),
        gives("broken", error=True),
        asks("user", "reboot", {}),
        gives("rebooted", requestor="user"),
        {"role": "assistant", "content": "Thanks."},
    ],
}
RESULTS = {
    "timestamp": "2026-01-05T10:00:00",
    "info": {"agent_info": {"llm": "maker/m-1"}, "user_info": {}, "environment_info": {"policy": "Be kind."}},
    "tasks": [{"id": "7", "description": "a dead line"}],
    "simulations": [SIMULATION],
}


def test_ids_that_repeat_are_paired_in_order_and_the_user_calls_tools_too():
    (trace,) = opened(RESULTS).traces
    runs = [(run.name, run.arguments, run.message, run.ok) for step in trace.steps for run in step.tools]
    assert runs == [("check", {"line": 1}, 3, None), ("check", {"line": 2}, 5, False), ("reboot", {}, 7, None)]
    assert (trace.entries[6].maker, trace.entries[7].agent) == ("user", "user")


def test_numbers_are_those_of_the_agent_and_the_end_is_told():
    (trace,) = opened(RESULTS).traces
    step, summary = trace.steps[1], summarise(trace)
    assert (step.usage.prompt_tokens, step.cost, step.latency_ms) == (50, 0.01, 1500)
    assert summary.tokens.prompt_tokens == 50
    assert (summary.reported_cost, summary.duration_s) == (0.02, 12.346)
    assert (trace.outcome.reason, trace.outcome.verified) == ("user_stop", False)
    assert (trace.model.provider, trace.model.name) == ("maker", "m-1")
    assert trace.extra["imported"]["task"]["description"] == "a dead line"


def test_a_single_simulation_opens_and_several_results_may_share_a_wrapper():
    wrapper = {"role": "tool", "tool_messages": [gives("a", "c1"), gives("b", "c2")]}
    both = asks("assistant", "check", {}, "c1")
    both["tool_calls"] += asks("assistant", "check", {}, "c2")["tool_calls"]
    (trace,) = opened({**SIMULATION, "messages": [both, wrapper]}).traces
    assert [run.message for run in trace.steps[0].tools] == [1, 2]


def test_a_voice_run_says_that_its_ticks_are_no_messages():
    report = opened({**{k: v for k, v in SIMULATION.items() if k != "messages"}, "ticks": [{"tick_id": 0}] * 1200})
    assert report.unread == ["the 1,200 ticks of a voice run: pieces of sound, which are no messages"]
    assert summarise(report.traces[0]).duration_s == 12.346


def test_an_index_of_simulations_says_where_they_are():
    report = opened({**{k: v for k, v in RESULTS.items() if k != "simulations"}, "tasks": []})
    assert (report.format, report.traces) == ("tau2-bench", [])
    assert "a file of its own" in report.warnings[0]


@given(damaged(RESULTS))
def test_damage_costs_a_part_and_never_the_file(value):
    survives(value, "tau2-bench")
