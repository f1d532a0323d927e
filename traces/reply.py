"""Reply: what one model call of a foreign file gave, in one shape for all providers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What one model call gave, whatever the provider: one assistant message or an error, and the numbers beside it."""

    message: Mapping[str, Any] | None = None
    """The assistant message in OpenAI Chat form; None where the call gave none."""
    usage: Usage | None = None
    finish_reason: str | None = None
    model: str | None = None
    """The model that answered."""
    at: str | None = None
    """Wall-clock time of the answer, ISO 8601."""
    started: str | None = None
    """When the model was asked, ISO 8601."""
    latency_ms: float | None = None
    first_token_ms: float | None = None
    """Milliseconds until the first token of the answer."""
    cost: float | None = None
    """US dollars."""
    error: str | None = None
    """The provider's words, where the call failed."""
    status: int | None = None
    """HTTP status, where the file says it."""
    id: str | None = None
    """The provider's id of the answer, where a later request can name it instead of repeating what came before."""
    unread: tuple[str, ...] = ()
    """What of the answer was not used, one sentence each."""


NO_NUMBERS = Reply()
"""Says nothing."""
