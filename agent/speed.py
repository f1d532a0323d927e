"""How fast a model answers: the call in flight as far as it came, and the tokens per second of a finished one."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent import clock, tokens
from agent.events import AgentEvent
from agent.trace import TraceStep

_LEAST_S = 0.02
"""A reply that comes in less time than this after its first token came in one piece, which says nothing of speed."""


@dataclass(slots=True)
class CallProgress:
    """One model call while it goes on. Written by the thread that advances the run, read by any."""

    began: float = field(default_factory=clock.monotonic)
    """On :data:`agent.clock.monotonic`."""
    text: str = ""
    """The answer as far as it has streamed in."""
    reasoning: str = ""
    """The thoughts that the model streams beside its answer."""
    attempt: int = 1
    """2 and more: attempts before this one failed."""
    first_token_ms: float | None = None
    """Milliseconds from the beginning of this attempt to its first piece; None before that."""
    _tried: float = field(default_factory=clock.monotonic, repr=False)

    def hear(self, event: AgentEvent) -> None:
        """Take in an event of the call; all others mean nothing here."""
        if event.type == "model.delta":
            if self.first_token_ms is None:
                self.first_token_ms = clock.since_ms(self._tried)
            self.text += event.payload.get("text", "")
            self.reasoning += event.payload.get("reasoning", "")
        elif event.type == "model.retry":
            self.text = self.reasoning = ""
            self.first_token_ms = None
            self.attempt += 1
            self._tried = clock.monotonic() + event.payload.get("wait_s", 0.0)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the call began, its failed attempts included."""
        return clock.monotonic() - self.began

    @property
    def tokens_per_s(self) -> float | None:
        """About how many tokens come in each second after the first; our own count. None while that cannot be told."""
        if self.first_token_ms is None:
            return None
        seconds = clock.monotonic() - self._tried - self.first_token_ms / 1000
        return _rate(tokens.count_text(self.reasoning) + tokens.count_text(self.text), seconds)


def tokens_per_s(step: TraceStep) -> float | None:
    """Tokens of the reply for each second after the first token; an estimate where ``step.usage.estimated`` says so.

    None where the tokens or a time were not reported, where the reply came in one piece, and where attempts that failed
    are part of the time.
    """
    count = step.usage.completion_tokens if step.usage else None
    if count is None or step.latency_ms is None or step.first_token_ms is None or step.retries:
        return None
    return _rate(count, (step.latency_ms - step.first_token_ms) / 1000)


def _rate(count: int, seconds: float) -> float | None:
    return count / seconds if count > 0 and seconds >= _LEAST_S else None
