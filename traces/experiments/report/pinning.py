"""A pytest that pins what an experiment found; it stands in the folder of the experiment.

Where all models are scripted the whole experiment is run again. Where one is not, another run would ask a server and
give other numbers: then the recorded runs are analysed again, which pins the analysis, and the test says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from traces.experiments.analysis.summary import Summary
from traces.experiments.design.experiment import Experiment
from traces.experiments.rows import Row
from traces.export.python import listed, literal, quoted

_TEST = '''\
"""What the experiment {title} found.

Made by Agent Loop Lab. {how}
It needs pytest, and the packages agent and traces with what these need on the path of Python:

    python -m pytest test_finding.py
"""

from pathlib import Path

import pytest

{imports}

HERE = Path(__file__).parent
TOOLS_FILES: list[Path] = []  # files with tools of your own, where the design names such
FINDINGS = {findings}
RUNS = {runs}
REASONS = {reasons}
VALUES = {values}


@pytest.fixture(scope="module")
{fixture}


def test_the_verdicts_are_the_same(summary):
    assert [(each.model, each.condition, each.finding) for each in summary.verdicts] == FINDINGS


def test_as_many_runs_ended_failed_or_were_stopped(summary):
    counts = [(arm.model, arm.condition, arm.started, arm.ended, arm.errors, arm.stopped) for arm in summary.arms]
    assert counts == RUNS


def test_they_ended_for_the_same_reasons(summary):
    assert [(arm.model, arm.condition, dict(arm.reasons)) for arm in summary.arms] == REASONS


def test_the_outcomes_are_the_same(summary):
    found = {{
        (arm.model, arm.condition, name): each.value
        for arm in summary.arms
        for name, each in arm.outcomes.items()
        if each.value is not None
    }}
    assert found == pytest.approx(VALUES)
'''

_AGAIN = '''\
def summary(tmp_path_factory):
    """The whole experiment, run again in a folder of its own."""
    design = read_design(HERE / "design.yaml", load_all(TOOLS_FILES))
    folder = create(tmp_path_factory.mktemp("again") / "experiment", design, HERE)
    session = Session(folder, tools_files=TOOLS_FILES)
    session.start()
    session.wait()
    assert session.progress.state == "done", session.progress.error
    return analyse(session.experiment, session.rows)'''
_AGAIN_IMPORTS = """\
from agent.toolbox.own import load_all
from traces.experiments.analysis.analyse import analyse
from traces.experiments.design.file import read_design
from traces.experiments.running.session import Session, create"""

_RECORDED = '''\
def summary():
    """The recorded runs, analysed again. No model is asked."""
    return analyse(read_design(HERE / "design.yaml", load_all(TOOLS_FILES)), read_rows(Folder(HERE)))'''
_RECORDED_IMPORTS = """\
from agent.toolbox.own import load_all
from traces.experiments.analysis.analyse import analyse
from traces.experiments.design.file import read_design
from traces.experiments.folder import Folder
from traces.experiments.running.ledger import read_rows"""

_SAID_AGAIN = """\
All models are scripted: the experiment is run again, which asks no server. A test that
fails says that something in the program does something else now."""
_SAID_RECORDED = """\
{why}, so that another run would give other numbers: the runs
that stand beside this file are analysed again."""


def finding_test(experiment: Experiment, rows: Sequence[Row], summary: Summary) -> str:
    """The source of the test. The same design and seeds give the same text with scripted models.

    Args:
        experiment: the design.
        rows: the runs that there are.
        summary: what was found in them.
    """
    why = _not_again(experiment, rows)
    how = _SAID_RECORDED.format(why=why) if why else _SAID_AGAIN
    return _TEST.format(
        title=quoted(experiment.title),
        how=how,
        imports=_RECORDED_IMPORTS if why else _AGAIN_IMPORTS,
        fixture=_RECORDED if why else _AGAIN,
        findings=_tuples((each.model, each.condition, each.finding) for each in summary.verdicts),
        runs=_tuples(
            (arm.model, arm.condition, arm.started, arm.ended, arm.errors, arm.stopped) for arm in summary.arms
        ),
        reasons=_tuples((arm.model, arm.condition, dict(sorted(arm.reasons.items()))) for arm in summary.arms),
        values=_values(summary),
    )


def _not_again(experiment: Experiment, rows: Sequence[Row]) -> str:
    """Why another run would not give the same; empty where it would."""
    if any(model.kind == "live" for model in experiment.models):
        return "A live model was asked"
    if any(subject.real_tools for subject in experiment.subjects):
        return "Tools really ran in it"
    if len(rows) < experiment.size or not all(row.counted for row in rows):
        return "Not all runs were made"
    return ""


def _tuples(rows: Iterable[tuple[object, ...]]) -> str:
    return listed([f"({', '.join(map(literal, row))})" for row in rows])


def _values(summary: Summary) -> str:
    lines = [
        f"    ({literal(arm.model)}, {literal(arm.condition)}, {literal(name)}): {literal(each.value)},"
        for arm in summary.arms
        for name, each in arm.outcomes.items()
        if each.value is not None
    ]
    return "\n".join(["{", *lines, "}"])
