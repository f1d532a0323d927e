"""One HTTP connection to a model server, through the ``openai`` package, that can be waited for without being stuck.

The blocking read happens in a daemon thread; the caller waits for what it reads, and for a stop, a deadline and too
long a silence besides. When one of these comes first the socket is cut: the thread ends, and the server learns that
nobody listens and stops generating.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from agent import clock
from agent.models.base import CallControl
from agent.models.http_errors import CallFailed, failed_connection, failed_status, failed_wait

DONE = b"[DONE]"
"""The data of the last event of a stream."""

_POLL_S = 0.1
"""How often a wait looks for a stop; a stop must be answered within a second."""
_LINGER_S = 0.2
"""How long the reading thread may take to end when nothing more is wanted of it; then the connection is cut."""
_CONNECT_S = 15.0


@dataclass(frozen=True, slots=True)
class Body:
    """The whole body of an answer that is no stream."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Events:
    """The data of some events of a stream, in order."""

    data: list[bytes]


Piece = Body | Events
_Queue = SimpleQueue[Piece | BaseException | None]


class Connection:
    """One client with its one connection, used by one call at a time.

    Args:
        base_url: where the API begins, as a rule ending in ``/v1``.
        api_key: sent as a bearer token.
        timeout_s: seconds of silence after which a call fails.
    """

    def __init__(self, base_url: str, api_key: str, timeout_s: float) -> None:
        import openai

        self._base_url = base_url
        self._secrets = (api_key,)
        self._timeout_s = timeout_s
        self._network: Any = None
        self._was_cut = False
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key,
            max_retries=0,
            timeout=openai.Timeout(timeout_s + 1, connect=min(_CONNECT_S, timeout_s)),
            http_client=openai.DefaultHttpxClient(event_hooks={"request": [self._watch]}),
        )

    @property
    def usable(self) -> bool:
        """False once the connection was cut."""
        return not self._was_cut

    def post(self, body: bytes, control: CallControl) -> Generator[Piece, None, None]:
        """Send one request to ``/chat/completions`` and give the answer as it comes in.

        Raises:
            CallFailed: the server answered with an error, the connection broke, the user stopped the run, the run's
                time was up, or nothing came for ``timeout_s`` seconds (comments that keep a stream alive are nothing).
        """
        self._check_time(control)
        queue: _Queue = SimpleQueue()
        reader = threading.Thread(target=self._read, args=(body, queue), name="model-call", daemon=True)
        reader.start()
        complete = False
        try:
            while not complete and (piece := self._next(queue, control)) is not None:
                complete = isinstance(piece, Body) or piece.data[-1] == DONE
                yield piece
        finally:
            reader.join(_LINGER_S)
            if reader.is_alive():
                self._cut()

    def _next(self, queue: _Queue, control: CallControl) -> Piece | None:
        """The next piece; None at the end."""
        silent_since = clock.monotonic()
        while True:
            left = self._check_time(control)
            silence = clock.monotonic() - silent_since
            if silence >= self._timeout_s:
                raise failed_wait("timeout", f"The model server sent nothing for {self._timeout_s:g} seconds.")
            waits = (_POLL_S, self._timeout_s - silence, *(() if left is None else (left,)))
            try:
                item = queue.get(timeout=min(waits))
            except Empty:
                continue
            if isinstance(item, BaseException):
                raise self._failure(item) from None
            return item

    def _check_time(self, control: CallControl) -> float | None:
        """Seconds that the run has left, or None without a limit."""
        if control.stop.is_set():
            raise failed_wait("stopped", "The model call was stopped by the user.")
        left = control.remaining_s()
        if left == 0:
            raise failed_wait("timeout", "The time of the run was up while the model was answering.")
        return left

    def _read(self, body: bytes, queue: _Queue) -> None:
        """The thread: send, read, and hand over whatever comes, an exception included."""
        import openai

        try:
            kind = openai.Stream[object]
            with self._client.post(
                "/chat/completions", content=body, cast_to=object, stream=True, stream_cls=kind
            ) as stream:
                response = stream.response
                if response.headers.get("content-type", "").startswith("text/event-stream"):
                    _read_events(response.iter_bytes(), queue)
                else:
                    queue.put(Body(response.read()))
            queue.put(None)
        except BaseException as error:  # nobody else would hear of it
            queue.put(error)
        finally:
            if self._was_cut:
                self._client.close()

    def _failure(self, error: BaseException) -> CallFailed:
        import openai

        if isinstance(error, openai.APIStatusError):
            response = error.response
            return failed_status(error.status_code, response.headers, response.text, self._secrets)
        cause = error.__cause__ or error
        words = f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
        return failed_connection(f"The connection to {self._base_url} failed ({words}).", self._secrets)

    def _watch(self, request: Any) -> None:
        """Before each request: ask to be told of the socket that it uses."""
        request.extensions["trace"] = self._on_network_event

    def _on_network_event(self, event: str, info: dict[str, Any]) -> None:
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._network = info["return_value"]
            if self._was_cut:
                self._cut()

    def _cut(self) -> None:
        """End the connection at once, also while another thread waits for it."""
        self._was_cut = True
        if self._network is not None and (sock := self._network.get_extra_info("socket")) is not None:
            with contextlib.suppress(OSError):
                # The plain socket under a TLS one: its reader must wake up, not take part in a farewell.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _read_events(chunks: Iterator[bytes], queue: _Queue) -> None:
    lines = EventLines()
    for chunk in chunks:
        if events := lines.feed(chunk):
            queue.put(Events(events))
    if events := lines.end():
        queue.put(Events(events))


class EventLines:
    """Cuts the bytes of a server-sent event stream into the data of its events, as they become complete."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of every event that ``chunk`` completes. Comments and other fields are left out."""
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif line.startswith(b"error:"):
                self._data.append(b'{"error":' + (line[6:].strip() or b"null") + b"}")
            elif line in (b"", b"\r") and self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        return events

    def end(self) -> list[bytes]:
        """What is left when the stream has ended without its last empty line."""
        return self.feed(b"\n\n")
