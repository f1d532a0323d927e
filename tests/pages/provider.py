"""A model server for the pages: it says one thing, or adds first, and keeps what it was asked and with which key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_ADD = {"index": 0, "id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}


class Provider:
    """What it was asked, and how it answers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        """The key of each request."""
        self.says = "Done."
        self.adds = False
        """Ask for ``add`` before anything is said."""
        self.refuse = ""
        """A key that is answered with an error."""

    def delta(self, body: dict[str, Any]) -> dict[str, Any]:
        """The one chunk of the reply to a request."""
        if self.adds and not any(message["role"] == "tool" for message in body["messages"]):
            return {"tool_calls": [_ADD]}
        return {"role": "assistant", "content": self.says}


@contextmanager
def served() -> Iterator[Provider]:
    """A provider on a free loopback port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = (self.headers["Authorization"] or "").removeprefix("Bearer ")
            provider.asked.append(body)
            provider.keys.append(key)
            if provider.refuse and key == provider.refuse:
                self.send_error(401)
                return
            choices = [{"index": 0, "delta": provider.delta(body), "finish_reason": "stop"}]
            chunk = {"id": "x", "object": "chat.completion.chunk", "model": body["model"], "choices": choices}
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

        def log_message(self, format: str, *args: Any) -> None:
            """The test's output stays clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
