"""What a fault makes of a reply, of a tool and of a provider's answer: pure functions, each giving what was changed.

The changed thing goes the way of every other: arguments are read as those of a provider are, a tool is run with its
checks and its time limit, an error has the words that :mod:`agent.models.http_errors` gives it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from agent import faults
from agent.errors import ModelError
from agent.faults import Fault
from agent.messages import Message, ToolCall
from agent.models.base import ModelReply
from agent.models.http_errors import failed_status
from agent.models.replies import read_message
from agent.tools import Tool

_RELEASED_S = 600.0
"""Seconds after which a tool that was to hang ends in any case."""


class ProviderFault(ModelError):
    """An answer of a provider that was put in its place: the model itself was never asked."""


class Broken(NamedTuple):
    """A changed reply, and what was changed in it."""

    reply: ModelReply
    params: dict[str, Any]


# ---- replies ----


def break_reply(fault: Fault, reply: ModelReply, names: Collection[str]) -> Broken | None:
    """The reply as the fault changes it; None where this reply holds nothing that it could change.

    What the model really said is kept as ``raw``.

    Args:
        fault: what to do.
        reply: the model's reply, or what an earlier fault made of it.
        names: the registered tools.
    """
    change = _CHANGES.get(fault.kind)
    broken = change(fault, reply, names) if change else None
    if broken is None:
        return None
    raw = reply.raw if reply.raw is not None else reply.message.to_dict()
    return broken._replace(reply=replace(broken.reply, raw=raw))


def _malformed(fault: Fault, reply: ModelReply, names: Collection[str]) -> Broken | None:
    """The closing brace of the first call's arguments is missing."""
    position = _first_sound(reply)
    if position is None:
        return None
    call = reply.message.tool_calls[position]
    before = call.arguments_text()
    after = before.rstrip().removesuffix("}")
    message = _with_call(reply.message, position, _read_again(call, after))
    return Broken(replace(reply, message=message), {"call": call.id, "before": before, "after": after})


def _unknown_tool(fault: Fault, reply: ModelReply, names: Collection[str]) -> Broken | None:
    if not reply.message.tool_calls:
        return None
    call, name = reply.message.tool_calls[0], "no_such_tool"
    while name in names:
        name += "_"
    message = _with_call(reply.message, 0, replace(call, name=name))
    return Broken(replace(reply, message=message), {"call": call.id, "before": call.name, "after": name})


def _repeated(fault: Fault, reply: ModelReply, names: Collection[str]) -> Broken | None:
    """The first call stands in the reply several times, under ids of its own."""
    calls = reply.message.tool_calls
    if not calls:
        return None
    taken, again = {call.id for call in calls}, []
    for number in range(2, int(fault.number("times")) + 1):
        call_id = f"{calls[0].id}{number}"
        while call_id in taken:
            call_id += "x"
        taken.add(call_id)
        again.append(replace(calls[0], id=call_id))
    message = replace(reply.message, tool_calls=(calls[0], *again, *calls[1:]))
    return Broken(replace(reply, message=message), {"call": calls[0].id, "copies": [call.id for call in again]})


def _cut_off(fault: Fault, reply: ModelReply, names: Collection[str]) -> Broken | None:
    """The second half of the text, or of the last call's arguments, is missing."""
    message = reply.message
    params: dict[str, Any] = {"before": reply.finish_reason}
    if message.tool_calls:
        last = len(message.tool_calls) - 1
        call = message.tool_calls[last]
        text = call.arguments_text()
        message = _with_call(message, last, _read_again(call, text[: len(text) // 2], "length"))
        params |= {"call": call.id, "characters": len(text) - len(text) // 2}
    else:
        text = message.text
        message = replace(message, content=text[: len(text) // 2])
        params["characters"] = len(text) - len(text) // 2
    return Broken(replace(reply, message=message, finish_reason="length"), params)


def _claimed(fault: Fault, reply: ModelReply, names: Collection[str]) -> Broken | None:
    """In place of the calls stands a sentence."""
    calls = reply.message.tool_calls
    if not calls:
        return None
    message = replace(reply.message, content=f"I have called {calls[0].name} and have its result.", tool_calls=())
    params = {"calls": [call.id for call in calls], "tool": calls[0].name}
    return Broken(replace(reply, message=message, finish_reason="stop"), params)


def _first_sound(reply: ModelReply) -> int | None:
    return next((at for at, call in enumerate(reply.message.tool_calls) if call.problem is None), None)


def _with_call(message: Message, position: int, call: ToolCall) -> Message:
    calls = message.tool_calls
    return replace(message, tool_calls=(*calls[:position], call, *calls[position + 1 :]))


def _read_again(call: ToolCall, arguments: str, finish_reason: str | None = None) -> ToolCall:
    """The call as it is read when its arguments come from a provider as this text."""
    sent = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}, **call.extra}
    (read,) = read_message({"tool_calls": [sent]}, finish_reason=finish_reason).message.tool_calls
    return read


_CHANGES: dict[str, Callable[[Fault, ModelReply, Collection[str]], Broken | None]] = {
    faults.MALFORMED_ARGUMENTS: _malformed,
    faults.UNKNOWN_TOOL: _unknown_tool,
    faults.REPEATED_CALLS: _repeated,
    faults.CUT_OFF_REPLY: _cut_off,
    faults.CLAIMED_CALL: _claimed,
}


# ---- the provider ----

_ANSWERS = {
    faults.PROVIDER_429: (429, '{"error": {"message": "Too many requests (an injected fault)."}}'),
    faults.PROVIDER_500: (500, '{"error": {"message": "Internal error (an injected fault)."}}'),
}


def provider_error(fault: Fault) -> ProviderFault:
    """The error that the answer of a provider amounts to.

    Raises:
        KeyError: the fault is no provider's.
    """
    status, body = _ANSWERS[fault.kind]
    error = failed_status(status, {}, body, ()).error
    return ProviderFault(str(error), status=status, raw=error.raw)


# ---- tools ----


@dataclass(slots=True, eq=False)
class Substitute:
    """A tool that stands in the place of another, and whether it was really called."""

    tool: Tool
    fault: Fault
    called: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    """Set when nobody waits for it any more: a tool that hangs then lets go of its thread."""

    @classmethod
    def for_tool(cls, fault: Fault, tool: Tool) -> Substitute:
        """One that takes the same arguments, checked as before, and then does what the fault says."""
        substitute = cls(tool, fault)
        plan = tool.plan._replace(asynchronous=False) if tool.plan else None
        timeout = fault.number("timeout_s") if fault.kind == faults.TOOL_TIMES_OUT else tool.timeout
        substitute.tool = replace(tool, func=substitute, plan=plan, timeout=timeout)
        return substitute

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise, hang, or give nothing or too much."""
        self.called.set()
        if self.fault.kind == faults.TOOL_RAISES:
            raise RuntimeError("the tool broke down (an injected fault)")
        if self.fault.kind == faults.TOOL_TIMES_OUT:
            self.over.wait(_RELEASED_S)
        if self.fault.kind == faults.TOOL_RETURNS_TOO_MUCH:
            return _long_text(int(self.fault.number("characters")))
        return None


def _long_text(characters: int) -> str:
    line = "A line of a very long result. "
    return (line * (characters // len(line) + 1))[:characters]
