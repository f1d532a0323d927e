"""Opt-in: every real trace in the folder named by ``AGENT_LAB_SAMPLES`` is a subject of an experiment.

Nothing is taken away: the recorded replies and the stand-in must make the recorded decision, and a run that goes on
with the recorded replies must come to the recorded answer.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.errors import InputError
from agent.trace import Trace
from tests.traces.experiments.rerun import SCRIPT, STAND_IN, row
from traces.experiments.design.experiment import NOTHING_CHANGED, Mode, Subject
from traces.experiments.subjects.rerun import beginning
from traces.experiments.subjects.stand_in import stand_in
from traces.experiments.subjects.task import Task
from traces.opening import read_file
from traces.redacting import without_secrets
from traces.scripting import script_of

pytestmark = pytest.mark.samples

FOLDER = Path(os.environ.get("AGENT_LAB_SAMPLES", "."))


def conversations() -> list[Trace]:
    found: list[Trace] = []
    for path in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        try:
            found += read_file(path).traces
        except InputError:
            continue
    return found


def task_of(trace: Trace, step: int, mode: Mode) -> Task:
    subject = Subject(name="sample", trace="sample.json", step=step, mode=mode)
    return Task(subject=subject, script=script_of(trace), source=trace, start=beginning(trace, step))


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    found = [without_secrets(trace)[0] for trace in conversations()]
    assert len(found) >= 500
    return found


def test_each_has_a_stand_in_that_says_that_its_rules_are_ours(traces):
    assert all("by rules of this program" in stand_in(trace).summary for trace in traces)


@pytest.mark.parametrize("spec", [SCRIPT, STAND_IN], ids=lambda spec: spec.name)
def test_the_recorded_decision_is_made_again(traces, spec):
    wrong = []
    for trace in traces:
        for step in {max(1, len(trace.steps) * 2 // 3), len(trace.steps)} if trace.steps else ():
            made = row(task_of(trace, step, "decision"), NOTHING_CHANGED, spec)
            known = trace.steps[step - 1].reply is not None
            if known and not made.same_decision:
                wrong.append((trace.source.format, trace.title, step, made.reason, made.decision))
    assert wrong == []


def test_the_recorded_answer_is_come_to_again(traces):
    wrong = []
    for trace in traces:
        for step in {1, max(1, len(trace.steps) // 2)} if trace.steps else ():
            made = row(task_of(trace, step, "continue"))
            if made.agrees is False:
                wrong.append((trace.source.format, trace.title, step, made.reason, made.detail))
    assert wrong == []
