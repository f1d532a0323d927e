"""MeteredModel: one live model lent to many, each with a quota; and Meter, which counts for all of them.

Whoever borrows the model learns neither its key nor where it is served: both count as secrets of every run with it, so
that what is shown or saved of the run holds them as little as any key.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from agent.errors import ModelError
from agent.events import Emit
from agent.messages import Message
from agent.models.around import AroundModel
from agent.models.base import CallControl, Model, ModelReply
from agent.redact import redact
from agent.tokens import count_message, count_messages, count_schemas, count_text

PLACE = "https://lent-model.invalid/v1"
"""Stands for the server wherever a request is shown. No such name can exist."""
PROVIDER = "lent"
_POLL_S = 0.1
"""How often a wait looks for the model being taken back."""


@dataclass(frozen=True, slots=True)
class Quota:
    """What each user may use."""

    calls: int
    """Model calls, each further try after a failed one included."""
    tokens: int
    """Prompt and reply together."""


@dataclass(frozen=True, slots=True)
class Used:
    """What one user has used."""

    calls: int = 0
    tokens: int = 0
    estimated: bool = False
    """Some of the tokens are our own count: the server reported nothing."""


class Meter:
    """Counts what each user takes of one lent model. Every method may be called from any thread.

    The calls of one user are made one after the other, however many runs he has: so a quota is never passed by more
    than the one reply that reaches it.

    Args:
        quota: of each user; may be set anew at any time.
        used: what each has used before.
        keep: called with a user and what he has used, whenever that has changed; never under a lock of the meter.
    """

    def __init__(
        self, quota: Quota, used: Mapping[str, Used] | None = None, keep: Callable[[str, Used], object] | None = None
    ) -> None:
        self.quota = quota
        self.taken_back = threading.Event()
        self._used = dict(used or {})
        self._keep = keep
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._forbidden: set[str] = set()

    def used(self, user: str) -> Used:
        """What this user has used so far."""
        return self._used.get(user, Used())

    def forbid(self, user: str) -> None:
        """Answer this user no more; a call that is being made is answered still."""
        with self._lock:
            self._forbidden.add(user)

    def take_back(self) -> None:
        """From now on nobody is answered; calls that are being made end within a second."""
        self.taken_back.set()

    @contextmanager
    def turn(self, user: str, control: CallControl) -> Iterator[None]:
        """Hold the turn of this user, so that no other call of his is made meanwhile.

        Raises:
            ModelError: the model was taken back, or the run was stopped or out of time before the turn came.
        """
        with self._lock:
            turn = self._turns.setdefault(user, threading.Lock())
        while not turn.acquire(blocking=False):
            self.check_lent()
            control.wait_or_fail(_POLL_S)
        try:
            yield
        finally:
            turn.release()

    def check_lent(self) -> None:
        """Raise where the model was taken back.

        Raises:
            ModelError: it was.
        """
        if self.taken_back.is_set():
            raise ModelError("the model of the class was taken back by the teacher")

    def begin(self, user: str) -> None:
        """Count one more call.

        Raises:
            ModelError: the model was taken back, the user is answered no more, or the quota is used up.
        """
        self.check_lent()
        with self._lock:
            if user in self._forbidden:
                raise ModelError("the model of the class answers only those who have a seat in it")
            quota, used = self.quota, self._used.get(user, Used())
            if used.calls >= quota.calls:
                raise ModelError(
                    f"your share of the model of the class is used up: {used.calls} of {quota.calls} calls"
                )
            if used.tokens >= quota.tokens:
                raise ModelError(
                    f"your share of the model of the class is used up: {used.tokens} of {quota.tokens} tokens"
                )
            now = self._used[user] = replace(used, calls=used.calls + 1)
        self._tell(user, now)

    def count(self, user: str, tokens: int, *, estimated: bool) -> None:
        """Count the tokens of a call."""
        with self._lock:
            used = self._used.get(user, Used())
            now = replace(used, tokens=used.tokens + tokens, estimated=used.estimated or estimated)
            self._used[user] = now
        self._tell(user, now)

    def _tell(self, user: str, used: Used) -> None:
        if self._keep is not None:
            self._keep(user, used)


class MeteredModel(AroundModel):
    """A lent model in the hands of one user.

    Args:
        inner: the model itself, with the lender's key.
        meter: counts for all users of it.
        user: who uses it here.
    """

    def __init__(self, inner: Model, meter: Meter, user: str) -> None:
        super().__init__(inner)
        self.secrets = (*self.secrets, *_names_of_server(str(getattr(inner, "base_url", ""))))
        self.provider = PROVIDER
        self.meter = meter
        self._user = user

    @property
    def asked_with(self) -> dict[str, Any] | None:
        """The form in which its requests are shown: without the place where they go."""
        told = super().asked_with
        return told if told is None else {**told, "base_url": PLACE}

    def complete(
        self,
        messages: Sequence[Message],
        tool_schemas: Sequence[dict[str, Any]],
        *,
        control: CallControl | None = None,
    ) -> ModelReply:
        """One call of the lent model, counted.

        Raises:
            ModelError: the call failed, the quota is used up, or the model was taken back.
        """
        control = control or CallControl()
        with self.meter.turn(self._user, control):
            self.meter.begin(self._user)
            streamed: list[str] = []
            emit = self._emit(control.emit, streamed)
            told = replace(control, stop=_Either(control.stop, self.meter.taken_back), emit=emit)
            try:
                reply, _ = self._asker.ask(messages, tool_schemas, told)
            except ModelError as error:
                if streamed or control.stop.is_set():  # the lender pays for what was asked and said so far
                    guess = count_messages(messages) + count_schemas(tool_schemas) + count_text("".join(streamed))
                    self.meter.count(self._user, guess, estimated=True)
                if not control.stop.is_set():
                    self.meter.check_lent()
                error.raw = redact(error.raw, self.secrets)
                raise
            total = reply.usage.total if reply.usage is not None else None
            guess = count_messages(messages) + count_schemas(tool_schemas) + count_message(reply.message)
            estimated = total is None or (reply.usage is not None and reply.usage.estimated)
            self.meter.count(self._user, guess if total is None else total, estimated=estimated)
        return reply

    def _emit(self, emit: Emit, streamed: list[str]) -> Emit:
        """Each further try after a failed one is a call of its own; what streams in is noted, should it break off."""

        def tell(kind: str, payload: dict[str, Any]) -> None:
            emit(kind, payload)
            if kind == "model.delta":
                streamed.extend(map(str, payload.values()))
            elif kind == "model.retry":
                self.meter.begin(self._user)

        return tell


def _names_of_server(url: str) -> tuple[str, ...]:
    """By what a sentence may name a server: with its port, or, as certificates do, alone. This machine has no name."""
    parts = urlsplit(url)
    host, place = parts.hostname or "", parts.netloc.rpartition("@")[2]
    alone = "." in host and not host.startswith("127.")
    return tuple(dict.fromkeys(name for name in (place, host if alone else "") if name))


class _Either(threading.Event):
    """Set when one of two events is."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._one, self._other = one, other

    def is_set(self) -> bool:
        return self._one.is_set() or self._other.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        left = timeout
        while not self.is_set() and (left is None or left > 0):
            self._one.wait(_POLL_S if left is None else min(_POLL_S, left))
            left = None if left is None else left - _POLL_S
        return self.is_set()
