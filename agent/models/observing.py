"""Look at the model calls of a program that is not ours, at the door where they leave: the HTTP client of ``openai``.

While somebody watches, ``send`` of the client classes is replaced by one that looks at the request and the answer as
they pass, and behaves the same in everything else. It looks only for whoever began to watch in the same context
(:mod:`contextvars`): other threads and tasks of the program are not touched. The last one to leave puts ``send`` back.
"""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

from agent import clock
from agent.models.connection import DONE, EventLines
from agent.models.streams import StreamedReply


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One request of a program to a model server, and what came of it."""

    path: str
    """Of the URL: ``/v1/chat/completions``."""
    request: Any
    """The body, a JSON object."""
    response: Any = None
    """The body of the answer; a stream is put together. None where there was none, or no JSON."""
    status: int | None = None
    """HTTP status; None where no answer came."""
    error: str | None = None
    """Why there is no whole answer: the connection broke, or the program turned away."""
    started: str | None = None
    """Wall-clock time, ISO 8601."""
    latency_ms: float | None = None
    """Until the last byte."""
    first_token_ms: float | None = None
    """Until the first piece of a streamed reply."""


class Observer(Protocol):
    """Whoever watches. What it raises is lost: a program never sees that it is watched."""

    def begins(self, secret: str) -> None:
        """A request leaves that carries this key."""
        ...

    def ended(self, call: Observed) -> None:
        """It has ended."""
        ...


_WATCHING: ContextVar[tuple[Observer, ...]] = ContextVar("watching", default=())


@contextmanager
def watching(observer: Observer) -> Iterator[None]:
    """Let ``observer`` see the model calls that are made in this context."""
    _install()
    before = _WATCHING.get()
    _WATCHING.set(before if observer in before else (*before, observer))
    try:
        yield
    finally:
        _WATCHING.set(before)
        _uninstall()


def watch_client(client: Any, observer: Observer) -> Callable[[], None]:
    """Let ``observer`` see every call of one ``openai`` client, in whatever thread; gives what ends that.

    Raises:
        TypeError: it has no HTTP client that could be watched.
    """
    http = getattr(client, "_client", client)
    if not hasattr(http, "send") or not hasattr(http, "build_request"):
        raise TypeError("wrap() takes a client of the openai package, or an HTTP client of its kind")
    send = http.send

    def sync_send(*args: Any, **options: Any) -> Any:
        with watching(observer):
            return send(*args, **options)

    async def async_send(*args: Any, **options: Any) -> Any:
        with watching(observer):
            return await send(*args, **options)

    http.send = async_send if hasattr(http, "aclose") else sync_send

    def end() -> None:
        with suppress(AttributeError):
            del http.send

    return end


# -- the replaced method -------------------------------------------------------------------------------------------


class _Door:
    """What was replaced, and how many want it so. One for the process, as the classes are."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.originals: list[tuple[Any, Any]] = []


_DOOR = _Door()


def _install() -> None:
    import openai

    with _DOOR.lock:
        _DOOR.users += 1
        if _DOOR.users > 1:
            return
        kinds: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
            (openai.DefaultHttpxClient, _sync),
            (openai.DefaultAsyncHttpxClient, _async),
        )
        for kind, replace in kinds:
            owner = next(base for base in kind.__mro__ if "send" in vars(base))
            _DOOR.originals.append((owner, owner.send))
            owner.send = replace(owner.send)


def _uninstall() -> None:
    with _DOOR.lock:
        _DOOR.users -= 1
        if not _DOOR.users:
            for owner, send in _DOOR.originals:
                owner.send = send
            _DOOR.originals.clear()


def _sync(send: Any) -> Any:
    @wraps(send)
    def look(client: Any, request: Any, **options: Any) -> Any:
        call = _begin(request)
        if call is None:
            return send(client, request, **options)
        try:
            response = send(client, request, **options)
        except BaseException as error:
            call.fail(error)
            raise
        call.answered(response)
        return response

    return look


def _async(send: Any) -> Any:
    @wraps(send)
    async def look(client: Any, request: Any, **options: Any) -> Any:
        call = _begin(request)
        if call is None:
            return await send(client, request, **options)
        try:
            response = await send(client, request, **options)
        except BaseException as error:
            call.fail(error)
            raise
        call.answered(response)
        return response

    return look


def _begin(request: Any) -> _Call | None:
    """The call that begins here; None where nobody watches, or it is no JSON request."""
    observers = _WATCHING.get()
    if not observers:
        return None
    with suppress(Exception):
        body = json.loads(request.content)
        if isinstance(body, dict) and request.method == "POST":
            secret = request.headers.get("authorization", "").removeprefix("Bearer ")
            for observer in observers:
                observer.begins(secret or request.headers.get("api-key", ""))
            return _Call(observers, request.url.path, body)
    return None


class _Call:
    """One request on its way. None of its methods raises."""

    def __init__(self, observers: tuple[Observer, ...], path: str, body: dict[str, Any]) -> None:
        self._observers, self._path, self._body = observers, path, body
        self._started, self._began = clock.now(), clock.monotonic()
        self._response: Any = None
        self._raw: list[bytes] = []
        self._events = EventLines()
        self._reply = StreamedReply()
        self._first: float | None = None
        self._plain = False
        self._waits = False
        """The next bytes are being waited for; what ends now ends there."""
        self._done = False

    def fail(self, error: BaseException) -> None:
        """No answer came, or it broke off."""
        self._end(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)

    def answered(self, response: Any) -> None:
        """The head of the answer is there; its body too, or it is looked at while the program reads it."""
        with suppress(Exception):
            self._response = response
            if response.is_closed:
                self._raw = [response.content]
                self._plain = True
                self._end()
                return
            self._plain = not response.headers.get("content-encoding")
            response.iter_raw = self._reading(response.iter_raw)
            response.aiter_raw = self._reading_async(response.aiter_raw)
            response.close, response.aclose = self._closing(response.close), self._closing_async(response.aclose)

    def _reading(self, read: Callable[..., Iterator[bytes]]) -> Callable[..., Iterator[bytes]]:
        def iter_raw(*args: Any, **options: Any) -> Iterator[bytes]:
            self._waits = True
            try:
                for chunk in read(*args, **options):
                    self._waits = False
                    self._feed(chunk)
                    yield chunk
                    self._waits = True
            except Exception as error:
                self.fail(error)
                raise
            finally:
                self._end()

        return iter_raw

    def _reading_async(self, read: Callable[..., AsyncIterator[bytes]]) -> Callable[..., AsyncIterator[bytes]]:
        async def aiter_raw(*args: Any, **options: Any) -> AsyncIterator[bytes]:
            self._waits = True
            try:
                async for chunk in read(*args, **options):
                    self._waits = False
                    self._feed(chunk)
                    yield chunk
                    self._waits = True
            except Exception as error:
                self.fail(error)
                raise
            finally:
                self._end()

        return aiter_raw

    def _closing(self, close: Callable[[], Any]) -> Callable[[], Any]:
        """A program that has had enough closes the answer; so does the client itself when a read ends."""

        def close_response() -> Any:
            if not self._waits:
                self._end()
            return close()

        return close_response

    def _closing_async(self, close: Callable[[], Any]) -> Callable[[], Any]:
        async def close_response() -> Any:
            if not self._waits:
                self._end()
            return await close()

        return close_response

    def _feed(self, chunk: bytes) -> None:
        self._raw.append(chunk)
        if self._first is None and self._plain:
            with suppress(Exception):
                for event in self._events.feed(chunk):
                    if event != DONE:
                        self._reply.add(json.loads(event))
                if self._reply.started:
                    self._first = clock.since_ms(self._began)

    def _end(self, error: str | None = None) -> None:
        """Tell the observers, once."""
        if self._done:
            return
        self._done = True
        with suppress(Exception):
            status = getattr(self._response, "status_code", None)
            body, whole = self._read_body() if self._response is not None else (None, True)
            call = Observed(
                path=self._path,
                request=self._body,
                response=body,
                status=status,
                error=error or (None if whole else "the stream was not read to its end"),
                started=self._started,
                latency_ms=clock.since_ms(self._began),
                first_token_ms=self._first,
            )
            for observer in self._observers:
                observer.ended(call)

    def _read_body(self) -> tuple[Any, bool]:
        """The body as JSON, and whether it is whole."""
        raw = b"".join(self._raw)
        if not self._plain:
            kind, headers = type(self._response), {"content-encoding": self._response.headers["content-encoding"]}
            raw = kind(200, headers=headers, content=raw).content
        with suppress(ValueError):
            return json.loads(raw), True
        lines = EventLines()
        events = [*lines.feed(raw), *lines.end()]
        joined, whole = _joined(events)
        return (raw.decode(errors="replace") or None) if joined is None else joined, whole


def _joined(events: list[bytes]) -> tuple[Any, bool]:
    """The chunks of a chat completion as one, and whether they are all; of OpenAI Responses the last event says it all.

    None for the stream of any other API.
    """
    reply, last, is_chat = StreamedReply(), None, False
    for event in events:
        with suppress(ValueError):
            last = json.loads(event)
            is_chat = is_chat or (isinstance(last, dict) and isinstance(last.get("choices"), list))
            if isinstance(last, dict):
                reply.add(last)
    if is_chat:
        return reply.to_dict(), reply.finished or DONE in events
    return (last.get("response", last.get("error") and last) if isinstance(last, dict) else None), True
