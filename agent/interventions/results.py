"""Interventions on tool results: left out, blanked, replaced, cut, swapped, limited to the newest; errors hidden."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from agent import tokens
from agent.cutting import head
from agent.interventions.draft import Draft
from agent.interventions.rounds import Result, Selection, blocks, is_error, results_of

REMOVED = "[result removed]"
"""What stands in the place of a result that is masked, where nothing else is said."""


def drop_pairs(draft: Draft, chosen: Selection) -> None:
    """Calls go together with their results, as if these tools had never been asked for."""
    _drop_with_calls(draft, results_of(draft, chosen), "drop_pairs")


def blank_results(draft: Draft, chosen: Selection, text: str) -> None:
    """Every tool message stays with its id, its content is replaced by ``text``."""
    _say(draft, results_of(draft, chosen), text, "blank_results")


def replace_results(draft: Draft, chosen: Selection, find: str, text: str) -> None:
    """Wherever a result holds the words ``find``, ``text`` stands in their place."""
    for result in results_of(draft, chosen):
        content = _with_words(result.message.content, find, text)
        draft.replace(result.position, replace(result.message, content=content), "replace_results")


def truncate_results(draft: Draft, chosen: Selection, size: int, unit: str) -> None:
    """Only the beginning of each result is sent: at most ``size`` characters, or about so many tokens, of it.

    What stands beside a text that is cut, as a picture, goes with the end of it.
    """
    cut = head if unit == "characters" else _first_tokens
    for result in results_of(draft, chosen):
        whole = result.message.text
        if (text := cut(whole, size)) != whole:
            draft.replace(result.position, replace(result.message, content=text), "truncate_results")


def keep_last_results(draft: Draft, chosen: Selection, count: int, how: str, text: str) -> None:
    """Only the newest ``count`` results are sent; older ones are masked by ``text``, or dropped with their calls."""
    results = results_of(draft, chosen)
    older = results[: max(0, len(results) - count)]
    if how == "drop":
        _drop_with_calls(draft, older, "keep_last_results")
    else:
        _say(draft, older, text, "keep_last_results")


def swap_results(draft: Draft, chosen: Selection) -> None:
    """Each result says what the one before it said, the first what the last one said: right ids, wrong contents."""
    results = results_of(draft, chosen)
    contents = [result.message.content for result in results]
    for result, content in zip(results, contents[-1:] + contents[:-1], strict=True):
        draft.replace(result.position, replace(result.message, content=content), "swap_results")


def drop_errors(draft: Draft, chosen: Selection) -> None:
    """Failed calls go together with the errors that they gave, as if nothing had gone wrong."""
    _drop_with_calls(draft, _failed(draft, chosen), "drop_errors")


def blank_errors(draft: Draft, chosen: Selection, text: str) -> None:
    """Every result that is an error is replaced by ``text``: the call seems to have given nothing."""
    _say(draft, _failed(draft, chosen), text, "blank_errors")


# ---- what they have in common ----


def _say(draft: Draft, results: Iterable[Result], text: str, by: str) -> None:
    for result in results:
        if (result.message.content or "") != text:
            draft.replace(result.position, replace(result.message, content=text), by)


def _with_words(content: Any, find: str, text: str) -> Any:
    """A content, or a part of one, with other words in its texts."""
    if isinstance(content, str):
        return content.replace(find, text)
    if isinstance(content, list):
        return [_with_words(part, find, text) for part in content]
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return {**content, "text": content["text"].replace(find, text)}
    return content


def _failed(draft: Draft, chosen: Selection) -> list[Result]:
    return [result for result in results_of(draft, chosen) if is_error(result.message)]


def _drop_with_calls(draft: Draft, results: Sequence[Result], by: str) -> None:
    """Leave results out, and their calls. A reply without any call left goes as well, with what it said besides:

    its words stood before a call, and a request that ended with them would ask the model to go on with them.
    """
    for result in results:
        draft.drop(result.position, by)
    for block in blocks(results):
        asked_at = block[0].asked_at
        reply = None if asked_at is None else draft[asked_at]
        if asked_at is None or reply is None:
            continue
        gone = {result.call.id for result in block if result.call is not None}
        if kept := tuple(call for call in reply.tool_calls if call.id not in gone):
            draft.replace(asked_at, replace(reply, tool_calls=kept), by)
        else:
            draft.drop(asked_at, by)


def _first_tokens(text: str, size: int) -> str:
    """The beginning of a text, of at most about so many tokens; the same object where it is short enough."""
    while text and (count := tokens.count_text(text)) > size:
        text = head(text, len(text) * size // count)
    return text
