"""Google Gemini on the wire: contents with parts, a response with candidates, and the chunks of a stream.

Keys are written ``likeThis`` by the API and ``like_this`` by the Python library; both are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from agent.usage import Usage
from traces.repair import as_text
from traces.reply import Reply
from traces.times import timestamp
from traces.wire.openai_chat import error_text
from traces.wire.parts import Parts, answer_in, count, linked, listed, mapping, media, words

NAME = "gemini-contents"
REQUEST_KEYS = frozenset(("contents", "systemInstruction", "system_instruction", "tools", "model"))
_WRAPPERS = frozenset(("output", "result", "return_value", "content"))
"""Keys under which a function response holds a plain result."""
_ROLES = {"model": "assistant", "function": "tool"}
_BIG = re.compile(r"(?<!^)([A-Z])")


def is_request(value: Any) -> bool:
    """Whether ``value`` is a request body."""
    return isinstance(value, dict) and isinstance(value.get("contents"), list)


def is_response(value: Any) -> bool:
    """Whether ``value`` is a response body, or one chunk of a streamed one."""
    return isinstance(value, dict) and (
        isinstance(value.get("candidates"), list) or "usageMetadata" in value or "promptFeedback" in value
    )


def is_message(value: Any) -> bool:
    """Whether ``value`` is one content: parts that have no type, as those of other formats do."""
    if not isinstance(value, dict) or not isinstance(parts := value.get("parts"), list):
        return False
    role = value.get("role")
    known = role is None or role in ("user", "model", "function", "system", "tool")
    return known and all(isinstance(part, str) or (isinstance(part, dict) and "type" not in part) for part in parts)


def is_piece(value: Any) -> bool:
    """Whether ``value`` can be a chunk of a streamed response: it says of no candidate why it ended."""
    return is_response(value) and not is_last(value)


def is_last(piece: Mapping[str, Any]) -> bool:
    """Whether a stream ends with this chunk."""
    return any(_get(candidate, "finishReason") for candidate in listed(piece.get("candidates")))


# -- requests ------------------------------------------------------------------------------------------------------


def messages_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The contents of a request as messages in OpenAI Chat form."""
    system = _get(body, "systemInstruction")
    if isinstance(system, str):
        system = {"parts": [system]}
    messages: list[Mapping[str, Any]] = []
    if isinstance(system, dict):
        messages += converted({**system, "role": "system"})
    contents = body.get("contents")
    for content in contents if isinstance(contents, list) else []:
        if isinstance(content, dict):
            messages += converted(content)
    return messages


def converted(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One content as messages: function responses become tool messages, the rest is one message of its role."""
    role = content.get("role")
    role = _ROLES.get(role, role) if isinstance(role, str) and role else "user"
    said, results = Parts(), list[Mapping[str, Any]]()
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else [parts]:
        if not isinstance(part, dict):
            if part is not None:
                said.text(as_text(part))
        elif isinstance(response := _get(part, "functionResponse"), dict):
            results.append(_result(response))
        else:
            _add_part(said, part, glue=role == "assistant")
    return [*results, said.message(role)] if said else results


def _add_part(said: Parts, part: Mapping[str, Any], *, glue: bool) -> None:
    text = part.get("text")
    if isinstance(call := _get(part, "functionCall"), dict):
        said.call(call.get("id"), call.get("name"), call.get("args"))
    elif isinstance(text, str) and part.get("thought") is True:
        said.thought(text, glue=glue)
    elif isinstance(text, str):
        said.text(text, glue=glue)
    elif isinstance(data := _get(part, "inlineData"), dict) and isinstance(data.get("data"), str):
        said.add(media(_get(data, "mimeType"), data["data"], _get(data, "displayName")))
    elif isinstance(data := _get(part, "fileData"), dict):
        said.add(linked(_get(data, "fileUri"), _get(data, "mimeType"), _get(data, "displayName")))
    elif part.keys() - _SIGNATURES:
        said.add({"type": "gemini", **part})


_SIGNATURES = frozenset(("thoughtSignature", "thought_signature"))


def _result(response: Mapping[str, Any]) -> Mapping[str, Any]:
    value = response.get("response")
    if isinstance(value, dict) and len(value) == 1 and (key := next(iter(value))) in _WRAPPERS:
        value = value[key]
    message = {"role": "tool", "tool_call_id": response.get("id"), "name": response.get("name")}
    shown = Parts()
    for part in listed(response.get("parts")):
        _add_part(shown, part, glue=False)
    if not shown:
        return {**message, "content": as_text(value)}
    return {**message, "content": [{"type": "text", "text": as_text(value)}, *_as_list(shown.content)]}


def _as_list(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def tools_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The declared functions, in OpenAI form; tools that run at Google under their own name."""
    tools = body.get("tools")
    found: list[dict[str, Any]] = []
    for tool in listed(tools if isinstance(tools, list) else [tools]):
        functions = _get(tool, "functionDeclarations")
        found += [{"type": "function", "function": _declared(function)} for function in listed(functions)]
        found += [{"type": key, "name": key} for key in tool if key not in _DECLARATIONS and tool[key] is not None]
    return found


_DECLARATIONS = frozenset(("functionDeclarations", "function_declarations"))


def _declared(function: Mapping[str, Any]) -> dict[str, Any]:
    schema = _get(function, "parametersJsonSchema")
    if schema is None:
        return dict(function)
    return {**{key: function[key] for key in ("name", "description") if key in function}, "parameters": schema}


# -- responses -----------------------------------------------------------------------------------------------------


def read_response(body: Mapping[str, Any]) -> Reply:
    """Read a response body: its first candidate, or why there is none."""
    candidates = listed(body.get("candidates"))
    created = _get(body, "createTime")
    common: dict[str, Any] = {
        "usage": usage_of(_get(body, "usageMetadata")),
        "model": words(_get(body, "modelVersion")),
        "at": created if timestamp(created) is not None else None,
    }
    if not candidates:
        blocked = words(_get(mapping(_get(body, "promptFeedback")), "blockReason"))
        why = f"the prompt was blocked: {blocked}" if blocked else error_text(body.get("error"))
        return Reply(error=why, **common)
    content = mapping(candidates[0].get("content"))
    return Reply(
        message=answer_in(converted({**content, "role": "model"})),
        finish_reason=words(_get(candidates[0], "finishReason")),
        unread=("a further candidate of a response",) * (len(candidates) - 1),
        **common,
    )


def usage_of(data: Any) -> Usage | None:
    """Gemini counts thoughts beside the candidates and tool prompts beside the prompt; here they are parts of them."""
    if not isinstance(data, dict):
        return None
    thoughts = _get(data, "thoughtsTokenCount")
    answer = _get(data, "candidatesTokenCount")
    return Usage.from_openai(
        {
            "prompt_tokens": count(_get(data, "promptTokenCount"), _get(data, "toolUsePromptTokenCount")),
            "completion_tokens": count(_get(data, "responseTokenCount") if answer is None else answer, thoughts),
            "total_tokens": _get(data, "totalTokenCount"),
            "prompt_tokens_details": {"cached_tokens": _get(data, "cachedContentTokenCount")},
            "completion_tokens_details": {"reasoning_tokens": thoughts},
        }
    )


def join_pieces(pieces: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The response body that the chunks of a stream add up to. Counts grow from chunk to chunk: the last ones hold."""
    body: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    parts: list[Any] = []
    for piece in pieces:
        body.update({key: value for key, value in piece.items() if value is not None})
        usage.update({key: value for key, value in mapping(_get(piece, "usageMetadata")).items() if value is not None})
        for first in listed(piece.get("candidates"))[:1]:
            candidate.update({key: value for key, value in first.items() if value is not None})
            more = mapping(first.get("content")).get("parts")
            parts += more if isinstance(more, list) else []
    if candidate:
        body["candidates"] = [{**candidate, "content": {"role": "model", "parts": parts}}]
    return {**body, "usageMetadata": usage} if usage else body


def _get(data: Mapping[str, Any], camel: str) -> Any:
    return data[camel] if camel in data else data.get(_snake(camel))


@cache
def _snake(camel: str) -> str:
    return _BIG.sub(r"_\1", camel).lower()
