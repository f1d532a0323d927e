"""What OpenAIModel costs beside http.client, in CPU time of this process: a call with 1,000 messages, and a stream.

    python tests/bench/bench_openai.py

Both sides send the same body to the same server (a process of its own) and read the same answer into Python objects.
They take turns; printed are medians and their ratio. The target for the call is a ratio of at most 2.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agent.messages import Message, ToolCall
from agent.models.openai_chat import OpenAIModel

CHUNKS = 2_000
TOOLS = [{"type": "function", "function": {"name": "add", "description": "Add.", "parameters": {"type": "object"}}}]
REPLY = {"model": "m", "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}]}
CHUNK = {"model": "m", "choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]}
LAST = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


class Handler(BaseHTTPRequestHandler):
    """Answers at once: a stream where one is asked for."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement, and both sides grow cold
    stream = "".join(f"data: {json.dumps(c)}\n\n" for c in [*[CHUNK] * CHUNKS, LAST]) + "data: [DONE]\n\n"

    def do_POST(self) -> None:
        """Read the request and answer it."""
        asked = self.rfile.read(int(self.headers["content-length"]))
        is_stream = b'"stream":true' in asked
        data = self.stream.encode() if is_stream else json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        """Nothing on stderr."""


def serve(pipe: Connection) -> None:
    """The server process: tell the port, then answer for ever."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pipe.send(server.server_address[1])
    server.serve_forever()


def conversation(count: int) -> list[Message]:
    """A system text, a question and rounds of one call and its result, ``count`` messages in all.

    As a server or a file brings them: with the arguments as the string that the model wrote.
    """
    messages = [Message("system", "You add numbers."), Message("user", "Add them all.")]
    while len(messages) < count:
        text = f'{{"a": {len(messages)}, "b": 3}}'
        call = ToolCall(f"call{len(messages):05}", "add", json.loads(text), text)
        messages.append(Message("assistant", None, (call,)))
        messages.append(Message("tool", '{"sum": 5, "unit": "apples"}', tool_call_id=call.id))
    return messages[:count]


class Plain:
    """The floor: http.client, json and a loop over lines."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port)

    def _post(self, body: dict[str, object]) -> http.client.HTTPResponse:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"content-type": "application/json", "authorization": "Bearer k"}
        self._http.request("POST", "/v1/chat/completions", data, headers)
        return self._http.getresponse()

    def call(self, messages: list[dict[str, object]]) -> str:
        """One whole reply."""
        reply = json.loads(self._post({"model": "m", "messages": messages, "tools": TOOLS}).read())
        return str(reply["choices"][0]["message"]["content"])

    def stream(self) -> str:
        """One streamed reply."""
        text = []
        response = self._post({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True})
        while line := response.readline():
            if line.startswith(b"data:") and line != b"data: [DONE]\n":
                text.append(json.loads(line[5:])["choices"][0]["delta"].get("content") or "")
        response.read()  # tells http.client that the answer is at its end
        return "".join(text)


def ask(model: OpenAIModel, messages: list[Message]) -> str:
    """The same through OpenAIModel, with a tool on offer unless the reply is streamed."""
    return str(model.complete(messages, [] if model.stream else TOOLS).message.content)


def compare(name: str, floor: Callable[[], str], ours: Callable[[], str], rounds: int, per: int = 1) -> float:
    """Run both in turn, print microseconds of CPU per unit, and give the ratio of the medians."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for times, run in zip(taken, (floor, ours), strict=True):
            started = time.process_time()
            run()
            times.append((time.process_time() - started) * 1e6 / per)
    low, high = (statistics.median(times[rounds // 10 :]) for times in taken)
    print(f"{name:<34} http.client {low:>8.1f} us   OpenAIModel {high:>8.1f} us   ratio {high / low:5.2f}")
    return high / low


def main() -> None:
    """Start the server, compare, stop it."""
    ours_end, server_end = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(server_end,), daemon=True)
    process.start()
    port = ours_end.recv()
    plain = Plain(port)
    model = OpenAIModel("m", base_url=f"http://127.0.0.1:{port}/v1")
    streaming = OpenAIModel("m", base_url=f"http://127.0.0.1:{port}/v1", stream=True)
    for name, messages, rounds in (
        ("one call, 2 messages", conversation(2), 200),
        ("one call, 1,000 messages", conversation(1_000), 100),
    ):
        dicts = [message.to_dict() for message in messages]
        compare(name, lambda dicts=dicts: plain.call(dicts), lambda messages=messages: ask(model, messages), rounds)
    fresh = [conversation(1_000) for _ in range(100)]
    compare("the same, messages never seen", lambda: plain.call(dicts), lambda: ask(model, fresh.pop()), 100)
    user = [Message("user", "hi")]
    compare("one streamed chunk", plain.stream, lambda: ask(streaming, user), 20, CHUNKS)
    process.terminate()


if __name__ == "__main__":
    main()
