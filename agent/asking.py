"""Ask a model once, whatever kind of object it is, and turn every way of failing into a ModelError."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from agent import clock
from agent.errors import AgentError, ModelError
from agent.foreign import as_reply
from agent.messages import Message
from agent.models.base import CallControl, Model, ModelReply
from agent.redact import redact_text
from agent.tool_result import describe

ASKED_WITH = "asked_with"
"""The name under which a model may say how it is asked, and under which a trace's ``config`` keeps it."""


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
            sound = as_reply(reply)
        except AgentError as error:
            words = redact_text(str(error), self.secrets)
            if words != str(error):
                error.args = (words,)
            raise
        except Exception as error:
            raise ModelError(describe(error, self.secrets)) from error
        return sound, clock.since_ms(started)

    def asked(self) -> dict[str, Any]:
        """How the model is asked, as a trace's ``config`` keeps it: its protocol, and its options without a key."""
        options = getattr(self.model, ASKED_WITH, None)
        protocol = getattr(self.model, "protocol", "native")
        return {"protocol": protocol, ASKED_WITH: options if isinstance(options, dict) else None}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The exact values, such as the key in use, that no error may repeat."""
        return tuple(getattr(self.model, "secrets", None) or ())
