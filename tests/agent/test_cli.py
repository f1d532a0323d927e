"""The command line: steps and answer on standard output, one sentence for bad input, never a traceback."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.cli import main
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
    """A chat server that adds 2 and 3 with a tool and then says so."""

    def do_GET(self):
        self._send({"object": "list", "data": [{"id": name, "object": "model"} for name in self.server.models]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.headers["Authorization"], body))
        call = {"id": "k1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}
        message = {"role": "assistant", "content": "The sum is 5."}
        if body["messages"][-1]["role"] == "user":
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
        self._send({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage})

    def _send(self, data):
        payload = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format, *args):
        """Say nothing."""


@pytest.fixture
def server(monkeypatch):
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    httpd.models, httpd.requests = ["tiny"], []
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{httpd.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield httpd
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
    code, out, _ = cli("run", "noop")
    assert code == 0
    assert out.splitlines()[-2].startswith("[2] error     max_iterations: ")
    assert out.splitlines()[-1].startswith("no answer, the run was stopped by max_iterations: ")


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
        (("ask", "x", "--base-url", "http://127.0.0.1:9/v1"), "does not say which models it has"),
        (("ask", "x", "--tools", "add,multipy"), "there is no tool 'multipy' in the toolbox; did you mean 'multiply'?"),
        (("ask", "x", "--root", "nowhere"), "the folder 'nowhere' for the file tools does not exist"),
        (("ask", "x", "--temperature", "nan"), "must be at least 0, found nan"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(cli, arguments, words):
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("python -m agent: ") and err.count("\n") == 1


def test_help_names_the_commands_and_shows_examples(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    assert "play a script or a scenario" in out and "python -m agent run calc" in out


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
    assert err.startswith(b"interrupted") and b"Traceback" not in err
    assert [path.suffix for path in (tmp_path / "runs").iterdir()] == [".jsonl"]
