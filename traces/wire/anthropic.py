"""Anthropic Messages on the wire: messages of content blocks, a response, and the events of a stream.

Tools that run at Anthropic (``server_tool_use`` and its result) are content parts of the assistant's message: they
happen inside one model call, and nobody has to answer them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from agent.messages import read_arguments
from agent.usage import Usage
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.openai_chat import error_text
from traces.wire.parts import Parts, answer_in, count, file, kind_of, linked, listed, mapping, media, with_system, words

NAME = "anthropic-messages"
REQUEST_KEYS = frozenset(("messages", "system", "tools", "model"))
_BLOCKS = frozenset(
    ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "search_result")
)
_MEDIA = ("image", "document")
_DATED_TOOL = re.compile(r"\w+_20\d{6}")
"""Tools that Anthropic defines have a type with a date: ``code_execution_20260120``."""
_BLOCK_EVENTS = ("content_block_start", "content_block_delta", "content_block_stop")
_EVENTS = frozenset(("message_start", *_BLOCK_EVENTS, "message_delta", "message_stop", "ping"))
_OPENAI_KEYS = ("name", "tool_calls", "tool_call_id", "reasoning_content")
"""Proxies put blocks of this API into messages of OpenAI Chat; what these say beside their content stays."""
_LOOKED_AT = 200
"""How many messages, and blocks of one, are looked at."""


def is_request(value: Any) -> bool:
    """Whether ``value`` is a request body that can be of no other API."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    if "anthropic_version" in value or {"system", "max_tokens"} <= value.keys():
        return True
    tools = listed(value.get("tools"))
    if any("input_schema" in tool or _DATED_TOOL.fullmatch(str(tool.get("type"))) for tool in tools):
        return True
    return any(is_message(message) for message in value["messages"][:_LOOKED_AT])


def is_message(value: Any) -> bool:
    """Whether ``value`` is a message with blocks that only this API has."""
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    return is_response(value) or any(_is_block(block) for block in listed(value.get("content"))[:_LOOKED_AT])


def _is_block(block: Mapping[str, Any]) -> bool:
    kind = kind_of(block)
    if kind == "thinking":
        return not isinstance(block.get("thinking"), list)  # Mistral has lists of texts there
    return kind in _BLOCKS if kind not in _MEDIA else isinstance(block.get("source"), dict)


def is_response(value: Any) -> bool:
    """Whether ``value`` is a response body."""
    if not isinstance(value, dict):
        return False
    if value.get("type") == "error":
        return isinstance(value.get("error"), dict)
    return isinstance(value.get("content"), list) and ("stop_reason" in value or _has_tokens(value.get("usage")))


def _has_tokens(usage: Any) -> bool:
    return isinstance(usage, dict) and "input_tokens" in usage


def is_piece(value: Any) -> bool:
    """Whether ``value`` is an event of a streamed response."""
    return kind_of(value) in _EVENTS


def is_last(piece: Mapping[str, Any]) -> bool:
    """Whether a stream ends with this event."""
    return kind_of(piece) in ("message_stop", "error")


# -- requests ------------------------------------------------------------------------------------------------------


def messages_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The system text and the messages of a request, in OpenAI Chat form."""
    return with_system(body, converted)


def converted(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One message in OpenAI Chat form.

    Each ``tool_result`` becomes a tool message; what else the message holds is one message of its role behind them.
    """
    role, content = message.get("role"), message.get("content")
    role = role if isinstance(role, str) else "unknown"
    kept = {key: message[key] for key in _OPENAI_KEYS if message.get(key) is not None}
    if not isinstance(content, list):
        return [{"role": role, "content": content, **kept}]
    parts, results = Parts(), list[Mapping[str, Any]]()
    for block in content:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            results.append(_result(block))
        else:
            _add_block(parts, block, glue=role == "assistant")
    if not parts and results:
        return results
    said = {**parts.message(role), **kept}
    return [said, *results] if role == "assistant" else [*results, said]


def _add_block(parts: Parts, block: Any, *, glue: bool = False) -> None:
    """Add one content block. Neighbouring texts of an answer are glued: citations cut one text in many."""
    if not isinstance(block, dict):
        parts.text(as_text(block))
        return
    kind = kind_of(block)
    if kind == "text" and isinstance(block.get("text"), str):
        parts.text(block["text"], glue=glue)
    elif kind == "thinking" and isinstance(block.get("thinking"), str):
        parts.thought(block["thinking"])
    elif kind == "redacted_thinking":
        parts.hidden_thought(as_text(block.get("data")))
    elif kind == "tool_use":
        parts.call(block.get("id"), block.get("name"), block.get("input"))
    elif kind in _MEDIA and isinstance(block.get("source"), dict):
        parts.add(_media(block))
    else:
        parts.add(block)


def _media(block: Mapping[str, Any]) -> Mapping[str, Any]:
    source, name = mapping(block.get("source")), block.get("title")
    kind, data = source.get("type"), source.get("data")
    if kind == "text" and isinstance(data, str):
        return {"type": "text", "text": data}
    if isinstance(data, str):
        return media(source.get("media_type"), data, name)
    if isinstance(url := source.get("url"), str):
        return linked(url, "application/pdf" if block.get("type") == "document" else None, name)
    if isinstance(file_id := source.get("file_id"), str):
        return file(name, file_id=file_id)
    return block


def _result(block: Mapping[str, Any]) -> Mapping[str, Any]:
    content = block.get("content")
    if isinstance(content, list):
        parts = Parts()
        for item in content:
            _add_block(parts, item)
        content = parts.content
    elif content is not None:
        content = as_text(content)
    message = {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": "" if content is None else content}
    return {**message, "is_error": True} if block.get("is_error") is True else message


def tools_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools on offer, in OpenAI form; those that Anthropic defines as they are."""
    return [
        {
            "type": "function",
            "function": {
                **{key: value for key, value in tool.items() if key in ("name", "description", "strict")},
                "parameters": tool["input_schema"],
            },
        }
        if "input_schema" in tool
        else dict(tool)
        for tool in listed(body.get("tools"))
    ]


# -- responses -----------------------------------------------------------------------------------------------------


def read_response(body: Mapping[str, Any]) -> Reply:
    """Read a response body, or its error."""
    usage, model = usage_of(body.get("usage")), words(body.get("model"))
    if not isinstance(body.get("content"), (list, str)):
        return Reply(error=error_text(body.get("error")), usage=usage, model=model)
    return Reply(
        message=answer_in(converted({"role": "assistant", "content": body["content"]})),
        usage=usage,
        model=model,
        finish_reason=words(body.get("stop_reason")),
    )


def usage_of(data: Any) -> Usage | None:
    """Tokens by our rules: what was read from the cache and what was written to it stand beside ``input_tokens``."""
    if not isinstance(data, dict):
        return None
    cached, written = data.get("cache_read_input_tokens"), data.get("cache_creation_input_tokens")
    sent = data.get("input_tokens")
    return Usage.from_openai(
        {
            "prompt_tokens": count(sent, cached, written) if count(sent) is not None else None,
            "completion_tokens": data.get("output_tokens"),
            "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        }
    )


def join_pieces(pieces: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The response body that the events of a stream add up to; an error that came instead of them is kept."""
    body: dict[str, Any] = {}
    blocks: dict[Any, dict[str, Any]] = {}
    for piece in pieces:
        kind = kind_of(piece)
        if kind == "message_start":
            body.update(mapping(piece.get("message")))
        elif kind == "content_block_start":
            blocks[as_text(piece.get("index"))] = dict(mapping(piece.get("content_block")))
        elif kind == "content_block_delta":
            _add_delta(blocks.setdefault(as_text(piece.get("index")), {}), mapping(piece.get("delta")))
        elif kind == "message_delta":
            body.update({key: value for key, value in mapping(piece.get("delta")).items() if value is not None})
            reported = {key: value for key, value in mapping(piece.get("usage")).items() if value is not None}
            body["usage"] = {**mapping(body.get("usage")), **reported}
        elif kind == "error":
            return {**body, "content": None, "error": piece.get("error")}
    if blocks or body:
        body["content"] = [_closed(block) for block in blocks.values()] or body.get("content") or []
    return body


_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("partial_json", "partial_json"),
}
"""Kind of delta -> its key, and the key of the block that grows by it."""


def _add_delta(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    source, target = _DELTAS.get(str(delta.get("type")), ("", ""))
    if isinstance(text := delta.get(source), str):
        block.setdefault("type", target if target != "partial_json" else "tool_use")
        before = block.get(target)
        block[target] = (before if isinstance(before, str) else "") + text


def _closed(block: dict[str, Any]) -> dict[str, Any]:
    text = block.pop("partial_json", None)
    if isinstance(text, str) and text:
        arguments, problem = read_arguments(text)
        block["input"] = text if problem else arguments
    return block
