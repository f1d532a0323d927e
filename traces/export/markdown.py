"""A transcript in Markdown. Text of the trace stands in code alone, so none of it becomes a link, an image or HTML."""

from __future__ import annotations

import re

from agent import jsontext
from agent.messages import Message
from agent.trace import Trace, TraceStep
from traces.export.facts import facts, tokens_words
from traces.lookup import steps_by_reply
from traces.text import message_text

NAME = "markdown"
SUFFIX = ".md"
MIME = "text/markdown"


def write(trace: Trace, lost: list[str]) -> bytes:
    """CommonMark in UTF-8."""
    if any(isinstance(message.content, list) for message in trace.messages):
        lost.append("images and files are named with their type and size only")
    lines = [f"# Trace {inline(trace.title or trace.trace_id)}", ""]
    lines += [f"- {name}: {inline(value)}" for name, value in facts(trace)]
    steps = steps_by_reply(trace.steps)
    for position, message in enumerate(trace.messages):
        lines += ["", *_message(trace, position, message, steps.get(position))]
    return (jsontext.clean("\n".join(lines)) + "\n").encode()


def inline(text: str) -> str:
    """A text as one code span, in which nothing is active."""
    line = re.sub(r"\s+", " ", text.replace("\0", "\ufffd")).strip()
    return _ticked(line, 1, " ") if line else "(empty)"


def _block(text: str) -> str:
    """A text as a fenced block; the fence is longer than any inside."""
    return _ticked(text.replace("\0", "\ufffd"), 3, "\n")


def _ticked(text: str, least: int, around: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(least, longest + 1)
    return f"{fence}{around}{text}{around}{fence}"


def _message(trace: Trace, position: int, message: Message, step: TraceStep | None) -> list[str]:
    entry = trace.entries[position]
    where = [f"made by {inline(entry.maker)}"]
    where += [f"step {entry.step}"] if entry.step is not None else []
    where += [inline(entry.at)] if entry.at else []
    where += [f"answers the call {inline(message.tool_call_id)}"] if message.tool_call_id else []
    if step is not None:
        where += [f"tokens: {tokens_words(step.usage)}"]
        where += [f"{step.latency_ms:,.0f} ms"] if step.latency_ms is not None else []
    lines = [f"## Message {position + 1}: {inline(message.role)}", "", ", ".join(where)]
    if message.reasoning:
        lines += ["", "Reasoning:", "", _block(message.reasoning)]
    if text := message_text(message):
        lines += ["", _block(text)]
    for call in message.tool_calls:
        lines += ["", f"Asks for {inline(call.name)} as {inline(call.id)}:", "", _block(call.arguments_text())]
    return lines
