"""What an experiment will take is told before it starts, by rules that hold for the runs that follow."""

import pytest

from agent.journal import write_trace
from agent.limits import HARD_CAP
from agent.messages import Message
from agent.trace import Trace, TraceStep
from traces.experiments.before.baseline import baseline
from traces.experiments.before.estimate import FREE, ONE_CALL, RULE, estimate
from traces.experiments.cells import cells
from traces.experiments.design.file import parse_design
from traces.experiments.subjects.models import make_model
from traces.experiments.subjects.task import load_subject
from traces.prices import Price, PriceTable

PRICES = PriceTable(own=(Price(model="cheap", prompt=1, completion=10, window=3000),))
"""US dollars per million tokens."""
LIVE = "models: {model: cheap, base_url: 'http://127.0.0.1:9/v1'}\n"
BARE = "subjects: {task: What is 2+3?, tools: [add]}\n" + LIVE
SAMPLE = "subjects: {trace: run.json, step: 2, mode: MODE}\n" + LIVE


@pytest.fixture
def folder(tmp_path):
    subject = parse_design("subjects: calc").subjects[0]
    trace = baseline(load_subject(subject, tmp_path))
    for step in trace.steps:
        step.latency_ms = 250.0
    write_trace(trace, tmp_path).rename(tmp_path / "run.json")
    return tmp_path


def estimated(text, folder, prices=PRICES):
    return estimate(parse_design(text), folder, prices)


def test_the_least_of_a_script_is_what_its_baseline_takes(folder):
    experiment = parse_design("subjects: [code_word, calc]\nconditions: [blank_results]\nrepeats: 3\noutcome: finished")
    found = estimate(experiment, folder)
    calls = tokens = 0
    for cell in cells(experiment):
        task = load_subject(next(each for each in experiment.subjects if each.name == cell.subject), folder)
        trace = baseline(task)
        calls += len(trace.steps)
        tokens += sum(step.usage.total for step in trace.steps)
    assert (found.runs, found.calls_low, found.tokens_low) == (experiment.size, calls, tokens)
    assert found.doubts == ()


@pytest.mark.parametrize("condition", ["drop_pairs", "omit_results", "blank_results", "no_step_limit", "tool_raises"])
@pytest.mark.parametrize("scenario", ["code_word", "calc", "two_questions", "long_results", "broken_tool"])
def test_no_run_takes_more_calls_than_the_most(scenario, condition, folder):
    experiment = parse_design(f"subjects: {scenario}\nconditions: [{condition}]\nrepeats: 1\noutcome: finished")
    found = estimate(experiment, folder)
    made = 0
    for each in experiment.conditions:
        task = load_subject(experiment.subjects[0], folder)
        model = make_model(experiment.models[0], task, seed=0)
        started = task.begin(model, each, seed=0, trace_id="0" * 12, journal=None)
        started.begin()
        for armed in each.faults:
            started.loop.arm(armed.fault)
        started.loop.finish()
        while started.loop.more:
            started.loop.advance()
            started.loop.finish()
        made += len(started.loop.trace.steps)
    assert made <= found.calls_high
    assert found.calls_low <= found.calls_high
    assert found.tokens_low <= found.tokens_high


def test_scripted_models_cost_nothing_and_say_so(folder):
    found = estimated("subjects: code_word", folder, None)
    assert (found.cost_low, found.cost_high, found.seconds_low, found.seconds_high) == (0, 0, 0, 0)
    assert found.remarks == (RULE, FREE)


def test_a_decision_rerun_is_one_call_at_the_price_of_its_request(folder):
    found = estimated(SAMPLE.replace("MODE", "decision") + "repeats: 5\noutcome: same_decision", folder)
    assert (found.runs, found.calls_low, found.calls_high) == (5, 5, 5)
    step = load_subject(parse_design(SAMPLE.replace("MODE", "decision")).subjects[0], folder).recorded_step
    usage = step.usage
    assert found.tokens_low == 5 * (usage.prompt_tokens + usage.completion_tokens)
    assert found.cost_low == pytest.approx(5 * (usage.prompt_tokens + 10 * usage.completion_tokens) / 1e6)
    assert (found.seconds_low, found.seconds_high) == (1.25, 1.25)
    assert found.remarks == (ONE_CALL,)


def test_a_trace_that_is_continued_takes_from_there_what_was_recorded(folder):
    found = estimated(SAMPLE.replace("MODE", "continue") + "repeats: 1\noutcome: agreement", folder)
    assert found.calls_low == 2
    assert found.seconds_low == 0.5
    assert found.calls_high > found.calls_low


def test_of_a_task_of_ones_own_the_least_is_one_call_and_the_most_its_step_limit(folder):
    found = estimated(BARE + "repeats: 1", folder)
    assert (found.calls_low, found.calls_high) == (1, 8)
    assert (found.seconds_low, found.seconds_high) == (None, None)
    longer = estimated(BARE.replace("tools: [add]", "tools: [add], max_steps: 20") + "repeats: 1", folder)
    assert longer.calls_high == 20
    assert longer.tokens_high > 20 / 8 * found.tokens_high, "requests grow"


def test_a_limit_that_is_taken_away_leaves_the_hard_cap(folder):
    for condition in ("no_step_limit", "limit_removed"):
        found = estimated(BARE + f"repeats: 1\nconditions: [{condition}]", folder)
        assert found.calls_high == 8 + HARD_CAP


def test_a_limit_of_very_many_steps_is_worked_out_at_once(folder):
    found = estimated(BARE.replace("tools: [add]", "tools: [add], max_steps: 1000000000") + "repeats: 1", folder)
    assert found.calls_high == 10**9
    assert 10**9 < found.tokens_high <= 10**9 * (3000 + 500)


def test_no_request_is_longer_than_the_window_of_its_model(folder):
    unbounded = PriceTable(own=(Price(model="cheap", prompt=1, completion=10),))
    text = BARE + "repeats: 1\nconditions: [no_step_limit]"
    found, wide = estimated(text, folder), estimated(text, folder, unbounded)
    assert found.tokens_high < wide.tokens_high
    assert found.tokens_high <= found.calls_high * (3000 + 500)


def test_a_limit_of_replies_is_taken_from_the_design(folder):
    short = estimated(BARE.replace("model: cheap", "model: cheap, max_tokens: 10") + "repeats: 1", folder)
    assert short.tokens_high < estimated(BARE + "repeats: 1", folder).tokens_high


def test_a_tool_that_returns_too_much_makes_requests_longer(folder):
    plain = estimated(BARE + "repeats: 1\nconditions: [tool_raises]", folder, None)
    fault = "{kind: tool_returns_too_much, params: {characters: 8000}}"
    longer = estimated(BARE + f"repeats: 1\nconditions: [{{faults: [{fault}]}}]", folder, None)
    assert longer.tokens_high - plain.tokens_high == 8 * 2000


def test_a_price_that_is_not_known_makes_the_cost_unknown(folder):
    found = estimated(BARE.replace("cheap", "nameless"), folder)
    assert (found.cost_low, found.cost_high) == (None, None)
    assert "what nameless costs is not in the table of prices" in found.remarks


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ("{tokens: 10}", "the budget of 10 tokens is less than the least: not all runs will be made"),
        ("{tokens: 5000}", "the budget of 5,000 tokens may be used up before all runs are made"),
        ("{cost: 0.0001}", "the budget of 0.0001 dollars is less than the least: not all runs will be made"),
        ("{cost: 0.01}", "the budget of 0.01 dollars may be used up before all runs are made"),
    ],
)
def test_a_budget_that_is_too_small_is_told(budget, told, folder):
    found = estimated(BARE + f"repeats: 2\nbudget: {budget}", folder)
    assert found.remarks == (RULE, told)


def test_a_budget_that_is_large_enough_needs_no_words(folder):
    assert estimated(BARE + "repeats: 2\nbudget: {tokens: 9000000, cost: 100}", folder).remarks == (RULE,)
    unknown = estimated(BARE.replace("cheap", "nameless") + "budget: {cost: 100}", folder)
    assert unknown.remarks[-1] == "the budget of 100 dollars cannot be compared, as the cost is not known"


def test_the_tokens_that_a_script_states_mean_nothing_to_a_live_model(folder):
    script = "task: Hi.\nturns: [{text: Hello., usage: {prompt_tokens: 9000, completion_tokens: 900}}]"
    (folder / "own.yaml").write_text(script)
    subject = "subjects: {script: own.yaml}\nrepeats: 1\n"
    assert estimated(subject, folder).tokens_low == 9900
    assert estimated(subject + LIVE, folder).tokens_low < 50


DOUBTS = [
    (BARE, "nothing says when 'task' is a success: add evidence, or choose another outcome"),
    (
        SAMPLE.replace("MODE", "decision"),
        "'run' is a decision rerun, and one reply is no success: choose same_decision as outcome",
    ),
    (
        SAMPLE.replace("MODE", "decision") + "outcome: agreement\n",
        "'run' is a decision rerun, whose reply may be no answer: choose same_decision",
    ),
    ("subjects: code_word\noutcome: latency_ms", "model time is not measured of scripted models"),
    (
        "subjects: code_word\nconditions: [{name: h, interventions: [{kind: hide_tool, params: {tool: read_fil}}]}]",
        "'h': 'code_word' offers no tool 'read_fil'; did you mean 'read_file'?",
    ),
    (
        "subjects: code_word\nconditions: [{interventions: [{kind: drop_pairs, params: {tools: [add]}}]}]",
        "'drop_pairs': 'code_word' offers no tool 'add'; known are read_file",
    ),
    ("subjects: code_word\nrepeats: 1", "one run of each condition proves nothing"),
]


@pytest.mark.parametrize(("text", "told"), DOUBTS)
def test_what_is_probably_not_meant_is_told(text, told, folder):
    (doubt,) = estimated(text, folder).doubts
    assert doubt.startswith(told)


def test_results_can_only_be_taken_away_where_there_are_some(folder):
    talk = Trace(task="Hi.")
    talk.add(Message("user", "Hi."), "user")
    talk.add(Message("assistant", "Hello."), "model", 1)
    talk.steps.append(TraceStep(index=1, reply=1))
    write_trace(talk, folder).rename(folder / "talk.json")
    of_results = "models: stand_in\noutcome: agreement\nconditions: [blank_results]"
    (doubt,) = estimated("subjects: {trace: talk.json}\n" + of_results, folder).doubts
    assert doubt == "'blank_results' changes nothing in 'talk': the recording has no tool result"
    assert estimated("subjects: {trace: run.json}\n" + of_results, folder).doubts == ()


def test_evidence_of_the_subject_ends_the_doubt(folder):
    subject = "subjects: {task: What is 2+3?, tools: [add], evidence: [{answer_contains: '5'}]}\n" + LIVE
    assert estimated(subject, folder).doubts == ()
    assert estimated("subjects: code_word", folder).doubts == ()
