"""Amazon Bedrock Converse on the wire: content blocks without a type, a response, and the events of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.messages import read_arguments
from agent.usage import Usage
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.openai_chat import error_text
from traces.wire.parts import Parts, answer_in, count, file, listed, mapping, media, with_system, words

NAME = "bedrock-converse"
REQUEST_KEYS = frozenset(("messages", "system", "toolConfig", "modelId"))
_MEDIA = ("image", "document", "video", "audio")
_TOOLS = ("toolUse", "toolResult")
_BLOCKS = frozenset(
    ("text", "reasoningContent", "cachePoint", "guardContent", "citationsContent", "searchResult", *_TOOLS, *_MEDIA)
)
_SETTINGS = frozenset(("inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig"))
_EVENTS = frozenset(
    ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")
)

_LOOKED_AT = 200
"""How many messages are looked at."""


def is_request(value: Any) -> bool:
    """Whether ``value`` is a request body that can be of no other API."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    messages = [message for message in value["messages"][:_LOOKED_AT] if isinstance(message, dict)]
    if not _SETTINGS.isdisjoint(value):
        return all(isinstance(message.get("content"), list) for message in messages)
    return any(is_message(message) for message in messages)


def is_message(value: Any) -> bool:
    """Whether ``value`` is a message of blocks that have no type but keys of this API."""
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    blocks = value.get("content")
    return bool(isinstance(blocks, list) and blocks and all(_is_block(block) for block in blocks))


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict) or "type" in block or not block:
        return False
    return all(key in _BLOCKS and (key == "text" or isinstance(block[key], dict)) for key in block)


def is_response(value: Any) -> bool:
    """Whether ``value`` is a response body."""
    if not isinstance(value, dict):
        return False
    return "stopReason" in value or isinstance(mapping(value.get("output")).get("message"), dict)


def is_piece(value: Any) -> bool:
    """Whether ``value`` is an event of a streamed response."""
    return isinstance(value, dict) and len(value) == 1 and not _EVENTS.isdisjoint(value)


def is_last(piece: Mapping[str, Any]) -> bool:
    """Whether a stream ends with this event."""
    return "metadata" in piece


# -- requests ------------------------------------------------------------------------------------------------------


def messages_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The system text and the messages of a request, in OpenAI Chat form."""
    return with_system(body, converted)


def converted(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One message in OpenAI Chat form: each ``toolResult`` becomes a tool message, the rest stands behind them."""
    role, content = message.get("role"), message.get("content")
    role = role if isinstance(role, str) else "unknown"
    if not isinstance(content, list):
        return [{"role": role, "content": content}]
    parts, results = Parts(), list[Mapping[str, Any]]()
    for block in content:
        if not isinstance(block, dict):
            parts.text(as_text(block))
        elif isinstance(result := block.get("toolResult"), dict):
            results.append(_result(result))
        else:
            _add_block(parts, block)
    if not parts and results:
        return results
    return [*results, parts.message(role)]


def _add_block(parts: Parts, block: Mapping[str, Any]) -> None:
    if isinstance(block.get("text"), str):
        parts.text(block["text"])
    elif isinstance(call := block.get("toolUse"), dict):
        parts.call(call.get("toolUseId"), call.get("name"), call.get("input"))
    elif isinstance(thought := block.get("reasoningContent"), dict):
        text = mapping(thought.get("reasoningText")).get("text")
        if isinstance(text, str):
            parts.thought(text)
        else:
            parts.hidden_thought(as_text(thought.get("redactedContent")))
    elif "cachePoint" not in block:
        parts.add(_other(block), "bedrock")


def _other(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Media as a content part of OpenAI; anything else as it is."""
    for kind in _MEDIA:
        if isinstance(held := block.get(kind), dict):
            source, name = mapping(held.get("source")), held.get("name")
            if isinstance(data := source.get("bytes"), str):
                family = "application" if kind == "document" else kind
                return media(f"{family}/{held.get('format')}", data, name)
            if isinstance(url := mapping(source.get("s3Location")).get("uri"), str):
                return file(name, file_url=url)
            if isinstance(text := source.get("text"), str):
                return {"type": "text", "text": text}
    if isinstance(cited := block.get("citationsContent"), dict):
        texts = [part["text"] for part in listed(cited.get("content")) if isinstance(part.get("text"), str)]
        return {"type": "text", "text": "".join(texts)}
    return block


def _result(result: Mapping[str, Any]) -> Mapping[str, Any]:
    blocks, parts = result.get("content"), Parts()
    for block in blocks if isinstance(blocks, list) else [blocks]:
        if not isinstance(block, dict):
            parts.text(as_text(block))
        elif "json" in block:
            parts.text(as_text(block["json"]))
        else:
            _add_block(parts, block)
    message = {"role": "tool", "tool_call_id": result.get("toolUseId"), "content": parts.content or ""}
    return {**message, "status": "error"} if result.get("status") == "error" else message


def tools_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools on offer, in OpenAI form."""
    found: list[dict[str, Any]] = []
    for tool in listed(mapping(body.get("toolConfig")).get("tools")):
        spec = tool.get("toolSpec")
        if isinstance(spec, dict):
            about = {key: spec[key] for key in ("name", "description", "strict") if key in spec}
            schema = mapping(spec.get("inputSchema")).get("json")
            found.append({"type": "function", "function": {**about, "parameters": schema}})
    return found


# -- responses -----------------------------------------------------------------------------------------------------


def read_response(body: Mapping[str, Any]) -> Reply:
    """Read a response body, or its error."""
    latency = mapping(body.get("metrics")).get("latencyMs")
    common: dict[str, Any] = {
        "usage": usage_of(body.get("usage")),
        "finish_reason": words(body.get("stopReason")),
        "latency_ms": float(latency) if isinstance(latency, int) else None,
    }
    message = mapping(body.get("output")).get("message")
    if not isinstance(message, dict):
        return Reply(error=error_text(body.get("error") or body.get("message")), **common)
    return Reply(message=answer_in(converted({**message, "role": "assistant"})), **common)


def usage_of(data: Any) -> Usage | None:
    """Tokens by our rules: what the cache gave and took stands beside ``inputTokens``, unless the total shows not."""
    if not isinstance(data, dict):
        return None
    sent, answer, total = data.get("inputTokens"), data.get("outputTokens"), data.get("totalTokens")
    cached = data.get("cacheReadInputTokens", data.get("cacheReadInputTokenCount"))
    written = data.get("cacheWriteInputTokens", data.get("cacheWriteInputTokenCount"))
    beside = count(cached, written) or 0
    if count(sent) is None:
        prompt = None
    elif total == count(sent, answer) and beside <= (count(sent) or 0):
        prompt = sent  # the total has no room for more
    else:
        prompt = count(sent, cached, written)
    return Usage.from_openai(
        {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        }
    )


def join_pieces(pieces: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The response body that the events of a stream add up to."""
    body: dict[str, Any] = {}
    blocks: dict[str, dict[str, Any]] = {}
    for piece in pieces:
        for kind, event in piece.items():
            event = mapping(event)
            place = as_text(event.get("contentBlockIndex"))
            if kind == "contentBlockStart":
                call = mapping(mapping(event.get("start")).get("toolUse"))
                blocks[place] = {"toolUse": {**call, "input": ""}} if call else {}
            elif kind == "contentBlockDelta":
                _add_delta(blocks.setdefault(place, {}), mapping(event.get("delta")))
            elif kind in ("messageStop", "metadata"):
                body.update(event)
            elif kind.endswith("Exception"):
                body["error"] = event.get("message") or kind
    if blocks or "error" not in body:
        content = [_closed(block) for block in blocks.values()]
        body["output"] = {"message": {"role": "assistant", "content": content}}
    return body


def _add_delta(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    call, thought = mapping(delta.get("toolUse")), mapping(delta.get("reasoningContent"))
    if isinstance(text := delta.get("text"), str):
        block["text"] = block.get("text", "") + text
    elif isinstance(text := call.get("input"), str):
        block.setdefault("toolUse", {"input": ""})["input"] += text
    elif isinstance(text := thought.get("text"), str):
        kept = block.setdefault("reasoningContent", {}).setdefault("reasoningText", {"text": ""})
        kept["text"] += text
    elif isinstance(data := thought.get("redactedContent"), str):
        kept = block.setdefault("reasoningContent", {})
        kept["redactedContent"] = kept.get("redactedContent", "") + data


def _closed(block: dict[str, Any]) -> dict[str, Any]:
    call = block.get("toolUse")
    if call and call["input"]:
        arguments, problem = read_arguments(call["input"])
        call["input"] = call["input"] if problem else arguments
    elif call:
        call["input"] = {}
    return block
