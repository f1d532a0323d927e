"""``python -m traces ablate``: what it prints, where it goes on, what it refuses, and its exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.models.conftest import ChatServer
from tests.traces.experiments.noting import marks, write_design
from traces.cli import main
from traces.experiments.folder import Folder
from traces.experiments.running import gate
from traces.experiments.running.ledger import read_rows

CODE_WORD = """
title: Does it need its tool results?
subjects: [code_word]
conditions: [blank_results, {name: no change, interventions: [{kind: truncate_results, params: {size: 4000}}]}]
repeats: %d
"""


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "design.yaml"
    path.write_text(CODE_WORD % 8)
    return path


def ablate(*arguments: object) -> int:
    return main(["ablate", *map(str, arguments)])


def test_the_arms_and_verdicts_are_the_result_and_the_rest_is_said_beside_it(
    design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ablate(design, "--out", tmp_path / "out", "--workers", 2) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "Does it need its tool results?: verified success"
    cells = {line.split("  ")[1].strip(): line.split() for line in lines[1:5]}
    assert cells["baseline"][1:4] == ["8", "0", "0"]
    assert any(line.startswith("blank_results: An effect, and every repeat was the same, ") for line in lines)
    assert any(line.startswith("no change: ") and "An effect" not in line for line in lines)
    assert err.splitlines()[0].startswith("24 runs, 48 to ")
    assert "24 of 24 runs" in err
    folder = Folder(tmp_path / "out")
    for path in (folder.design, folder.table, folder.summary, folder.report, folder.test):
        assert path.is_file(), path
    assert len(list(folder.traces.glob("*.json"))) == 24


def test_errors_of_runs_are_told_and_made_again_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text("task: Go.\nturns: [{error: {text: too busy, kind: provider, status: 503}}]\n")
    design = tmp_path / "design.yaml"
    design.write_text("subjects: [{name: s, script: s.yaml}]\nrepeats: 2\noutcome: finished\n")
    assert ablate(design, "--out", tmp_path / "out") == 1
    assert "2 of 2 runs, 2 errors" in capsys.readouterr().err
    assert ablate(design, "--out", tmp_path / "out", "--resume") == 1
    assert len(Folder(tmp_path / "out").ledger.read_bytes().splitlines()) == 2
    assert ablate(design, "--out", tmp_path / "out", "--resume", "--retry-errors") == 1
    assert "2 runs that were errors were made again" in capsys.readouterr().err
    assert len(read_rows(Folder(tmp_path / "out"))) == 2


def test_a_budget_ends_it_before_its_end_and_a_larger_one_goes_on(
    design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design.write_text(CODE_WORD % 8 + "budget: {tokens: 1000}\n")
    assert ablate(design, "--out", tmp_path / "out") == 1
    out, err = capsys.readouterr()
    assert "the budget of the experiment is used up" in err
    assert "An effect" not in out, "there is no verdict before it is over"
    design.write_text(CODE_WORD % 8 + "budget: {tokens: 100000}\n")
    assert ablate(design, "--out", tmp_path / "out", "--resume") == 0
    assert len(read_rows(Folder(tmp_path / "out"))) == 24


def test_a_folder_with_something_in_it_is_refused(
    design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep me")
    assert ablate(design, "--out", tmp_path / "out") == 2
    assert "out is not empty: --resume goes on with an experiment in it" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    assert ablate(design, "--out", design) == 2


def test_going_on_where_nothing_is_begins(design: Path, tmp_path: Path) -> None:
    design.write_text(CODE_WORD % 1)
    assert ablate(design, "--out", tmp_path / "out", "--resume") == 0
    assert len(read_rows(Folder(tmp_path / "out"))) == 3


@pytest.mark.parametrize("change", ["repeats", "script", "condition"])
def test_another_design_is_not_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str) -> None:
    design = write_design(tmp_path / "design", repeats=1)
    own = ("--tools-file", design.with_name("own.py"))
    assert ablate(design, "--out", tmp_path / "out", *own) == 0
    before = marks(design.parent)
    if change == "script":
        script = design.with_name("words.yaml")
        script.write_text(script.read_text().replace("MOON", "SUN"))
    else:
        old, new = ("repeats: 1", "repeats: 2") if change == "repeats" else ("blank_results", "drop_pairs")
        design.write_text(design.read_text().replace(old, new))
    assert ablate(design, "--out", tmp_path / "out", "--resume", *own) == 2
    assert "holds another design than" in capsys.readouterr().err
    assert marks(design.parent) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--workers", "0"), "--workers: it must be a whole number from 1 to 64, not '0'"),
        (("--workers", "many"), "not 'many'"),
        (("--scheduler", "tcp://127.0.0.1:9"), "add --engine dask"),
        (("--retry-errors",), "add --resume"),
        (("--engine", "ray"), "invalid choice"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert ablate(design, "--out", tmp_path / "out", *arguments) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_mistake_in_the_design_is_told_with_its_line(
    design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design.write_text("subjects: [code_word]\nconditions: [blank_result]\n")
    assert ablate(design, "--out", tmp_path / "out") == 2
    assert "design.yaml, line 2" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_server_that_answers_nothing_ends_it_and_does_not_burn_the_design(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "FIRST_WAIT_S", 0.01)
    server = ChatServer()
    try:
        for _ in range(gate.ERRORS_IN_A_ROW):
            server.fail(401, "who is this?")
        design = tmp_path / "design.yaml"
        model = f'{{name: live, model: m, base_url: "{server.url}"}}'
        design.write_text(f"subjects: [{{task: Go.}}]\nmodels: [{model}]\nrepeats: 30\noutcome: finished\n")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-ours")
        assert ablate(design, "--out", tmp_path / "out") == 1
        told = capsys.readouterr().err
        assert "5 runs of live failed one after the other" in told
        assert f"live: the key in OPENAI_API_KEY goes to {server.url}" in told
        assert "sk-ours" not in told
        assert len(server.requests) == len(read_rows(Folder(tmp_path / "out"))) == 5
    finally:
        server.close()
