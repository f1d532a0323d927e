"""What a real small model does when its tool result is taken away, row by row, by reruns of one recorded decision.

Opt in by naming a server in OPENAI_BASE_URL; meant for Qwen2.5-Coder-1.5B-Instruct behind llama-server.
"""

import os

import pytest

from agent import jsontext
from agent.interventions import Intervention
from agent.scripts import parse_script, play
from traces.experiments.cells import Cell
from traces.experiments.design.experiment import Condition, ModelSpec, Subject
from traces.experiments.running.one_run import run_cell
from traces.experiments.subjects.task import load_subject

pytestmark = pytest.mark.live

RECORDED = """
task: What is the launch code word? It stands in the file code_word.txt.
tools:
  - name: read_file
    description: Read a text file.
    parameters: {type: object, properties: {path: {type: string}}, required: [path]}
    results: [The launch code word is BANANA.]
turns:
  - calls: [{name: read_file, arguments: {path: code_word.txt}}]
  - The launch code word is BANANA.
"""
AND_GO_ON = RECORDED.replace("  - The launch", "  - before: [Go on.]\n    text: The launch")
CALL = 'read_file({"path":"code_word.txt"})'


def decided(folder, recording, kind=None, **params):
    """The row of the second decision, made by the real model."""
    script = parse_script(recording)
    loop = script.loop(pace=0)
    play(loop, script)
    (folder / "run.json").write_text(jsontext.dumps(loop.trace.to_dict()), encoding="utf-8")
    evidence = ({"answer_contains": "BANANA"},)
    subject = Subject(name="word", trace="run.json", step=2, mode="decision", evidence=evidence)
    name = os.environ.get("OPENAI_MODEL", "local-model")
    model = ModelSpec(name="small", kind="live", model=name, temperature=0, max_tokens=80, send_seed=True)
    changes = (Intervention(kind, params),) if kind else ()
    condition = Condition(name=kind or "baseline", interventions=changes)
    cell = Cell(subject.name, model.name, condition.name, 0, 1)
    row, _ = run_cell(cell, condition, load_subject(subject, folder), model)
    return row


def test_call_and_result_give_the_answer(tmp_path):
    row = decided(tmp_path, RECORDED)
    assert "BANANA" in row.answer
    assert (row.verified, row.decision, row.invented) == (True, "", False)
    assert row.tokens > 0
    assert not row.estimated
    assert row.latency_ms > 0


def test_neither_call_nor_result_gives_the_identical_call_again(tmp_path):
    row = decided(tmp_path, RECORDED, "drop_pairs")
    assert (row.decision, row.repeated_calls) == (CALL, 1)


def test_a_call_without_its_result_is_refused_and_that_is_no_wrong_answer(tmp_path):
    row = decided(tmp_path, RECORDED, "omit_results")
    assert (row.status, row.reason, row.answer) == ("error", "model_error", "")
    assert "400" in row.detail


@pytest.mark.parametrize(
    ("recording", "kind", "params"),
    [
        (AND_GO_ON, "omit_results", {}),
        (RECORDED, "blank_results", {}),
        (RECORDED, "blank_results", {"text": "[result removed]"}),
    ],
)
def test_a_result_that_is_not_there_is_invented(recording, kind, params, tmp_path):
    row = decided(tmp_path, recording, kind, **params)
    assert row.verified is False
    assert row.decision == ""
    assert "code word is" in row.answer


def test_a_result_that_was_changed_is_believed(tmp_path):
    row = decided(tmp_path, RECORDED, "replace_results", find="BANANA", text="WALNUT")
    assert "WALNUT" in row.answer
    assert (row.verified, row.invented) == (False, False)
