"""A foreign message in the form that the rest of the project relies on.

Readers hand over messages in OpenAI Chat form, as they found them. Everything odd that such a message can hold is put
right here and named, so that no reader, table or page has to expect it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent import jsontext
from agent.messages import Message, ToolCall

TOOL_ROLES = frozenset(("tool", "function"))
"""Roles of messages that carry a tool's result."""


@dataclass(slots=True)
class Repaired:
    """A message, and what was done to it."""

    message: Message
    repairs: list[str] = field(default_factory=list)
    """One fixed sentence for each kind of repair, so that they can be counted."""
    rewritten: bool = False
    """True when the message differs from what the file says, so that the original must be kept."""


def repair_message(data: Mapping[str, Any]) -> Repaired:
    """Read a message of the OpenAI Chat form, whatever is wrong with it. Never raises.

    Legacy ``function_call`` becomes a call, content that is neither text nor parts becomes JSON text, and calls that
    cannot be read at all are kept as calls without a name.
    """
    if data.keys() <= _PLAIN and _TEXT.issuperset(map(type, data.values())) and data.get("role"):
        return Repaired(Message(**data))
    result = Repaired(_NOT_YET)
    known: dict[str, Any] = {}
    if not data.keys() <= _READ_HERE:
        known = {key: value for key, value in data.items() if key not in _READ_HERE and value is not None}
    role = data.get("role")
    if not isinstance(role, str) or not role:
        role = _put_right(result, "unknown", "a message has no role")
    content = _content(_said(data.get("content"), known, result), result)
    _reasoning(data, known, result)
    call_id = data.get("tool_call_id")
    if call_id is not None and not isinstance(call_id, str):
        call_id = _put_right(result, as_text(call_id), "an id is not text")
    name = data.get("name")
    result.message = Message(
        role=role,
        content=content,
        tool_calls=tuple(_calls(data, result)),
        tool_call_id=call_id,
        name=name if isinstance(name, str) else None,
        extra=known,
    )
    return result


_NOT_YET = Message(role="unknown")
_READ_HERE = frozenset(("role", "content", "tool_calls", "function_call", "tool_call_id", "name"))
_PLAIN = frozenset(("role", "content", "tool_call_id", "name"))
"""A message of nothing but texts under these keys, as most are, needs no second look."""
_TEXT = frozenset((str,))


def as_text(value: Any) -> str:
    """A value as text: itself, or as JSON."""
    if isinstance(value, str):
        return value
    try:
        return jsontext.dumps(value)
    except (RecursionError, TypeError, ValueError):
        return f"({type(value).__name__} that cannot be shown)"


def counted(sentences: Counter[str]) -> list[str]:
    """The sentences, each once, with its number where that is not 1."""
    return [sentence if count == 1 else f"{sentence} ({count} times)" for sentence, count in sentences.items()]


def _put_right(result: Repaired, value: str, sentence: str) -> str:
    result.repairs.append(sentence)
    result.rewritten = True
    return value


def _content(content: Any, result: Repaired) -> str | list[Any] | None:
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        return _put_right(result, as_text(content), "a content is neither text nor a list of parts")
    if all(isinstance(part, dict) for part in content):
        return content
    result.repairs.append("a content part is not an object")
    result.rewritten = True
    return [part if isinstance(part, dict) else {"type": "text", "text": as_text(part)} for part in content]


def _said(content: Any, known: dict[str, Any], result: Repaired) -> Any:
    """Content without its thoughts. Mistral and Cohere keep these among the parts; elsewhere they stand beside them."""
    if not isinstance(content, list) or any(known.get(key) for key in ("reasoning", "reasoning_content")):
        return content
    thoughts = [_thought(part) for part in content]
    if not any(thoughts):
        return content
    known["reasoning_content"] = "\n\n".join(thought for thought in thoughts if thought)
    result.rewritten = True
    return [part for part, thought in zip(content, thoughts, strict=True) if not thought]


def _thought(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type") != "thinking":
        return ""
    thought = part.get("thinking")
    pieces = thought if isinstance(thought, list) else [{"text": thought}]
    texts = (piece.get("text") for piece in pieces if isinstance(piece, dict))
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)


def _reasoning(data: Mapping[str, Any], known: dict[str, Any], result: Repaired) -> None:
    """Reasoning that stands in ``reasoning_details`` alone is also given as text."""
    details = data.get("reasoning_details")
    if (
        details is None
        or not isinstance(details, list)
        or any(data.get(key) for key in ("reasoning", "reasoning_content"))
    ):
        return
    parts = [part.get("text") or part.get("summary") for part in details if isinstance(part, dict)]
    if text := "\n".join(part for part in parts if isinstance(part, str)):
        known["reasoning"] = text
        result.rewritten = True


def _calls(data: Mapping[str, Any], result: Repaired) -> Sequence[ToolCall]:
    calls = data.get("tool_calls") or []
    if not isinstance(calls, list):
        _put_right(result, "", "tool_calls is not a list")
        calls = [calls]
    legacy = data.get("function_call")
    if not calls and legacy is None:
        return ()
    if legacy and not calls:
        result.rewritten = True
        calls = [{"function": legacy} if isinstance(legacy, dict) else legacy]
    return [_call(call, result) for call in calls]


def _call(call: Any, result: Repaired) -> ToolCall:
    if not isinstance(call, dict):
        _put_right(result, "", "a tool call is not an object")
        call = {"function": {"arguments": as_text(call)}}
    function = call.get("function")
    if function.__class__ is dict and _TEXT.issuperset(map(type, (call.get("id"), *function.values()))):
        return ToolCall.from_dict(call)
    custom = call.get("custom")
    if not isinstance(function, dict) and isinstance(custom, dict):
        function = {"name": custom.get("name"), "arguments": custom.get("input")}
    if not isinstance(function, dict):
        _put_right(result, "", "a tool call has no function")
        function = {"name": function if isinstance(function, str) else call.get("name")}
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, (str, dict)):
        arguments = _put_right(result, as_text(arguments), "arguments are neither text nor an object")
    call_id, name = call.get("id"), function.get("name")
    if call_id is not None and not isinstance(call_id, str):
        call_id = _put_right(result, as_text(call_id), "an id is not text")
    if not isinstance(name, str):
        name = "" if name is None else as_text(name)
    return ToolCall.from_dict({**call, "id": call_id or "", "function": {"name": name, "arguments": arguments}})
