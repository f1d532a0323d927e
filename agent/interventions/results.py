"""Interventions on tool results: left out, blanked, replaced, cut, mixed up, limited to the newest, told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from agent import tokens
from agent.cutting import head
from agent.interventions.draft import Draft
from agent.interventions.rounds import Result, Selection, blocks, is_error, results_of
from agent.messages import Message

REMOVED = "[result removed]"
"""What stands in the place of a result that is masked, where nothing else is said."""


OMIT_RESULTS = "omit_results"
"""The intervention that the switch of the stepper stands for; see :mod:`agent.striking`."""


def omit_results(draft: Draft, chosen: Selection) -> None:
    """The results are not written back: the calls stay, their tool messages are missing."""
    for result in results_of(draft.messages, chosen):
        draft.drop(result.position, OMIT_RESULTS)


def drop_pairs(draft: Draft, chosen: Selection) -> None:
    """Calls go together with their results, as if these tools had never been asked for."""
    _drop_with_calls(draft, results_of(draft.messages, chosen), "drop_pairs")


def blank_results(draft: Draft, chosen: Selection, text: str = "") -> None:
    """Every tool message stays with its id, its content is replaced by ``text``."""
    _rewrite(draft, results_of(draft.messages, chosen), "blank_results", lambda _: text)


def replace_results(draft: Draft, chosen: Selection, find: str, text: str = "") -> None:
    """Wherever a result holds the words ``find``, ``text`` stands in their place."""
    if find:
        results = results_of(draft.messages, chosen)
        _rewrite(draft, results, "replace_results", lambda message: message.text.replace(find, text))


def truncate_results(draft: Draft, chosen: Selection, size: int = 200, unit: str = "characters") -> None:
    """Only the beginning of each result is sent: at most ``size`` characters or tokens of it."""
    cut = head if unit == "characters" else _first_tokens

    def shorter(message: Message) -> str:
        return cut(message.text, size)

    _rewrite(draft, results_of(draft.messages, chosen), "truncate_results", shorter)


def keep_last_results(draft: Draft, chosen: Selection, count: int = 1, how: str = "mask", text: str = REMOVED) -> None:
    """Only the newest ``count`` results are sent; older ones are masked by ``text``, or dropped with their calls."""
    results = results_of(draft.messages, chosen)
    older = results[: max(0, len(results) - count)]
    if how == "drop":
        _drop_with_calls(draft, older, "keep_last_results")
    else:
        _rewrite(draft, older, "keep_last_results", lambda _: text)


def swap_results(draft: Draft, chosen: Selection) -> None:
    """Each result says what the one before it said, the first what the last one said: right ids, wrong contents."""
    _rotate(draft, results_of(draft.messages, chosen), "swap_results")


def reorder_results(draft: Draft, chosen: Selection) -> None:
    """The results of one reply stand in reverse order, each under its own id, as if the last had finished first."""
    for block in blocks(results_of(draft.messages, chosen)):
        there = [(result.position, now) for result in block if (now := draft[result.position]) is not None]
        for (position, _), (_, message) in zip(there, reversed(there), strict=True):
            draft.replace(position, message, "reorder_results")


def shuffle_ids(draft: Draft, chosen: Selection) -> None:
    """Each result carries the id of another call, wherever in the list that stands; a lone one the id of no call."""
    there = [(result, now) for result in results_of(draft.messages, chosen) if (now := draft[result.position])]
    ids = [message.tool_call_id for _, message in there]
    turned = ids[-1:] + ids[:-1] if len(set(ids)) > 1 else [f"wrong_{each}" for each in ids]
    for (result, message), wrong in zip(there, turned, strict=True):
        draft.replace(result.position, replace(message, tool_call_id=wrong), "shuffle_ids")


def drop_errors(draft: Draft, chosen: Selection) -> None:
    """Failed calls go together with the errors that they gave, as if nothing had gone wrong."""
    _drop_with_calls(draft, _failed(draft, chosen), "drop_errors")


def blank_errors(draft: Draft, chosen: Selection, text: str = "") -> None:
    """Every result that is an error is replaced by ``text``: the call seems to have given nothing."""
    _rewrite(draft, _failed(draft, chosen), "blank_errors", lambda _: text)


def results_as_user(draft: Draft, chosen: Selection) -> None:
    """Results come as messages of the user, and what was asked for stands as text: no structured calls any more."""
    for block in blocks(results_of(draft.messages, chosen)):
        results = [result for result in block if result.call is not None and draft[result.position] is not None]
        for result in results:
            message, call = draft[result.position], result.call
            if message is not None and call is not None:
                told = Message("user", f"Result of {call.name}: {message.text}")
                draft.replace(result.position, told, "results_as_user")
        _without_calls(draft, results, "results_as_user", told=True)


# ---- what they have in common ----


def _rewrite(draft: Draft, results: Iterable[Result], by: str, words: Callable[[Message], str]) -> None:
    for result in results:
        if (message := draft[result.position]) is not None and (text := words(message)) != message.content:
            draft.replace(result.position, replace(message, content=text), by)


def _rotate(draft: Draft, results: Sequence[Result], by: str) -> None:
    there = [(result.position, now) for result in results if (now := draft[result.position]) is not None]
    contents = [message.content for _, message in there]
    for (position, message), content in zip(there, contents[-1:] + contents[:-1], strict=True):
        draft.replace(position, replace(message, content=content), by)


def _failed(draft: Draft, chosen: Selection) -> list[Result]:
    results = results_of(draft.messages, chosen)
    return [each for each in results if (message := draft[each.position]) is not None and is_error(message)]


def _drop_with_calls(draft: Draft, results: Sequence[Result], by: str) -> None:
    for result in results:
        draft.drop(result.position, by)
    for block in blocks(results):
        _without_calls(draft, block, by)


def _without_calls(draft: Draft, block: Sequence[Result], by: str, *, told: bool = False) -> None:
    """Take the calls of these results of one reply out of it. A reply that only asked for them goes with them.

    Args:
        draft: the request.
        block: results of one reply.
        by: the intervention.
        told: leave what was asked for in the words of the reply.
    """
    asked_at = next((result.asked_at for result in block if result.asked_at is not None), None)
    reply = None if asked_at is None else draft[asked_at]
    if asked_at is None or reply is None:
        return
    gone = {result.call.id for result in block if result.call is not None}
    kept = tuple(call for call in reply.tool_calls if call.id not in gone)
    if len(kept) == len(reply.tool_calls):
        return
    if not kept and not told:
        draft.drop(asked_at, by)
        return
    content = reply.content
    if told:
        lines = [f"{call.name}({call.arguments_text()})" for call in reply.tool_calls if call.id in gone]
        content = "\n".join([*([reply.text] if reply.text else []), *lines])
    draft.replace(asked_at, replace(reply, content=content, tool_calls=kept), by)


def _first_tokens(text: str, size: int) -> str:
    """The beginning of a text, of at most about so many tokens."""
    if (whole := tokens.count_text(text)) <= size:
        return text
    return head(text, len(text) * size // whole)
