"""The model that a teacher lends to a class. The key is in memory here and nowhere else; a restart forgets it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.errors import AgentError
from agent.messages import Message
from agent.models.metered import Meter, MeteredModel, Quota, Used
from agent.models.openai_chat import OpenAIModel
from agent.redact import redact_text
from traces.classroom.klass import Terms

_TRIAL_S = 30.0
"""Seconds of silence after which a trial has failed."""
_SHOWN = 200
"""Characters of the answer to a trial that are shown."""


@dataclass(frozen=True, slots=True, repr=False)
class Server:
    """Where a model is served, and the key for it."""

    model: str
    base_url: str
    key: str | None
    """None: the environment's."""

    def open(self, **options: Any) -> OpenAIModel:
        """The model itself.

        Raises:
            InputError: no call could succeed with these.
        """
        return OpenAIModel(self.model, base_url=self.base_url or None, api_key=self.key, **options)


class Lent:
    """A model on loan to a class.

    Args:
        server: where it is, and the key.
        terms: what each student may use.
        used: what each seat has used before.
        keep: called with a seat and what it has used, whenever that has changed.
    """

    def __init__(
        self, server: Server, terms: Terms, used: Mapping[str, Used], keep: Callable[[str, Used], object]
    ) -> None:
        self._server = server
        self.terms = terms
        self.meter = Meter(Quota(terms.calls, terms.tokens), used, keep)

    def borrow(self, seat: str, **options: Any) -> MeteredModel:
        """The model in the hands of a seat.

        Args:
            seat: whose quota counts.
            options: of :class:`~agent.models.openai_chat.OpenAIModel`: how the model is to be asked, never where.

        Raises:
            InputError: no call could succeed with these options.
        """
        return MeteredModel(self._server.open(**options), self.meter, seat)

    def set_quota(self, terms: Terms) -> None:
        """Let other limits hold from now on."""
        self.terms = terms
        self.meter.quota = Quota(terms.calls, terms.tokens)


@dataclass(slots=True)
class Trial:
    """One call that shows whether a model can be lent."""

    done: bool = False
    ok: bool = False
    text: str = ""
    """What the model said, or why it did not."""


class Lendings:
    """What is on loan in this process, by the id of the class. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lent: dict[str, Lent] = {}
        self._trials: dict[str, Trial] = {}
        self._lock = threading.Lock()

    def lend(self, klass: str, lent: Lent) -> None:
        """Lend a model to a class, in place of one that was lent before."""
        with self._lock:  # of two that are lent at once, one is taken back
            self.take_back(klass)
            self._lent[klass] = lent

    def of(self, klass: str) -> Lent | None:
        """What is lent to a class."""
        return self._lent.get(klass)

    def take_back(self, klass: str) -> None:
        """End the loan at once, and forget the key."""
        self._trials.pop(klass, None)
        if (lent := self._lent.pop(klass, None)) is not None:
            lent.meter.take_back()

    def try_out(self, klass: str, server: Server) -> Trial:
        """Ask a model for one word, in a thread of its own.

        Raises:
            InputError: no call could succeed with this server.
        """
        model = server.open(timeout_s=_TRIAL_S, max_retries=0)
        trial = self._trials[klass] = Trial()
        threading.Thread(target=_try, args=(model, trial), name="trial-call", daemon=True).start()
        return trial

    def trial(self, klass: str) -> Trial | None:
        """The last trial of a class."""
        return self._trials.get(klass)


def _try(model: OpenAIModel, trial: Trial) -> None:
    try:
        reply = model.complete([Message("user", "Say hello in one word.")])
        said = redact_text(reply.message.text.strip(), model.secrets)
        trial.text = said if len(said) <= _SHOWN else said[:_SHOWN] + "…"
        trial.ok = True
    except AgentError as error:
        trial.text = str(error)
    finally:
        trial.done = True
