"""OpenAIModel: any server that speaks the OpenAI Chat API, streaming or not, through the ``openai`` package."""

from __future__ import annotations

import os
import random
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from copy import copy
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agent import clock, jsontext
from agent.errors import InputError, ModelError, Retry
from agent.messages import Message
from agent.models.base import CallControl, ModelReply
from agent.models.body import RequestForm
from agent.models.completions import CompletionReader
from agent.models.connection import DONE, Body, Connection, Piece
from agent.models.http_errors import LONGEST_WAIT_S, CallFailed, failed_connection
from agent.models.profiles import PROFILES, Profile, profile_for
from agent.models.streams import StreamedReply
from agent.models.wire import HistoryEncoder

OPENAI_URL = "https://api.openai.com/v1"
_FIRST_WAIT_S = 0.5
_LAST_WAIT_S = 8.0
_OURS = frozenset(("model", "messages", "tools", "stream"))
_NO_KEY = "no-key"
"""Sent to servers that ask for none: the client needs one."""


class OpenAIModel:
    """A model behind an OpenAI-compatible server.

    The ``openai`` package is loaded at the first call. A failed attempt that may succeed later is repeated at most
    ``max_retries`` times, visibly: each is told as ``model.retry`` and kept in the reply or the error.

    Args:
        model: the name that the server knows the model by.
        base_url: where the API begins; default: ``OPENAI_BASE_URL``, else OpenAI itself.
        api_key: default: ``OPENAI_API_KEY``. Servers other than OpenAI may need none.
        stream: tell the reply piece by piece as ``model.delta``.
        temperature: sampling temperature; None leaves it to the server, as for the following ones.
        max_tokens: limit on the reply's length.
        parallel_tool_calls: False asks for one call at a time; not every server obeys.
        seed: asks for repeatable sampling.
        tool_choice: ``"auto"``, ``"none"``, ``"required"`` or one function, in OpenAI's form.
        profile: what the host wants its messages to look like, by name or as a :class:`Profile`; ``"default"`` looks
            it up by the host of ``base_url``.
        timeout_s: seconds of silence after which a call fails; without streaming that is the whole wait.
        max_retries: further attempts after the first; 0 for none.
        extra_body: further keys of the request, for what only one server knows.
        text_calls: run calls that a server left in the text (see :func:`agent.models.text_calls.find_text_calls`).

    Raises:
        InputError: a value that no call could succeed with.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        stream: bool = False,
        temperature: float | None = None,
        max_tokens: int | None = None,
        parallel_tool_calls: bool | None = None,
        seed: int | None = None,
        tool_choice: str | dict[str, Any] | None = None,
        profile: Profile | str = "default",
        timeout_s: float = 120,
        max_retries: int = 2,
        extra_body: dict[str, Any] | None = None,
        text_calls: bool = False,
    ) -> None:
        if not model.strip():
            raise InputError("The name of the model is missing.")
        if timeout_s <= 0 or max_retries < 0:
            raise InputError("timeout_s must be above 0 and max_retries must not be negative.")
        self.name = model
        self.base_url = _checked_url(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL)
        self.provider = _host(self.base_url)
        self._key = _checked_key(api_key or os.environ.get("OPENAI_API_KEY") or "", self.base_url)
        self.secrets = (self._key,)
        self.profile = _profile(profile, self.base_url)
        self.stream = stream
        self.timeout_s = timeout_s
        self.max_retries = max_retries
        self.text_calls = text_calls
        self._usage_in_stream = self.profile.stream_usage
        sampling = {"temperature": temperature, self.profile.max_tokens_key: max_tokens, "seed": seed}
        self._options = _given(sampling) | _checked_extra(extra_body or {})
        self._tool_options = _given({"tool_choice": tool_choice, "parallel_tool_calls": parallel_tool_calls})
        self._history = HistoryEncoder(self.profile)
        self._idle: deque[Connection] = deque()

    def with_seed(self, seed: int) -> OpenAIModel:
        """The same model, asked with another seed. Both use the same connections, also from several threads."""
        other = copy(self)
        other._options = {**self._options, "seed": seed}
        other._history = HistoryEncoder(self.profile)
        return other

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, provider={self.provider!r}, stream={self.stream})"

    @property
    def form(self) -> RequestForm:
        """What stands round the messages and tools of every request, as of now."""
        options: dict[str, Any] = {"model": self.name}
        if self.stream:
            options["stream"] = True
            if self._usage_in_stream:
                options["stream_options"] = {"include_usage": True}
        return RequestForm(options | self._options, self._tool_options, self.profile, _public(self.base_url))

    @property
    def asked_with(self) -> dict[str, Any]:
        """The form of its requests as JSON data, for a trace. The key is no part of it."""
        return self.form.to_dict()

    def body(self, messages: Sequence[Message], tool_schemas: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        """What :meth:`complete` would send for this request: the same bytes, read back. Nothing is sent."""
        return self.form.body(messages, tool_schemas)

    def complete(
        self,
        messages: Sequence[Message],
        tool_schemas: Sequence[dict[str, Any]] = (),
        *,
        control: CallControl | None = None,
    ) -> ModelReply:
        """Answer the message list with one assistant message.

        Raises:
            ModelError: in the provider's words, with its status and code. ``kind`` says what failed: ``provider``,
                ``context_overflow``, ``connection``, ``timeout`` or ``stopped``.
        """
        control = control or CallControl()
        retries: list[Retry] = []
        failures = 0
        while True:
            try:
                reply = self._attempt(messages, tool_schemas, control)
            except CallFailed as failed:
                if self._usage_was_refused(failed):
                    self._usage_in_stream = False
                    wait_s = 0.0
                else:
                    failures += 1
                    wait_s = self._wait_s(failed, failures, retries)
                retry = Retry(len(retries) + 1, str(failed.error), wait_s, failed.error.status)
                retries.append(retry)
                control.emit("model.retry", asdict(retry))
                self._pause(wait_s, control, retries)
                continue
            return replace(reply, retries=tuple(retries)) if retries else reply

    def _attempt(
        self, messages: Sequence[Message], tool_schemas: Sequence[dict[str, Any]], control: CallControl
    ) -> ModelReply:
        """One request and its answer.

        Raises:
            CallFailed: there is no whole answer.
        """
        started = clock.monotonic()
        names = [name for schema in tool_schemas if (name := (schema.get("function") or {}).get("name"))]
        body = self.form.encode(messages, tool_schemas, self._history)
        connection = self._connection()
        try:
            with closing(connection.post(body, control)) as pieces:
                return self._answer(pieces, names, control, started)
        finally:
            if connection.usable:
                self._idle.append(connection)

    def _connection(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return Connection(self.base_url, self._key, self.timeout_s)

    def _answer(
        self, pieces: Iterable[Piece], names: Collection[str], control: CallControl, started: float
    ) -> ModelReply:
        """Put the answer together; whether it is a stream is the server's choice in the end.

        Args:
            pieces: of the answer.
            names: of the tools on offer.
            control: of the call.
            started: when the attempt began, on :data:`agent.clock.monotonic`.
        """
        reader = CompletionReader(names, (self._key,), text_calls=self.text_calls)
        streamed = StreamedReply(names)
        first_token_ms: float | None = None
        done = False
        for piece in pieces:
            if isinstance(piece, Body):
                return reader.read(reader.parse(piece.data))
            for data in piece.data:
                if data == DONE:
                    done = True
                elif data:
                    for kind, text in streamed.add(reader.parse_chunk(data)):
                        control.emit("model.delta", {kind: text})
            if first_token_ms is None and streamed.started:
                first_token_ms = clock.since_ms(started)
        if not (done or streamed.finished):
            raise failed_connection("The stream was cut off before the reply was complete.", (self._key,))
        reply = reader.read(streamed.to_dict(), malformed=streamed.malformed)
        return replace(reply, first_token_ms=first_token_ms)

    def _usage_was_refused(self, failed: CallFailed) -> bool:
        """Whether a host refused the request because it asked for the usage of a stream."""
        asked = self.stream and self._usage_in_stream
        return asked and failed.error.status in (400, 422) and "stream_options" in str(failed.error)

    def _wait_s(self, failed: CallFailed, failures: int, retries: list[Retry]) -> float:
        """Seconds to wait before the next attempt.

        Raises:
            ModelError: there is to be none.
        """
        error, asked = failed.error, failed.retry_after_s
        error.retries = tuple(retries)
        if not failed.retryable or failures > self.max_retries:
            raise error from None
        if asked is not None and asked > LONGEST_WAIT_S:
            raise error from None
        if asked is not None:
            return asked
        doubled: float = _FIRST_WAIT_S * 2 ** (failures - 1)
        return round(min(_LAST_WAIT_S, doubled) * random.uniform(0.8, 1.0), 3)

    def _pause(self, wait_s: float, control: CallControl, retries: list[Retry]) -> None:
        """Wait for the next attempt, but not past a stop or the end of the run's time."""
        if wait_s == 0 or control.wait(wait_s):
            return
        last = retries[-1].error
        if control.stop.is_set():
            raise ModelError(f"Stopped by the user while waiting to try again. {last}", kind="stopped", retries=retries)
        raise ModelError(f"The time of the run ended before another try. {last}", kind="timeout", retries=retries)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _profile(profile: Profile | str, base_url: str) -> Profile:
    if isinstance(profile, Profile):
        return profile
    if profile == "default":
        return profile_for(base_url)
    if profile not in PROFILES:
        raise InputError(f"There is no profile {profile!r}; known are {', '.join(PROFILES)}.")
    return PROFILES[profile]


def _checked_url(url: str) -> str:
    url = url.strip().rstrip("/").removesuffix("/chat/completions")
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        valid = valid and url.isprintable()
        (parts.hostname or "").encode("idna")  # a name that no server can have raises a ValueError too
    except ValueError:
        valid = False
    if not valid:
        raise InputError("The base URL must look like http://127.0.0.1:8080/v1 or https://api.openai.com/v1.")
    return url


def _host(url: str) -> str:
    """Host and port, without a user name and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _public(url: str) -> str:
    """Without user name, password and query, all of which may hold a key."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, _host(url), parts.path, "", ""))


def _checked_key(key: str, base_url: str) -> str:
    key = key.strip()
    if not key and profile_for(base_url).name == "openai":
        raise InputError("OpenAI needs an API key: give one, or set OPENAI_API_KEY, or name another base URL.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InputError("The API key holds characters that no key has; it was probably not copied as it is.")
    return key or _NO_KEY


def _checked_extra(extra: dict[str, Any]) -> dict[str, Any]:
    try:
        jsontext.dumps(extra)
    except TypeError as error:
        raise InputError(f"extra_body cannot be sent as JSON: {error}.") from None
    if ours := _OURS & extra.keys():
        raise InputError(f"extra_body cannot hold {', '.join(sorted(ours))}: they are set elsewhere.")
    return extra
