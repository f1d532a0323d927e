"""One run of an experiment: driven to its end under its condition, whatever goes wrong in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent import FakeModel, Loop, Tool, ToolCall, Trace
from agent.faults import Fault
from agent.interventions import Intervention
from traces import save_trace
from traces.experiments.cells import Cell
from traces.experiments.design.experiment import NOTHING_CHANGED, ArmedFault, Condition, ModelSpec, Subject
from traces.experiments.rows import Row
from traces.experiments.running.one_run import run_cell
from traces.experiments.subjects.task import load_subject
from traces.opening import open_trace

CELL = Cell("s", "script", "c", 2, 7)
SPEC = ModelSpec(name="script")
ASKING = """
task: Do it.
tools: [add]
policy: {ask: [add]}
turns:
  - calls: [{name: add, arguments: {a: 2, b: 3}}]
  - text: I may not.
"""


def run(
    subject: Subject, condition: Condition = NOTHING_CHANGED, base: Path = Path(), own: Any = (), **options: Any
) -> tuple[Row, Trace]:
    return run_cell(CELL, condition, load_subject(subject, base, own), SPEC, **options)


def scenario(name: str) -> Subject:
    return Subject(name="s", scenario=name)


def test_a_run_ends_with_its_answer_and_a_trace_that_says_what_it_is_of(tmp_path: Path) -> None:
    row, trace = run(scenario("code_word"), experiment="eeeeeeeeeeee", journal=tmp_path)
    assert (row.status, row.reason, row.verified, row.seed) == ("ended", "final", True, 7)
    (kept,) = open_trace(tmp_path / f"{row.trace_id}.json")
    assert kept.to_dict() == trace.to_dict()
    assert row.trace_id == CELL.trace_id("eeeeeeeeeeee") == kept.trace_id
    said = kept.extra["experiment"]
    assert (said["id"], said["subject"], said["condition"], said["repeat"]) == ("eeeeeeeeeeee", "s", "c", 2)
    assert [path.name for path in tmp_path.iterdir()] == [f"{row.trace_id}.json"]


def test_the_interventions_of_the_condition_change_the_requests() -> None:
    row, trace = run(scenario("code_word"), Condition(name="c", interventions=(Intervention("blank_results"),)))
    assert row.verified is False
    assert [edit.by for step in trace.steps if step.request for edit in step.request.edits] == ["blank_results"]


@pytest.mark.parametrize("step", [1, 2])
def test_a_fault_strikes_in_the_step_for_which_it_is_armed(tmp_path: Path, step: int) -> None:
    (tmp_path / "s.yaml").write_text(
        "task: Add.\ntools: [add]\nturns:\n"
        "  - calls: [{name: add, arguments: {a: 1, b: 1}}]\n"
        "  - calls: [{name: add, arguments: {a: 2, b: 2}}]\n"
        "  - text: Done.\n"
    )
    condition = Condition(name="c", faults=(ArmedFault(Fault("tool_raises"), step),))
    row, trace = run(Subject(name="s", script="s.yaml"), condition, tmp_path)
    assert [[tool.ok for tool in each.tools] for each in trace.steps[:2]] == [[step != 1], [step != 2]]
    assert (row.tool_errors, row.reason) == (1, "final")


def test_a_fault_of_a_continued_trace_counts_from_where_the_run_goes_on(tmp_path: Path) -> None:
    add = Tool(name="add", description="Adds.", parameters={"type": "object"}, func=lambda a, b: a + b)
    said: list[Any] = [[ToolCall(f"c{n}", "add", {"a": n, "b": n})] for n in (1, 2, 3)]
    loop = Loop(FakeModel([*said, "Done."]), [add])
    loop.start("Add three times.")
    loop.finish()
    save_trace(loop.trace, tmp_path)
    condition = Condition(name="c", faults=(ArmedFault(Fault("tool_raises"), 2),))
    subject = Subject(name="s", trace=f"{loop.trace.trace_id}.json", step=2)
    row, trace = run(subject, condition, tmp_path)
    assert [tool.ok for step in trace.steps for tool in step.tools] == [True, True, False]
    assert row.steps == 3


def test_a_call_that_a_person_should_decide_about_is_denied(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(ASKING)
    row, trace = run(Subject(name="s", script="s.yaml"), base=tmp_path)
    assert (row.status, row.answer) == ("ended", "I may not.")
    assert [tool.decision for step in trace.steps for tool in step.tools] == ["denied"]


def test_a_conversation_of_several_turns_is_run_to_its_last() -> None:
    row, trace = run(scenario("two_questions"))
    assert [message.role for message in trace.messages].count("user") == 2
    assert (row.steps, row.verified) == (4, True)


def test_a_tool_that_breaks_is_a_result_and_no_error_of_the_run(tmp_path: Path) -> None:
    def broken(word: str) -> str:
        raise OSError("the disk of the tool is gone")

    turns = "turns:\n  - calls: [{name: broken, arguments: {word: x}}]\n  - Gone.\n"
    (tmp_path / "s.yaml").write_text("task: Go.\ntools: [broken]\n" + turns)
    own = (Tool(name="broken", description="", parameters={"type": "object"}, func=broken),)
    row, _ = run(Subject(name="s", script="s.yaml"), base=tmp_path, own=own)
    assert (row.status, row.tool_errors) == ("ended", 1)


def test_a_model_that_has_nothing_to_say_is_a_row_and_a_trace(tmp_path: Path) -> None:
    row, trace = run(Subject(name="s", task="Say something."), journal=tmp_path)
    assert (row.status, row.steps, row.counted) == ("error", 0, True)
    assert "has no script" in row.detail
    assert open_trace(tmp_path / f"{trace.trace_id}.json")[0].outcome.detail == row.detail


def test_what_a_killed_run_left_behind_makes_room_for_the_new_one(tmp_path: Path) -> None:
    trace_id = CELL.trace_id("e")
    for suffix in (".jsonl", ".jsonl.tmp", ".json", ".json.tmp"):
        (tmp_path / f"{trace_id}{suffix}").write_text("torn")
    run(scenario("code_word"), experiment="e", journal=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{trace_id}.json"]


class StopAfter:
    """Stops a run after so many phases."""

    def __init__(self, phases: int) -> None:
        self.left = phases

    def begin(self, loop: Loop, usage: Any) -> None:
        self.usage = usage

    def between(self, loop: Loop) -> str:
        self.left -= 1
        return "enough" if self.left < 0 else ""


@pytest.mark.parametrize("phases", range(14))
def test_a_run_can_be_stopped_between_any_two_phases_and_is_counted_apart(tmp_path: Path, phases: int) -> None:
    row, trace = run(scenario("two_questions"), control=StopAfter(phases), journal=tmp_path)
    assert (row.status, row.detail, row.counted) == ("stopped", "enough", False)
    assert trace.extra["experiment"]["stopped"] == "enough"
    assert [path.name for path in tmp_path.iterdir()] == [f"{trace.trace_id}.json"]


def test_a_control_is_told_what_a_run_has_used() -> None:
    control = StopAfter(1000)
    row, _ = run(scenario("code_word"), control=control)
    assert control.usage() == (row.tokens, 0)
