"""LangChain messages in the three forms in which they are saved, and the results of its chat models.

``messages_to_dict`` gives ``{"type", "data"}``, ``model_dump`` flat objects with a ``type``, and ``dumpd`` objects with
``lc``, ``id`` and ``kwargs``. Spec: langchain-ai/langchain, ``libs/core/langchain_core/messages``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.usage import Usage
from traces.repair import as_text
from traces.reply import Reply
from traces.unfold import unfold
from traces.wire.parts import Parts, kind_of, linked, listed, mapping, media, words

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
_ROLES |= {"AIMessageChunk": "assistant", "HumanMessageChunk": "user", "SystemMessageChunk": "system"}
_ROLES |= {"ToolMessageChunk": "tool", "developer": "developer"}
_CLASSES = {"HumanMessage": "human", "AIMessage": "ai", "SystemMessage": "system", "ToolMessage": "tool"}
_CLASSES |= {"FunctionMessage": "function", "ChatMessage": "chat", "AIMessageChunk": "ai", "ToolMessageChunk": "tool"}
_CLASSES |= {"HumanMessageChunk": "human", "SystemMessageChunk": "system"}
_THOUGHTS = ("thinking", "reasoning", "reasoning_content")
_CALLS = ("tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta")
"""Blocks that repeat what stands in ``tool_calls``."""


def is_message(value: Any) -> bool:
    """Whether ``value`` is a message in one of the three forms."""
    return fields_of(value) is not None


def fields_of(value: Any) -> tuple[str, Mapping[str, Any]] | None:
    """``(type, fields)`` of a message; None for anything else."""
    if not isinstance(value, dict):
        return None
    kind, inner = value.get("type"), value.get("kwargs")
    if value.get("lc") == 1 or (kind == "constructor" and isinstance(inner, dict)):
        names = value.get("id")
        name = names[-1] if isinstance(names, list) and names and isinstance(names[-1], str) else ""
        if not isinstance(inner, dict) or name not in _CLASSES:
            return None
        return _CLASSES[name], inner
    if isinstance(kind, str) and (kind in _ROLES or kind == "chat"):
        data = value.get("data")
        if isinstance(data, dict):
            return kind, data
        return (kind, value) if "content" in value and ("role" not in value or kind == "chat") else None
    return None


def message(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message in OpenAI Chat form."""
    found = fields_of(value)
    if found is None:
        return {"role": "unknown", "content": as_text(value)}
    kind, data = found
    role = data.get("role") if kind == "chat" else _ROLES.get(kind, kind)
    extra = mapping(data.get("additional_kwargs"))
    result = _said(role if isinstance(role, str) else "unknown", data.get("content"))
    if calls := calls_of(data):
        result["tool_calls"] = calls
    elif isinstance(call := extra.get("function_call"), dict):
        result["function_call"] = call
    thought = extra.get("reasoning_content")
    if isinstance(thought, str) and thought:
        result["reasoning_content"] = thought
    for key in ("tool_call_id", "name", "status", "refusal"):
        value_of_key = data.get(key, extra.get(key))
        if isinstance(value_of_key, str) and value_of_key:
            result[key] = value_of_key
    return result


def _said(role: str, content: Any) -> dict[str, Any]:
    if not isinstance(content, list):
        return {"role": role, "content": content}
    parts = Parts()
    for block in content:
        _add_block(parts, block)
    return parts.message(role)


def calls_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of a message: as parsed, those that could not be parsed, and only without both the raw copy."""
    calls = [_call(call) for key in ("tool_calls", "invalid_tool_calls") for call in listed(data.get(key))]
    extra = data.get("additional_kwargs")
    if not calls and isinstance(extra, dict):
        calls = [_call(call) for call in listed(unfold(extra.get("tool_calls")))]
    return calls


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(call.get("function"), dict):
        return dict(call)
    function = {"name": call.get("name"), "arguments": call.get("args")}
    return {"id": call.get("id"), "type": "function", "function": function}


def _add_block(parts: Parts, block: Any) -> None:
    kind = kind_of(block)
    if not isinstance(block, dict):
        parts.text(as_text(block))
    elif kind in _THOUGHTS:
        parts.thought(_thought(block))
    elif kind in ("text", "output_text", "input_text") and isinstance(block.get("text"), str):
        parts.text(block["text"])
    elif kind in ("image", "file", "audio", "video", "document"):
        parts.add(_medium(block))
    elif kind not in _CALLS:
        parts.add(block)


def _thought(block: Mapping[str, Any]) -> str:
    for key in ("thinking", "reasoning", "reasoning_content", "text"):
        value = block.get(key)
        value = value.get("text") if isinstance(value, dict) else value
        if isinstance(value, str):
            return value
    texts = [part.get("text") for part in listed(block.get("summary"))]
    return "\n".join(text for text in texts if isinstance(text, str))


def _medium(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """An image or a file, in LangChain's own form or in Anthropic's."""
    source = block.get("source")
    inner = source if isinstance(source, dict) else block
    mime = words(inner.get("mime_type")) or words(inner.get("media_type"))
    if url := words(inner.get("url")):
        return linked(url, mime or (None if kind_of(block) == "image" else kind_of(block)))
    if data := words(inner.get("data")) or words(inner.get("base64")):
        return media(mime, data)
    return block


# -- numbers -------------------------------------------------------------------------------------------------------


def reply_of(value: Mapping[str, Any]) -> Reply:
    """The numbers that an AI message carries."""
    found = fields_of(value)
    data: Mapping[str, Any] = found[1] if found else value
    about = mapping(data.get("response_metadata"))
    reason = about.get("finish_reason") or about.get("stop_reason") or about.get("done_reason")
    model = about.get("model_name") or about.get("model") or about.get("model_id")
    return Reply(
        usage=usage_of(data.get("usage_metadata")) or token_usage(about.get("token_usage") or about.get("usage")),
        finish_reason=words(reason),
        model=words(model),
    )


def usage_of(data: Any) -> Usage | None:
    """``usage_metadata``: cached tokens are part of the input, reasoning is part of the output."""
    if not isinstance(data, dict):
        return None
    into, out = mapping(data.get("input_token_details")), mapping(data.get("output_token_details"))
    return Usage.from_openai(
        {
            "prompt_tokens": data.get("input_tokens"),
            "completion_tokens": data.get("output_tokens"),
            "total_tokens": data.get("total_tokens"),
            "prompt_tokens_details": {
                "cached_tokens": into.get("cache_read"),
                "cache_write_tokens": into.get("cache_creation"),
            },
            "completion_tokens_details": {"reasoning_tokens": out.get("reasoning")},
        }
    )


def token_usage(data: Any) -> Usage | None:
    """``token_usage`` of a provider: OpenAI's names, or input and output."""
    if not isinstance(data, dict):
        return None
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    return Usage.from_openai({names.get(key, key): value for key, value in data.items()})


def is_result(value: Any) -> bool:
    """Whether ``value`` is what a chat model gave: ``{"generations": [[...]]}``."""
    return isinstance(value, dict) and isinstance(value.get("generations"), list)


def read_result(value: Mapping[str, Any]) -> Reply:
    """The first generation of a result, with its numbers."""
    generations = value["generations"]
    first = generations[0] if generations else None
    first = first[0] if isinstance(first, list) and first else first
    if not isinstance(first, dict):
        return Reply()
    inner = first.get("message")
    reply = reply_of(inner) if isinstance(inner, dict) else Reply()
    about, whole = mapping(first.get("generation_info")), mapping(value.get("llm_output"))
    reason = reply.finish_reason or about.get("finish_reason") or about.get("stop_reason")
    model = reply.model or whole.get("model_name") or about.get("model_name")
    said = message(inner) if is_message(inner) and isinstance(inner, dict) else None
    return Reply(
        message=said or {"role": "assistant", "content": as_text(first.get("text") or "")},
        usage=reply.usage or token_usage(whole.get("token_usage") or whole.get("usage")),
        finish_reason=words(reason),
        model=words(model),
    )
