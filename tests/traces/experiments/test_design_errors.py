"""Everything that can be wrong with a design is told with its line and place, and with what was expected."""

import pytest

from agent.errors import InputError
from traces.experiments.design.file import design_problems, parse_design, read_design

ONE = "subjects: code_word\n"
LIVE = "models: {model: m}\n"
TRACE = "subjects:\n  - {trace: a.json, mode: decision}\n"


def fault(text, name="my.yaml"):
    with pytest.raises(InputError) as caught:
        parse_design(text, name)
    return str(caught.value)


WRONG = [
    # the text
    ("- code_word", "my.yaml: a design is a mapping with the key subjects; found a list"),
    ("subjects: [", "my.yaml, line 1: this is not valid YAML"),
    ("turns: [a]", "my.yaml: this is a script and no design; a design names it: subjects: [{script: PATH}]"),
    ("title: x", "my.yaml, subjects: the key 'subjects' is missing"),
    ("subjcts: code_word", "line 1, subjcts: unknown key 'subjcts'; did you mean 'subjects'?"),
    (ONE + "step: 2", "line 2, step: unknown key 'step'"),
    (ONE + "repeats: 0", "line 2, repeats: expected a number from 1, found 0"),
    (ONE + "repeats: '3'", "line 2, repeats: expected a whole number, found '3'"),
    (ONE + "alpha: 1", "line 2, alpha: expected a number below 1.0, found 1"),
    (ONE + "margin: 0", "line 2, margin: expected a number above 0.0, found 0"),
    (ONE + "seed: -1", "line 2, seed: expected a number from 0, found -1"),
    (ONE + "outcome: succes", "line 2, outcome: there is no outcome 'succes'; did you mean 'success'?"),
    (ONE + "budget: {token: 3}", "line 2, budget.token: unknown key 'token'; did you mean 'tokens'?"),
    (ONE + "budget: {tokens: 0}", "line 2, budget.tokens: expected a number from 1, found 0"),
    # subjects
    ("subjects: []", "line 1, subjects: the list is empty"),
    (
        "subjects: [code_wrd]",
        "line 1, subjects[0].scenario: there is no scenario 'code_wrd'; did you mean 'code_word'?",
    ),
    ("subjects: code_wrd", "line 1, subjects.scenario: there is no scenario 'code_wrd'; did you mean 'code_word'?"),
    ("subjects: my.yaml", "a plain text is the name of a scenario; a file is {script: PATH} or {trace: PATH}"),
    ("subjects: [3]", "line 1, subjects[0]: expected a text or a mapping, found 3"),
    (
        "subjects:\n  - {name: x}",
        "line 2, subjects[0]: a subject needs one of the keys scenario, script, task and trace",
    ),
    (
        "subjects:\n  - script: a.yaml\n    trace: a.json",
        "line 3, subjects[0].trace: a subject is one thing: give script or trace, not both",
    ),
    ("subjects: {task: Hi., step: 2}", "line 1, subjects.step: step goes with trace, and this subject is a task"),
    (
        "subjects: {scenario: calc, tools: [add]}",
        "subjects.tools: tools goes with task, and this subject is a scenario",
    ),
    ("subjects: {trace: a.json, step: 0}", "subjects.step: expected a number from 1, found 0"),
    ("subjects: {trace: a.json, mode: rerun}", "subjects.mode: expected 'decision' or 'continue', found 'rerun'"),
    (
        "subjects: {trace: a.json, mode: decision, real_tools: true}",
        "subjects.real_tools: in a decision rerun no tool runs: leave out real_tools",
    ),
    (
        "subjects: {trace: a.json, mode: decision, max_steps: 3}",
        "subjects.max_steps: a decision rerun is one model call: leave out max_steps",
    ),
    (
        "subjects: [code_word, {script: code_word.yaml}]",
        "line 1, subjects[1]: there is already a subject called 'code_word': give each a name of its own",
    ),
    ("subjects: {scenario: calc, evidence: [{answer_contain: a}]}", "did you mean 'answer_contains'?"),
    ("subjects: {scenario: calc, evidence: [{}]}", "a check needs exactly one of the keys"),
    (
        "subjects:\n  - task: Hi.\n    tools:\n      - add\n      - ad\n" + LIVE,
        "line 5, subjects[0].tools[1]: there is no tool 'ad' in the toolbox; did you mean 'add'?",
    ),
    ("subjects: {task: Hi., name: 'a  b'}", "subjects.name: a name stands in one line"),
    (
        "subjects: {task: Hi.}",
        "line 1, subjects.task: a task of your own has no script and no trace that the model 'script' could follow: "
        "give only live models under models",
    ),
    (
        ONE + "models: stand_in",
        "line 2, models: a stand-in is made of a trace, and the subject 'code_word' is none",
    ),
    # models
    (ONE + "models: [scrpt]", "line 2, models[0]: expected script, stand_in, or a mapping with the key model"),
    (ONE + "models: {name: x}", "line 2, models: name the live model: model is what its server calls it"),
    (
        ONE + "models: {kind: script, temperature: 1}",
        "line 2, models.temperature: temperature goes with a live model, and this one is script",
    ),
    (ONE + "models: {model: m, temperature: 3}", "models.temperature: expected a number up to 2, found 3"),
    (ONE + "models: {model: m, base_url: 'localhost:8080'}", "models.base_url: expected an address such as http://"),
    (ONE + "models: [script, script]", "line 2, models[1]: there is already a model called 'script'"),
    # conditions
    (
        ONE + "conditions: [blank_reslts]",
        "line 2, conditions[0]: there is no intervention or fault 'blank_reslts'; did you mean 'blank_results'?",
    ),
    (
        ONE + "conditions:\n  - interventions: [{kind: hide_tol}]",
        "line 3, conditions[0].interventions[0].kind: there is no intervention 'hide_tol'; did you mean 'hide_tool'?",
    ),
    (
        ONE + "conditions: [hide_tool]",
        "line 2, conditions[0].interventions[0].params: the intervention hide_tool needs tool",
    ),
    (ONE + "conditions: [{faults: [tool_rises]}]", "there is no fault 'tool_rises'; did you mean 'tool_raises'?"),
    (
        ONE + "conditions: [{faults: [{kind: tool_times_out, params: {timeout_s: 100}}]}]",
        "faults[0].params: timeout_s of the fault tool_times_out must be a number from 0.01 to 60, not 100",
    ),
    (ONE + "conditions: [{faults: [{kind: tool_raises, step: 0}]}]", "faults[0].step: expected a number from 1"),
    (ONE + "conditions: [{}]", "a condition needs interventions or faults; one that changes nothing needs a name"),
    (
        ONE + "conditions: [drop_pairs, {interventions: [drop_pairs]}]",
        "line 2, conditions[1]: there is already a condition called 'drop_pairs'",
    ),
    (
        ONE + "conditions: [{name: baseline, faults: [tool_raises]}]",
        "line 2, conditions[0]: the baseline is always there and changes nothing: give this condition another name",
    ),
    (
        ONE + "conditions: [{name: x, interventions: [drop_pairs], params: {a: 1}}]",
        "conditions[0].params: params stand beside kind: in the list of interventions, or in a sweep",
    ),
    # sweeps
    (
        ONE + "conditions: [{sweep: k, kind: keep_last_results, values: [1]}]",
        "conditions[0]: a sweep needs the keys sweep, kind, param, values; param is missing",
    ),
    (
        ONE + "conditions: [{sweep: k, kind: keep_last, param: count, values: [1]}]",
        "conditions[0].kind: there is no intervention 'keep_last'; did you mean 'keep_last_results'?",
    ),
    (
        ONE + "conditions: [{sweep: k, kind: keep_last_results, param: how, values: [1]}]",
        "conditions[0].param: keep_last_results has no number 'how' to sweep over; known are count,",
    ),
    (
        ONE + "conditions: [{sweep: k, kind: drop_system, param: text, values: [1]}]",
        "conditions[0].param: drop_system has no number 'text' to sweep over; known are paragraph",
    ),
    (
        ONE + "conditions: [{sweep: k, kind: no_guards, param: n, values: [1]}]",
        "conditions[0].param: no_guards has no number 'n' to sweep over; it takes none",
    ),
    (
        ONE + "conditions: [{sweep: k, kind: keep_last_results, param: count, values: [1, -1]}]",
        "conditions[0].values[1]: count of the intervention keep_last_results must be a whole number from 0, not -1",
    ),
    (
        ONE + "conditions: [{sweep: k, kind: keep_last_results, param: count, values: [1, 2, 1]}]",
        "conditions[0].values[2]: the value 1 stands twice",
    ),
    (
        ONE + "conditions: [{sweep: k, kind: keep_last_results, param: count, values: [1], name: x}]",
        "conditions[0].name: name cannot stand beside kind, which belongs to a sweep",
    ),
    (
        ONE + "conditions: [{sweep: null, kind: keep_last_results, param: count, values: [0]}]",
        "conditions[0]: a sweep needs the keys sweep, kind, param, values; sweep is missing",
    ),
    (
        ONE + "conditions: [{sweep: k, kind: keep_last_results, param: count, values: [0, 99999999999]}]",
        "conditions[0].values[1]: count of the intervention keep_last_results must be at most 1,000,000,000",
    ),
    (ONE + "conditions: [{name: x, sweep: k}]", "sweep stands beside kind, param and values; or beside value"),
    # together
    (
        "subjects: [code_word]\noutcome: same_decision",
        "line 2, outcome: same_decision is measured of decision reruns alone, and the subject 'code_word' is none",
    ),
    (
        TRACE + "conditions:\n  - drop_pairs\n  - {name: x, faults: [provider_429, tool_raises]}",
        "line 5, conditions[1].faults[1]: in the decision rerun 'a' no tool runs, so that tool_raises cannot strike",
    ),
]


@pytest.mark.parametrize(("text", "told"), WRONG)
def test_a_mistake_is_told_with_its_line_its_place_and_what_was_expected(text, told):
    assert told in fault(text)


SEVERAL = """\
title: 3
subjects: [code_wrd, {trace: a.json, steep: 2}]
models: [scrpt]
conditions:
  - blank_reslts
  - {faults: [tool_rises]}
"""


def test_several_mistakes_are_told_at_once_in_the_order_of_the_text():
    told = [(problem.line, problem.place) for problem in design_problems(SEVERAL)]
    assert told == [
        (1, "title"),
        (2, "subjects[0].scenario"),
        (2, "subjects[1].steep"),
        (3, "models[0]"),
        (5, "conditions[0]"),
        (6, "conditions[1].faults[0].kind"),
    ]
    assert fault(SEVERAL) == "my.yaml, line 1, title: expected a text, found 3 (and 5 more)"


def test_a_very_long_name_is_quoted_in_part():
    for text in ("subjects: {0}", ONE + "conditions: [{0}]", ONE + "outcome: {0}"):
        assert "x" * 41 not in fault(text.format("x" * 5000))


def test_more_runs_than_can_be_kept_are_refused():
    conditions = ", ".join(f"{{name: c{number}, interventions: [drop_pairs]}}" for number in range(10))
    told = fault(ONE + f"repeats: 100000\nconditions: [{conditions}]")
    assert told == "my.yaml: these are 1,100,000 runs, and 1,000,000 are the most; lower repeats"


def test_of_very_many_mistakes_the_number_is_told():
    *told, last = design_problems("subjects: [" + "x, " * 300 + "x]")
    assert len(told) == 100
    assert last.sentence == "201 more mistakes are not listed"


SECRET = "sk-proj-abcdef0123456789"
KEYS = [
    ONE + f"api_key: {SECRET}",
    ONE + f"models: {{model: m, api_key: {SECRET}}}",
    ONE + f"models: {{model: m, key: {SECRET}}}",
    ONE + f"models: {{model: m, headers: {{Authorization: {SECRET}}}}}",
    ONE + f"models: {{model: m, key_env: {SECRET}}}",
    ONE + f"models: {{model: m, base_url: 'http://me:{SECRET}@example.org/v1'}}",
    ONE + f"models: {{model: m, base_url: 'http://{SECRET}@example.org/v1'}}",
    ONE + f"models: {{model: m, base_url: 'http://example.org/v1?api_key={SECRET}'}}",
    ONE + "models: {model: m, base_url: 'http://me:hunter2@example.org/v1'}",
]


@pytest.mark.parametrize("text", KEYS)
def test_a_key_in_a_design_is_refused_and_never_repeated(text):
    (problem,) = design_problems(text)
    assert "key" in problem.sentence
    assert "environment variable" in problem.sentence
    assert SECRET not in problem.sentence
    assert "hunter2" not in problem.sentence


def test_a_key_is_told_beside_the_other_mistakes():
    text = f"subjects: code_wrd\nmodels: {{model: m, api_key: {SECRET}, temperature: 9}}"
    assert {problem.place for problem in design_problems(text)} == {
        "subjects.scenario",
        "models.api_key",
        "models.temperature",
    }


def test_a_file_that_is_no_text_or_is_not_there_is_told(tmp_path):
    path = tmp_path / "design.yaml"
    with pytest.raises(InputError, match=r"design\.yaml' cannot be read: No such file"):
        read_design(path)
    path.write_bytes(b"subjects: code_word\ntitle: \xff")
    with pytest.raises(InputError, match="line 2: a design must be UTF-8 text"):
        read_design(path)


def test_a_path_that_leads_nowhere_is_told(tmp_path):
    for named in ("none.json", "../none.json", "no/such/folder.json", "."):
        (problem,) = design_problems(f"subjects: [{{trace: {named}}}]", base=tmp_path)
        assert (problem.line, problem.place) == (1, "subjects[0].trace")
        assert "there is no file" in problem.sentence
