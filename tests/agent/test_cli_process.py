"""The command line as a process: its streams, its terminal, its signals."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def process(*arguments, **options):
    """The command line as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "agent", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_a_process_prints_chinese_whatever_the_locale_is():
    running = process("run", "calc", env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, b"")
    assert out.decode().splitlines()[2] == "[2] final     计算结果是 20。"


POLICY = "policy: {ask: [noop]}\nturns:\n  - calls: [{name: noop}]\n  - Done."


def test_where_nobody_sits_a_call_that_needs_a_person_is_denied(cli, tmp_path, monkeypatch):
    (tmp_path / "ask.yaml").write_text(POLICY, encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    code, out, _ = cli("run", str(tmp_path / "ask.yaml"))
    assert code == 0 and "and nobody was there to ask" in out


@pytest.mark.parametrize(("word", "said"), [("y", "noop({}) -> ok"), ("", "rejected by the user")])
def test_the_person_at_the_terminal_decides(tmp_path, word, said):
    (tmp_path / "ask.yaml").write_text(POLICY, encoding="utf-8")
    keyboard, terminal = os.openpty()
    running = process("run", str(tmp_path / "ask.yaml"), stdin=terminal)
    os.write(keyboard, f"{word}\n".encode())
    out, err = running.communicate(timeout=60)
    os.close(keyboard)
    os.close(terminal)
    assert running.returncode == 0 and said in out.decode()
    assert err.startswith(b"Run noop({})? the policy asks a person")


@pytest.mark.parametrize("arguments", ["run calc", "list", "ask --help", "run noop --json"])
@pytest.mark.parametrize(
    ("redirection", "words"),
    [(">&-", "standard output is closed, so nothing can be shown"), (">/dev/full", "standard output: No space left")],
)
def test_output_that_cannot_be_written_is_one_sentence(arguments, redirection, words):
    command = f"exec '{sys.executable}' -m agent {arguments} {redirection}"
    result = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert result.stderr.startswith(f"python -m agent: {words}") and result.stderr.count("\n") == 1


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_what_nobody_can_be_told_is_still_the_exit_code(redirection):
    command = f"exec '{sys.executable}' -m agent run nofile {redirection}"
    result = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, timeout=60)
    assert (result.returncode, result.stdout) == (2, b"")


def test_a_full_disk_is_told_with_the_folder(tmp_path):
    folder = tmp_path / "runs"
    command = f"ulimit -f 0; exec '{sys.executable}' -B -m agent run order --save '{folder}' 2>&1 | cat"
    result = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.stdout == f"python -m agent: {folder}: File too large\n"


@pytest.mark.parametrize("module", ["agent.loop", "agent.models.base"])
def test_an_interruption_while_the_program_is_loaded_ends_it_without_a_word(tmp_path, module):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt)\n",
        encoding="utf-8",
    )
    running = process("run", "calc", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"")


def test_a_reader_that_stops_early_is_no_error():
    running = process("run", "long_results")
    running.stdout.readline()
    running.stdout.close()
    err = running.stderr.read()
    assert running.wait(timeout=60) == 0
    assert b"Traceback" not in err and b"BrokenPipe" not in err


def test_an_interrupted_run_says_so_and_leaves_its_journal(tmp_path):
    script = tmp_path / "slow.yaml"
    script.write_text("turns:\n  - calls: [{name: noop}]\n  - {text: late, latency_ms: 60000}", encoding="utf-8")
    running = process("run", str(script), "--save", str(tmp_path / "runs"))
    assert running.stdout.readline() == b"[0] tool_call noop({}) -> ok\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b"")
    (path,) = (tmp_path / "runs").iterdir()
    assert path.suffix == ".jsonl"
    assert err.decode() == f"interrupted; the run is kept as far as it came: {path}\n"


def test_an_interrupted_run_without_a_folder_says_how_one_is_kept(tmp_path):
    script = tmp_path / "slow.yaml"
    script.write_text("turns:\n  - calls: [{name: noop}]\n  - {text: late, latency_ms: 60000}", encoding="utf-8")
    running = process("run", str(script))
    running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (
        130,
        b"interrupted; nothing is kept of the run (with --save DIR its journal would be)\n",
    )
