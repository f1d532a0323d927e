"""A transcript in Markdown. Text of the trace stands in code alone, so none of it becomes a link, an image or HTML."""

from __future__ import annotations

import re

from agent import jsontext
from agent.messages import Message
from agent.trace import Trace, TraceStep
from traces.export.facts import facts, tokens_words
from traces.export.words import Say, sayer
from traces.lookup import steps_by_reply
from traces.text import message_text

NAME = "markdown"
SUFFIX = ".md"
MIME = "text/markdown"


def losses(trace: Trace) -> list[str]:
    """What the form has no place for."""
    lists = any(isinstance(message.content, list) for message in trace.messages)
    return ["images and files are named with their type and size only"] if lists else []


def write(trace: Trace, language: str = "en") -> bytes:
    """CommonMark in UTF-8."""
    say = sayer(language)
    lines = [f"# {say('Trace')} {inline(trace.title or trace.trace_id)}", ""]
    lines += [f"- {name}: {inline(value)}" for name, value in facts(trace, say)]
    steps = steps_by_reply(trace.steps)
    for position, message in enumerate(trace.messages):
        lines += ["", *message_lines(trace, position, message, steps.get(position), say)]
    return (jsontext.clean("\n".join(lines)) + "\n").encode()


def inline(text: str) -> str:
    """A text as one code span, in which nothing is active."""
    line = re.sub(r"\s+", " ", text.replace("\0", "\ufffd")).strip()
    return _ticked(line, 1, " ") if line else "(empty)"


def block(text: str) -> str:
    """A text as a fenced block; the fence is longer than any inside."""
    return _ticked(text.replace("\0", "\ufffd"), 3, "\n")


def _ticked(text: str, least: int, around: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(least, longest + 1)
    return f"{fence}{around}{text}{around}{fence}"


def message_lines(trace: Trace, position: int, message: Message, step: TraceStep | None, say: Say) -> list[str]:
    """One message with who made it, its text and its calls, under a heading of its own."""
    entry = trace.entries[position]
    where = [say("made by {maker}", maker=inline(entry.maker))]
    where += [say("step {n}", n=entry.step)] if entry.step is not None else []
    where += [inline(entry.at)] if entry.at else []
    where += [say("answers the call {id}", id=inline(message.tool_call_id))] if message.tool_call_id else []
    if step is not None:
        where += [say("tokens: {n}", n=tokens_words(step.usage, say))]
        where += [say("{n} ms", n=f"{step.latency_ms:,.0f}")] if step.latency_ms is not None else []
    lines = [say("## Message {n}: {role}", n=position + 1, role=inline(message.role)), "", ", ".join(where)]
    if message.reasoning:
        lines += ["", say("Reasoning:"), "", block(message.reasoning)]
    if text := message_text(message):
        lines += ["", block(text)]
    for call in message.tool_calls:
        lines += [
            "",
            say("Asks for {tool} as {id}:", tool=inline(call.name), id=inline(call.id)),
            "",
            block(call.arguments_text()),
        ]
    return lines
