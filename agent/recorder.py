"""Record a program that is not ours: a native trace of its own loop, so that it can be opened here.

    import agent

    with agent.recording("nightly run"):
        my_program()  # every call of an ``openai`` client in here is recorded

The program sees no difference: what it sends, gets and raises stays the same, and a recording that cannot be written
warns once and goes on in memory. While it goes on, what is new after each call is appended to a log, which outlives a
crash (:mod:`agent.recording_log`); at the end the trace takes its place. Secrets are taken out of both.
"""

from __future__ import annotations

import inspect
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agent import clock, jsontext
from agent.conversation import Conversation, keys_of, read_reply
from agent.messages import Message
from agent.recording_log import RecordingLog
from agent.redact import redact, redact_text
from agent.trace import ModelInfo, Source, Trace, TraceStep

if TYPE_CHECKING:
    from agent.models.observing import Observed

_DATA_FOLDER = Path(__file__).parents[1] / "traces" / "saved"
_CHAT = "/chat/completions"
_OTHER = ("/responses", "/messages", ":generateContent", ":streamGenerateContent", "/converse", "/api/chat")
"""How the paths of other APIs end in which models talk; embeddings and the like are no part of a conversation."""
_SHORTEST_KEY = 8
_F = TypeVar("_F", bound=Callable[..., Any])


@contextmanager
def recording(name: str, folder: Path | str | None = None, *, secrets: Iterable[str] = ()) -> Iterator[Recorder]:
    """Record the model calls made inside the ``with`` block.

    Calls of every ``openai`` client are seen that are made in this thread or task and in tasks begun inside. For calls
    in other threads use :meth:`Recorder.wrap`.

    Args:
        name: the title of the trace.
        folder: where the trace goes; by default the app's data folder.
        secrets: exact values that must not be written; the keys that the clients send are known without.
    """
    recorder = Recorder(name, folder, secrets=secrets)
    with ExitStack() as stack:
        with suppress(ImportError):  # without the package there is nothing to see; exchange() still works
            from agent.models.observing import watching

            stack.enter_context(watching(recorder))
        try:
            yield recorder
        except BaseException as error:
            recorder.note("exception", f"the program ended with {type(error).__name__}: {error}")
            raise
        finally:
            recorder.close()


class Recorder:
    """What :func:`recording` gives: it turns model calls into traces, one for each conversation.

    All methods may be called from any thread.
    """

    def __init__(self, name: str, folder: Path | str | None = None, *, secrets: Iterable[str] = ()) -> None:
        self.name = name
        self.folder = Path(folder or os.environ.get("AGENT_LAB_DATA") or _DATA_FOLDER)
        self.paths: list[Path] = []
        """The files that were written, once the recording is over."""
        self._secrets = {secret for secret in secrets if secret}
        self._logs: list[RecordingLog] = []
        self._other: RecordingLog | None = None
        self._ends: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self._closed = self._warned = False

    @property
    def traces(self) -> list[Trace]:
        """The conversations so far, in the order in which they began."""
        return [log.conversation.trace for log in self._logs]

    @property
    def trace(self) -> Trace | None:
        """The first conversation; None before the first call."""
        return self._logs[0].conversation.trace if self._logs else None

    # -- what a program may call -------------------------------------------------------------------------------------

    def wrap(self, client: Any) -> Any:
        """Record all calls of one ``openai`` client, also those made in other threads; gives the same client.

        Raises:
            TypeError: it is no such client.
        """
        from agent.models.observing import watch_client

        self._ends.append(watch_client(client, self))
        return client

    def tool(self, function: _F) -> _F:
        """A decorator: how long the tool took, and whether it failed, is kept with the call of this name."""
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def timed_async(*args: Any, **options: Any) -> Any:
                with self._timing(function.__name__):
                    return await function(*args, **options)

            return timed_async  # type: ignore[return-value]

        @wraps(function)
        def timed(*args: Any, **options: Any) -> Any:
            with self._timing(function.__name__):
                return function(*args, **options)

        return timed  # type: ignore[return-value]

    def tool_result(
        self, tool_call_id: str, content: Any, *, latency_ms: float | None = None, ok: bool | None = None
    ) -> None:
        """A tool has answered. Needed only where the answer should be kept before the next request repeats it."""
        with self._quietly():
            text = content if isinstance(content, str) else jsontext.dumps(content)
            for log in reversed(self._logs):
                if log.conversation.result(tool_call_id, text, latency_ms, ok):
                    self._save(log)
                    return

    def exchange(
        self,
        request: Any,
        response: Any,
        *,
        latency_ms: float | None = None,
        first_token_ms: float | None = None,
        started: str | None = None,
    ) -> None:
        """Record one model call by hand, whatever made it.

        Args:
            request: a request body of the OpenAI Chat API, or its message list alone.
            response: the response body, as a dict or an object of the ``openai`` package, or the exception that came.
            latency_ms: how long it took.
            first_token_ms: how long until the first piece.
            started: wall-clock time, ISO 8601; now by default.
        """
        with self._quietly():
            body = _plain(request)
            body = {"messages": body} if isinstance(body, list) else body
            began = started or clock.now()
            if isinstance(response, BaseException):
                self._failed(body, f"{type(response).__name__}: {response}", None, latency_ms, began)
            else:
                self._answered(body, _plain(response), latency_ms, first_token_ms, began)

    def note(self, kind: str, text: str) -> None:
        """A remark that is kept with the traces."""
        with self._quietly():
            for log in self._logs:
                trace = log.conversation.trace
                trace.notes = [*trace.notes, {"kind": kind, "text": redact_text(text, self._secrets)}]
                self._save(log)

    def close(self) -> None:
        """Write the traces. Called at the end of the ``with`` block; what comes later is not recorded."""
        for end in self._ends:
            end()
        with self._quietly():
            if self._closed:
                return
            self._closed = True
            for log in self._logs:
                log.conversation.end()
                self._warning(log.finish, self.folder, tuple(self._secrets))
                self.paths += [log.path] if log.path else []
            if self._other is not None:
                self._other.close()
                self.paths += [self._other.path] if self._other.path else []

    # -- what the observed client calls ------------------------------------------------------------------------------

    def begins(self, secret: str) -> None:
        """A key is in use: it is written nowhere."""
        if len(secret) >= _SHORTEST_KEY:
            self._secrets.add(secret)

    def ended(self, call: Observed) -> None:
        """A model call of the program is over."""
        with self._quietly():
            if self._closed:
                return
            if not call.path.endswith(_CHAT):
                if call.path.endswith(_OTHER):
                    self._keep_other(call)
            elif call.response is not None and (call.status or 0) < 400 and read_reply(call.response):
                self._answered(
                    call.request, call.response, call.latency_ms, call.first_token_ms, call.started, call.error
                )
            else:
                error = call.error or _error_words(call.response, call.status)
                self._failed(call.request, error, call.status, call.latency_ms, call.started)

    # -- from calls to conversations ---------------------------------------------------------------------------------

    def _answered(
        self,
        body: Mapping[str, Any],
        response: Any,
        latency_ms: float | None,
        first_token_ms: float | None,
        started: str | None,
        warning: str | None = None,
    ) -> None:
        reply = read_reply(response)
        if reply is None:
            self._failed(body, _error_words(response, None), None, latency_ms, started)
            return
        log, step = self._asked(body, started)
        reply = replace(reply, first_token_ms=first_token_ms)
        step.warnings += [warning] if warning else []
        log.conversation.answer(step, reply, latency_ms, clock.now())
        self._save(log)

    def _failed(
        self, body: Mapping[str, Any], error: str, status: int | None, latency_ms: float | None, started: str | None
    ) -> None:
        log, step = self._asked(body, started)
        log.conversation.fail(step, redact_text(error, self._secrets), status, latency_ms)
        self._save(log)

    def _asked(self, body: Mapping[str, Any], started: str | None) -> tuple[RecordingLog, TraceStep]:
        """The conversation that a request goes on with, or a new one; and its step."""
        messages = [Message.from_dict(item) for item in body.get("messages") or () if isinstance(item, Mapping)]
        keys = keys_of(messages)
        newest = list(reversed(self._logs))
        log = next((log for log in newest if log.conversation.goes_on_with(keys)), None)
        log = log or next((log for log in newest if log.conversation.goes_on_changed_with(keys)), None)
        if log is None:
            number = f" ({len(self._logs) + 1})" if self._logs else ""
            source = Source(kind="run", format="recording")
            log = RecordingLog(Conversation(Trace(title=f"{self.name}{number}", created=started, source=source)))
            self._logs.append(log)
            self._warning(log.open, self.folder)
        trace = log.conversation.trace
        model = body.get("model")
        trace.model = ModelInfo(name=trace.model.name or (model if isinstance(model, str) else None))
        offered = body.get("tools") or ()
        trace.tools = [*trace.tools, *(t for t in offered if isinstance(t, dict) and t not in trace.tools)]
        settings = {key: value for key, value in body.items() if key not in ("messages", "tools", "model")}
        trace.config = {"request": settings, **trace.config} if settings else trace.config
        return log, log.conversation.ask(messages, keys, started)

    def _keep_other(self, call: Observed) -> None:
        """A call of another API: request and response as they are, one line each, which the reader of it opens."""
        if self._other is None:
            self._other = RecordingLog(Conversation(Trace()))
            self._warning(self._other.open, self.folder, ".calls.jsonl")
        line = {"request": call.request, "response": call.response, "status": call.status, "error": call.error}
        line |= {"started": call.started, "latency_ms": call.latency_ms, "path": call.path}
        self._warning(self._other.write, redact(line, self._secrets))

    def _save(self, log: RecordingLog) -> None:
        self._warning(log.append, tuple(self._secrets))

    # -- never in the way --------------------------------------------------------------------------------------------

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Whatever goes wrong in here is ours, and the program must not be hurt by it."""
        with self._lock:
            try:
                yield
            except Exception as error:
                self._warn(f"something of it is missing: {type(error).__name__}: {error}")

    @contextmanager
    def _timing(self, name: str) -> Iterator[None]:
        started, began, ok = clock.now(), clock.monotonic(), False
        try:
            yield
            ok = True
        finally:
            took = clock.since_ms(began)
            with self._quietly():
                for log in reversed(self._logs):
                    log.conversation.measured(name, started, took, ok)
                    if log.conversation.changed:
                        self._save(log)
                        break

    def _warning(self, act: Callable[..., None], *arguments: Any) -> None:
        try:
            act(*arguments)
        except OSError as error:
            self._warn(f"it cannot be written: {error.strerror or error}")

    def _warn(self, what: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(f"the recording {self.name!r} goes on, but {what}", RuntimeWarning, stacklevel=2)


def _plain(value: Any) -> Any:
    """A body as JSON data; objects of the ``openai`` package know how to become it."""
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _error_words(body: Any, status: int | None) -> str:
    """What a provider said about a failed call."""
    error = body.get("error") if isinstance(body, Mapping) else body
    words = error.get("message") if isinstance(error, Mapping) else error
    text = words if isinstance(words, str) and words else "no answer that could be read"
    return text if status is None else f"HTTP {status}: {text}"
