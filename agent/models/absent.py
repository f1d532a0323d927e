"""AbsentModel: stands for a model that is not here, so that its run can be looked at and goes no further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from agent.errors import ModelError
from agent.messages import Message


class AbsentModel:
    """Says of itself what the model said that it stands for, and answers nothing.

    Args:
        snapshot: of the run, as :func:`agent.recovery.recover` gives it.
    """

    def __init__(self, snapshot: Mapping[str, Any]) -> None:
        trace = snapshot["trace"]
        model, config = trace.get("model") or {}, trace.get("config") or {}
        self.provider = model.get("provider")
        self.name = model.get("name")
        self.protocol = config.get("protocol") or "native"
        self.asked_with = config.get("asked_with")

    def complete(self, messages: Sequence[Message], tool_schemas: Sequence[dict[str, Any]]) -> NoReturn:
        """There is nobody to ask.

        Raises:
            ModelError: always.
        """
        raise ModelError("the model of this run is not here")
