"""The command ask: a live model's steps and answer, or the one reason why there is none."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.trace import Trace

ROOT = Path(__file__).parents[2]
KEY = "made-up-key-4711"


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
def server(monkeypatch, no_settings_from_outside):
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
