"""The body of a request: messages and tools with the options that a model is asked with, as one host wants them.

What is sent and what is shown of it come out of the same lines of code, here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from agent import jsontext
from agent.messages import Message
from agent.models.profiles import PROFILES, Profile
from agent.models.wire import HistoryEncoder, wire_schemas

_USUAL = {f.name: f.default for f in fields(Profile) if f.name not in ("about", "base_url", "hosts")}
"""What a profile says of requests, with the values of the default one."""


@dataclass(frozen=True, slots=True)
class RequestForm:
    """Everything of a request but its messages and tools. It holds no key."""

    options: dict[str, Any] = field(default_factory=dict)
    """Keys of every request: the model, its temperature, whether it streams."""
    tool_options: dict[str, Any] = field(default_factory=dict)
    """Keys that are sent only where tools are on offer."""
    profile: Profile = PROFILES["default"]
    """What the host wants its messages and schemas to look like."""
    base_url: str | None = None
    """Where the API begins; None where nothing is sent to a server."""

    def encode(
        self, messages: Sequence[Message], tool_schemas: Sequence[Mapping[str, Any]], history: HistoryEncoder
    ) -> bytes:
        """The body as it is sent: JSON in UTF-8.

        Made here, because the typed interface of the ``openai`` package walks through every message at every call.

        Args:
            messages: the request.
            tool_schemas: the tools on offer, in OpenAI form.
            history: what was encoded before, for the same profile.
        """
        body = self.options
        if tool_schemas:
            body = self.options | {key: value for key, value in self.tool_options.items() if key not in self.options}
            body["tools"] = wire_schemas(tool_schemas, self.profile)
        rest = jsontext.dump_bytes(body)[1:-1]
        return b'{%b"messages":%b}' % (rest + b"," if rest else rest, history.encode(messages))

    def body(self, messages: Sequence[Message], tool_schemas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The same as JSON data: what a server reads out of it."""
        read: dict[str, Any] = json.loads(self.encode(messages, tool_schemas, HistoryEncoder(self.profile)))
        return read

    def to_dict(self) -> dict[str, Any]:
        """JSON data, as it stands in a trace's ``config``; of the profile only what is special."""
        special = {name: value for name, usual in _USUAL.items() if (value := getattr(self.profile, name)) != usual}
        data: dict[str, Any] = {"options": self.options, "tool_options": self.tool_options, "profile": special}
        return {key: value for key, value in (data | {"base_url": self.base_url}).items() if value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RequestForm:
        """Read what :meth:`to_dict` wrote; what a file says wrongly counts as not said."""
        profile, base_url = _mapping(data.get("profile")), data.get("base_url")
        special = {name: profile[name] for name, usual in _USUAL.items() if type(profile.get(name)) is type(usual)}
        return cls(
            options=_mapping(data.get("options")),
            tool_options=_mapping(data.get("tool_options")),
            profile=Profile(**special),
            base_url=base_url if isinstance(base_url, str) else None,
        )


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
