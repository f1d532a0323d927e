"""The preview shows the request that a run is really given beside that of the baseline, and what else is different."""

import pytest

from agent import FakeModel, Loop, Tool
from agent.errors import InputError
from agent.faults import FAULTS, Fault
from agent.interventions import KINDS, Intervention
from agent.journal import write_trace
from agent.messages import Message, ToolCall
from agent.models.base import ModelReply
from agent.request import request_of
from agent.scripts.harmless import NOT_RUN
from traces.experiments.before.baseline import baseline
from traces.experiments.before.preview import ON_PURPOSE, preview
from traces.experiments.design.experiment import NOTHING_CHANGED, ArmedFault, Condition, Subject
from traces.experiments.subjects.task import load_subject

SCRIPT = """
task: What is in a and b?
system: |-
  Look before you speak.

  Be brief.
tools:
  - {name: look, results: [{arguments: {at: a}, result: APPLE}, {arguments: {at: b}, result: BREAD}]}
  - {name: smell}
turns:
  - calls: [{name: look, arguments: {at: a}, id: c1}]
  - calls: [{name: look, arguments: {at: b}, id: c2}]
  - An APPLE and BREAD.
"""


def doing(kind, **params):
    return Condition(name=kind, interventions=(Intervention(kind, params),))


@pytest.fixture
def task(tmp_path):
    (tmp_path / "own.yaml").write_text(SCRIPT)
    return load_subject(Subject(name="own", script="own.yaml"), tmp_path)


@pytest.fixture
def traced(task, tmp_path):
    """The same run as the trace of a file, continued from its second step."""
    write_trace(baseline(task), tmp_path).rename(tmp_path / "run.json")
    return load_subject(Subject(name="run", trace="run.json", step=2), tmp_path)


def really_sent(task, condition, step):
    """What the model was given in a run of this condition."""
    model = task.script.make_model(0, replay="lenient")
    started = task.begin(model, condition, seed=0, trace_id="0" * 12, journal=None)
    started.begin()
    started.loop.finish()
    return list(request_of(started.loop.trace, started.loop.trace.steps[step - 1]))


def sent_by(found):
    """The messages of the condition's request, as its rows show them."""
    return [pair.after.message for pair in found.pairs if pair.after and pair.after.op != "drop"]


CHANGES = [
    doing("drop_pairs"),
    doing("blank_results", text="nothing"),
    doing("replace_results", find="APPLE", text="PEAR"),
    doing("keep_last_results", count=0),
    doing("swap_results"),
    doing("omit_results"),
    doing("results_as_user"),
    doing("drop_system", paragraph=2),
    doing("blank_results", tools=["look"], to_step=1),
    NOTHING_CHANGED,
]


@pytest.mark.parametrize("condition", CHANGES, ids=lambda condition: condition.name)
@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_request_is_the_one_that_a_run_is_given(task, condition, step):
    found = preview(task, condition, step)
    assert sent_by(found) == really_sent(task, condition, step)
    assert [pair.before.message for pair in found.pairs if pair.before] == really_sent(task, NOTHING_CHANGED, step)


@pytest.mark.parametrize("condition", CHANGES, ids=lambda condition: condition.name)
@pytest.mark.parametrize("step", [2, 3])
def test_so_it_is_where_a_trace_is_continued(traced, condition, step):
    assert sent_by(preview(traced, condition, step)) == really_sent(traced, condition, step)


def test_what_is_changed_stands_in_its_place(task):
    found = preview(task, doing("blank_results"), 3)
    assert [(pair.before.message.text, pair.after.message.text) for pair in found.pairs if pair.changed] == [
        ("APPLE", ""),
        ("BREAD", ""),
    ]
    dropped = preview(task, doing("drop_pairs"), 3)
    assert [pair.after.op for pair in dropped.pairs] == ["keep", "keep", "drop", "drop", "drop", "drop"]
    assert not found.same
    assert found.tokens_after < found.tokens_before


def test_a_request_in_which_nothing_is_meant_is_the_same(task):
    found = preview(task, doing("blank_results"), 1)
    assert found.same
    assert found.tokens_after == found.tokens_before


def test_a_broken_request_is_broken_on_purpose_and_says_where(task):
    found = preview(task, doing("omit_results"), 2)
    assert found.broken
    assert found.problems == ("message 3: the call 'c1' has no result",)
    assert ON_PURPOSE in found.notes
    assert preview(task, doing("drop_pairs"), 2).problems == ()


def test_a_hidden_tool_takes_its_tokens_with_it(task):
    found = preview(task, doing("hide_tool", tool="smell"), 1)
    assert found.hidden == {"smell"}
    assert not found.same
    assert found.tokens_after < found.tokens_before


def test_a_tool_that_is_not_there_cannot_be_hidden(task):
    found = preview(task, doing("hide_tool", tool="taste"), 1)
    assert found.same
    assert found.notes == ("no tool 'taste' is on offer here, so that hiding it changes nothing",)


def test_settings_that_are_off_and_faults_are_told(task):
    condition = Condition(
        name="x",
        interventions=(Intervention("no_guards"),),
        faults=(ArmedFault(Fault("tool_times_out", {"timeout_s": 0.5}), 2),),
    )
    assert preview(task, condition, 1).notes == (
        KINDS["no_guards"].sentence,
        f"at step 2, timeout_s 0.5: {FAULTS['tool_times_out'].sentence}",
    )


def test_the_context_budget_is_in_the_original_and_can_be_off(tmp_path):
    task = load_subject(Subject(name="long_results", scenario="long_results"), tmp_path)
    found = preview(task, doing("no_context_budget"), 4)
    assert {edit.by for edit in found.original} == {"context"}
    assert found.edits == ()
    assert found.tokens_after > found.tokens_before


def test_a_step_that_is_not_there_is_told(task, traced):
    with pytest.raises(InputError, match="no step 4: its steps are 1 to 3"):
        preview(task, NOTHING_CHANGED, 4)
    with pytest.raises(InputError, match="no step 9"):
        preview(traced, NOTHING_CHANGED, 9)


def test_of_a_task_of_ones_own_only_the_first_request_is_known(tmp_path):
    task = load_subject(Subject(name="t", task="What is 2+3?", system="Be brief.", tools=("add",)), tmp_path)
    found = preview(task, doing("drop_system"), 1)
    assert [pair.after.op for pair in found.pairs] == ["drop", "keep"]
    with pytest.raises(InputError, match="only step 1 is known"):
        preview(task, NOTHING_CHANGED, 2)


def test_no_tool_of_ones_own_runs_for_a_preview(tmp_path):
    ran = []
    own = Tool("look_up", "", {}, lambda: ran.append(1))
    (tmp_path / "own.yaml").write_text("tools: [look_up]\nturns:\n  - calls: [{name: look_up}]\n  - Done.")
    task = load_subject(Subject(name="own", script="own.yaml"), tmp_path, [own])
    found = preview(task, NOTHING_CHANGED, 2)
    assert sent_by(found)[-1].text == NOT_RUN
    assert ran == []


def test_the_baseline_of_a_script_takes_as_many_steps_as_its_subject_may(tmp_path):
    (tmp_path / "own.yaml").write_text(SCRIPT)
    task = load_subject(Subject(name="own", script="own.yaml", max_steps=2), tmp_path)
    assert len(baseline(task).steps) == 2


def test_the_request_of_a_trace_that_was_sent_in_another_form_stays_so(tmp_path):
    """A recorded request that is not the message list is what both sides begin with."""
    ask = ModelReply(Message("assistant", None, (ToolCall("c1", "look", {"at": "a"}),)), finish_reason="tool_calls")
    turns = [ask, ModelReply(Message("assistant", "APPLE"), finish_reason="stop")]
    look = Tool("look", "", {}, lambda at: "APPLE")
    loop = Loop(FakeModel(turns), [look], system="Look.", interventions=[Intervention("blank_results")])
    loop.start("What is in a?")
    loop.finish()
    write_trace(loop.trace, tmp_path).rename(tmp_path / "run.json")
    task = load_subject(Subject(name="run", trace="run.json", step=2), tmp_path)
    found = preview(task, doing("drop_pairs"), 2)
    assert [pair.before.message.text for pair in found.pairs][-1] == ""
    assert [message.role for message in sent_by(found)] == ["system", "user"]


def test_a_preview_changes_nothing(traced):
    kept = [message.to_dict() for message in traced.source.messages]
    first = preview(traced, doing("swap_results"), 3)
    assert preview(traced, doing("swap_results"), 3).pairs == first.pairs
    assert [message.to_dict() for message in traced.source.messages] == kept
