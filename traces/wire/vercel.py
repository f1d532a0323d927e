"""Messages of the Vercel AI SDK: those that it gives to a model, and UIMessages as apps store them.

Spec: vercel/ai, ``packages/ai/src/ui/ui-messages.ts`` and ``packages/ai/src/prompt``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traces.repair import as_text
from traces.wire.parts import Parts, file, kind_of, linked, listed, mapping, media, words

_MODEL_PARTS = frozenset(("tool-call", "tool-result", "tool-approval-request", "tool-approval-response"))
_DONE = ("output-available", "output-error", "output-denied", "result")


def is_model_message(value: Any) -> bool:
    """Whether ``value`` is a message for a model whose content is typed as this SDK types it."""
    content = value.get("content") if isinstance(value, dict) else None
    return isinstance(content, list) and any(
        kind_of(part) in _MODEL_PARTS or (kind_of(part) in ("image", "file") and "mediaType" in part)
        for part in content
    )


def is_step(value: Any) -> bool:
    """Whether ``value`` is one step of a result: what one model call gave, and the results of its tools."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("content"), list)
        and "finishReason" in value
        and "usage" in value
        and "role" not in value
    )


def is_call_list(value: Any) -> bool:
    """Whether ``value`` is the list of calls of an answer."""
    return isinstance(value, list) and bool(value) and all(isinstance(i, dict) and "toolName" in i for i in value)


def calls_of(value: Any) -> list[dict[str, Any]]:
    """The calls of an answer in OpenAI form."""
    return [_call(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def model_messages(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A message for a model as messages in OpenAI Chat form: each tool result becomes a tool message."""
    said, results = Parts(), list[Mapping[str, Any]]()
    for part in value["content"]:
        if kind_of(part) in ("tool-result", "tool-error"):
            results.append(_result(part))
        else:
            _add_part(said, part)
    return [said.message(as_text(value.get("role") or "assistant")), *results] if said or not results else results


def _call(part: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": part.get("toolName"), "arguments": part.get("input", part.get("args"))}
    return {"id": part.get("toolCallId"), "function": function}


def _result(part: Mapping[str, Any]) -> Mapping[str, Any]:
    value, failed = part.get("output", part.get("result")), part.get("isError") is True
    if kind_of(part) == "tool-error":
        value, failed = part.get("error"), True
    if isinstance(value, dict) and "value" in value and value.keys() <= {"type", "value", "providerOptions"}:
        failed = failed or str(value.get("type")).startswith("error")
        value = value["value"]
    message = {"role": "tool", "tool_call_id": part.get("toolCallId"), "name": part.get("toolName")}
    return {**message, "content": _returned(value), **({"is_error": True} if failed else {})}


def _returned(value: Any) -> Any:
    """What a tool gave: text, or content parts where it gave an image or a file."""
    if not isinstance(value, list) or not any(kind_of(part) in _MEDIA and words(part.get("data")) for part in value):
        return as_text(value)
    said = Parts()
    for part in value:
        if kind_of(part) in _MEDIA and words(part.get("data")):
            said.add(media(part.get("mediaType"), part["data"], part.get("filename")))
        else:
            _add_part(said, part)
    return said.content


_MEDIA = ("media", "image-data", "file-data")


def _add_part(said: Parts, part: Any) -> None:
    kind = kind_of(part)
    if not isinstance(part, dict):
        said.text(as_text(part))
    elif kind == "text":
        said.text(as_text(part.get("text") or ""))
    elif kind == "reasoning":
        said.thought(as_text(part.get("text") or part.get("reasoning") or ""))
    elif kind == "tool-call":
        said.call(part.get("toolCallId"), part.get("toolName"), part.get("input", part.get("args")))
    else:
        said.add(_medium(part))


def _medium(part: Mapping[str, Any]) -> Mapping[str, Any]:
    kind, name = kind_of(part), part.get("filename")
    mime = words(part.get("mediaType")) or words(part.get("mimeType"))
    data = words(part.get("url")) or words(part.get("image")) or words(part.get("data"))
    if kind not in ("image", "file") or data is None:
        return part
    if data.startswith(("data:image/", "http:", "https:")):
        return linked(data, mime or (None if kind == "image" or data.startswith("data:image/") else "file"), name)
    return file(name, file_data=data) if data.startswith("data:") else media(mime, data, name)


# -- UIMessages ----------------------------------------------------------------------------------------------------


def is_ui_message(value: Any) -> bool:
    """Whether ``value`` is a UIMessage: a role, and parts with a type (version 5), or tool invocations (version 4)."""
    if not isinstance(value, dict) or value.get("role") not in ("system", "user", "assistant", "data"):
        return False
    if isinstance(value.get("toolInvocations"), list):
        return True
    parts = value.get("parts")
    return isinstance(parts, list) and bool(parts) and all(map(_is_ui_part, parts[:20]))


def _is_ui_part(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str):
        return False
    if kind == "text":
        return "text" in part
    return kind.startswith(("tool-", "data-", "source")) or kind in _UI_KINDS


_UI_KINDS = frozenset(("reasoning", "step-start", "file", "dynamic-tool"))
_SKIPPED = ("source", "data-")
"""Beginnings of the types of parts that are for the page alone."""


def ui_messages(value: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """``(message, run)`` for each message that a UIMessage stands for, in OpenAI Chat form.

    An assistant's UIMessage holds several steps with the results of their calls. ``run`` is None, or for a tool message
    the part that it comes from.
    """
    role, parts = value.get("role"), value.get("parts")
    if not isinstance(parts, list):
        parts = _parts_of_version_4(value)
    if role != "assistant":
        yield _said(as_text(role), [part for part in parts if not _for_the_page(part)]), None
        return
    for step in _steps(parts):
        if step:
            yield _said("assistant", step), None
        for part in step:
            found = _tool_of(part)
            if found is not None and _is_done(found[1]):
                yield _ui_result(*found), part


def _is_done(tool: Mapping[str, Any]) -> bool:
    return tool.get("state") in _DONE or kind_of(tool) == "tool-result"


def _said(role: str, parts: list[Any]) -> dict[str, Any]:
    said = Parts()
    for part in parts:
        tool = _tool_of(part)
        if kind_of(part) == "tool-result":
            continue
        if tool is not None:
            said.call(tool[1].get("toolCallId"), tool[0], tool[1].get("input", tool[1].get("args")))
        else:
            _add_part(said, part)
    return said.message(role)


def _steps(parts: list[Any]) -> Iterator[list[Mapping[str, Any]]]:
    """The parts step by step. Text behind a finished call begins a step also where no mark says so."""
    step: list[Mapping[str, Any]] = []
    answered = False
    for part in parts:
        if not isinstance(part, dict) or _for_the_page(part):
            continue
        tool = _tool_of(part)
        if part.get("type") == "step-start" or (answered and tool is None):
            yield step
            step, answered = [], False
        if part.get("type") != "step-start":
            step.append(part)
            answered = answered or (tool is not None and _is_done(tool[1]))
    yield step


def _for_the_page(part: Any) -> bool:
    return kind_of(part).startswith(_SKIPPED)


def _tool_of(part: Any) -> tuple[str, Mapping[str, Any]] | None:
    """``(name, invocation)`` of a part that is a tool call."""
    kind, inner = kind_of(part), mapping(part).get("toolInvocation")
    if kind == "tool-invocation" and isinstance(inner, dict):
        return as_text(inner.get("toolName") or ""), inner
    if kind == "dynamic-tool" or kind in _MODEL_PARTS:
        return as_text(mapping(part).get("toolName") or ""), part
    if kind.startswith("tool-"):
        return kind.removeprefix("tool-"), part
    return None


def _ui_result(name: str, tool: Mapping[str, Any]) -> Mapping[str, Any]:
    failed = tool.get("state") in ("output-error", "output-denied")
    value = tool.get("errorText") if tool.get("state") == "output-error" else tool.get("output", tool.get("result"))
    if value is None and tool.get("state") == "output-denied":
        value = "denied by the user"
    message = {"role": "tool", "tool_call_id": tool.get("toolCallId"), "name": name, "content": as_text(value)}
    return {**message, **({"is_error": True} if failed else {})}


def _parts_of_version_4(value: Mapping[str, Any]) -> list[Any]:
    """A message of version 4 as parts: reasoning, calls, text, attachments."""
    parts: list[Any] = []
    if reasoning := words(value.get("reasoning")):
        parts.append({"type": "reasoning", "text": reasoning})
    for call in listed(value.get("toolInvocations")):
        parts.append({"type": "tool-invocation", "toolInvocation": call})
    if content := value.get("content"):
        parts.append({"type": "text", "text": as_text(content)})
    for item in listed(value.get("experimental_attachments")):
        parts.append({"type": "file", "url": item.get("url"), "mediaType": item.get("contentType")})
    return parts
