"""What a user may name on the command line: files, folders, patterns, standard input, and odd names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from traces.cli import main

ROOT = Path(__file__).parents[2]
CHAT = {"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]}
ORPHAN = {"messages": [{"role": "user", "content": "go"}, {"role": "tool", "tool_call_id": "x", "content": "?"}]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two traces, and beside them what else lies in such folders."""
    (tmp_path / "deep" / ".hidden").mkdir(parents=True)
    for name in ("b.json", "deep/a.json", "deep/.hidden/c.json"):
        (tmp_path / name).write_text(json.dumps(CHAT))
    (tmp_path / "README.md").write_text("# Runs")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    code = main([*arguments, "--json"])
    captured = capsys.readouterr()
    return code, [entry["file"] for entry in json.loads(captured.out)], captured.err


@pytest.mark.parametrize("command", ["summary", "lint"])
def test_the_traces_of_a_folder(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, files, err = files_of(capsys, command, str(folder))
    assert (code, files) == (0, [str(folder / "b.json"), str(folder / "deep" / "a.json")])
    assert err.count("\n") == 1
    assert "left out, for they hold no trace: README.md, package.json, photo.png" in err


def test_a_broken_trace_in_a_folder_is_a_failure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "torn.json").write_text('{"messages": [}')
    code, files, _ = files_of(capsys, "summary", str(folder))
    assert code == 1
    assert str(folder / "torn.json") in files


def test_an_error_in_one_file_of_a_folder_fails_the_whole_check(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "aa.json").write_text(json.dumps(ORPHAN))
    assert files_of(capsys, "lint", str(folder))[0] == 1


def test_a_folder_without_a_trace_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    code, files, err = files_of(capsys, "lint", "empty")
    assert (code, files) == (1, [])
    assert "empty is a folder without a trace in it" in err


@pytest.mark.parametrize(("pattern", "found"), [("*b.json", ["b.json"]), ("**/a.json", ["deep/a.json"])])
def test_a_pattern_that_no_shell_opened(
    pattern: str, found: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert files_of(capsys, "summary", pattern)[:2] == (0, found)


def test_a_pattern_for_nothing_and_a_name_that_looks_like_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert files_of(capsys, "summary", "none*.json")[:2] == (1, ["none*.json"])
    (folder / "run[1].json").write_text(json.dumps(CHAT))
    assert files_of(capsys, "summary", "run[1].json")[:2] == (0, ["run[1].json"])


def test_a_name_that_begins_with_a_dash(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "-x.json").write_text(json.dumps(CHAT))
    assert main(["summary", "./-x.json"]) == 0
    assert main(["summary", "--", "-x.json"]) == 0


def test_the_format_can_be_chosen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", "b.json", "--format", "openai-chat"]) == 0
    assert main(["summary", "b.json", "--format", "exe"]) == 2
    assert "choose from" in capsys.readouterr().err


# -- standard input and output -------------------------------------------------------------------------------------


def run(*arguments: str, **how: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "traces", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False, **how)


@pytest.mark.parametrize("command", [["summary"], ["lint"], ["convert", "--to", "markdown", "--out", "-"]])
def test_a_trace_from_standard_input(command: list[str]) -> None:
    result = run(*command, "-", input=json.dumps(CHAT).encode())
    assert result.returncode == 0
    assert result.stdout


@pytest.mark.parametrize("data", [b"", b"{torn"])
def test_standard_input_without_a_trace(data: bytes) -> None:
    result = run("summary", "-", input=data)
    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr.decode().startswith("python -m traces: standard input ")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("summary - <&-", "standard input is closed"),
        ("convert FILE --to html --out - >/dev/full", "standard output: No"),
    ],
)
def test_streams_that_cannot_be_used_are_one_sentence(how: str, words: str, folder: Path) -> None:
    command = f"exec '{sys.executable}' -m traces {how.replace('FILE', str(folder / 'b.json'))}"
    result = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode in (1, 2)
    assert result.stderr.startswith(f"python -m traces: {words}") and result.stderr.count("\n") == 1


def test_the_reader_of_a_conversion_may_stop_early(folder: Path) -> None:
    command = f"'{sys.executable}' -m traces convert '{folder / 'b.json'}' --to html --out - | head -c 9"
    result = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert (result.stdout, result.stderr) == (b"<!doctype", b"")


def test_no_command_names_the_commands() -> None:
    result = run(env={**os.environ, "LC_ALL": "C"})
    assert result.returncode == 2
    assert b"summary,lint,convert" in result.stderr
