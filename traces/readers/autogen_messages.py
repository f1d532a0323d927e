"""The messages of AutoGen, those of its groups and those of its models, in OpenAI Chat form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.importing import ImportBuilder
from traces.readers.fields import moment, text
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.parts import Parts, linked, listed, mapping, media

EVENTS = frozenset(
    (
        "TextMessage",
        "MultiModalMessage",
        "StopMessage",
        "HandoffMessage",
        "ToolCallMessage",
        "ToolCallResultMessage",
        "ToolCallRequestEvent",
        "ToolCallExecutionEvent",
        "ToolCallSummaryMessage",
        "ThoughtEvent",
        "UserInputRequestedEvent",
        "MemoryQueryEvent",
        "ModelClientStreamingChunkEvent",
        "CodeGenerationEvent",
        "CodeExecutionEvent",
        "SelectSpeakerEvent",
        "SelectorEvent",
    )
)
"""Types of messages that no other format has."""
_CALLS = ("ToolCallRequestEvent", "ToolCallMessage")
_RESULTS = ("ToolCallExecutionEvent", "ToolCallResultMessage", "FunctionExecutionResultMessage")
_SILENT = {
    "ModelClientStreamingChunkEvent": "a piece of a streamed answer, which follows as a whole",
    "UserInputRequestedEvent": "a request for the user's input",
    "SelectSpeakerEvent": "a choice of the next speaker",
    "SelectorEvent": "a choice of the next speaker",
    "MemoryQueryEvent": "a look into an agent's memory",
}
_USERS = ("user", "user_proxy", "human", "userproxyagent")


class Thread:
    """One conversation, message by message. A thought belongs to what the same agent says next."""

    def __init__(self, trace: TraceBuilder, out: ImportBuilder, speaker: str = "") -> None:
        self._trace = trace
        self._out = out
        self._speaker = speaker
        self._thoughts: list[str] = []
        self._thinker = ""
        self._results: list[str] = []
        """The newest results, which a summary repeats."""

    def add(self, data: Mapping[str, Any], line: int | None) -> None:
        """Append what a message says."""
        kind, source = text(data.get("type")), text(data.get("source"))
        if kind in _SILENT:
            self._out.unread(_SILENT[kind])
        elif kind == "ThoughtEvent":
            self._thoughts.append(as_text(data.get("content")))
            self._thinker = source
        elif kind in _RESULTS:
            self._read_results(data, line)
        elif kind == "ToolCallSummaryMessage" and self._repeats(data):
            self._out.unread("a summary that only repeats the results of its calls")
        elif kind == "CodeExecutionEvent":
            result = mapping(data.get("result"))
            words = text(result.get("output")) or as_text(data.get("result") or data.get("content") or "")
            self._append({"role": "user", "content": words}, data, line, maker="environment")
        else:
            self._read_words(data, kind, source, line)

    def end(self) -> None:
        """Thoughts that led to nothing are a message of their own."""
        if self._thoughts:
            self._append({"role": "assistant", "content": ""}, {"source": self._thinker}, None)

    def _read_words(self, data: Mapping[str, Any], kind: str, source: str, line: int | None) -> None:
        role = self._role(kind, source)
        parts = Parts()
        self._content(data.get("content"), kind, parts)
        message = parts.message(role)
        if message["content"] is None and "tool_calls" not in message:
            message["content"] = ""
        if thought := text(data.get("thought")):
            message["reasoning_content"] = thought
        self._append(message, data, line)

    @staticmethod
    def _role(kind: str, source: str) -> str:
        if kind == "SystemMessage":
            return "system"
        if kind in ("UserMessage", "AssistantMessage"):  # what a model was given and what it said
            return "user" if kind == "UserMessage" else "assistant"
        return "user" if source.lower() in _USERS else "assistant"

    def _content(self, content: Any, kind: str, parts: Parts) -> None:
        for part in content if isinstance(content, list) else [] if content in (None, "") else [content]:
            if not isinstance(part, Mapping):
                parts.text(as_text(part))
            elif kind in _CALLS or {"name", "arguments"} <= part.keys():
                parts.call(part.get("id"), part.get("name"), part.get("arguments"))
            elif isinstance(part.get("data"), str):
                parts.add(media(None, part["data"].rpartition(",")[2]))
            elif isinstance(part.get("url"), str):
                parts.add(linked(part["url"]))
            else:  # a structured message: an object of the program's own
                parts.text(as_text(part))

    def _read_results(self, data: Mapping[str, Any], line: int | None) -> None:
        self._results = []
        for result in listed(data.get("content")):
            call_id = text(result.get("call_id"))
            message = {"role": "tool", "tool_call_id": call_id, "content": as_text(result.get("content") or "")}
            if name := text(result.get("name")):
                message["name"] = name
            self._append(message, data, line)
            self._results.append(message["content"])
            if isinstance(result.get("is_error"), bool):
                self._trace.tool_run(call_id, ok=not result["is_error"])

    def _repeats(self, data: Mapping[str, Any]) -> bool:
        summary = text(data.get("content")).strip()
        return bool(self._results) and summary == "\n".join(self._results).strip()

    def _append(
        self, message: dict[str, Any], data: Mapping[str, Any], line: int | None, *, maker: str | None = None
    ) -> None:
        source = text(data.get("source")) or self._speaker
        if self._thoughts and message["role"] == "assistant" and source in (self._thinker, ""):
            message["reasoning_content"] = "\n\n".join(self._thoughts)
            self._thoughts = []
        if data.get("type") == "ToolCallSummaryMessage":
            maker = "code"
        at = moment(data.get("created_at"))
        self._trace.message(message, at=at, line=line, agent=source or None, maker=maker)
        if message["role"] == "assistant":
            usage = mapping(data.get("models_usage"))
            self._trace.numbers(Reply(usage=Usage.from_openai(usage) if any(usage.values()) else None))
