"""``python -m traces lint``: exit codes, both forms of output, the choice of rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from traces.cli import main

SOUND = {"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]}
ORPHAN = {"messages": [{"role": "user", "content": "go"}, {"role": "tool", "tool_call_id": "x", "content": "\x1b[2J"}]}
EMPTY = {"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": ""}]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "trace.json"


def write(file: Path, data: object) -> str:
    file.write_text(json.dumps(data), encoding="utf-8")
    return str(file)


def test_nothing_found(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", write(file, SOUND)]) == 0
    assert capsys.readouterr().out.strip() == f"{file}: nothing found"


def test_an_error_ends_with_1_and_says_where_and_how_to_mend_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", write(file, ORPHAN)]) == 1
    out = capsys.readouterr().out
    assert f"{file}: 1 error" in out
    assert "message 2: error orphan_result: Message 2 is a tool result for x" in out
    assert "Remove the result" in out


def test_a_warning_alone_ends_with_0(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", write(file, EMPTY)]) == 0
    assert "warning empty_answer" in capsys.readouterr().out


def test_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--json", write(file, ORPHAN)]) == 1
    (entry,) = json.loads(capsys.readouterr().out)
    (finding,) = entry["traces"][0]["findings"]
    assert (finding["rule"], finding["severity"], finding["message"]) == ("orphan_result", "error", 1)
    assert finding["evidence"] == [1]


def test_only_one_rule(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", write(file, ORPHAN), "--rule", "empty_answer"]) == 0
    assert main(["lint", write(file, ORPHAN), "--rule", "no_such_rule"]) == 2
    assert "no_such_rule" in capsys.readouterr().err


def test_a_file_that_does_not_open_ends_with_1_and_the_others_are_looked_at(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", str(file) + ".gone", write(file, SOUND)]) == 1
    captured = capsys.readouterr()
    assert ".gone" in captured.err
    assert "nothing found" in captured.out


def test_no_file_is_bad_usage() -> None:
    assert main(["lint"]) == 2
