"""Errors for people: what happened, where, and what to do. Every error that this project raises is an AgentError."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from agent.models.differing import Difference


class AgentError(Exception):
    """Base of every error of this project. Its text is one sentence that can be shown to a user as it is."""


class InputError(AgentError):
    """Something that a user gave (a file, an option, a script) cannot be used; the text says where and why."""


class ToolDefinitionError(AgentError, ValueError):
    """A tool cannot be registered: its name, its signature or its schema would be refused or could not be called."""


class ToolFailure(AgentError):
    """Raised inside a tool to say that it failed, in words for the model.

    Args:
        message: what went wrong and what could be tried instead. It becomes the ``error`` of the result as it stands.
        retryable: whether another call, corrected or later, may succeed.
    """

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


class ArgumentError(AgentError, ValueError):
    """The arguments of a call do not fit the tool; the text names the parameter and what it takes."""


class ProtocolError(AgentError):
    """A message list breaks the rules of the tool-calling protocol and cannot be sent."""


class ContextOverflow(AgentError):
    """Nothing more can be left out of a request and it is still too long; the text gives the numbers."""


class ScriptExhausted(AgentError):
    """A fake model was asked for a turn that its script does not hold."""


class ReplayMismatch(ScriptExhausted):
    """A strict replay was given a request that is not the recorded one. Nothing was called.

    Args:
        message: the differences in one sentence.
        differences: the same as data; empty where the recording holds no such model call.
        step: of the request, from 1; None where the recording holds no such model call.
        nearest: the recorded model call, from 1, whose request differs least; None where nothing is recorded.
    """

    def __init__(
        self,
        message: str,
        *,
        differences: Sequence[Difference] = (),
        step: int | None = None,
        nearest: int | None = None,
    ) -> None:
        super().__init__(message)
        self.differences = tuple(differences)
        self.step = step
        self.nearest = nearest


@dataclass(frozen=True, slots=True)
class Retry:
    """One failed attempt at a model call that was followed by another."""

    attempt: int
    """1 for the first attempt."""
    error: str
    """The provider's words, without secrets."""
    wait_s: float
    """Seconds waited before the next attempt."""
    status: int | None = None
    """HTTP status, where there was an answer."""


ModelErrorKind = Literal["provider", "context_overflow", "timeout", "connection", "stopped"]


class ModelError(AgentError):
    """A model call failed for good. In a loop it ends the run with its own reason and is never raised from there."""

    def __init__(
        self,
        message: str,
        *,
        kind: ModelErrorKind = "provider",
        status: int | None = None,
        code: str | None = None,
        retries: Sequence[Retry] = (),
        raw: Any = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.code = code
        self.retries = tuple(retries)
        self.raw = raw
