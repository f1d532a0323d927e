"""What both generations of OpenHands' events share: turns of the model, running totals and times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.importing import ImportBuilder
from traces.readers.fields import amount, difference, duration, ended_well, milliseconds, moment, text
from traces.reply import Reply
from traces.wire import litellm
from traces.wire.parts import listed, mapping

STATES = {"stopped": "stopped_by_user", "paused": "stopped_by_user", "rejected": "rejected_by_user"}
STATES |= {"finished": "final", "error": "error", "stuck": "repeated_call"}
"""The last state of the agent as a reason to end. Others, such as waiting for the user, end nothing."""


class Turns:
    """A conversation that is told event by event."""

    def __init__(self, trace: TraceBuilder, out: ImportBuilder, metrics: Mapping[str, Any]) -> None:
        self.trace, self.out = trace, out
        self.given_at: str | None = None
        """When the model was last given something, or had answered."""
        self._usage: Usage | None = None
        self._cost: float | None = None
        self._by_response = {text(item.get("response_id")): item for item in listed(metrics.get("token_usages"))}
        self._latencies = {text(item.get("response_id")): item for item in listed(metrics.get("response_latencies"))}
        self.times: list[str | None] = []
        """When every event happened."""
        self.started: dict[str, str | None] = {}
        """When each call was made."""

    def say(self, message: Mapping[str, Any], at: str | None, line: int | None, maker: str | None = None) -> int:
        """A message that the model is given."""
        self.given_at = at or self.given_at
        return self.trace.message(message, at=at, line=line, maker=maker)

    def numbers(self, at: str | None, response: Reply, response_id: str, metrics: Any) -> None:
        """Numbers of the model call that was just told.

        Args:
            at: when its answer was there.
            response: what the response itself says.
            response_id: its id, by which rows keep tokens and latencies.
            metrics: running totals after it, where the event has them: what they grew by counts.
        """
        usage, cost = self._growth(mapping(metrics))
        if "accumulated_token_usage" not in mapping(metrics):
            usage = litellm.read_usage(self._by_response.get(response_id)) or response.usage
        stated = amount(mapping(self._latencies.get(response_id)).get("latency")) if response_id else None
        measured = milliseconds(self.given_at, at)
        self.trace.numbers(
            Reply(
                usage=usage,
                cost=cost if cost is not None else response.cost,
                model=response.model,
                finish_reason=response.finish_reason,
                started=self.given_at if measured is not None else None,
                latency_ms=measured if measured is not None else stated and stated * 1000,
            )
        )
        self.given_at = at or self.given_at

    def result(
        self,
        message: Mapping[str, Any],
        at: str | None,
        line: int | None,
        *,
        ok: bool | None,
        decision: str | None = None,
    ) -> None:
        """A tool's result. One without an id is paired by order, so that it must say itself that it is an error."""
        call_id = text(message.get("tool_call_id"))
        self.say({**message, "is_error": True} if ok is False and not call_id else message, at, line)
        begun = self.started.get(call_id)
        self.trace.tool_run(call_id, started=begun, latency_ms=milliseconds(begun, at), ok=ok, decision=decision)

    def end(self) -> None:
        """State the running totals as the file's own."""
        self.trace.reported(usage=self._usage, cost=self._cost, duration_s=duration(self.times))

    def _growth(self, metrics: Mapping[str, Any]) -> tuple[Usage | None, float | None]:
        usage, grown, spent = litellm.read_usage(metrics.get("accumulated_token_usage")), None, None
        if usage is not None:
            grown, self._usage = difference(usage, self._usage), usage
        cost = amount(metrics.get("accumulated_cost"))
        if cost is not None:
            before = self._cost or 0.0
            spent, self._cost = (cost - before if cost >= before else cost), cost
        return grown, spent


def exit_ok(*places: Mapping[str, Any]) -> bool | None:
    """Whether a command ended well, by the first exit code that one of ``places`` holds; -1 is one that still runs."""
    for place in places:
        for holder in (place, mapping(place.get("metadata"))):
            if (ok := ended_well(holder.get("exit_code"))) is not None:
                return None if holder["exit_code"] == -1 else ok
    return None


def image_parts(words: str, urls: Any) -> str | list[dict[str, Any]]:
    """Words alone, or words and images as content parts."""
    images = [url for url in urls if isinstance(url, str) and url] if isinstance(urls, list) else []
    if not images:
        return words
    parts: list[dict[str, Any]] = [{"type": "text", "text": words}] if words else []
    return [*parts, *({"type": "image_url", "image_url": {"url": url}} for url in images)]


def time_of_event(event: Mapping[str, Any]) -> str | None:
    """When an event happened."""
    return moment(event.get("timestamp"))
