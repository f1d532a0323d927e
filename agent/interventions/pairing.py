"""Interventions on how results belong to their calls: missing, out of order, under wrong ids, told as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent.interventions.draft import Draft
from agent.interventions.rounds import Result, Selection, blocks, results_of
from agent.messages import Message

OMIT_RESULTS = "omit_results"
"""The intervention that the switch of the stepper stands for; see :mod:`agent.striking`."""
_AS_USER = "results_as_user"


def omit_results(draft: Draft, chosen: Selection) -> None:
    """The results are not written back: the calls stay, their tool messages are missing."""
    for result in results_of(draft, chosen):
        draft.drop(result.position, OMIT_RESULTS)


def shuffle_ids(draft: Draft, chosen: Selection) -> None:
    """Each result carries the id of the result before it, the first that of the last; an own one the id of no call.

    The same id may stand in several blocks, so that the neighbour's may be one's own.
    """
    results = results_of(draft, chosen)
    ids = [result.message.tool_call_id for result in results]
    for result, own, other in zip(results, ids, ids[-1:] + ids[:-1], strict=True):
        wrong = f"wrong_{own}" if other == own else other
        draft.replace(result.position, replace(result.message, tool_call_id=wrong), "shuffle_ids")


def reorder_results(draft: Draft, chosen: Selection) -> None:
    """The results of one reply stand in reverse order, each under its own id, as if the last had finished first."""
    for block in blocks(results_of(draft, chosen)):
        for result, other in zip(block, reversed(block), strict=True):
            draft.replace(result.position, other.message, "reorder_results")


def results_as_user(draft: Draft, chosen: Selection) -> None:
    """Results come as messages of the user, and what was asked for stands as text: no structured calls any more.

    Results of the same reply that are not meant stay tool messages, and stand first, right after their calls.
    """
    for block in blocks(results_of(draft)):
        told = [result for result in block if chosen.holds(result)]
        if not told:
            continue
        stay = [result for result in block if not chosen.holds(result)]
        messages = [*(result.message for result in stay), *map(_told, told)]
        for result, message in zip(block, messages, strict=True):
            draft.replace(result.position, message, _AS_USER)
        _tell_calls(draft, stay, block[0].asked_at)


def _told(result: Result) -> Message:
    head = f"Result of {result.call.name if result.call else 'a tool'}:"
    content = result.message.content
    if isinstance(content, list):
        return Message("user", [_text_part(head), *content])
    return Message("user", f"{head} {content or ''}".strip())


def _tell_calls(draft: Draft, stay: Sequence[Result], asked_at: int | None) -> None:
    """Say in the words of a reply what it asked for, but for calls whose results stay.

    A call without a result is told as well: an answer made for it would have to stand before what the user tells.
    """
    reply = None if asked_at is None else draft[asked_at]
    if asked_at is None or reply is None:
        return
    ids = {result.call.id for result in stay if result.call is not None}
    kept = tuple(call for call in reply.tool_calls if call.id in ids)
    lines = "\n".join(f"{call.name}({call.arguments_text()})" for call in reply.tool_calls if call.id not in ids)
    content: str | list[Any] = lines
    if isinstance(reply.content, list):
        content = [*reply.content, _text_part(lines)]
    elif reply.content:
        content = f"{reply.content}\n{lines}"
    draft.replace(asked_at, replace(reply, content=content, tool_calls=kept), _AS_USER)


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
