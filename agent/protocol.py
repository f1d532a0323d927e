"""The one outgoing check: the rules of the tool-calling protocol that every message list must keep before it is sent.

An assistant message with calls is followed at once by exactly one tool message for each of its calls (its *block*), and
a tool message stands nowhere else. Ids pair within the block, so they may repeat between blocks. Providers refuse
everything else with HTTP 400, and the refusal stays for the rest of the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent import jsontext
from agent.ids import new_call_id
from agent.messages import Message
from agent.trace import Edit

INTERRUPTED = "interrupted: this call was not finished, so there is no result"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule."""

    kind: Literal["unanswered", "orphan", "bad_ids"]
    position: int
    """Position of the message: the call's for unanswered and bad_ids, the result's for orphan."""
    call_id: str
    text: str
    """The fault in one sentence."""


def violations(messages: Sequence[Message], start: int = 0) -> list[Violation]:
    """Every broken rule from position ``start`` on; empty when the list may be sent.

    ``start`` must be 0 or the first position after a checked part that ended with a complete block.
    """
    found: list[Violation] = []
    expected: list[str] = []
    block = start
    for position, message in enumerate(messages[start:], start):
        if message.role == "tool":
            call_id = message.tool_call_id or ""
            if call_id in expected:
                expected.remove(call_id)
            else:
                text = f"message {position + 1}: a tool result for {call_id!r} without its call"
                found.append(Violation("orphan", position, call_id, text))
            continue
        if expected:
            found += _unanswered(block, expected)
            expected = []
        block = position
        if message.tool_calls and message.role == "assistant":
            expected = [call.id for call in message.tool_calls]
            if "" in expected or (len(expected) > 1 and len(set(expected)) < len(expected)):
                found.append(
                    Violation("bad_ids", position, "", f"message {position + 1}: calls without ids of their own")
                )
    return found + _unanswered(block, expected) if expected else found


def _unanswered(position: int, expected: list[str]) -> list[Violation]:
    return [
        Violation("unanswered", position, call_id, f"message {position + 1}: the call {call_id!r} has no result")
        for call_id in expected
    ]


def repairs(messages: Sequence[Message], found: Sequence[Violation]) -> list[Edit]:
    """Edits after which the list may be sent: a result "interrupted" for a call without one, no orphans.

    Calls without ids of their own cannot be mended from outside; no edit is made for them.
    """
    edits = []
    for violation in found:
        if violation.kind == "orphan":
            edits.append(Edit(op="drop", message=violation.position, by="protocol"))
        elif violation.kind == "unanswered":
            end = violation.position + 1
            while end < len(messages) and messages[end].role == "tool":
                end += 1
            result = interrupted_result(violation.call_id).to_dict()
            edits.append(Edit(op="insert", message=end, by="protocol", with_=result))
    return edits


def interrupted_result(call_id: str) -> Message:
    """The synthetic result that closes a call which never got one."""
    return Message("tool", jsontext.dumps({"error": INTERRUPTED, "retryable": True}), tool_call_id=call_id)


def with_own_ids(message: Message) -> Message:
    """The message with an id of its own on every call: empty and repeated ids are replaced by fresh ones.

    Gives the same object back when there is nothing to do.
    """
    ids = [call.id for call in message.tool_calls]
    if "" not in ids and len(set(ids)) == len(ids):
        return message
    seen: set[str] = set()
    calls = []
    for call in message.tool_calls:
        call_id = call.id if call.id and call.id not in seen else new_call_id(seen)
        seen.add(call_id)
        calls.append(call if call_id == call.id else replace(call, id=call_id))
    return replace(message, tool_calls=tuple(calls))
