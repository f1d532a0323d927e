"""From a provider's assistant message to ours: what is odd is repaired where that is safe, and always told.

A repair never invents: arguments that cannot be read stay as text with a ``problem``, and such a call is answered with
an error and never run. What the provider sent is kept beside the repaired message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent import jsontext
from agent.ids import new_call_id
from agent.messages import Message, ToolCall
from agent.models.arguments import repair_arguments

_THOUGHT = re.compile(r"\s*<(think|thinking)>(?:.*?</\1>|.*\Z)", re.DOTALL)
_UNOPENED_THOUGHT = re.compile(r"\A(?:(?!<think>).)*?^[ \t]*</think>[ \t]*$", re.DOTALL | re.MULTILINE)
_HEAD = 200
_READ = frozenset(("role", "content", "tool_calls", "function_call"))
_CALL_READ = frozenset(("id", "type", "function", "index"))
_CUT = frozenset(("length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length"))


def was_cut(finish_reason: str | None) -> bool:
    """Whether a provider says that the length limit cut a reply off.

    OpenAI Chat says ``length``; gateways to other providers pass on the words of these, in either case.
    """
    return (finish_reason or "").lower() in _CUT


def visible_text(message: Message) -> str:
    """What the model says to the user: the text without the thoughts that some servers leave at its head.

    ``<think>...</think>`` at the head goes; a thought that was never closed is all thought; a lone ``</think>`` on its
    own line ends a thought whose opening tag stood in the server's prompt template. Tags further on are text.
    """
    text = message.text
    if "<think" in text[:_HEAD] and (match := _THOUGHT.match(text)):
        return text[match.end() :].strip()
    if "</think>" in text and (match := _UNOPENED_THOUGHT.match(text)):
        return text[match.end() :].strip()
    return text.strip()


@dataclass(frozen=True, slots=True)
class Reading:
    """An assistant message as read from a provider."""

    message: Message
    """The repaired message, ready for the message list."""
    raw: Any = None
    """The message as it came, where the repair changed something."""
    warnings: tuple[str, ...] = ()
    """One sentence for each thing that was odd."""


def read_message(raw: Mapping[str, Any], *, finish_reason: str | None = None) -> Reading:
    """Read an assistant message of the OpenAI Chat API or one of its many relatives.

    Every call gets an id of its own, arguments become one JSON object or a ``problem``, the legacy ``function_call``
    becomes a call, and an empty text beside calls becomes null. Unknown keys are kept in ``extra``.

    Args:
        raw: the ``message`` of a choice.
        finish_reason: the provider's word; of a reply that :func:`was_cut` the last call may be cut off, too.
    """
    warnings: list[str] = []
    calls = _read_calls(raw, warnings)
    if was_cut(finish_reason) and calls:
        calls[-1] = _cut_off(calls[-1])
    content = read_content(raw.get("content"), warnings)
    message = Message(
        role="assistant",
        content=None if calls and content == "" else content,
        tool_calls=tuple(calls),
        extra={key: value for key, value in raw.items() if key not in _READ and value is not None},
    )
    repaired = bool(warnings) or any(call.problem for call in calls)
    return Reading(message, dict(raw) if repaired else None, tuple(warnings))


def read_content(content: Any, warnings: list[str]) -> str | list[Any] | None:
    """The content of a message, a JSON value: text, a list of parts or None; anything else as JSON text, and told."""
    if content is None or isinstance(content, (str, list)):
        return content
    warnings.append("The content was neither text nor a list of parts; it was kept as JSON text.")
    return jsontext.dumps(content)


def _read_calls(raw: Mapping[str, Any], warnings: list[str]) -> list[ToolCall]:
    listed = raw.get("tool_calls") or []
    legacy = raw.get("function_call")
    if not isinstance(listed, list):
        warnings.append("The field tool_calls was not a list.")
        listed = [listed]
    if not listed and isinstance(legacy, Mapping):
        warnings.append("The call came in the old function_call field.")
        listed = [{"id": new_call_id(), "function": legacy}]
    calls: list[ToolCall] = []
    for item in listed:
        if isinstance(item, Mapping):
            calls.append(_read_call(item, {call.id for call in calls}, warnings))
        else:
            warnings.append("An entry of tool_calls was no call and was left out.")
    return calls


def _read_call(item: Mapping[str, Any], taken: set[str], warnings: list[str]) -> ToolCall:
    function = item.get("function")
    function = function if isinstance(function, Mapping) else {}
    name = function.get("name")
    name = name if isinstance(name, str) else ""
    call_id = _read_id(item.get("id"), name, taken, warnings)
    arguments = repair_arguments(function.get("arguments"))
    if arguments.repair is not None:
        warnings.append(f"The arguments of {name or 'a call without a name'} {arguments.repair}")
    extra = {key: value for key, value in item.items() if key not in _CALL_READ and value is not None}
    return ToolCall(call_id, name, arguments.value, arguments.text, arguments.problem, extra)


def _read_id(sent: Any, name: str, taken: set[str], warnings: list[str]) -> str:
    """The provider's id, or a new one where it is missing or already taken in this message."""
    call_id = str(sent) if isinstance(sent, (str, int)) and sent is not True and sent is not False else ""
    if call_id and call_id not in taken:
        return call_id
    new = new_call_id(taken)
    why = f"repeated the id {call_id!r} of another call" if call_id else "came without an id"
    warnings.append(f"The call of {name or 'no tool'} {why}; it was given the id {new}.")
    return new


def _cut_off(call: ToolCall) -> ToolCall:
    """The last call of a reply that hit the length limit: broken or missing arguments were most likely cut off."""
    if call.problem is None and (call.text or call.arguments):
        return call
    return replace(call, problem="the reply was cut off by the length limit before the arguments were complete")
