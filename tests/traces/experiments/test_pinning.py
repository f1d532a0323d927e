"""The test that pins what was found: it passes where that is still so, and fails where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.traces.experiments.found import EXPERIMENT, NASTY, rows, summary
from traces.experiments.design.experiment import Experiment, Subject
from traces.experiments.design.file import parse_design
from traces.experiments.folder import Folder
from traces.experiments.report.pinning import finding_test
from traces.experiments.report.writing import write_report
from traces.experiments.running.session import Session, create

ROOT = Path(__file__).resolve().parents[3]
DESIGN = """\
subjects: [code_word]
conditions: [blank_results]
repeats: 7
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A scripted experiment that is over."""
    made = create(tmp_path / "experiment", parse_design(DESIGN), tmp_path)
    session = Session(made)
    session.start()
    session.wait()
    write_report(made)
    return made


def run(folder: Folder) -> tuple[int, str]:
    """Run the test as its head says, with the program on the path."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder.test.name]
    done = subprocess.run(command, cwd=folder.path, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_finding_is_found_again_by_running_everything_again(folder: Folder) -> None:
    folder.ledger.unlink()  # nothing of the first run is needed
    code, output = run(folder)
    assert (code, "4 passed" in output) == (0, True), output


def test_it_fails_when_the_design_finds_something_else(folder: Folder) -> None:
    text = folder.design.read_text()
    folder.design.write_text(text.replace("[blank_results]", "[{name: blank_results, interventions: [no_policy]}]"))
    assert folder.design.read_text() != text
    code, output = run(folder)
    assert code == 1
    assert "test_the_verdicts_are_the_same" in output


def test_of_a_live_model_the_recorded_runs_are_analysed_again_and_it_says_so() -> None:
    text = finding_test(EXPERIMENT, rows(), summary())
    assert "A live model was asked" in text
    assert "read_rows(Folder(HERE))" in text
    assert "Session" not in text


@pytest.mark.parametrize("missing", ["not run", "stopped"])
def test_runs_that_are_missing_are_not_made_up_for(folder: Folder, missing: str) -> None:
    lines = folder.ledger.read_text().splitlines(keepends=True)
    last = lines.pop()
    if missing == "stopped":
        lines.append(last.replace('"status":"ended"', '"status":"stopped"'))
    folder.ledger.write_text("".join(lines))
    write_report(folder)
    assert "Not all runs were made" in folder.test.read_text()
    code, output = run(folder)
    assert code == 0, output
    folder.ledger.write_text("".join(lines[:1]))
    assert run(folder)[0] == 1


def test_tools_that_really_run_are_not_run_by_a_test() -> None:
    subject = Subject(name="s", trace="subjects/run.json", real_tools=True)
    design = Experiment(subjects=(subject,), repeats=1)
    assert "Tools really ran in it" in finding_test(design, rows(), summary())


def test_names_can_end_no_text_and_run_nothing() -> None:
    title = f'"""\nimport os\n{NASTY}\\'
    text = finding_test(replace(EXPERIMENT, title=title), rows(), summary())
    compile(text, "test_finding.py", "exec")
    assert "\nimport os\n" not in text
