"""A subject becomes a task that can be begun again and again, each time as if for the first."""

import json
from copy import deepcopy

import pytest

from agent import Loop, tool
from agent.approval import Decision
from agent.context import ContextBudget
from agent.errors import InputError, ModelError
from agent.faults import Fault
from agent.interventions import Intervention
from agent.messages import Message, ToolCall
from agent.models.fake import FakeModel
from agent.policy import CapabilityPolicy
from agent.scripts import load_script, parse_script
from agent.trace import Edit
from tests.traces.experiments.rerun import begun, condition, played, recorded, row, saved, task_of
from traces.experiments.design.experiment import NOTHING_CHANGED, ArmedFault, Condition, Subject
from traces.experiments.subjects.task import load_subject

OWN_SCRIPT = """
task: Which word?
tools:
  - {name: look, results: [The word is PLUM.]}
interventions: [{kind: truncate_results, params: {size: 5}}]
max_steps: 3
evidence: [{tool_succeeded: look}]
turns:
  - calls: [{name: look}]
  - The word is PLUM.
"""


class Scripted(FakeModel):
    """A model that is not the script's own, and keeps what it was asked."""

    provider = "live"

    def __init__(self, *turns):
        super().__init__(turns)
        self.requests = []

    def complete(self, messages, tool_schemas, *, control=None):
        self.requests.append([message.text for message in messages])
        return super().complete(messages, tool_schemas, control=control)


def test_a_scenario_is_a_task_with_its_own_evidence():
    task = load_subject(Subject(name="task", scenario="code_word"), None)
    result = row(task)
    assert (result.verified, result.reason, result.steps) == (True, "final", 2)
    assert row(task, condition("blank_results")).verified is False


def test_a_script_file_is_found_beside_the_design_and_what_it_sets_stays(tmp_path):
    (tmp_path / "own.yaml").write_text(OWN_SCRIPT)
    subject = Subject(name="task", script="own.yaml", evidence=({"answer_contains": "PLUM"},))
    task = load_subject(subject, tmp_path)
    loop = played(task, condition("blank_results", text="nothing")).loop
    assert [item["kind"] for item in loop.trace.interventions] == ["truncate_results", "blank_results"]
    assert loop.settings.max_steps == 3
    assert [item.check for item in loop.trace.outcome.evidence] == ["look succeeded", "the answer contains 'PLUM'"]


def test_the_step_limit_of_the_subject_is_stronger_than_that_of_its_script(tmp_path):
    (tmp_path / "own.yaml").write_text(OWN_SCRIPT)
    task = load_subject(Subject(name="task", script="own.yaml", max_steps=1), tmp_path)
    assert row(task).reason == "max_iterations"


def test_ones_own_words_are_a_task_for_another_model():
    subject = Subject(name="task", task="What is 2+3?", system="Be brief.", tools=("add",))
    task = load_subject(subject, None)
    model = Scripted("It is 5.")
    started = begun(task, model=model)
    started.loop.finish()
    assert model.requests == [["Be brief.", "What is 2+3?"]]
    assert started.loop.tools.names == ("add",)
    assert not started.script


def test_another_model_on_a_script_hears_all_words_of_the_user(tmp_path):
    """Where they stand in the script goes by the turns of a fake model, which is not there."""
    (tmp_path / "own.yaml").write_text("user: [One., Two.]\nturns: [a, b, {before: [Three.], text: c}]\n")
    task = load_subject(Subject(name="task", script="own.yaml"), tmp_path)
    loop = begun(task, model=Scripted("x", "y", "z")).loop
    loop.finish()
    while loop.more:
        loop.advance()
        loop.finish()
    assert [m.text for m in loop.messages] == ["One.", "x", "Two.", "y", "Three.", "z"]


def test_every_run_has_tools_of_its_own_and_leaves_nothing_behind():
    """Arms give the same in either order: nothing of one is there in the next."""
    task = load_subject(Subject(name="task", scenario="order"), None)
    blank = condition("blank_results")
    first = [row(task), row(task, blank)]
    second = [row(task, blank), row(task)][::-1]
    assert [each.to_dict() | {"started": None} for each in first] == [
        each.to_dict() | {"started": None} for each in second
    ]


def test_ones_own_tools_are_offered_and_cannot_hold_a_run(tmp_path):
    @tool
    def look() -> str:
        """Look."""
        return "PLUM"

    (tmp_path / "own.yaml").write_text("task: x\ntools: [look]\nturns: [{calls: [{name: look}]}, done]\n")
    task = load_subject(Subject(name="task", script="own.yaml"), tmp_path, own=[look])
    assert [each.timeout for each in task.tools()] == [60]
    assert [m.text for m in played(task).loop.messages if m.role == "tool"] == ["PLUM"]


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        (
            Subject(name="x", scenario="code_wurd"),
            "the subject 'x': there is no scenario 'code_wurd'; did you mean 'co",
        ),
        (Subject(name="x", script="none.yaml"), "the subject 'x': there is no file or scenario"),
        (Subject(name="x", task="Hi.", tools=("ad",)), "the subject 'x': "),
        (Subject(name="x", scenario="calc", evidence=({"answer_contain": "5"},)), "answer_contain"),
        (Subject(name="x", trace="none.json"), "cannot be opened"),
    ],
)
def test_what_is_wrong_with_a_subject_is_said_with_its_name(subject, words, tmp_path):
    with pytest.raises(InputError) as raised:
        load_subject(subject, tmp_path)
    assert words in str(raised.value)


def test_a_step_or_conversation_that_is_not_there_is_told_with_those_that_are(tmp_path):
    name = saved(recorded("code_word"), tmp_path)
    with pytest.raises(InputError, match="has no step 3: its steps are 1 to 2"):
        load_subject(Subject(name="x", trace=name, step=3), tmp_path)
    with pytest.raises(InputError, match=r"there is no conversation 2: run\.json holds 1"):
        load_subject(Subject(name="x", trace=name, conversation=2), tmp_path)


def test_a_trace_goes_on_from_a_step_with_the_recorded_replies_and_results(tmp_path):
    trace = recorded("calc")
    task = task_of(trace, tmp_path, step=2)
    started = played(task)
    assert (started.first_step, started.script, started.opening) == (1, True, None)
    assert [m.to_dict() for m in started.loop.messages] == [m.to_dict() for m in trace.messages]
    assert started.loop.trace.trace_id == "0123456789ab"
    assert started.loop.trace.source.to_dict() == {
        "kind": "fork", "format": None, "parent": trace.trace_id, "at": {"step": 2, "phase": "prepare"},
    }  # fmt: skip


def test_what_the_recorded_run_was_changed_by_stays_and_comes_first(tmp_path):
    script = parse_script(OWN_SCRIPT)
    loop = script.loop(pace=0)
    loop.start(script.opening)
    loop.finish()
    task = task_of(loop.trace, tmp_path, step=2)
    again = played(task, condition("drop_pairs")).loop.trace
    assert [item["kind"] for item in again.interventions] == ["truncate_results", "drop_pairs"]


def test_a_trace_is_never_changed_by_its_reruns(tmp_path):
    task = task_of(recorded("calc"), tmp_path, step=2)
    before = deepcopy((task.source.to_dict(), task.start.snapshot))
    for under in (NOTHING_CHANGED, condition("blank_results"), condition("swap_results")):
        played(task, under)
    assert (task.source.to_dict(), task.start.snapshot) == before


def test_another_model_goes_its_own_way_from_there_with_recorded_results_and_steps_of_its_own(tmp_path):
    trace = recorded("calc")
    calls = trace.messages[2].tool_calls
    model = Scripted("unused", calls, trace.messages[4].tool_calls, "20", *["more"] * 9)
    loop = begun(task_of(trace, tmp_path, step=2), model=model).loop
    loop.finish()
    assert loop.settings.max_steps >= 9
    assert [m.text for m in loop.messages if m.role == "tool"] == ["5", "5", "20"]


def test_a_call_that_was_never_recorded_gets_an_error_that_says_so_or_really_runs(tmp_path):
    trace = recorded("calc")
    other = [ToolCall("n", "add", {"a": 40, "b": 2})]

    def result(**more):
        loop = begun(task_of(trace, tmp_path, step=2, **more), model=Scripted("unused", other, "done")).loop
        loop.finish()
        return [m.text for m in loop.messages if m.role == "tool"][-1]

    assert "the script holds no result for add" in result()
    assert result(real_tools=True) == "42"


def test_words_at_the_end_to_which_no_answer_is_known_are_not_said(tmp_path):
    """Else every rerun of such a recording, the baseline too, would end with an error."""
    trace = recorded("code_word")
    trace.add(Message("user", "Goodbye."), "user")
    result = row(task_of(trace, tmp_path))
    assert (result.status, result.reason, result.agrees) == ("ended", "final", True)


def test_secrets_of_a_trace_are_in_no_run_of_it(tmp_path):
    trace = recorded("code_word")
    trace.messages[1] = Message("user", "My key is sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1w")
    loop = begun(task_of(trace, tmp_path, step=2)).loop
    assert "Ab3dEf6h" not in json.dumps(loop.snapshot())


def test_a_fault_that_cannot_strike_in_one_call_is_refused(tmp_path):
    task = task_of(recorded("code_word"), tmp_path, step=2, mode="decision")
    under = Condition(name="no check", faults=(ArmedFault(Fault("permission_check_removed")),))
    with pytest.raises(InputError, match=r"'no check'.*one model call and no tool runs.*permission_check_removed"):
        begun(task, under)


def test_in_a_decision_no_tool_runs_and_no_step_follows_whatever_is_switched_off(tmp_path):
    ran = []

    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        ran.append((a, b))
        return a + b

    trace = recorded("calc")
    name = saved(trace, tmp_path)
    subject = Subject(name="x", trace=name, step=1, mode="decision", real_tools=True)
    task = load_subject(subject, tmp_path, own=[add])
    off = tuple(Intervention(kind) for kind in ("no_policy", "no_step_limit", "no_guards"))
    started = played(task, Condition(name="off", interventions=off))
    assert ran == []
    assert len(started.loop.trace.steps) == 1
    assert [run.decision for run in started.loop.trace.steps[0].tools] == ["denied"]


def test_a_decision_is_made_over_the_recorded_request(tmp_path):
    """A client had changed the history before it asked: that is what the model is asked again."""
    trace = recorded("calc")
    trace.source.kind = "import"
    step = trace.steps[1]
    step.request.edits = [
        Edit(op="replace", message=1, by="client", with_={"role": "user", "content": "Something else."}),
        Edit(op="drop", message=0, by="client"),
    ]
    task = task_of(trace, tmp_path, step=2, mode="decision")
    started = played(task)
    request = started.loop.trace.steps[-1].request
    sent = [m.text for m in started.loop.messages[: request.upto]]
    assert (sent[0], len(sent)) == ("Something else.", step.request.upto - 1)
    assert row(task).same_decision
    assert row(task, condition("drop_pairs")).strip == "ucxc"


def test_what_the_recorded_run_had_switched_off_lets_no_tool_run_in_a_decision(tmp_path):
    script = parse_script(OWN_SCRIPT.replace("{kind: truncate_results, params: {size: 5}}", "no_policy"))
    loop = script.loop(pace=0)
    loop.start(script.opening)
    loop.finish()
    again = played(task_of(loop.trace, tmp_path, mode="decision")).loop.trace
    assert [run.decision for run in again.steps[0].tools] == ["denied"]


def test_a_call_that_a_person_let_run_has_its_recorded_result_again_and_no_real_tool_runs_unasked(tmp_path):
    script = load_script("calc")
    loop = script.loop(pace=0, policy=CapabilityPolicy(ask={"add"}))
    loop.start(script.opening)
    while loop.phase is not None:
        for position in range(len(loop.run.pending) if loop.waiting else 0):
            loop.decide(position, Decision.run())
        loop.advance()
    assert loop.trace.steps[0].tools[0].decision == "run"
    again = played(task_of(loop.trace, tmp_path)).loop.trace
    assert [m.text for m in again.messages] == [m.text for m in loop.trace.messages]
    real = played(task_of(loop.trace, tmp_path, real_tools=True)).loop.trace
    assert [run.decision for step in real.steps for run in step.tools] == ["denied", "run"]


def test_a_request_that_was_refused_as_too_long_and_made_again_shorter_is_asked_as_it_was_answered(tmp_path):
    """The shorter one is what the recorded reply answers."""
    calls = [[ToolCall(f"c{n}", "act", {"n": n})] for n in range(4)]
    refused = ModelError("too long", kind="context_overflow")
    model = FakeModel([*calls, refused, "Done."])
    budget = ContextBudget(max_tokens=2000, max_result_tokens=400, summarise=False)
    loop = Loop(model, [tool(lambda n: f"{n} " * 150, name="act")], context=budget)
    loop.start("Go.")
    loop.finish()
    assert loop.trace.outcome.reason == "final"
    task = task_of(loop.trace, tmp_path, step=len(loop.trace.steps), mode="decision")
    result = row(task)
    assert (result.reason, result.same_decision, result.answer) == ("decided", True, "Done.")
