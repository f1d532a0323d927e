"""A model around another one: it changes what is said on the way, and else passes for the one inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.asking import Asker
from agent.errors import InputError
from agent.messages import Message
from agent.models.base import Model


class AroundModel:
    """What such models have in common.

    Args:
        inner: the model inside.
    """

    def __init__(self, inner: Model) -> None:
        self.inner = inner
        self.provider = getattr(inner, "provider", None) or type(inner).__name__
        self.name = getattr(inner, "name", None)
        self.secrets: tuple[str, ...] = getattr(inner, "secrets", ())
        self._asker = Asker(inner)

    @property
    def asked_with(self) -> dict[str, Any] | None:
        """The form in which the requests of the inner model are shown."""
        return getattr(self.inner, "asked_with", None)

    def body(self, messages: Sequence[Message], tool_schemas: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        """What the inner model would be sent.

        Raises:
            InputError: it does not say.
        """
        tell = getattr(self.inner, "body", None)
        if not callable(tell):
            raise InputError(f"{type(self.inner).__name__} does not say what it sends")
        body: dict[str, Any] = tell(messages, tool_schemas)
        return body
