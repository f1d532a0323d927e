"""Which spans are model calls? Those that hold no other: parents and second instrumentations repeat their children."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from traces.repair import as_text
from traces.spans.tree import MODEL, TOOL, Span, Words, walk

SAME_TIME = 0.05
"""Seconds by which the two records of one call begin apart, at most."""


def calls_of(roots: Sequence[Span]) -> tuple[list[tuple[Span, Words]], int]:
    """``(calls, repeated)``: the model calls with their words, and how many spans only repeat them.

    Where one call stands in several spans, one below the other, the innermost has the numbers, and the words are those
    of the span that says most. What a tool calls below itself is no repetition of the call that asked for the tool.
    """
    spans = list(walk(roots))
    inner: dict[int, list[Span]] = {}
    for span in reversed(spans):  # children before their parents
        below = [call for child in span.children if child.kind != TOOL for call in inner.get(id(child), ())]
        inner[id(span)] = [span] if span.kind == MODEL and not below else below
    found: list[tuple[Span, Words]] = []
    outer = 0
    for span in spans:
        if span.kind != MODEL:
            continue
        if inner[id(span)] != [span]:
            outer += 1
            continue
        words = span.words()
        for above in _only_for(span, inner):
            words = _fuller(words, above.words())
        found.append((span, words))
    calls = _once(found)
    return calls, outer + len(found) - len(calls)


def _only_for(span: Span, inner: Mapping[int, list[Span]]) -> Iterable[Span]:
    """The model spans round a call that hold this one call alone."""
    above = span.above
    while above is not None and above.kind != TOOL and inner[id(above)] == [span]:
        if above.kind == MODEL:
            yield above
        above = above.above


def _fuller(words: Words, other: Words) -> Words:
    if _said(other) <= _said(words):
        return words
    reply = words.reply if words.reply.usage is not None else replace(words.reply, usage=other.reply.usage)
    reason = reply.finish_reason or other.reply.finish_reason
    return replace(other, reply=replace(reply, finish_reason=reason), model=words.model or other.model)


def _said(words: Words) -> int:
    """How much a span says: messages rather than text, an answer, calls in it."""
    calls = any(message.get("tool_calls") for message in words.answer)
    return 2 * bool(words.messages and not words.plain) + bool(words.answer) + calls


def _once(calls: list[tuple[Span, Words]]) -> list[tuple[Span, Words]]:
    """Without the second record of a call that two instrumentations wrote side by side."""
    kept: list[tuple[Span, Words]] = []
    last: dict[tuple[str, str | None], tuple[Span, Words]] = {}
    for span, words in sorted(calls, key=lambda call: call[0].order):
        key = (span.trace, span.parent)
        before = last.get(key)
        if before is not None and _same_call(before, (span, words)):
            if _said(words) > _said(before[1]):
                kept[kept.index(before)] = last[key] = (span, words)
            continue
        last[key] = (span, words)
        kept.append((span, words))
    return kept


def _same_call(one: tuple[Span, Words], other: tuple[Span, Words]) -> bool:
    (first, said), (second, again) = one, other
    times = (first.started, second.started, first.ended, second.ended)
    if None in times or first.name == second.name or said.reply.usage is None or again.reply.usage is None:
        return False
    begin, begin_again, end, end_again = (time or 0.0 for time in times)
    alike = (said.reply.usage.prompt_tokens, said.reply.usage.completion_tokens) == (
        again.reply.usage.prompt_tokens,
        again.reply.usage.completion_tokens,
    )
    near = abs(begin - begin_again) <= SAME_TIME and abs(end - end_again) <= SAME_TIME
    return near and alike and (_text(said) == _text(again) or not said.answer or not again.answer)


def _text(words: Words) -> list[Any]:
    return [as_text(message.get("content") or "") for message in words.answer]
