"""Interventions on the other messages of a request: the system text and the reasoning of earlier replies."""

from __future__ import annotations

import re
from dataclasses import replace

from agent.interventions.draft import Draft
from agent.interventions.rounds import Selection, replies_in
from agent.messages import Message
from agent.models.replies import visible_text

_SYSTEM = ("system", "developer")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_PARTS = ("thinking", "redacted_thinking", "reasoning")
"""Types of content parts that are reasoning."""


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text: what stands between blank lines."""
    return [part for part in _BLANK_LINE.split(text) if part.strip()]


def drop_system(draft: Draft, paragraph: int | None) -> None:
    """The system text is left out, or one paragraph of it, counted from 1 through all of its messages.

    What the context budget says there about what it left out is not part of the system text, and stays.
    """
    seen = 0
    for position, message in enumerate(draft.messages):
        now = draft[position] if message.role in _SYSTEM else None
        if now is None:
            continue
        notice = draft.notice(position)
        own = paragraphs(now.text.removesuffix(notice))
        rest: list[str] = []
        if paragraph is not None:
            at = paragraph - 1 - seen
            seen += len(own)
            if not 0 <= at < len(own):
                continue
            rest = own[:at] + own[at + 1 :]
        if text := "\n\n".join(rest + paragraphs(notice)):
            draft.replace(position, replace(now, content=text), "drop_system")
        else:
            draft.drop(position, "drop_system")


def drop_reasoning(draft: Draft, chosen: Selection) -> None:
    """The reasoning of earlier replies is not sent back: fields and parts of its own, and thoughts before the text."""
    last, step = replies_in(draft), 0
    for position, message in enumerate(draft.messages):
        if message.role != "assistant":
            continue
        step += 1
        if chosen.covers(step, last - step) and (now := draft[position]) is not None:
            draft.replace(position, _without_reasoning(now), "drop_reasoning")


def _without_reasoning(message: Message) -> Message:
    from agent.models.wire import REASONING_KEYS  # it takes a while to load, and most runs do without

    extra = {key: value for key, value in message.extra.items() if key not in REASONING_KEYS}
    content = message.content
    if isinstance(content, list):
        content = [part for part in content if not (isinstance(part, dict) and part.get("type") in _PARTS)]
    elif content and (text := visible_text(message)) != content.strip():
        content = text
    if message.content and not content:
        content = None if message.tool_calls else ""
    return replace(message, content=content, extra=extra)
