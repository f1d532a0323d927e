"""A real local server that speaks the OpenAI Chat API, answers as scripted and is strict about what it is sent."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


class Refused(Exception):
    """The request breaks the protocol; the text is what a provider would say."""


@dataclass
class Rules:
    """What this host is particular about, beyond what all of them refuse."""

    content: str | None = None
    """For assistant turns that only call tools: ``string``, ``key`` (it must be there), ``not_empty``."""
    id_pattern: str = r".{1,}"
    closed_messages: bool = False
    """Whether keys outside of the schema are refused."""
    needs_reasoning: bool = False
    """Whether a turn that calls tools must come back with its ``reasoning_content``."""
    usage_in_stream: bool = True
    """Whether ``stream_options`` is known."""


@dataclass
class Answer:
    """One scripted answer: a status, a body or the chunks of a stream, and how it misbehaves."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    events: list[Any] | None = None
    """Chunks of a stream: dicts are sent as JSON, strings as they are."""
    done: bool = True
    """Whether the stream ends with ``[DONE]``."""
    cut: bool = False
    """Whether the connection breaks instead of ending properly."""
    pause_s: float = 0.0
    """Before the body, and between the chunks of a stream."""
    hang: bool = False
    """Accept, read the request, and never answer."""


@dataclass
class Request:
    """What the server was sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float
    client: tuple[str, int]


class ChatServer:
    """Give it answers, point a model at ``url``, look at ``requests`` afterwards."""

    def __init__(self) -> None:
        self.rules = Rules()
        self.answers: list[Answer] = []
        self.requests: list[Request] = []
        self.hung_up = threading.Event()
        """Set when a client ended the connection while the server was still at work."""
        self.closing = threading.Event()
        self._http = _Http(self)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests]

    def answer(self, body: Any = None, **how: Any) -> ChatServer:
        """Script one answer with this body."""
        self.answers.append(Answer(body, **how))
        return self

    def message(self, message: dict[str, Any], finish_reason: str | None = "stop", **more: Any) -> ChatServer:
        """Script one reply with this assistant message."""
        choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", **message}}
        return self.answer({"object": "chat.completion", "model": "stub", "choices": [choice], **more})

    def say(self, text: str) -> ChatServer:
        return self.message({"content": text})

    def calls(self, *calls: dict[str, Any], finish_reason: str | None = "tool_calls", **more: Any) -> ChatServer:
        return self.message({"content": None, "tool_calls": list(calls), **more}, finish_reason)

    def deltas(self, *deltas: Any, finish_reason: str | None = "stop", **how: Any) -> ChatServer:
        """Script one streamed reply out of these deltas."""
        events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        if finish_reason is not None:
            events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]})
        return self.answer(events=events, **how)

    def fail(self, status: int, message: str = "no", **more: Any) -> ChatServer:
        headers = more.pop("headers", {})
        return self.answer({"error": {"message": message, **more}}, status=status, headers=headers)

    def check(self, body: dict[str, Any]) -> None:
        """Refuse what real hosts refuse.

        Raises:
            Refused: with the words of a provider.
        """
        if not isinstance(body.get("messages"), list) or not body["messages"]:
            raise Refused("messages is required")
        if "stream_options" in body and not (self.rules.usage_in_stream and body.get("stream")):
            raise Refused("Unrecognized request argument supplied: stream_options")
        if not body.get("tools") and {"parallel_tool_calls", "tool_choice"} & body.keys():
            raise Refused("tool options are only allowed when tools are specified")
        open_ids: list[str] = []
        for message in body["messages"]:
            role = message.get("role")
            if role == "tool":
                if message.get("tool_call_id") not in open_ids:
                    raise Refused("a tool message must be a response to a preceding message with tool_calls")
                open_ids.remove(message["tool_call_id"])
            elif open_ids:
                raise Refused(f"tool_calls must be followed by tool messages; missing: {open_ids}")
            if role == "assistant":
                open_ids = self._check_assistant(message)
            elif not isinstance(message.get("content"), (str, list)):
                raise Refused(f"content of a {role} message must be a string")
        if open_ids:
            raise Refused(f"tool_calls must be followed by tool messages; missing: {open_ids}")

    def _check_assistant(self, message: dict[str, Any]) -> list[str]:
        calls = message.get("tool_calls") or []
        known = {"role", "content", "tool_calls", "name", "refusal"}
        if self.rules.closed_messages and (unknown := message.keys() - known):
            raise Refused(f"Extra inputs are not permitted: {sorted(unknown)}")
        if not calls and not isinstance(message.get("content"), (str, list)):
            raise Refused("content is required unless tool_calls is specified")
        if calls:
            self._check_content(message)
        if calls and self.rules.needs_reasoning and not message.get("reasoning_content"):
            raise Refused("Missing reasoning_content in assistant message with tool calls")
        for call in calls:
            self._check_call(call)
        return [call["id"] for call in calls]

    def _check_content(self, message: dict[str, Any]) -> None:
        rule, content = self.rules.content, message.get("content")
        if rule == "string" and not isinstance(content, str):
            raise Refused("content must be a string")
        if rule == "key" and "content" not in message:
            raise Refused("field required: content")
        if rule == "not_empty" and content == "":
            raise Refused("content must not be empty")

    def _check_call(self, call: dict[str, Any]) -> None:
        if self.rules.closed_messages and (unknown := call.keys() - {"id", "type", "function"}):
            raise Refused(f"Extra inputs are not permitted: {sorted(unknown)}")
        if not isinstance(call.get("id"), str) or not re.fullmatch(self.rules.id_pattern, call["id"]):
            raise Refused(f"Tool call id was {call.get('id')} but must match {self.rules.id_pattern}")
        function = call["function"]
        if not _NAME.match(function["name"]):
            raise Refused(f"Invalid function.name: {function['name']!r}")
        if not isinstance(function["arguments"], str) or not isinstance(json.loads(function["arguments"]), dict):
            raise Refused("function.arguments must be a JSON object as a string")


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, chat: ChatServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.chat = chat


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_POST(self) -> None:
        chat = self.server.chat
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        chat.requests.append(Request(self.path, headers, body, time.monotonic(), self.client_address))
        if self.path != "/v1/chat/completions":
            self._send(Answer("<html>not here</html>", 404))
            return
        try:
            chat.check(body)
        except (Refused, KeyError, ValueError) as error:
            self._send(Answer({"error": {"message": str(error), "type": "invalid_request_error"}}, 400))
            return
        self._send(chat.answers.pop(0) if chat.answers else Answer({"error": {"message": "the script is empty"}}, 400))

    def _send(self, answer: Answer) -> None:
        if answer.hang or answer.pause_s:
            self._wait(answer.pause_s if not answer.hang else 30)
        if answer.hang:
            self.close_connection = True
        elif answer.events is not None:
            self._send_stream(answer)
        else:
            text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            self._head(answer, "text/html" if isinstance(answer.body, str) else "application/json")
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

    def _send_stream(self, answer: Answer) -> None:
        self._head(answer, "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        events = [event if isinstance(event, str) else json.dumps(event) for event in answer.events or ()]
        for event in [*events, *(["[DONE]"] if answer.done and not answer.cut else [])]:
            self._chunk(event if event.startswith(":") else f"data: {event}\n\n")
            if answer.pause_s:
                self._wait(answer.pause_s)
        if not answer.cut:
            self._chunk("")
        self.close_connection = answer.cut

    def _head(self, answer: Answer, content_type: str) -> None:
        self.send_response(answer.status)
        for name, value in {"content-type": content_type, **answer.headers}.items():
            self.send_header(name, value)

    def _chunk(self, text: str) -> None:
        data = text.encode()
        try:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        except OSError:
            self.server.chat.hung_up.set()
            self.close_connection = True

    def _wait(self, seconds: float) -> None:
        """Wait, and notice a client that hangs up meanwhile."""
        self.connection.settimeout(0.02)
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.server.chat.closing.is_set():
            try:
                if not self.connection.recv(1):
                    self.server.chat.hung_up.set()
                    break
            except TimeoutError:
                continue
            except OSError:
                self.server.chat.hung_up.set()
                break
        self.connection.settimeout(None)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    chat = ChatServer()
    yield chat
    chat.close()


@pytest.fixture
def call() -> Callable[..., dict[str, Any]]:
    """A tool call as a provider sends it: ``call("add", '{"a": 1}', id="c1")``."""

    def make(name: str, arguments: Any = "{}", **more: Any) -> dict[str, Any]:
        return {"id": "c1", "type": "function", **more, "function": {"name": name, "arguments": arguments}}

    return make


@pytest.fixture
def tools() -> list[dict[str, Any]]:
    """Two tools on offer."""
    number = {"type": "integer"}
    parameters = {"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}
    return [
        {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}
        for name in ("add", "multiply")
    ]
