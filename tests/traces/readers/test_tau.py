"""tau-bench: trajectories with a reward, runs that failed before their first message, and few-shot texts."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"name": "Ann"}'}}
RESULT = {
    "task_id": 4,
    "reward": 1.0,
    "trial": 0,
    "info": {"task": {"instruction": "Ask for a seat."}, "reward_info": {"reward": 1.0, "actions": []}},
    "traj": [
        {"role": "system", "content": "Be polite."},
        {"role": "user", "content": "A seat, please."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "Ann, seat 4"},
        {"role": "assistant", "content": "You have seat 4."},
    ],
}


def test_a_result_is_a_conversation_with_its_reward_as_evidence():
    report = opened([RESULT, {**RESULT, "task_id": 5, "reward": 0.0}])
    first, second = report.traces
    assert report.format == "tau-bench"
    assert (first.title, first.steps[0].tools[0].message) == ("task 4, trial 0", 3)
    assert (first.outcome.verified, second.outcome.verified) == (True, False)


def test_a_run_that_failed_before_its_first_message_is_an_error_and_not_left_out():
    failed = {**RESULT, "traj": [], "info": {"error": "no key", "traceback": "line 1"}}
    (trace,) = opened([failed]).traces
    assert (trace.messages, trace.outcome.reason, trace.outcome.detail) == ([], "error", "no key")


def test_few_shot_rows_are_cut_at_the_names_of_the_speakers():
    display = "user: Hi:\ncan you help?\nassistant: None\ntool: Error: no such user\nassistant: Sorry."
    (trace,) = opened(({"messages_display": display},)).traces
    assert [message.text for message in trace.messages] == ["Hi:\ncan you help?", "", "Error: no such user", "Sorry."]
    assert trace.entries[2].maker == "environment"


@given(damaged([RESULT, {"messages_display": "user: a"}]))
def test_damage_costs_a_part_and_never_the_file(value):
    survives(value, "tau-bench")
