"""A design is read from YAML and JSON, and what is written of it reads back as an equal one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import InputError
from agent.faults import FAULTS, Fault
from agent.interventions import KINDS, Intervention
from agent.tools import Tool
from traces.experiments.design.data import design_data
from traces.experiments.design.experiment import (
    ArmedFault,
    Budget,
    Condition,
    Experiment,
    ModelSpec,
    Subject,
)
from traces.experiments.design.file import design_problems, design_text, parse_design, read_design
from traces.experiments.outcomes import OUTCOMES

WHOLE = """\
title: Does it need its tool results?
subjects:
  - code_word
  - {name: own, script: my.yaml, evidence: [{answer_contains: BANANA}]}
  - {trace: runs/run.json, step: 2, real_tools: true}
models:
  - name: qwen
    model: qwen2.5
    base_url: http://127.0.0.1:8080/v1
    temperature: 0.7
    max_tokens: 150
    send_seed: true
conditions:
  - blank_results
  - {name: walnut, interventions: [{kind: replace_results, params: {find: BANANA, text: WALNUT}}]}
  - {name: one tool fails, faults: [{kind: tool_raises, step: 2}]}
  - {sweep: keep last, kind: keep_last_results, param: count, values: [0, 1, 2, 4]}
repeats: 10
seed: 1
outcome: success
margin: 0.1
alpha: 0.05
budget: {tokens: 100000, cost: 0.5}
"""


def test_a_design_says_what_it_seems_to_say():
    experiment = parse_design(WHOLE)
    assert experiment == Experiment(
        title="Does it need its tool results?",
        subjects=(
            Subject(name="code_word", scenario="code_word"),
            Subject(name="own", script="my.yaml", evidence=({"answer_contains": "BANANA"},)),
            Subject(name="run", trace="runs/run.json", step=2, real_tools=True),
        ),
        models=(
            ModelSpec(
                name="qwen",
                kind="live",
                model="qwen2.5",
                base_url="http://127.0.0.1:8080/v1",
                temperature=0.7,
                max_tokens=150,
                send_seed=True,
            ),
        ),
        conditions=(
            Condition(name="blank_results", interventions=(Intervention("blank_results"),)),
            Condition(
                name="walnut",
                interventions=(Intervention("replace_results", {"find": "BANANA", "text": "WALNUT"}),),
            ),
            Condition(name="one tool fails", faults=(ArmedFault(Fault("tool_raises"), 2),)),
            *(
                Condition(
                    name=f"keep last {count}",
                    interventions=(Intervention("keep_last_results", {"count": count}),),
                    sweep="keep last",
                    value=count,
                )
                for count in (0, 1, 2, 4)
            ),
        ),
        repeats=10,
        seed=1,
        budget=Budget(100000, 0.5),
    )
    assert experiment.size == 3 * 1 * 8 * 10


def test_it_is_written_as_a_person_would():
    text = design_text(parse_design(WHOLE))
    expected = WHOLE.replace("{trace: runs", "{name: run, trace: runs")
    assert text == expected


def test_json_is_read_and_written_too():
    experiment = parse_design(WHOLE)
    text = design_text(experiment, as_json=True)
    assert json.loads(text)["budget"] == {"tokens": 100000, "cost": 0.5}
    assert parse_design(text, "design.json") == experiment


def test_one_subject_and_one_model_need_no_list():
    short = parse_design("subjects: code_word\nmodels: {kind: script, name: own rules}")
    assert short == parse_design("subjects: [{scenario: code_word}]\nmodels: [{kind: script, name: own rules}]")


def test_a_plain_text_is_one_change():
    experiment = parse_design("subjects: code_word\nconditions: [baseline, drop_pairs, tool_raises]")
    assert experiment.conditions[1:] == (
        Condition(name="drop_pairs", interventions=(Intervention("drop_pairs"),)),
        Condition(name="tool_raises", faults=(ArmedFault(Fault("tool_raises")),)),
    )


def test_a_condition_without_a_name_is_called_by_its_changes():
    text = "subjects: code_word\nconditions: [{interventions: [drop_pairs, drop_reasoning], faults: [tool_raises]}]"
    assert parse_design(text).conditions[1].name == "drop_pairs + drop_reasoning + tool_raises"


def test_a_condition_that_changes_nothing_is_a_second_baseline():
    assert parse_design("subjects: code_word\nconditions: [{name: again}]").conditions[1] == Condition(name="again")


def test_a_path_is_relative_to_the_design(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "own.yaml").write_text("turns: [Hello.]")
    design = tmp_path / "design.yaml"
    design.write_text("subjects: {script: scripts/own.yaml}")
    assert read_design(design).subjects == (Subject(name="own", script="scripts/own.yaml"),)
    design.write_text("subjects: [{script: scripts/owm.yaml}]")
    with pytest.raises(InputError, match=r"design\.yaml, line 1, subjects\[0\]\.script: .*did you mean 'own\.yaml'\?"):
        read_design(design)


def test_a_tool_of_ones_own_may_be_named():
    text = "subjects: {task: Look., tools: [look]}\nmodels: {model: m}"
    look = Tool("look", "", {}, lambda: "")
    assert design_problems(text, own=[look]) == []
    assert parse_design(text, own=[look]).subjects[0].tools == ("look",)
    assert "no tool 'look'" in design_problems(text)[0].sentence


# ---- sweeps ----


def swept(*conditions):
    return design_data(Experiment(subjects=(Subject(name="s", scenario="s"),), conditions=conditions))["conditions"]


def point(value, name=None, sweep="size", **params):
    kind = "truncate_results"
    intervention = Intervention(kind, {"size": value, **params})
    return Condition(name=name or f"{sweep} {value}", interventions=(intervention,), sweep=sweep, value=value)


def test_the_points_of_a_curve_are_a_sweep_again_with_what_they_have_in_common():
    assert swept(point(10, unit="tokens"), point(20, unit="tokens")) == [
        {
            "sweep": "size",
            "kind": "truncate_results",
            "param": "size",
            "values": [10, 20],
            "params": {"unit": "tokens"},
        }
    ]


@pytest.mark.parametrize(
    "odd",
    [
        point(20, name="short"),
        point(20, unit="tokens"),
        Condition(name="size 20", interventions=(Intervention("drop_pairs"),), sweep="size", value=20),
        Condition(name="size 20", faults=(ArmedFault(Fault("tool_raises")),), sweep="size", value=20),
    ],
)
def test_a_curve_that_is_no_longer_a_sweep_is_written_point_by_point(odd):
    written = swept(point(10), odd)
    assert [(each["sweep"], each["value"]) for each in written] == [("size", 10), ("size", 20)]
    experiment = Experiment(subjects=(Subject(name="code_word", scenario="code_word"),), conditions=(point(10), odd))
    assert parse_design(design_text(experiment)) == experiment


def test_two_curves_side_by_side_stay_two():
    assert [each["sweep"] for each in swept(point(1), point(2), point(1, sweep="other"))] == ["size", "other"]


# ---- everything reads back ----

NAMES = st.text(min_size=1, max_size=20).map(lambda text: " ".join(text.split())).filter(bool)
TEXTS = st.text(min_size=1, max_size=30)
PARAMS = {
    "blank_results": st.fixed_dictionaries({}, optional={"text": st.text(max_size=10), "min_age": st.integers(0, 9)}),
    "replace_results": st.fixed_dictionaries({"find": TEXTS}, optional={"text": st.text(max_size=10)}),
    "truncate_results": st.fixed_dictionaries({"size": st.integers(0, 10**6)}),
    "hide_tool": st.fixed_dictionaries({"tool": TEXTS}),
    "drop_pairs": st.fixed_dictionaries({}, optional={"tools": st.lists(TEXTS, max_size=3)}),
    "no_guards": st.just({}),
}
INTERVENTIONS = st.sampled_from(sorted(PARAMS)).flatmap(
    lambda kind: PARAMS[kind].map(lambda params: Intervention(kind, params))
)
FAULTS_ARMED = st.builds(ArmedFault, st.sampled_from(sorted(FAULTS)).map(Fault), st.integers(1, 50)) | st.floats(
    0.01, 60
).map(lambda s: ArmedFault(Fault("tool_times_out", {"timeout_s": s})))
PLAIN_CONDITIONS = st.builds(
    Condition,
    name=NAMES,
    interventions=st.lists(INTERVENTIONS, max_size=3).map(tuple),
    faults=st.lists(FAULTS_ARMED, max_size=2).map(tuple),
)
POINTS = st.builds(
    lambda condition, sweep, value: Condition(
        name=condition.name,
        interventions=condition.interventions,
        faults=condition.faults,
        sweep=sweep,
        value=value,
    ),
    PLAIN_CONDITIONS,
    NAMES,
    st.integers(-9, 10**6) | st.floats(-1e6, 1e6),
)
SWEEPS = st.builds(
    lambda sweep, values: [point(value, sweep=sweep) for value in values],
    NAMES,
    st.lists(st.integers(0, 10**6), min_size=1, max_size=4, unique=True),
)
CHECKS = st.one_of(
    TEXTS.map(lambda text: {"answer_contains": text}),
    TEXTS.map(lambda text: {"tool_succeeded": text}),
    st.builds(
        lambda name, arguments: {"tool_succeeded": {"name": name, "arguments": arguments}},
        TEXTS,
        st.dictionaries(TEXTS, st.integers() | st.text(max_size=9) | st.none(), max_size=2),
    ),
)
SUBJECTS = st.one_of(
    st.builds(Subject, name=NAMES, scenario=st.sampled_from(["code_word", "calc"]), max_steps=st.none() | st.just(4)),
    st.builds(Subject, name=NAMES, script=TEXTS, evidence=st.lists(CHECKS, max_size=2).map(tuple)),
    st.builds(
        Subject, name=NAMES, trace=TEXTS, step=st.integers(1, 99), mode=st.sampled_from(["decision", "continue"])
    ),
    st.builds(Subject, name=NAMES, trace=TEXTS, conversation=st.integers(1, 9), real_tools=st.booleans()),
    st.builds(Subject, name=NAMES, task=TEXTS, system=st.text(max_size=20), tools=st.sampled_from([(), ("add",)])),
)
MODELS = st.builds(
    ModelSpec,
    name=NAMES,
    kind=st.just("live"),
    model=TEXTS,
    base_url=st.sampled_from(["", "http://127.0.0.1:8080/v1", "https://example.org"]),
    key_env=st.sampled_from(["OPENAI_API_KEY", "OTHER_KEY", ""]),
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.none() | st.integers(1, 9999),
    timeout_s=st.floats(0.1, 100),
    send_seed=st.booleans(),
    protocol=st.sampled_from(["native", "json_action"]),
)


def by_name(each):
    return each.name


def makes_sense(experiment):
    """In a decision rerun no tool runs, so that most faults cannot strike."""
    armed = [each for condition in experiment.conditions for each in condition.faults]
    decides = any(subject.mode == "decision" for subject in experiment.subjects)
    return not decides or all(each.in_one_call for each in armed)


@st.composite
def experiments(draw):
    plain = draw(st.lists(PLAIN_CONDITIONS | POINTS, max_size=4))
    more = draw(st.lists(SWEEPS, max_size=2))
    conditions = {each.name: each for each in [*plain, *(each for sweep in more for each in sweep)]}
    conditions.pop("baseline", None)
    return Experiment(
        title=draw(st.text(max_size=30)),
        subjects=tuple(draw(st.lists(SUBJECTS, min_size=1, max_size=4, unique_by=by_name))),
        models=tuple(draw(st.lists(MODELS, min_size=1, max_size=3, unique_by=by_name))),
        conditions=tuple(conditions.values()),
        repeats=draw(st.integers(1, 1000)),
        seed=draw(st.integers(0, 2**40)),
        outcome=draw(st.sampled_from([name for name in OUTCOMES if name != "same_decision"])),
        margin=draw(st.floats(0.001, 10)),
        alpha=draw(st.floats(0.001, 0.999)),
        budget=Budget(draw(st.none() | st.integers(1, 10**9)), draw(st.none() | st.floats(0.001, 1000))),
    )


@settings(max_examples=60, deadline=None)
@given(experiments().filter(makes_sense), st.booleans())
def test_what_is_written_reads_back_as_an_equal_design(experiment, as_json):
    text = design_text(experiment, as_json=as_json)
    again = parse_design(text, "design.json" if as_json else "design.yaml")
    assert again == experiment
    assert design_text(again, as_json=as_json) == text


def test_the_property_covers_what_needs_its_parameters():
    needs = {kind for kind, about in KINDS.items() if any(param.needed for param in about.params.values())}
    assert needs <= set(PARAMS)
