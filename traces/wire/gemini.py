"""Google Gemini on the wire: contents with parts, and a response with candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.usage import Usage
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.openai_chat import error_text

_WRAPPERS = frozenset(("output", "result", "return_value", "content"))
"""Keys under which a function response holds a plain result."""


def is_request(value: Any) -> bool:
    """Whether ``value`` is a request body."""
    return isinstance(value, dict) and isinstance(value.get("contents"), list)


def is_response(value: Any) -> bool:
    """Whether ``value`` is a response body."""
    return isinstance(value, dict) and ("candidates" in value or "usageMetadata" in value)


def messages_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The contents of a request as messages in OpenAI Chat form."""
    system = _get(body, "systemInstruction", "system_instruction")
    messages: list[Mapping[str, Any]] = []
    if isinstance(system, dict):
        messages += _messages({**system, "role": "system"})
    for content in body["contents"]:
        if isinstance(content, dict):
            messages += _messages(content)
    return messages


def tools_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The declared functions, in OpenAI form."""
    tools = body.get("tools")
    found: list[dict[str, Any]] = []
    for tool in tools if isinstance(tools, list) else [tools]:
        functions = _get(tool, "functionDeclarations", "function_declarations") if isinstance(tool, dict) else None
        for function in functions if isinstance(functions, list) else []:
            found.append({"type": "function", "function": function})
    return found


def read_response(body: Mapping[str, Any]) -> Reply:
    """Read a response body: its first candidate."""
    candidates = body.get("candidates")
    candidates = [c for c in candidates if isinstance(c, dict)] if isinstance(candidates, list) else []
    model = body.get("modelVersion")
    usage, model = _usage(body.get("usageMetadata")), model if isinstance(model, str) else None
    content = candidates[0].get("content") if candidates else None
    if not isinstance(content, dict):
        return Reply(error=error_text(body.get("error")), usage=usage, model=model)
    messages = _messages({"role": "model", **content})
    reason = candidates[0].get("finishReason")
    return Reply(
        message=messages[0] if messages else {"role": "assistant", "content": None},
        usage=usage,
        model=model,
        finish_reason=reason if isinstance(reason, str) else None,
        unread=("a further candidate of a response",) * (len(candidates) - 1),
    )


def _usage(data: Any) -> Usage | None:
    """Gemini counts thoughts beside the candidates and tool prompts beside the prompt; here they are parts of them."""
    if not isinstance(data, dict):
        return None
    return Usage.from_openai(
        {
            "prompt_tokens": _sum(data, "promptTokenCount", "toolUsePromptTokenCount"),
            "completion_tokens": _sum(data, "candidatesTokenCount", "thoughtsTokenCount"),
            "total_tokens": data.get("totalTokenCount"),
            "prompt_tokens_details": {"cached_tokens": data.get("cachedContentTokenCount")},
            "completion_tokens_details": {"reasoning_tokens": data.get("thoughtsTokenCount")},
        }
    )


def _sum(data: Mapping[str, Any], *keys: str) -> int | None:
    counts = [value for key in keys if isinstance(value := data.get(key), int)]
    return sum(counts) if counts else None


def _messages(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One content as messages: function responses become tool messages, the rest is one message of its role."""
    role = {"model": "assistant", "function": "tool"}.get(str(content.get("role")), content.get("role") or "user")
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    results: list[Mapping[str, Any]] = []
    other: list[dict[str, Any]] = []
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, dict):
            continue
        call, response = (
            _get(part, "functionCall", "function_call"),
            _get(part, "functionResponse", "function_response"),
        )
        if isinstance(call, dict):
            calls.append({"id": call.get("id"), "function": {"name": call.get("name"), "arguments": call.get("args")}})
        elif isinstance(response, dict):
            results.append(_result(response))
        elif isinstance(part.get("text"), str):
            (thoughts if part.get("thought") is True else texts).append(part["text"])
        else:
            other.append({"type": "gemini", **part})
    if not (texts or thoughts or calls or other):
        return results
    message: dict[str, Any] = {"role": role, "content": "".join(texts) or None, "tool_calls": calls or None}
    if thoughts:
        message["reasoning_content"] = "".join(thoughts)
    if other:
        message["content"] = [*({"type": "text", "text": text} for text in texts), *other]
    return [*results, message]


def _result(response: Mapping[str, Any]) -> Mapping[str, Any]:
    value = response.get("response")
    if isinstance(value, dict) and len(value) == 1 and (key := next(iter(value))) in _WRAPPERS:
        value = value[key]
    message = {"role": "tool", "tool_call_id": response.get("id"), "name": response.get("name")}
    return {**message, "content": as_text(value)}


def _get(data: Mapping[str, Any], camel: str, snake: str) -> Any:
    return data.get(camel, data.get(snake))
