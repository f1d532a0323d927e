import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from traces import save_trace
from traces.cli import main

ROOT = Path(__file__).parents[2]
KEYS = [
    "trace_id", "title", "messages", "roles", "steps", "tool_calls", "tool_results", "unpaired_calls", "orphan_results",
    "errors", "parallel_steps", "models", "tokens", "cost", "reported", "reported_cost",
    "duration_s", "outcome", "warnings",
]  # fmt: skip


def run(*arguments, **environment):
    command = [sys.executable, "-m", "traces", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, env={**os.environ, **environment}, timeout=60)


def summary(*paths):
    result = run("summary", "--json", *paths)
    assert result.stderr == b""
    return json.loads(result.stdout), result.returncode


def test_the_counts_of_a_run_of_ours(trace, tmp_path):
    path = save_trace(trace, tmp_path)
    (entry,), code = summary(path)
    assert code == 0
    assert list(entry) == ["file", "format", "traces", "bad_lines", "unread"]
    assert (entry["file"], entry["format"]) == (str(path), "agent-trace/1")
    (found,) = entry["traces"]
    assert list(found) == KEYS
    assert found["roles"] == {"system": 1, "user": 1, "assistant": 2, "tool": 1}
    assert (found["messages"], found["steps"], found["tool_calls"], found["tool_results"]) == (5, 2, 1, 1)
    assert (found["unpaired_calls"], found["orphan_results"], found["errors"], found["parallel_steps"]) == (0, 0, 0, 0)
    assert found["tokens"] == {
        "prompt": 230,
        "cached": 40,
        "cache_write": None,
        "completion": 26,
        "reasoning": None,
        "total": 256,
    }
    assert (found["models"], found["cost"], found["outcome"]) == (["script"], None, "final")
    assert found["duration_s"] >= 0


def test_one_array_in_the_order_given_with_null_for_what_is_not_said(save, chat):
    first, second = save(chat, "b.json"), save({"messages": []}, "a.json")
    entries, code = summary(first, second)
    assert code == 0
    assert [entry["file"] for entry in entries] == [str(first), str(second)]
    assert entries[1]["traces"] == []
    (found,) = entries[0]["traces"]
    assert set(found["tokens"].values()) == {None}
    assert (found["cost"], found["duration_s"], found["outcome"], found["models"]) == (None, None, None, [])


def test_pairs_errors_and_parallel_calls_are_counted(save):
    function = {"name": "f", "arguments": "{}"}
    calls = [{"id": i, "type": "function", "function": function} for i in "abc"]
    chat = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": '{"error": "no"}'},
        {"role": "tool", "tool_call_id": "x", "content": "orphan"},
    ]
    (entry,), _ = summary(save(chat))
    found = entry["traces"][0]
    names = ("tool_calls", "tool_results", "unpaired_calls", "orphan_results", "errors", "parallel_steps")
    assert [found[name] for name in names] == [3, 2, 2, 1, 1, 1]


def test_bad_lines_are_listed(save, chat):
    path = save("\n".join([json.dumps(chat[0]), "{torn", json.dumps(chat[1])]), "log.jsonl")
    (entry,), code = summary(path)
    assert code == 0
    assert [bad["line"] for bad in entry["bad_lines"]] == [2]
    assert entry["traces"][0]["messages"] == 2


def test_a_file_that_does_not_open_says_why_and_costs_the_others_nothing(save, chat):
    good, bad = save(chat, "good.json"), save(b"\x00\x01nonsense", "bad.json")
    missing = good.with_name("missing.json")
    entries, code = summary(bad, good, missing)
    assert code == 1
    assert [len(entry["traces"]) for entry in entries] == [0, 1, 0]
    assert "bad.json" in entries[0]["error"]
    assert "No such file" in entries[2]["error"]


def test_json_of_an_unknown_shape_did_not_open_and_says_what_was_expected(save):
    path = save({"a": 1})
    (entry,), code = summary(path)
    assert (code, entry["format"], entry["traces"]) == (1, None, [])
    assert entry["error"].startswith(f"{path}: no known trace format") and "expected one of" in entry["error"]


def test_no_sentence_about_a_file_names_it_twice(save, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    paths = [save({"a": 1}), save("{torn", "torn.json"), tmp_path / "missing", tmp_path / "pipe"]
    result = run("summary", *paths, "")
    assert (result.returncode, result.stdout) == (1, b"")
    *lines, empty = result.stderr.decode().splitlines()
    assert [line.count(str(path)) for line, path in zip(lines, paths, strict=True)] == [1] * 4
    assert lines[3].endswith("pipe cannot be opened: it is not a regular file")
    assert empty == "python -m traces: the name of the file is empty"


def test_people_get_counts_on_standard_output_and_failures_on_standard_error(save, chat):
    good, bad = save(chat, "good.json"), save('{"a": 1}\n{torn\n{"a": 2}', "bad.jsonl")
    missing = good.with_name("missing.json")
    result = run("summary", bad, good, missing)
    assert result.returncode == 1
    assert result.stdout.decode().startswith(f"{good}: openai-chat, 1 conversation\n")
    assert not any(path.name in result.stdout.decode() for path in (bad, missing))
    first, *remarks, last = result.stderr.decode().splitlines()
    assert first.startswith(f"python -m traces: {bad}: no known trace format")
    assert any(remark.startswith("  line 2: ") for remark in remarks)
    assert str(missing) in last and last.endswith("No such file or directory")


def test_a_text_that_is_never_closed_is_told_with_one_place(save):
    (entry,), _ = summary(save('["a'))
    assert "Unterminated string starting at line 1, column 2" in entry["error"]


@pytest.mark.parametrize("options", ["", "--json"])
@pytest.mark.parametrize(
    ("redirection", "words"),
    [(">&-", "standard output is closed, so nothing can be shown"), (">/dev/full", "standard output: No space left")],
)
def test_output_that_cannot_be_written_is_one_sentence(save, chat, options, redirection, words):
    command = f"exec '{sys.executable}' -m traces summary {options} '{save(chat)}' {redirection}"
    result = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert result.stderr.startswith(f"python -m traces: {words}") and result.stderr.count("\n") == 1


def test_control_characters_of_a_title_do_not_reach_the_terminal(save, capsys):
    assert main(["summary", str(save([{"role": "user", "content": "\x1b[2Jgone"}]))]) == 0
    assert "\\x1b[2Jgone" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["summary"], ["summary", "--yaml", "x"], ["explain", "x"]])
def test_bad_usage_is_one_sentence_and_exit_code_2(arguments):
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, b"")
    assert len(result.stderr.decode().splitlines()) == 1


def test_the_table_for_people_names_file_counts_and_remarks(save, chat, capsysbinary):
    path = save([{"request": {"messages": chat[:1]}, "response": {"error": "busy"}}], "log.json")
    assert main(["summary", str(path)]) == 0
    text = capsysbinary.readouterr().out.decode()
    assert f"{path}: openai-chat, 1 conversation\n" in text
    assert "What is 2+3?" in text
    assert "model_error" in text


def test_output_is_utf_8_and_strict_json_in_any_locale(save):
    path = save('[{"role": "user", "content": "東京 \\ud800", "x": NaN}]', "东.json")
    result = run("summary", "--json", path, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert "東京 \ufffd" in result.stdout.decode()
    json.loads(result.stdout, parse_constant=pytest.fail)


def test_a_reader_that_stops_early_is_no_error(save, chat):
    path = save([{"messages": chat}] * 3000)
    command = f"'{sys.executable}' -m traces summary --json '{path}' | head -c 10"
    result = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, timeout=60)
    assert result.stderr == b""


def test_reading_traces_loads_no_library_for_tables_or_charts():
    heavy = ("pandas", "plotly", "streamlit", "openai")
    code = f"import sys, traces.summary; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.stdout.strip() == "[]"
