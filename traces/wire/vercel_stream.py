"""The stream that the Vercel AI SDK sends to a page, put together to the UIMessages that the page makes of it.

Spec: vercel/ai, ``packages/ai/src/ui-message-stream/ui-message-chunks.ts``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from traces.repair import as_text
from traces.wire.parts import kind_of, mapping

_TOOL_STATES = {
    "tool-input-available": "input-available",
    "tool-input-error": "output-error",
    "tool-output-available": "output-available",
    "tool-output-error": "output-error",
    "tool-output-denied": "output-denied",
}
_MARKS = {
    "start": "messageId",
    "text-start": "id",
    "text-delta": "delta",
    "text-end": "id",
    "reasoning-start": "id",
    "reasoning-delta": "delta",
    "reasoning-end": "id",
    "tool-input-start": "toolCallId",
    "tool-input-delta": "toolCallId",
    **dict.fromkeys(_TOOL_STATES, "toolCallId"),
}
"""Types of pieces, each with a key that it has."""
_OTHERS = ("start", "start-step", "finish-step", "finish", "abort", "message-metadata", "error", "file")
_FIELDS = ("toolCallId", "toolName", "input", "output", "errorText", "providerExecuted")


def is_piece(value: Any) -> bool:
    """Whether ``value`` is a piece of such a stream that nothing else looks like."""
    kind = kind_of(value)
    return kind in _MARKS and _MARKS[kind] in value and "role" not in value and "event" not in value


def belongs(value: Any) -> bool:
    """Whether ``value`` may stand among such pieces."""
    kind = kind_of(value)
    return is_piece(value) or kind in _OTHERS or kind.startswith(("data-", "source-"))


def messages_of(pieces: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The UIMessages of a stream: one for each ``start``."""
    messages: list[_Message] = []
    for piece in pieces:
        if not messages or kind_of(piece) == "start":
            messages.append(_Message(piece.get("messageId")))
        messages[-1].add(piece)
    return [message.done() for message in messages]


class _Message:
    """One UIMessage on its way."""

    def __init__(self, name: Any) -> None:
        self._name = name
        self._parts: list[dict[str, Any]] = []
        self._texts: dict[str, dict[str, Any]] = {}
        """Texts and thoughts that go on, by the ids of the stream."""
        self._tools: dict[str, dict[str, Any]] = {}
        self._about: dict[str, Any] = {}

    def add(self, piece: Mapping[str, Any]) -> None:
        """What one piece says."""
        kind = kind_of(piece)
        self._about |= mapping(piece.get("messageMetadata"))
        base, _, step = kind.rpartition("-")
        if base in ("text", "reasoning"):
            self._add_text(base, step, piece)
        elif kind == "start-step":
            self._parts.append({"type": "step-start"})
        elif kind.startswith("tool-"):
            self._add_tool(kind, piece)
        elif kind == "file" or kind.startswith(("data-", "source-")):
            self._parts.append(dict(piece))
        elif kind == "error":
            self._about["error"] = as_text(piece.get("errorText"))

    def _add_text(self, kind: str, step: str, piece: Mapping[str, Any]) -> None:
        key = f"{kind} {as_text(piece.get('id'))}"
        if step == "start" or key not in self._texts:
            self._texts[key] = {"type": kind, "text": ""}
            self._parts.append(self._texts[key])
        if isinstance(delta := piece.get("delta"), str):
            self._texts[key]["text"] += delta

    def _add_tool(self, kind: str, piece: Mapping[str, Any]) -> None:
        key = as_text(piece.get("toolCallId"))
        if key not in self._tools:
            self._tools[key] = {"type": "dynamic-tool", "toolName": "", "state": "input-streaming"}
            self._parts.append(self._tools[key])
        tool = self._tools[key]
        tool |= {name: piece[name] for name in _FIELDS if piece.get(name) is not None}
        if kind == "tool-input-delta" and isinstance(delta := piece.get("inputTextDelta"), str):
            tool["typed"] = tool.get("typed", "") + delta
        tool["state"] = _TOOL_STATES.get(kind, tool["state"])

    def done(self) -> dict[str, Any]:
        """The message."""
        for tool in self._tools.values():
            if (typed := tool.pop("typed", None)) is not None:
                tool.setdefault("input", typed)  # the stream was cut off while the model wrote
        return {"id": self._name, "role": "assistant", "parts": self._parts, "metadata": self._about}
