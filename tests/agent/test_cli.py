"""The command line: steps and answer on standard output, one sentence for bad input, never a traceback."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.cli import main
from agent.tools import Tool
from agent.trace import Trace

ROOT = Path(__file__).parents[2]
KEY = "made-up-key-4711"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cli(capsys):
    def call(*arguments):
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


class _Handler(BaseHTTPRequestHandler):
    """A chat server that adds 2 and 3 with a tool and then says so; or one that answers everything with ``broken``."""

    def do_GET(self):
        if self.server.broken:
            return self._send_broken()
        return self._send({"object": "list", "data": [{"id": name, "object": "model"} for name in self.server.models]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.headers["Authorization"], body))
        if self.server.broken:
            self._send_broken()
            return
        if body.get("stream"):
            self._send_stream(["The sum", " is 5."])
            return
        call = {"id": "k1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}
        message = {"role": "assistant", "content": "The sum is 5."}
        if body["messages"][-1]["role"] == "user":
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
        self._send({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage})

    def _send(self, data):
        self._answer(200, "application/json", json.dumps(data).encode())

    def _send_broken(self):
        status, payload = self.server.broken
        if status == "silent":
            self.server.over.wait(30)
            return
        self._answer(status, "text/html", payload)

    def _send_stream(self, pieces):
        chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        self._answer(200, "text/event-stream", f"{events}data: [DONE]\n\n".encode())

    def _answer(self, status, kind, payload):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format, *args):
        """Say nothing."""


@pytest.fixture
def server(monkeypatch):
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    httpd.models, httpd.requests, httpd.broken, httpd.over = ["tiny"], [], None, threading.Event()
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{httpd.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield httpd
    httpd.over.set()
    httpd.shutdown()
    httpd.server_close()


def process(*arguments, **options):
    """The command line as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "agent", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_run_prints_the_steps_of_the_reference_run_and_the_answer(cli):
    assert cli("run", "calc") == (
        0,
        "[0] tool_call add({'a': 2, 'b': 3}) -> 5\n"
        "[1] tool_call multiply({'a': 5, 'b': 4}) -> 20\n"
        "[2] final     计算结果是 20。\n"
        "计算结果是 20。\n",
        "",
    )


def test_a_process_prints_chinese_whatever_the_locale_is():
    running = process("run", "calc", env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, b"")
    assert out.decode().splitlines()[2] == "[2] final     计算结果是 20。"


def test_a_stop_without_an_answer_is_recorded_and_no_failure(cli):
    code, out, err = cli("run", "noop")
    assert code == 0
    assert out.splitlines()[-1].startswith("[2] error     max_iterations: ")
    assert err.startswith("no answer: stopped by max_iterations after 2 rounds, 162 tokens burnt; look at ")
    assert err.count("\n") == 1


def test_an_abort_says_what_it_took_only_where_that_is_known(cli, tmp_path):
    script = tmp_path / "one.yaml"
    script.write_text("max_steps: 1\nturns:\n  - calls: [{name: noop}]\n  - Done.", encoding="utf-8")
    _, _, err = cli("run", str(script))
    assert err.startswith("no answer: stopped by max_iterations after 1 round; look at ")


def test_without_its_guards_a_run_goes_on_until_its_script_ends_and_costs_more(cli):
    _, guarded, told = cli("run", "atlantis")
    code, free, more = cli("run", "atlantis", "--no-guards")
    assert (code, guarded.count("get_weather"), free.count("get_weather")) == (0, 3, 14)
    assert "stopped by consecutive_errors after 3 rounds, 651 tokens burnt" in told
    assert "stopped by script_exhausted after 14 rounds, 8,244 tokens burnt" in more


def test_without_guards_the_hard_cap_and_a_limit_that_is_given_hold(cli, tmp_path):
    script = tmp_path / "busy.yaml"
    turn = "  - calls: [{name: noop}]\n"
    script.write_text(f"limits: {{repeated_calls: 3}}\nturns:\n{turn * 101}", encoding="utf-8")
    _, out, _ = cli("run", str(script), "--no-guards")
    assert out.count("noop") == 100 and "max_iterations: stopped by the hard cap of 100 steps" in out
    _, out, _ = cli("run", str(script), "--no-guards", "--max-steps", "5")
    assert out.count("noop") == 5


def test_max_steps_takes_the_place_of_the_limit_of_the_script(cli):
    _, out, _ = cli("run", "noop", "--max-steps", "3")
    assert out.count("tool_call noop") == 3


def test_json_prints_the_native_trace_and_nothing_else(cli):
    code, out, err = cli("run", "order", "--json")
    assert (code, err) == (0, "")
    trace = Trace.from_dict(json.loads(out))
    assert (trace.outcome.reason, len(trace.messages), len(trace.steps)) == ("final", 5, 2)


def test_save_keeps_the_trace_in_a_folder_that_is_made(cli, tmp_path):
    code, out, err = cli("run", "order", "--save", str(tmp_path / "new" / "runs"))
    (path,) = (tmp_path / "new" / "runs").iterdir()
    assert code == 0 and err == f"saved: {path}\n" and out.startswith("[0] tool_call")
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == "agent-trace/1"


def test_what_the_evidence_does_not_bear_out_is_said_beside_the_answer(cli):
    code, out, err = cli("run", "claimed")
    assert code == 0 and out.endswith("It is sunny and 25 °C.\n")
    assert "not verified: get_weather succeeded" in err


def test_several_user_turns_are_played_one_after_the_other(cli, tmp_path):
    script = tmp_path / "talk.yaml"
    script.write_text("user: [Add., Thanks.]\nturns:\n  - calls: [{name: noop}]\n  - Done.\n  - Bye.", encoding="utf-8")
    _, out, _ = cli("run", str(script))
    assert out == "[0] tool_call noop({}) -> ok\n[1] final     Done.\n[2] final     Bye.\nBye.\n"


def test_a_warning_of_a_script_is_told_and_the_run_goes_on(cli, tmp_path):
    script = tmp_path / "typo.yaml"
    script.write_text("tools: [add]\nturns:\n  - calls: [{name: ad}]\n  - Done.", encoding="utf-8")
    code, out, err = cli("run", str(script))
    assert code == 0 and "unknown tool 'ad'" in out
    assert err == "note: turns[0].calls[0].name: no tool 'ad' is offered; did you mean 'add'?\n"


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


def test_control_characters_of_a_model_do_not_reach_the_terminal(cli, tmp_path):
    script = tmp_path / "bell.yaml"
    script.write_text('["\\e[2J\\x9b\\a gone\\nline"]', encoding="utf-8")
    _, out, _ = cli("run", str(script))
    assert out == "[0] final     \\x1b[2J\\x9b\\x07 gone\nline\n" + "\\x1b[2J\\x9b\\x07 gone\nline\n"


def test_list_shows_every_scenario_and_tool(cli):
    code, out, _ = cli("list")
    assert code == 0
    assert "  calc          Two sums, one after the other\n" in out
    assert "  get_weather   Get the current weather of a city.\n" in out


def test_ask_runs_a_live_model_with_its_only_model_found_out(cli, server):
    code, out, err = cli("ask", "What is 2+3?", "--tools", "add", "--system", "Be brief.")
    assert (code, err) == (0, "")
    assert out == "[0] tool_call add({'a': 2, 'b': 3}) -> 5\n[1] final     The sum is 5.\nThe sum is 5.\n"
    key, first = server.requests[0]
    assert (key, first["model"]) == (f"Bearer {KEY}", "tiny")
    assert [message["content"] for message in first["messages"]] == ["Be brief.", "What is 2+3?"]
    assert [tool["function"]["name"] for tool in first["tools"]] == ["add"]


def test_ask_passes_its_options_on(cli, server):
    cli("ask", "x", "--model", "other", "--temperature", "0", "--max-tokens", "9")
    _, body = server.requests[0]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("other", 0, 9)
    assert "tools" not in body


def test_ask_can_speak_json_actions(cli, server):
    cli("ask", "x", "--tools", "add", "--protocol", "json")
    _, body = server.requests[0]
    assert "tools" not in body and '"action": "tool"' in body["messages"][0]["content"]


@pytest.mark.parametrize(("protocol", "steps"), [("native", 8), ("json", 10)])
def test_ask_has_a_step_limit_and_a_guard(cli, server, protocol, steps):
    _, out, _ = cli("ask", "x", "--tools", "add,add", "--protocol", protocol, "--json")
    trace = Trace.from_dict(json.loads(out))
    assert trace.config["max_steps"] == steps
    assert trace.config["limits"]["repeated_calls"] == 3
    assert [tool["function"]["name"] for tool in trace.tools] == ["add"]


def test_a_tool_that_hangs_does_not_hold_the_run(cli, tmp_path, monkeypatch):
    hang = Tool(name="hang", description="Hang.", parameters={}, func=lambda: time.sleep(30))
    monkeypatch.setattr("agent.toolbox.practice.TOOLS", (hang,))
    monkeypatch.setattr("agent.tools.DEFAULT_TIMEOUT_S", 0.05)
    (tmp_path / "hang.yaml").write_text("- calls: [{name: hang}]\n- Done.", encoding="utf-8")
    code, out, _ = cli("run", str(tmp_path / "hang.yaml"))
    assert code == 0 and "timed out after 0.05 s" in out and out.endswith("Done.\n")


PAGE = b"<html>" + b"<p>Not what you wanted.</p>" * 200


@pytest.mark.parametrize("named", [True, False], ids=["model named", "model not named"])
@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ((401, b'{"error": {"message": "refused"}}'), "answered 401: refused. Check the API key."),
        ((400, PAGE), "answered 400: <html>"),
        ((200, PAGE), "base URL"),
        (("silent", b""), "sent nothing for 0.5 seconds"),
    ],
    ids=["key refused", "error page", "some web page", "silent"],
)
def test_ask_without_an_answer_gives_the_reason_once_and_exit_code_1(cli, server, broken, words, named):
    server.broken = broken
    code, out, err = cli("ask", "x", "--timeout", "0.5", *(["--model", "m"] if named else []))
    assert (code, out) == (1, "")
    assert err.startswith("python -m agent: ") and err.count("\n") == 1
    assert err.count(words) == 1 and len(err) < 400


def test_ask_tells_each_new_try_without_the_reason_and_the_reason_at_the_end(cli, server):
    server.broken = (500, b'{"error": {"message": "out of memory"}}')
    code, _, err = cli("ask", "x", "--model", "m")
    notes = err.splitlines()
    assert (code, len(notes)) == (1, 3)
    for number, note in enumerate(notes[:2], 1):
        assert note.startswith(f"note: attempt {number} failed with status 500, trying again in ")
    assert notes[-1] == "python -m agent: The model server answered 500: out of memory"
    assert err.count("out of memory") == 1


def test_a_server_that_is_not_there_is_named(cli):
    code, out, err = cli("ask", "x", "--base-url", "http://127.0.0.1:9/v1")
    assert (code, out) == (1, "")
    assert err == "python -m agent: The model server 127.0.0.1:9 cannot be reached ([Errno 111] Connection refused).\n"


def test_a_server_without_a_list_of_models_needs_a_name(cli, server):
    server.broken = (404, b"")
    code, _, err = cli("ask", "x")
    assert code == 2 and "has no list of models, so the model must be named" in err


def test_ask_without_an_answer_still_leaves_its_trace(cli, server, tmp_path):
    server.broken = (401, b"")
    code, out, err = cli("ask", "x", "--model", "m", "--save", str(tmp_path), "--json")
    (path,) = tmp_path.iterdir()
    assert code == 1 and err.endswith(f"saved: {path}\n")
    assert json.loads(out)["outcome"]["reason"] == json.loads(path.read_text())["outcome"]["reason"] == "model_error"


def test_on_a_terminal_a_streamed_answer_is_not_shown_a_third_time(server):
    keyboard, terminal = os.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "agent", "ask", "x", "--stream"], cwd=ROOT, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # how a terminal says that nobody writes to it any more
        while piece := os.read(keyboard, 1000):
            shown += piece
    os.close(keyboard)
    assert running.wait(timeout=60) == 0
    assert shown.decode().splitlines() == ["The sum is 5.", "[0] final     The sum is 5."]


def test_no_key_stands_in_what_ask_prints_or_saves(cli, server, tmp_path):
    _, out, err = cli("ask", f"Is {KEY} my key?", "--tools", "add", "--json", "--save", str(tmp_path))
    (path,) = tmp_path.iterdir()
    assert Trace.from_dict(json.loads(out)).outcome.final == "The sum is 5."
    assert KEY not in out + err + path.read_text(encoding="utf-8")


def test_several_models_to_choose_from_are_named(cli, server):
    server.models = ["a", "b"]
    code, out, err = cli("ask", "x")
    assert (code, out) == (2, "")
    assert "name the model with --model or in OPENAI_MODEL; the server offers a, b" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("walk",), "invalid choice: 'walk'"),
        (("run",), "the following arguments are required: FILE_OR_SCENARIO"),
        (("run", "clac"), "there is no file or scenario 'clac'; did you mean 'calc'?"),
        (("run", str(ROOT)), "cannot be read: Is a directory"),
        (("run", str(ROOT / "pyproject.toml")), "pyproject.toml, line 2: this is not valid YAML"),
        (("run", "calc", "--max-steps", "0"), "must be at least 1, found 0"),
        (("run", "calc", "--max-steps", "two"), "expected a whole number, found 'two'"),
        (("run", "calc", "--save", str(ROOT / "pyproject.toml")), "pyproject.toml: File exists"),
        (("ask", " "), "the question is empty"),
        (("ask", "x"), "OpenAI needs an API key"),
        (("ask", "x", "--base-url", "localhost"), "The base URL must look like"),
        (("ask", "x", "--tools", ","), "--tools names no tool"),
        (("ask", "x", "--timeout", "inf"), "--timeout: expected a number, found 'inf'"),
        (("ask", "x", "--timeout", "0"), "must be at least 0.1, found 0"),
        (("ask", "x", "--model", ""), "--model: it is empty"),
        (("run", "calc", "--save", ""), "--save: it is empty"),
        (("run", ""), "FILE_OR_SCENARIO: it is empty"),
        (("run", "/dev/null"), "'/dev/null' cannot be read: it is not a regular file"),
        (("ask", "x", "--tools", "add,multipy"), "there is no tool 'multipy' in the toolbox; did you mean 'multiply'?"),
        (("ask", "x", "--root", "nowhere"), "the folder 'nowhere' for the file tools does not exist"),
        (("ask", "x", "--temperature", "nan"), "--temperature: expected a number, found 'nan'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(cli, arguments, words):
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("python -m agent: ") and err.count("\n") == 1


def test_help_names_the_commands_the_defaults_and_the_exit_codes(cli):
    code, out, _ = cli("--help")
    assert code == 0
    assert "play a script or a scenario" in out and "python -m agent run calc" in out
    assert "1    ask could not get an answer from the model (model_error)" in out
    _, out, _ = cli("ask", "--help")
    assert "default: 8; with --protocol json 10" in " ".join(out.split())


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


def test_a_pipe_is_no_script_and_holds_nothing_up(cli, tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    code, _, err = cli("run", str(tmp_path / "pipe.yaml"))
    assert code == 2 and "it is not a regular file" in err


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
