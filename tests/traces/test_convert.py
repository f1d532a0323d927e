"""``python -m traces convert`` to a script and to a test: what is written, what is told, and what a test notices."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from agent import CapabilityPolicy, FakeModel, Loop, Message, Tool, ToolCall, Trace
from agent.scripts import load_script, play
from agent.trace import Entry
from traces import open_trace
from traces.cli import main
from traces.export import export
from traces.export.native import write as native
from traces.export.regression import files

ROOT = Path(__file__).parents[2]
KEY = "sk-proj-Abcdefgh12345678Zz"


@pytest.fixture
def saved(trace: Trace, tmp_path: Path) -> Path:
    """A finished run of ours in a file."""
    path = tmp_path / "run.json"
    path.write_bytes(native(trace))
    return path


# -- scripts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["again.yaml", "again.json", "again.txt"])
def test_a_trace_becomes_a_script_that_can_be_played(
    name: str, saved: Path, trace: Trace, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved.with_name(name)
    assert main(["convert", str(saved), "--to", "script", "--out", str(path)]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (f"{path}\n", "  its replay, 5 messages, is the recorded run\n")
    assert path.read_text().startswith("{" if name.endswith(".json") else "title: What is 2+3?\n")
    script = load_script(path)
    loop = script.loop(pace=0)
    play(loop, script)
    assert [message.text for message in loop.messages] == [message.text for message in trace.messages]
    assert loop.trace.outcome.final == "It is 5."


def test_a_script_goes_under_its_own_name(
    saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(saved.parent)
    assert main(["convert", str(saved), "--to", "script"]) == 0
    name = capsys.readouterr().out.strip()
    assert re.fullmatch(r"what-is-2-3-[0-9a-f]{12}\.script\.yaml", name)
    assert load_script(name).title == "What is 2+3?"


def test_a_script_that_is_too_long_for_yaml_becomes_json(
    trace: Trace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace.messages.append(Message("user", "word " * 250_000))
    trace.entries.append(Entry(maker="user"))
    source = tmp_path / "run.json"
    source.write_bytes(native(trace))
    assert main(["convert", str(source), "--to", "script", "--out", str(tmp_path / "a.yaml")]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{tmp_path / 'a.json'}\n"
    assert "too long for YAML and is written as JSON" in captured.err
    assert load_script(tmp_path / "a.json").turns
    assert not (tmp_path / "a.yaml").exists()


def test_one_of_several_conversations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chats = [
        {"messages": [{"role": "user", "content": f"go {n}"}, {"role": "assistant", "content": "x"}]} for n in (1, 2)
    ]
    source = tmp_path / "two.jsonl"
    source.write_text("\n".join(map(json.dumps, chats)))
    assert main(["convert", str(source), "--to", "script", "--out", "-"]) == 2
    capsys.readouterr()
    assert main(["convert", str(source), "--to", "script", "--trace", "2", "--out", "-"]) == 0
    assert "task: go 2\n" in capsys.readouterr().out


def test_where_a_replay_differs_is_told_without_secrets(
    save: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"id": "a", "type": "function", "function": {"name": "add", "arguments": json.dumps({"api_key": KEY})}}
    chat = [
        {"role": "user", "content": f"my key is {KEY}"},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "assistant", "content": "done"},
    ]
    path = save({"messages": chat})
    assert main(["convert", str(path), "--to", "script", "--out", "-"]) == 0
    captured = capsys.readouterr()
    assert KEY not in captured.out + captured.err
    assert "1 call without a result: answered by the replay" in captured.err
    assert "its replay, 4 messages, differs from the recorded run:\n    message 3 (tool) is new" in captured.err


# -- tests ---------------------------------------------------------------------------------------------------------


def run_tests(folder: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run what is in a folder with plain pytest, where nothing of the project is there but agent/."""
    shutil.copytree(ROOT / "agent", folder / "agent", ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    (folder / "conftest.py").write_text(before)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "PYTHON"))}
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False)


UNNEEDED = """
import sys
for name in ("yaml", "openai", "orjson", "msgspec", "streamlit", "pandas", "plotly", "PIL"):
    sys.modules[name] = None
"""
"""Nothing of these is there: a test says at its head which packages it needs."""


def test_an_exported_test_passes_as_it_is(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pinned"
    folder.mkdir()
    assert main(["convert", str(saved), "--to", "pytest", "--out", str(folder)]) == 0
    test, script = (Path(line) for line in capsys.readouterr().out.splitlines())
    assert (test.suffix, script) == (".py", test.with_suffix(".json"))
    assert main(["convert", str(saved), "--to", "pytest", "--out", str(folder / "test_sum.py")]) == 0
    assert (folder / "test_sum.json").read_bytes() == script.read_bytes()
    done = run_tests(folder, UNNEEDED)
    assert "12 passed" in done.stdout, done.stdout + done.stderr


CHANGES = {
    "results are not written back": """
from agent import noting
def nothing(run, budget): run.pending = run.pending
noting.append_results = nothing
""",
    "a step more": """
from agent import loop
stop = loop.first_stop
def later(run, settings, rules):
    return None if run.iteration == 2 else stop(run, settings, rules)
loop.first_stop = later
""",
    "another stop reason": """
from agent import stops
stops.RULES = tuple(rule for rule in stops.RULES if rule is not stops.answered)
""",
    "a notice before each result": """
from agent.approval import Decision
Decision.notice = lambda self: "[run]"
""",
    "calls are denied": """
from agent import acting
from agent.approval import Decision
acting._verdict = lambda *more: (Decision("denied", reason="no"), "")
""",
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_exported_test_fails_when_the_loop_changes(change: str, trace: Trace, tmp_path: Path) -> None:
    for name, data in files(trace).items():
        (tmp_path / name).write_bytes(data)
    done = run_tests(tmp_path, CHANGES[change])
    assert done.returncode == 1, done.stdout + done.stderr
    assert "failed" in done.stdout


def test_an_exported_test_fails_when_the_policy_is_not_asked(add: Tool, tmp_path: Path) -> None:
    policy = CapabilityPolicy(deny=["add"])
    loop = Loop(FakeModel([[ToolCall("c1", "add", {"a": 2, "b": 3})], "I may not."]), [add], policy=policy)
    loop.start("go")
    loop.finish()
    for name, data in files(loop.trace).items():
        (tmp_path / name).write_bytes(data)
    assert "6 passed" in run_tests(tmp_path).stdout
    done = run_tests(
        tmp_path, "from agent.policy import CapabilityPolicy as P\nP.check = lambda self, name: ('run', '')\n"
    )
    assert "1 failed, 5 passed" in done.stdout, done.stdout + done.stderr


def test_the_test_imports_the_package_alone_and_needs_no_yaml(trace: Trace) -> None:
    (name, test), (script_name, script) = files(trace).items()
    imported = re.findall(r"^(?:from|import) (\w+)", test.decode(), re.M)
    assert set(imported) == {"pathlib", "pytest", "agent"}
    assert (name.removesuffix(".py"), name[:5]) == (script_name.removesuffix(".json"), "test_")
    assert json.loads(script)["replay"] == {"mode": "strict"}


def test_what_is_pinned_is_the_replay_and_its_head_says_where_that_differs(save: Callable[..., Path]) -> None:
    asked = {"id": "a", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    chat = [
        {"role": "user", "content": 'go """\n\\ \u202e'},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "assistant", "content": 'done """ \\ \u2028.'},
    ]
    (trace,) = open_trace(save({"messages": chat}))
    test = next(iter(files(trace).values())).decode()
    known: dict[str, Any] = {}
    head = compile(test, "test.py", "exec").co_consts[0]
    exec(test[test.index("KINDS") : test.index("@pytest")], known)
    assert (known["KINDS"], known["CALLS"]) == (["tool_call", "final"], [("add", {})])
    assert known["ANSWER"] == chat[2]["content"]
    assert "message 3 (tool) is new" in head
    assert "\u202e" not in test


def test_many_calls_stand_in_the_script_alone(add: Tool, tmp_path: Path) -> None:
    calls = [[ToolCall(f"c{n}", "add", {"a": n, "b": 1})] for n in range(400)]
    loop = Loop(FakeModel([*calls, "done"]), [add], max_steps=500)
    loop.start("go")
    loop.finish()
    made = files(loop.trace)
    test = next(iter(made.values())).decode()
    assert "CALLS = [(call.name, call.arguments) for turn in SCRIPT.turns for call in turn.calls]" in test
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    assert "6 passed" in run_tests(tmp_path).stdout


def test_a_test_is_a_zip_of_two_files_and_cannot_be_printed(
    trace: Trace, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported = export(trace, "pytest")
    assert exported.name.endswith(".pytest.zip")
    with zipfile.ZipFile(BytesIO(exported.data)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files(trace)
    assert main(["convert", str(saved), "--to", "pytest", "--out", "-"]) == 2
    assert "writes two files" in capsys.readouterr().err


def test_a_test_goes_into_a_folder_that_is_made_for_it_or_under_a_name_of_its_own(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "tests"
    assert main(["convert", str(saved), "--to", "pytest", "--out", str(folder)]) == 0
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".py"]
    assert main(["convert", str(saved), "--to", "pytest", "--out", str(folder / "test_mine.py")]) == 0
    assert (folder / "test_mine.json").is_file() and (folder / "test_mine.py").is_file()
