"""Interventions on the other messages of a request: the system text and the reasoning of earlier replies."""

from __future__ import annotations

import re
from dataclasses import replace

from agent.interventions.draft import Draft
from agent.interventions.rounds import Selection
from agent.messages import Message

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
"""The keys under which providers send reasoning beside the answer."""
_IN_TEXT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)
_PARTS = ("thinking", "redacted_thinking", "reasoning")
"""Content parts that are reasoning."""


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text: what stands between blank lines."""
    return [part for part in _BLANK_LINE.split(text) if part.strip()]


def drop_system(draft: Draft, paragraph: int | None = None) -> None:
    """The system text is left out, or one paragraph of it, counted from 1."""
    for position, message in enumerate(draft.messages):
        if message.role not in ("system", "developer"):
            break
        now = draft[position]
        if now is None:
            continue
        parts = paragraphs(now.text)
        if paragraph is None or (len(parts) == 1 and paragraph == 1):
            draft.drop(position, "drop_system")
        elif paragraph <= len(parts):
            rest = "\n\n".join(parts[: paragraph - 1] + parts[paragraph:])
            draft.replace(position, replace(now, content=rest), "drop_system")


def drop_reasoning(draft: Draft, chosen: Selection) -> None:
    """The reasoning of earlier replies is not sent back: its own fields, and what stands in ``<think>`` tags."""
    last = sum(message.role == "assistant" for message in draft.messages)
    step = 0
    for position, message in enumerate(draft.messages):
        if message.role != "assistant":
            continue
        step += 1
        meant = chosen.from_step <= step and (chosen.to_step is None or step <= chosen.to_step)
        age = last - step
        meant = meant and chosen.min_age <= age and (chosen.max_age is None or age <= chosen.max_age)
        if meant and (now := draft[position]) is not None:
            draft.replace(position, _without_reasoning(now), "drop_reasoning")


def _without_reasoning(message: Message) -> Message:
    extra = {key: value for key, value in message.extra.items() if key not in _REASONING}
    content = message.content
    if isinstance(content, str):
        content = _IN_TEXT.sub("", content)
    elif isinstance(content, list):
        content = [part for part in content if not (isinstance(part, dict) and part.get("type") in _PARTS)]
    return replace(message, content=content, extra=extra)
