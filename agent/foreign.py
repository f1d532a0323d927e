"""What a model of any make answers, as a :class:`ModelReply` that can be kept, sent back and written down.

For a plain reply of our own kind one quick look is enough. A model that somebody else wrote may give the objects or
dicts of its provider's package, or values of the wrong kind: what can be read is read, what cannot be kept is left out
with a warning, and what is no answer at all is a :class:`ModelError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent import jsontext
from agent.errors import ModelError, Retry
from agent.faults import Fault
from agent.messages import Message, ToolCall
from agent.models.base import ModelReply
from agent.models.replies import read_content, read_message
from agent.protocol import with_own_ids
from agent.stops import StopReason
from agent.tool_result import MAX_BITS, plain
from agent.usage import Usage

_NOTHING: dict[str, Any] = {}
_TEXT = frozenset((str, type(None)))
_SIMPLE = frozenset((str, int, bool, type(None)))


def as_reply(reply: Any) -> ModelReply:
    """The reply itself where it is plain, else what can be made of it.

    Raises:
        ModelError: it holds no assistant message, or demands a stop for a reason that does not exist.
    """
    return reply if _is_plain(reply) else _read(reply)


def _is_plain(reply: Any) -> bool:
    """Whether a reply is one of ours and holds nothing but words and simple calls. It is asked at every step."""
    if reply.__class__ is not ModelReply or (message := reply.message).__class__ is not Message:
        return False
    if reply.usage is not None or reply.raw is not None or reply.warnings != () or reply.retries != ():
        return False
    return (
        message.role == "assistant"
        and message.content.__class__ in _TEXT
        and reply.finish_reason.__class__ in _TEXT
        and message.name is message.tool_call_id is reply.model is reply.stop is None
        and reply.first_token_ms is reply.cost is None
        and message.extra == _NOTHING
        and (not message.tool_calls or _are_simple(message))
    )


def _are_simple(message: Message) -> bool:
    """Whether the calls are as they should be, and their arguments hold only values that JSON has for sure."""
    for call in message.tool_calls:
        if call.__class__ is not ToolCall or call.arguments.__class__ is not dict or call.extra != _NOTHING:
            return False
        if call.name.__class__ is not str or call.problem is not None or call.text.__class__ not in _TEXT:
            return False
        for name, value in call.arguments.items():
            if name.__class__ is not str or value.__class__ not in _SIMPLE:
                return False
            if value.__class__ is int and value.bit_length() > MAX_BITS:
                return False
        if call.id.__class__ is not str or not call.id:
            return False
    return len(message.tool_calls) == 1 or with_own_ids(message) is message


def _read(reply: Any) -> ModelReply:
    notes: list[str] = []
    message, sent = _read_message(reply, notes)
    raw = getattr(reply, "raw", None)
    if raw is not None and not _is_json(raw):
        notes.append("What the provider sent was not kept: it has no JSON form.")
        raw = None
    warnings, retries, faults = (getattr(reply, name, ()) for name in ("warnings", "retries", "faults"))
    return ModelReply(
        message,
        usage=_read_usage(getattr(reply, "usage", None), notes),
        finish_reason=_text(reply, "finish_reason", notes),
        model=_text(reply, "model", notes),
        first_token_ms=_number(reply, "first_token_ms", notes),
        cost=_number(reply, "cost", notes),
        raw=sent if raw is None else raw,
        warnings=(*(map(str, warnings) if isinstance(warnings, (list, tuple)) else ()), *notes),
        retries=tuple(r for r in retries if isinstance(r, Retry)) if isinstance(retries, (list, tuple)) else (),
        faults=tuple(f for f in faults if isinstance(f, Fault)) if isinstance(faults, (list, tuple)) else (),
        stop=_read_stop(getattr(reply, "stop", None)),
    )


def _read_message(reply: Any, notes: list[str]) -> tuple[Message, Any]:
    """The assistant message, and what was sent in its place where reading it changed something."""
    message = _data(getattr(reply, "message", None))
    if not isinstance(message, (Message, Mapping)):
        raise ModelError(f"the model gave {type(reply).__name__} without an assistant message in .message")
    role = message.role if isinstance(message, Message) else message.get("role", "assistant")
    if role != "assistant":
        raise ModelError(f"the model answered with a message of role {role!r}, it must be an assistant message")
    if isinstance(message, Mapping):
        reading = read_message(plain(message))
        notes += reading.warnings
        return reading.message, reading.raw
    data = {**_extra(message), "role": "assistant", "tool_calls": None, "tool_call_id": None}
    data["content"] = read_content(plain(message.content), notes)
    data["name"] = message.name if isinstance(message.name, str) else None
    calls = (_read_call(item, notes) for item in message.tool_calls)
    mended = replace(Message.from_dict(data), tool_calls=tuple(call for call in calls if call is not None))
    own = with_own_ids(mended)
    if own is mended:
        return mended, None
    notes.append("Calls without ids of their own got new ones.")
    return own, mended.to_dict()


def _read_call(item: Any, notes: list[str]) -> ToolCall | None:
    """A call of the message; None for what is none. An id that is missing stays empty here."""
    item = _data(item)
    if isinstance(item, Mapping):
        return ToolCall.from_dict(plain(item))
    if not isinstance(item, ToolCall):
        notes.append("An entry of tool_calls was no call and was left out.")
        return None
    arguments = plain(item.arguments)
    if not isinstance(arguments, (dict, str, type(None))):
        arguments = jsontext.dumps(arguments)
    function = {"name": item.name, "arguments": arguments}
    read = ToolCall.from_dict({**_extra(item), "id": item.id, "function": function})
    if isinstance(item.text, str):
        read = replace(read, text=item.text)
    return replace(read, problem=item.problem, arguments={}) if item.problem and isinstance(item.problem, str) else read


def _extra(value: Message | ToolCall) -> dict[str, Any]:
    return dict(plain(value.extra)) if isinstance(value.extra, Mapping) else {}


def _read_usage(usage: Any, notes: list[str]) -> Usage | None:
    if isinstance(usage, Usage):
        return Usage.from_dict(usage.to_dict())
    usage = _data(usage)
    if usage is not None and not isinstance(usage, Mapping):
        notes.append(_left_out("usage", plain(usage)))
    return Usage.from_openai(usage)


def _read_stop(stop: Any) -> str | None:
    try:
        return None if stop is None else StopReason(stop).value
    except ValueError:
        raise ModelError(f"the model demanded to stop for a reason that does not exist: {stop!r}") from None


def _text(reply: Any, name: str, notes: list[str]) -> str | None:
    value = plain(getattr(reply, name, None))
    if value is None or isinstance(value, str):
        return value
    notes.append(_left_out(name, value))
    return None


def _number(reply: Any, name: str, notes: list[str]) -> float | None:
    value = plain(getattr(reply, name, None))
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0):
        return value
    notes.append(_left_out(name, value))
    return None


def _left_out(name: str, value: Any) -> str:
    return f"The field {name} held {value!r} and was left out."


def _data(value: Any) -> Any:
    """The dict that an object of a provider's package stands for; everything else as it is."""
    return value.model_dump() if callable(getattr(type(value), "model_dump", None)) else value


def _is_json(value: Any) -> bool:
    try:
        jsontext.canonical(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
