"""Every scenario that comes with the project plays as its summary says."""

import pytest

from agent.limits import Limits
from agent.result import run, steps_of
from agent.scripts import SCENARIOS, load_script, scenarios
from agent.toolbox import SAMPLE_FILES


def play(name, **options):
    """The trace that a scenario leaves, its model answering at once."""
    script = load_script(name)
    loop = script.loop(pace=0, **options)
    for text in script.users:
        list(loop.events(text))
    return loop.trace


def roles(trace):
    return " ".join(message.role for message in trace.messages)


def calls(trace):
    return [(tool.name, tool.ok, tool.decision) for step in trace.steps for tool in step.tools]


NAMES = {
    "atlantis", "calc", "claimed", "count_files", "denied", "long_results", "missing_file", "noop", "order", "parallel",
    "truncated", "weather",
}  # fmt: skip


def test_all_scenarios_are_listed_with_a_title_and_a_summary_in_both_languages():
    infos = scenarios()
    assert {info.name for info in infos} == NAMES
    for info in infos:
        assert info.path.parent == SCENARIOS
        assert info.title and info.title_zh and info.summary.endswith(".") and info.summary_zh.endswith("。")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_scenario_has_nothing_to_warn_about_and_takes_at_most_300_ms_a_turn(name):
    script = load_script(name)
    assert script.warnings == ()
    assert all(0 < turn.said.latency_ms <= 300 for turn in script.turns)


@pytest.mark.parametrize("name", sorted(NAMES - {"long_results"}))
def test_the_reported_tokens_grow_with_the_conversation(name):
    prompts = [step.usage.prompt_tokens for step in play(name).steps]
    assert prompts == sorted(set(prompts))


def test_calc_prints_the_reference_lines():
    script = load_script("calc")
    result = run(script.make_model(pace=0), script.make_tools(), script.task, script.system)
    assert [str(step) for step in result.steps] == [
        "[0] tool_call add({'a': 2, 'b': 3}) -> 5",
        "[1] tool_call multiply({'a': 5, 'b': 4}) -> 20",
        "[2] final     计算结果是 20。",
    ]
    assert roles(result.trace) == "system user assistant tool assistant tool assistant"
    assert [m.text for m in result.messages[:2]] == ["你是一个计算助手。", "请计算 (2+3)*4"]
    assert [m.tool_calls[0].id for m in result.messages if m.tool_calls] == ["c1", "c2"]
    assert result.final == "计算结果是 20。"


def test_order_looks_up_before_it_answers():
    trace = play("order")
    assert roles(trace) == "system user assistant tool assistant"
    assert calls(trace) == [("get_order", True, "run")]
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", True)


def test_weather_asks_the_tool_in_chinese():
    trace = play("weather")
    assert trace.task == "上海今天天气怎么样？"
    assert str(steps_of(trace)[0]).startswith("[0] tool_call get_weather({'city': '上海'}) -> {\"city\": \"上海\"")
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", True)


def test_count_files_counts_three_files_in_five_steps():
    trace = play("count_files")
    assert len(trace.steps) == 5
    assert [tool.arguments for step in trace.steps[1:4] for tool in step.tools] == [
        {"path": path.name} for path in sorted(SAMPLE_FILES.glob("*.py"))
    ]
    texts = [message.text for message in trace.messages if message.role == "tool"]
    for text, numbers in zip(texts[1:], ((50, 45, 5), (80, 72, 8), (110, 98, 12)), strict=True):
        assert '"lines": {}, "with_text": {}, "blank": {}'.format(*numbers) in text
    assert "240 lines, 215 with text, 25 blank" in trace.outcome.final
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", True)


def test_missing_file_is_worked_around_in_three_steps():
    trace = play("missing_file")
    assert calls(trace) == [("count_lines", False, "run"), ("list_files", True, "run")]
    assert len(trace.steps) == 3
    assert trace.outcome.final.startswith("There is no main.py")


def test_atlantis_is_stopped_by_repeated_failure_and_shows_the_tokens_burnt():
    trace = play("atlantis")
    assert calls(trace) == [("get_weather", False, "run")] * 3
    assert (trace.outcome.reason, trace.outcome.final, trace.outcome.verified) == ("consecutive_errors", "", False)
    assert trace.usage.total == 651


def test_atlantis_without_its_guard_goes_on_to_the_limit_and_burns_more():
    trace = play("atlantis", limits=Limits())
    assert (trace.outcome.reason, len(trace.steps)) == ("max_iterations", 5)
    assert trace.usage.total > 1300


def test_noop_is_ended_by_the_limit_of_two_steps():
    trace = play("noop")
    assert roles(trace) == "user assistant tool assistant tool"
    assert (trace.outcome.reason, len(trace.steps)) == ("max_iterations", 2)


def test_noop_without_a_limit_goes_on_to_the_hard_cap():
    trace = play("noop", max_steps=None)
    assert (trace.outcome.reason, len(trace.steps)) == ("max_iterations", 100)
    assert "hard cap" in trace.outcome.detail


def test_parallel_writes_two_results_in_the_order_of_the_calls():
    trace = play("parallel")
    assert roles(trace) == "user assistant tool tool assistant"
    assert calls(trace) == [("get_weather", True, "run"), ("get_stock", True, "run")]
    asked = [call.id for call in trace.messages[1].tool_calls]
    assert [message.tool_call_id for message in trace.messages[2:4]] == asked


def test_denied_tells_the_model_and_runs_nothing():
    trace = play("denied")
    assert calls(trace) == [("cancel_order", False, "denied")]
    assert "denies the tool" in trace.messages[3].text
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", False)


def test_claimed_does_not_pass_for_done():
    trace = play("claimed")
    assert calls(trace) == []
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", False)
    assert [note["kind"] for note in trace.notes] == ["claimed_call"]


def test_truncated_is_no_final_answer():
    trace = play("truncated")
    assert (trace.outcome.reason, trace.outcome.final) == ("truncated", "")
    assert trace.outcome.fallback.startswith("The shop keeps 36 teas")


def test_long_results_leave_the_oldest_one_out_and_the_evidence_tells():
    trace = play("long_results")
    edits = [[(edit.op, edit.by) for edit in step.request.edits] for step in trace.steps]
    assert edits == [[], [], [], [("replace", "context"), ("drop", "context")]]
    assert sum("P-7741" in message.text for message in trace.messages) == 1
    assert [answer.ok for answer in trace.outcome.evidence] == [True, True, False]
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", False)
