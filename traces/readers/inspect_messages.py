"""Messages of Inspect AI in OpenAI Chat form, and the texts that a log keeps apart from where they belong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from traces.readers.fields import text
from traces.repair import as_text
from traces.wire.parts import Parts, file, linked, listed, mapping, media

_SCHEMES = ("attachment://", "tc://")
_DEEPEST = 40


class Attachments:
    """Long texts and images of a sample, which its messages and events name by a hash."""

    def __init__(self, attachments: Any) -> None:
        self._texts = mapping(attachments)

    def resolved(self, value: Any, depth: int = 0) -> Any:
        """``value`` with every reference in it replaced by what it stands for; an unknown one stays as it is."""
        if not self._texts or depth > _DEEPEST:
            return value
        if isinstance(value, str):
            scheme = next((scheme for scheme in _SCHEMES if value.startswith(scheme)), None)
            return value if scheme is None else self._texts.get(value.removeprefix(scheme), value)
        if isinstance(value, list):
            return [self.resolved(item, depth + 1) for item in value]
        if isinstance(value, Mapping):
            return {key: self.resolved(item, depth + 1) for key, item in value.items()}
        return value


def message_of(data: Mapping[str, Any], attachments: Attachments) -> tuple[dict[str, Any], list[str]]:
    """A message of a sample or an event in OpenAI Chat form, and the types of those blocks that it has no word for."""
    parts, unknown = Parts(), list[str]()
    content = attachments.resolved(data.get("content"))
    blocks = content if isinstance(content, list) else [] if content in (None, "") else [content]
    for block in blocks:
        if not isinstance(block, Mapping):
            parts.text(as_text(block))
        elif not _add(block, parts):
            unknown.append(text(block.get("type")) or "unknown")
    for call in listed(data.get("tool_calls")):
        _add_call(attachments.resolved(call), parts)
    message = parts.message(text(data.get("role")))
    if message["content"] is None and content == "":
        message["content"] = ""
    for key in ("reasoning", "reasoning_content"):  # logs from before reasoning was a block
        if text(data.get(key)):
            message["reasoning_content"] = attachments.resolved(data[key])
    if data.get("role") == "tool":
        _add_result(data, message)
    return message, unknown


def _add(block: Mapping[str, Any], parts: Parts) -> bool:
    """Take one content block; False where it is of an unknown type, which is then kept as it is."""
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        parts.text(block["text"])
    elif kind == "reasoning":
        if block.get("redacted"):
            parts.hidden_thought(text(block.get("reasoning")))
            parts.thought(text(block.get("summary")))
        else:
            parts.thought(text(block.get("reasoning")) or text(block.get("summary")))
    elif kind in ("image", "audio", "video", "document") and isinstance(block.get(kind), str):
        parts.add(_media(kind, block))
    else:
        parts.add(block)
        return kind in ("tool_use", "data")
    return True


def _media(kind: str, block: Mapping[str, Any]) -> dict[str, Any]:
    value, name = block[kind], block.get("filename")
    head, comma, data = value.partition(",")
    if value.startswith("data:") and comma:
        return media(head[5:].partition(";")[0], data, name)
    if kind == "image":
        return linked(value)
    return file(name, file_url=value)


def _add_call(call: Mapping[str, Any], parts: Parts) -> None:
    extra = {"parse_error": call["parse_error"]} if call.get("parse_error") else {}
    function = call.get("function")
    named = mapping(function)
    parts.call(
        call.get("id"),
        named.get("name") or function,
        named.get("arguments") if named else call.get("arguments"),
        **extra,
    )


def _add_result(data: Mapping[str, Any], message: dict[str, Any]) -> None:
    message["tool_call_id"] = data.get("tool_call_id")
    if name := text(data.get("function")) or text(data.get("name")):
        message["name"] = name
    if error := data.get("error"):
        message["error"] = error
        if not message["content"]:
            message["content"] = text(mapping(error).get("message")) or as_text(error)
