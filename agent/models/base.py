"""The one interface between the loop and any model, fake or real."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from agent import clock
from agent.errors import ModelError, Retry
from agent.events import Emit, ignore
from agent.faults import Fault
from agent.messages import Message
from agent.usage import Usage


@dataclass(slots=True)
class CallControl:
    """What the loop gives a model for one call, beside the request.

    A model takes it by having a keyword parameter ``control``; a model without one is called with the request alone.
    """

    number: int = 0
    """How many model calls this run has made before this one. A scripted model answers by it, so that one model can
    serve many runs, and a resumed or forked run goes on at its right turn."""
    emit: Emit = ignore
    """Tell something while the call goes on: ``emit("model.delta", {"text": "Hel"})``."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set when the user stops the run. A model that waits must then return or raise within a second."""
    deadline: float | None = None
    """When, on :data:`agent.clock.monotonic`, the run's time is up; None: no limit."""
    canonical: Sequence[Message] | None = None
    """The request as the loop made it, where an adapter on the way gives the model another form of it."""
    offered: Sequence[dict[str, Any]] = ()
    """The tools on offer that go with ``canonical``."""

    def remaining_s(self) -> float | None:
        """Seconds until the deadline (never below 0), or None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - clock.monotonic())

    def wait(self, seconds: float) -> bool:
        """Wait, but not past a stop or the deadline. True if the whole time was waited."""
        left = self.remaining_s()
        short = left is not None and left < seconds
        return not self.stop.wait(left if short else seconds) and not short

    def wait_or_fail(self, seconds: float) -> None:
        """Wait, and say why where it was cut short.

        Raises:
            ModelError: of kind ``stopped`` or ``timeout``.
        """
        if self.wait(seconds):
            return
        if self.stop.is_set():
            raise ModelError("the run was stopped while the model was at work", kind="stopped")
        raise ModelError("the time of the run was up while the model was at work", kind="timeout")


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One answer of a model: exactly one assistant message, and what the provider said about it."""

    message: Message
    usage: Usage | None = None
    """None: the provider reported nothing."""
    finish_reason: str | None = None
    """The provider's word, as it came: stop, tool_calls, length, content_filter, ..."""
    model: str | None = None
    """The name of the model that answered, where the provider says so."""
    first_token_ms: float | None = None
    """Milliseconds until the first token of a streamed reply."""
    cost: float | None = None
    """Money in US dollars, only where the provider reports it."""
    raw: Any = None
    """The assistant message as the provider sent it, where reading it changed something; None where it did not."""
    warnings: tuple[str, ...] = ()
    """What was odd about the reply and what was done about it, one sentence each."""
    retries: tuple[Retry, ...] = ()
    """Failed attempts before this answer."""
    stop: str | None = None
    """A stop reason that the protocol of this model demands (``unknown_action``); None as a rule."""
    faults: tuple[Fault, ...] = ()
    """What is to go wrong on purpose after it. Only a scripted reply holds any."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data without the fields that say nothing."""
        data: dict[str, Any] = {"message": self.message.to_dict()}
        if self.usage is not None:
            data["usage"] = self.usage.to_dict()
        if self.retries:
            data["retries"] = [asdict(retry) for retry in self.retries]
        if self.warnings:
            data["warnings"] = list(self.warnings)
        if self.faults:
            data["faults"] = [fault.to_dict() for fault in self.faults]
        for name in _PLAIN:
            if (value := getattr(self, name)) is not None:
                data[name] = value
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModelReply:
        """Read what :meth:`to_dict` wrote."""
        usage = data.get("usage")
        return cls(
            message=Message.from_dict(data["message"]),
            usage=Usage.from_dict(usage) if usage else None,
            retries=tuple(Retry(**retry) for retry in data.get("retries") or ()),
            warnings=tuple(data.get("warnings") or ()),
            faults=tuple(map(Fault.from_dict, data.get("faults") or ())),
            **{name: data[name] for name in _PLAIN if name in data},
        )


_PLAIN = ("finish_reason", "model", "first_token_ms", "cost", "raw", "stop")


class Model(Protocol):
    """Anything with ``complete``. It may take a keyword ``control: CallControl`` as well."""

    def complete(self, messages: Sequence[Message], tool_schemas: Sequence[dict[str, Any]]) -> Any:
        """Answer the message list: an object whose ``.message`` is the assistant message (a :class:`ModelReply`).

        Args:
            messages: the request, in order. Never changed by the model.
            tool_schemas: the tools on offer in OpenAI form: ``{"type": "function", "function": {"name", ...}}``.

        Raises:
            ModelError: the call failed for good.
        """
        ...
