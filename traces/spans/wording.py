"""What the words of a span are for a conversation: what was asked, what was said, and what only repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from traces.repair import as_text
from traces.spans.tree import Span, Words


def has_words(words: Words) -> bool:
    """Whether anything was recorded."""
    return bool(words.messages or words.answer)


def is_new_only(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a request repeats nothing: it is empty, or holds results and no call that they answer."""
    return all(message.get("role") in ("tool", "system") for message in messages)


def new_of(words: Words) -> Sequence[Mapping[str, Any]]:
    """The answer without the request, which some frameworks give back with it."""
    count = len(words.messages)
    repeats = len(words.answer) > count > 0 and all(
        (one.get("role"), one.get("content")) == (other.get("role"), other.get("content"))
        for one, other in zip(words.messages, words.answer, strict=False)
    )
    return words.answer[count:] if repeats else words.answer


def parted(
    words: Words, is_call: bool
) -> tuple[list[Mapping[str, Any]], Mapping[str, Any] | None, Sequence[Mapping[str, Any]]]:
    """``(request, reply, rest)``: what came before the last answer, that answer, and what came behind it."""
    answer = new_of(words)
    places = [n for n, message in enumerate(answer) if message.get("role") == "assistant"]
    if is_call and len(places) == len(answer) > 1:
        return list(words.messages), _joined(answer), ()
    if not places:
        return [*words.messages, *answer], None, ()
    last = places[-1]
    return [*words.messages, *answer[:last]], answer[last], answer[last + 1 :]


def _joined(messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Several messages that one model call gave as one."""
    texts = [as_text(message["content"]) for message in messages if message.get("content")]
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return {**messages[-1], "content": "\n".join(texts) or None, "tool_calls": calls or None}


def outer_answer(span: Span) -> Mapping[str, Any] | None:
    """What the nearest span round a call that has an answer gave in the end."""
    above = span.above
    while above is not None:
        answer = above.words().answer
        if answer:
            return answer[-1] if answer[-1].get("role") == "assistant" else None
        above = above.above
    return None


def outer_question(span: Span) -> Sequence[Mapping[str, Any]]:
    """What the nearest span round a call that has a question was given."""
    above = span.above
    while above is not None:
        if messages := above.words().messages:
            return messages
        above = above.above
    return ()
