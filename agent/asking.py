"""Ask a model once, whatever kind of object it is, and turn every way of failing into a ModelError."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent import clock
from agent.errors import AgentError, ModelError
from agent.messages import Message
from agent.models.base import CallControl, Model, ModelReply
from agent.protocol import with_own_ids
from agent.redact import redact_text


class Asker:
    """The one caller of a model.

    Raises:
        TypeError: ``model`` has no ``complete`` method.
    """

    def __init__(self, model: Model) -> None:
        if not callable(getattr(model, "complete", None)):
            raise TypeError(f"a model needs a method complete(messages, tool_schemas); {type(model).__name__} has none")
        self.model = model
        parameters = inspect.signature(model.complete).parameters.values()
        self._takes_control = any(p.name == "control" or p.kind is p.VAR_KEYWORD for p in parameters)

    def ask(
        self, messages: Sequence[Message], tool_schemas: Sequence[dict[str, Any]], control: CallControl
    ) -> tuple[ModelReply, float]:
        """One model call: the reply, and how many milliseconds it took.

        Raises:
            ModelError: the call failed, in whatever way.
            ScriptExhausted: a scripted model holds no such turn.
        """
        started = clock.monotonic()
        try:
            if self._takes_control:
                reply = self.model.complete(messages, tool_schemas, control=control)  # type: ignore[call-arg]
            else:
                reply = self.model.complete(messages, tool_schemas)
        except AgentError:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise ModelError(redact_text(said)) from error
        return _as_reply(reply), clock.since_ms(started)


def _as_reply(reply: Any) -> ModelReply:
    message = getattr(reply, "message", None)
    if not isinstance(message, Message):
        raise ModelError(f"the model gave {type(reply).__name__} without an assistant message in .message")
    if message.role != "assistant":
        raise ModelError(f"the model answered with a message of role {message.role!r}, it must be an assistant message")
    own = with_own_ids(message)
    if not isinstance(reply, ModelReply):
        usage, finish_reason = getattr(reply, "usage", None), getattr(reply, "finish_reason", None)
        return ModelReply(own, usage=usage, finish_reason=finish_reason)
    if own is message:
        return reply
    raw = reply.raw if reply.raw is not None else message.to_dict()
    return replace(
        reply, message=own, raw=raw, warnings=(*reply.warnings, "Calls without ids of their own got new ones.")
    )
