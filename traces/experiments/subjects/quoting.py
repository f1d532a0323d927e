"""What of an answer was taken from a tool result, and where it stood there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.messages import Message
from agent.models.quotes import Quote
from traces.experiments.measuring.inventing import names_in

_MOST = 5
"""Quotes of one answer."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_AFTER = (30, 120, 500)
"""Characters before a word by which it is found again: as few as lead to it alone."""
_BEFORE = 4


def quotes_in(answer: str, messages: Sequence[Message], otherwise: str) -> list[Quote]:
    """The words of an answer that only tool results held before, each with where to find it again.

    Numbers, words in capitals and quoted texts; where there is none of them the longest other word.

    Args:
        answer: the text of a reply.
        messages: what stood before it.
        otherwise: what is to be said where they cannot be found any more.
    """
    results = [message.text for message in reversed(messages) if message.role == "tool"]
    elsewhere = "\n".join(_elsewhere(messages))
    names = [*names_in(answer), *sorted(set(_WORD.findall(answer)), key=lambda word: (-len(word), word))]
    found: list[Quote] = []
    for number, name in enumerate(names):
        if found and (len(found) == _MOST or number >= len(names_in(answer))):
            break
        overlaps = any(name in quote.word or quote.word in name for quote in found)
        if overlaps or name in elsewhere or not _stands_alone(name, answer):
            continue
        if (quote := _quote(name, results, messages, otherwise)) is not None:
            found.append(quote)
    return found


def _elsewhere(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        if message.role != "tool":
            yield message.text
            yield from (call.arguments_text() for call in message.tool_calls)


def _stands_alone(name: str, answer: str) -> bool:
    """Whether each occurrence is a whole word: what takes its place must not tear another one."""
    pattern = re.escape(name)
    whole = re.findall(rf"(?<![A-Za-z0-9_.,]){pattern}(?![A-Za-z0-9_]|[.,]\d)", answer)
    return bool(whole) and len(whole) == answer.count(name)


def _quote(name: str, results: Sequence[str], messages: Sequence[Message], otherwise: str) -> Quote | None:
    """Where the newest result says it; None where it cannot be told from what stands around it."""
    for text in results:
        at = text.find(name)
        if at < 0:
            continue
        rest = text[at + len(name) :].partition("\n")[0]
        for size in _AFTER:
            quote = Quote(name, text[max(0, at - size) : at], rest[:_BEFORE], otherwise)
            if quote.find(messages) == name:
                return quote
    return None
