"""The bundle for someone else, the selection of steps in it, and the command that converts."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agent import InputError, Message, Trace
from agent.trace import Entry
from traces import open_trace, read_file, save_trace
from traces.bundle import bundle
from traces.cli import main
from traces.export import export
from traces.export.order import answers
from traces.selecting import select_steps, step_numbers

KEY = "sk-proj-Abcdefgh12345678Zz"


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_bundle_holds_the_trace_and_what_is_known_about_it(trace: Trace, tmp_path: Path) -> None:
    report = read_file(save_trace(trace, tmp_path))
    files = unpacked(bundle(trace, report).data)
    assert list(files) == [
        "README.txt",
        "findings.json",
        "import-report.json",
        "removed.json",
        "trace.json",
        "transcript.md",
        "versions.json",
    ]
    assert open_trace(files["trace.json"]) == [trace]
    about = json.loads(files["import-report.json"])
    assert (about["file"], about["format"]) == (f"{trace.trace_id}.json", "agent-trace/1"), "no folder is told"
    assert {"python", "pandas", "trace format"} <= json.loads(files["versions.json"]).keys()
    assert isinstance(json.loads(files["findings.json"]), list)


def test_the_same_trace_gives_the_same_bundle(trace: Trace) -> None:
    assert bundle(trace).data == bundle(trace).data


def test_no_secret_is_in_any_file_of_a_bundle(trace: Trace, tmp_path: Path) -> None:
    report = read_file(save_trace(trace, tmp_path))
    report.unread.append(f"a line with {KEY} in it")
    trace.messages.append(Message("user", f"here: {KEY}"))
    trace.entries.append(Entry(maker="user"))
    exported = bundle(trace, report)
    files = unpacked(exported.data)
    assert all(KEY.encode() not in data for data in files.values())
    told = json.loads(files["removed.json"])
    assert [item["where"] for item in told] == ["messages[5].content", "import-report: unread[0]"]
    assert [item.to_dict() for item in exported.removed] == told


def test_some_steps_of_a_trace_are_a_trace(trace: Trace) -> None:
    part = select_steps(trace, {1})
    assert [message.role for message in part.messages] == ["system", "user", "assistant", "tool"]
    assert answers(part) == {2: [3]}
    assert part.steps[0].request is not None
    assert part.steps[0].request.upto == 2
    later = select_steps(trace, {2})
    assert [message.role for message in later.messages] == ["system", "user", "assistant"]
    assert (later.steps[0].reply, later.steps[0].index) == (2, 2)
    assert later.notes[0]["text"] == "only the steps 2 of 2 are here"
    assert open_trace(export(later, "native").data) == [later]
    assert len(trace.messages) == 5, "the trace itself is never changed"


def test_steps_that_are_not_there_are_refused(trace: Trace) -> None:
    with pytest.raises(InputError, match="none of these steps"):
        bundle(trace, steps={9})


# -- the command ---------------------------------------------------------------------------------------------------


def convert(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    code = main(["convert", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def file(trace: Trace, tmp_path: Path) -> Path:
    return save_trace(trace, tmp_path)


@pytest.mark.parametrize("format", ["native", "openai", "atif", "csv", "markdown", "notebook", "html", "bundle"])
def test_each_form_is_written_to_a_file(
    format: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    code, out, _ = convert(capsys, file, "--to", format, "--out", folder)
    (written,) = folder.iterdir()
    assert (code, out.strip()) == (0, str(written))
    assert written.stat().st_size > 100


def test_nothing_is_overwritten_without_force(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mine.md"
    out.write_text("mine")
    code, _, err = convert(capsys, file, "--to", "markdown", "--out", out)
    assert code == 2
    assert "--force" in err
    assert out.read_text() == "mine"
    assert convert(capsys, file, "--to", "markdown", "--out", out, "--force")[0] == 0
    assert out.read_text().startswith("# Trace")


def test_a_link_is_not_followed_to_another_file(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, link = tmp_path / "target", tmp_path / "link.md"
    target.write_text("mine")
    link.symlink_to(target)
    assert convert(capsys, file, "--to", "markdown", "--out", link)[0] == 2
    assert convert(capsys, file, "--to", "markdown", "--out", link, "--force")[0] == 0
    assert target.read_text() == "mine"


def test_what_was_taken_out_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps([{"role": "user", "content": f"use {KEY}"}]))
    code, out, err = convert(capsys, path, "--to", "native", "--out", tmp_path / "x.json")
    assert code == 0
    assert "3 secrets taken out" in err, "title and task repeat the message"
    assert "messages[0].content, 26 characters" in err
    assert KEY not in out + err + (tmp_path / "x.json").read_text()


def test_of_several_conversations_one_is_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.jsonl"
    rows = [{"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "ok"}]} for text in "ab"]
    path.write_text("\n".join(map(json.dumps, rows)))
    code, _, err = convert(capsys, path, "--to", "native", "--out", tmp_path / "x.json")
    assert code == 2
    assert "--conversation 1 to 2" in err
    assert convert(capsys, path, "--to", "native", "--out", tmp_path / "x.json", "--conversation", 2)[0] == 0
    assert open_trace(tmp_path / "x.json")[0].messages[0].text == "b"
    assert convert(capsys, path, "--to", "native", "--conversation", 3)[0] == 2


def test_some_steps_are_converted(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(capsys, file, "--to", "native", "--out", tmp_path / "x.json", "--steps", "2")[0] == 0
    assert [step.index for step in open_trace(tmp_path / "x.json")[0].steps] == [2]


@pytest.mark.parametrize("text", ["", "x", "1-", "-2", "1,,2", "9" * 30])
def test_steps_that_are_no_numbers_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="like 3-5,8"):
        step_numbers(text)


def test_what_cannot_be_opened_or_written_is_one_sentence(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.json").write_text('{"x": 1}')
    for code, arguments in [
        (1, (tmp_path / "none.json", "--to", "native")),
        (1, (tmp_path / "odd.json", "--to", "native")),
        (2, (file, "--to", "exe")),
        (2, (file, "--to", "native", "--format", "exe")),
        (2, (file, "--to", "native", "--steps", "7")),
        (2, (file, "--to", "native", "--out", tmp_path / "no" / "folder.json")),
    ]:
        found, out, err = convert(capsys, *arguments)
        assert (found, out) == (code, "")
        assert err.startswith("python -m traces: ")
        assert err.count("\n") == 1
