"""Every scenario that comes with the project plays as its summary says."""

import pytest

from agent.interventions import Intervention
from agent.limits import Limits
from agent.protocol import violations
from agent.result import run, steps_of
from agent.scripts import SCENARIOS, load_script, scenarios
from agent.scripts import play as play_script
from agent.scripts.turns import branches
from agent.toolbox import SAMPLE_FILES


def play(name, pace=0, **options):
    """The trace that a scenario leaves, its model answering at once."""
    script = load_script(name)
    loop = script.loop(pace=pace, **options)
    play_script(loop, script)
    return loop.trace


def roles(trace):
    return " ".join(message.role for message in trace.messages)


def calls(trace):
    return [(tool.name, tool.ok, tool.decision) for step in trace.steps for tool in step.tools]


NAMES = {
    "atlantis", "broken_tool", "calc", "claimed", "code_word", "count_files", "cut_arguments", "denied", "long_results",
    "missing_file", "noop", "order", "parallel", "retryable", "truncated", "two_questions", "weather", "wrong_calls",
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
    turns = [branch for turn in (script.always, *script.turns) if turn for branch in branches(turn)]
    assert all(0 < turn.said.latency_ms <= 300 for turn in turns)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_scenario_takes_at_most_eight_steps_and_its_list_can_be_sent(name):
    trace = play(name)
    assert len(trace.steps) <= 8
    assert violations(trace.messages) == []


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


def test_parallel_writes_two_results_in_the_order_of_the_calls_whichever_was_there_first():
    finished = []
    trace = play(
        "parallel",
        pace=1,
        on_event=lambda event: finished.append(event.payload["name"]) if event.type == "tool.completed" else None,
    )
    assert finished == ["get_stock", "get_weather"]
    assert roles(trace) == "user assistant tool tool assistant"
    assert calls(trace) == [("get_weather", True, "run"), ("get_stock", True, "run")]
    asked = [call.id for call in trace.messages[1].tool_calls]
    assert [message.tool_call_id for message in trace.messages[2:4]] == asked


def test_parallel_holds_the_answers_that_the_tools_would_give():
    script = load_script("parallel")
    texts = [
        [
            message.text
            for message in play("parallel", tools=script.make_tools(real=real)).messages
            if message.role == "tool"
        ]
        for real in (False, True)
    ]
    assert texts[0] == texts[1]


def test_cut_arguments_runs_the_whole_call_and_answers_the_cut_one_with_an_error():
    trace = play("cut_arguments")
    assert calls(trace) == [("count_lines", True, "run"), ("count_lines", False, "run"), ("count_lines", True, "run")]
    assert trace.steps[0].finish_reason == "length"
    assert "cut off by the length limit" in trace.messages[4].text
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", True)


def test_broken_tool_fails_in_four_ways_and_works_at_last():
    trace = play("broken_tool")
    assert calls(trace) == [
        ("get_order", False, "run"),
        ("get_order", False, "timed_out"),
        ("get_order", True, "run"),
        ("get_order", True, "run"),
        ("get_order", True, "run"),
    ]
    raised, late, nothing, much, order = [message.text for message in trace.messages if message.role == "tool"]
    assert "broke down" in raised
    assert "timed out after 0.2 s" in late
    assert nothing == "null"
    assert len(much) < 10_000
    assert '"order_id": "A1001"' in order
    assert [strike["kind"] for strike in trace.interventions] == [
        "tool_raises",
        "tool_times_out",
        "tool_returns_nothing",
        "tool_returns_too_much",
    ]
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", True)


def test_broken_tool_gets_past_the_guards():
    assert play("broken_tool", limits=Limits.guarded()).outcome.reason == "final"


def test_wrong_calls_are_answered_with_what_was_expected_and_corrected():
    trace = play("wrong_calls", limits=Limits.guarded())
    assert calls(trace) == [
        ("add", False, "run"),
        ("add", True, "run"),
        ("minus", False, "run"),
        ("subtract", True, "run"),
        ("multiply", False, "run"),
        ("multiply", True, "run"),
    ]
    texts = [message.text for message in trace.messages if message.role == "tool"]
    assert 'a: \\"two\\" is not of type \\"integer\\"' in texts[0]
    assert "unknown tool 'minus'; available: add, subtract, multiply" in texts[2]
    assert "not valid JSON" in texts[4]
    assert (trace.outcome.reason, trace.outcome.final, trace.outcome.verified) == ("final", "The result is 16.", True)


def test_retryable_tries_again_where_that_can_help_and_only_there():
    trace = play("retryable")
    assert calls(trace) == [("book_table", False, "run"), ("book_table", True, "run"), ("send_fax", False, "run")]
    texts = [message.text for message in trace.messages if message.role == "tool"]
    assert '"retryable": true' in texts[0]
    assert '"retryable": false' in texts[2]
    assert [answer.ok for answer in trace.outcome.evidence] == [True, False]
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", False)


def test_two_questions_are_two_turns_of_one_message_list():
    trace = play("two_questions")
    assert roles(trace) == "system user assistant tool assistant user assistant tool assistant"
    assert calls(trace) == [("get_order", True, "run")] * 2
    assert [note["kind"] for note in trace.notes] == ["turn"]
    assert trace.steps[3].request.upto == 8, "the second answer was given the whole conversation"
    assert (trace.outcome.reason, trace.outcome.verified) == ("final", True)


def test_code_word_is_written_by_hand_and_says_so():
    assert load_script("code_word").rules
    assert not any(load_script(name).rules for name in NAMES - {"code_word"})


CALL = "read_file({'path': 'code_word.txt'})"


def changed(*kinds, **params):
    """The lines of steps of the run in which these interventions change every request, and its stop reason."""
    trace = play("code_word", interventions=tuple(Intervention(kind, params) for kind in kinds))
    return [str(step) for step in steps_of(trace)], trace.outcome.reason


def test_code_word_with_its_result_answers_what_it_says():
    trace = play("code_word")
    assert calls(trace) == [("read_file", True, "run")]
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "The launch code word is BANANA.")
    assert trace.outcome.verified


def test_code_word_without_call_and_result_makes_the_identical_call_again():
    steps, reason = changed("drop_pairs")
    assert [step.partition(" -> ")[0] for step in steps[:3]] == [f"[{at}] tool_call {CALL}" for at in range(3)]
    assert reason == "repeated_call"


@pytest.mark.parametrize("text", ["", " ", "[result removed]"])
def test_code_word_with_an_emptied_result_invents_one(text):
    steps, reason = changed("blank_results", text=text)
    assert steps[1:] == ["[1] final     The launch code word is THUNDERBIRD."]
    assert reason == "final"


def test_code_word_with_a_call_and_no_result_says_what_it_misses():
    steps, reason = changed("omit_results")
    assert steps[1:] == [
        "[1] final     I asked for code_word.txt and got nothing back, so I cannot tell you the code word."
    ]
    assert reason == "final"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The launch code word is WALNUT.", "The launch code word is WALNUT."),
        ("Nothing here.", "The file names no code word."),
        ('{"error": "gone", "retryable": false}', "The file could not be read, so I do not know the code word."),
    ],
)
def test_code_word_believes_what_it_reads(text, answer):
    steps, _ = changed("blank_results", text=text)
    assert steps[1:] == [f"[1] final     {answer}"]


def test_code_word_without_its_tool_says_so():
    trace = play("code_word", tools=[])
    assert trace.outcome.final == "I have no tool to read the file, so I do not know the code word."


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
