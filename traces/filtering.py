"""Which messages of a trace are wanted: by words, role, tool, error or tag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent import jsontext
from agent.messages import Message
from agent.trace import Entry, Trace
from traces.repair import TOOL_ROLES, as_text
from traces.text import hide_data, readable_json


@dataclass(frozen=True, slots=True)
class Filter:
    """What messages must have in common. An empty field asks for nothing."""

    text: str = ""
    """Words that stand somewhere in the message: in its text, reasoning, calls, ids, or unknown fields. Upper and
    lower case are the same."""
    roles: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    """Names of tools: what asks for one of them or answers such a call."""
    errors: bool = False
    """Only results that are errors, the calls that they answer, and results that answer no call."""
    tags: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.text.strip() or self.roles or self.tools or self.errors or self.tags)


def positions(trace: Trace, wanted: Filter, tagged: Mapping[int, Sequence[str]] | None = None) -> Sequence[int]:
    """The positions of all messages that pass, in order.

    Args:
        trace: the trace.
        wanted: what to look for.
        tagged: the tags of messages by their position.
    """
    count = len(trace.messages)
    if not wanted:
        return range(count)
    passing = set(range(count))
    if wanted.roles:
        passing &= {at for at in passing if trace.messages[at].role in wanted.roles}
    if wanted.tools:
        passing &= _of_tools(trace, wanted.tools)
    if wanted.errors:
        passing &= _with_errors(trace)
    if wanted.tags:
        passing &= {at for at, tags in (tagged or {}).items() if wanted.tags.intersection(tags)}
    if needle := wanted.text.strip().casefold():
        entries = trace.entries
        passing = {at for at in passing if _holds(needle, trace.messages[at], entries[at])}
    return sorted(passing)


def tool_names(trace: Trace) -> list[str]:
    """The tools that the model asked for, in the order of their first call."""
    return list(dict.fromkeys(run.name for step in trace.steps for run in step.tools))


def _of_tools(trace: Trace, tools: frozenset[str]) -> set[int]:
    found: set[int] = set()
    for step in trace.steps:
        for run in step.tools:
            if run.name in tools:
                found |= {at for at in (step.reply, run.message) if at is not None}
    return found


def _with_errors(trace: Trace) -> set[int]:
    found: set[int] = set()
    answered: set[int] = set()
    for step in trace.steps:
        for run in step.tools:
            if run.message is not None:
                answered.add(run.message)
            if run.ok is False:
                found |= {at for at in (step.reply, run.message) if at is not None}
    return found | {at for at, m in enumerate(trace.messages) if m.role in TOOL_ROLES and at not in answered}


def _holds(needle: str, message: Message, entry: Entry) -> bool:
    return any(needle in text.casefold() for text in _texts(message, entry))


def _texts(message: Message, entry: Entry) -> Iterator[str]:
    content = message.content
    if isinstance(content, str):
        yield content
        if "\\u" in content:  # letters that a writer escaped needlessly are found as they are read
            yield readable_json(content)
    elif content is not None:
        yield hide_data(as_text(content))
    for call in message.tool_calls:
        yield f"{call.name} {call.id} {call.arguments_text()}"
    yield f"{message.role} {message.name or ''} {message.tool_call_id or ''} {entry.agent or ''} {entry.maker}"
    if message.extra:
        yield jsontext.dumps(message.extra)
