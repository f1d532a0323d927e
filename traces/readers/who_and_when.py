"""Who&When: failed runs of several agents, with the agent and the step that people found to be the mistake.

Source: ag2ai/Agents_Failure_Attribution. Who speaks stands in ``name`` in one half of the data set and in ``role`` in
the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.trace import Evidence
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import text
from traces.repair import as_text
from traces.wire.parts import mapping

NAME = "who-and-when"
_LOOKED_AT = 20
_TITLE_LENGTH = 80
_ROLES = ("system", "user", "assistant", "tool")
_PEOPLE = ("human", "user")
_MACHINES = ("computer_terminal",)
"""Speakers that are programs: they run what the agents wrote."""
_NOT_ABOUT = ("history", "system_prompt")


def matches(document: Document) -> bool:
    """Some of the first records have a history and say whose mistake it was."""
    return any(_is_record(record) for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read every record."""
    for number, record in enumerate(document.records):
        if _is_record(record):
            _read_record(record, out, document.line_of(number))
        else:
            out.unread("a record without a history and a mistake")


def _is_record(value: Any) -> bool:
    return isinstance(value, Mapping) and "mistake_agent" in value and isinstance(value.get("history"), list)


def _read_record(record: Mapping[str, Any], out: ImportBuilder, line: int | None) -> None:
    question = text(record.get("question")).strip()
    trace = out.trace(
        question.partition("\n")[0][:_TITLE_LENGTH],
        {key: value for key, value in record.items() if key not in _NOT_ABOUT},
    )
    if prompts := mapping(record.get("system_prompt")):
        trace.config(system_prompts=dict(prompts))
    positions: dict[int, int] = {}
    for place, entry in enumerate(record["history"]):
        if isinstance(entry, Mapping):
            positions[place] = _read_entry(entry, trace, line)
        else:
            out.unread("an entry of a history that is no message")
    _mistake(record, positions, trace)
    solved = record.get("is_correct", record.get("is_corrected"))
    detail = f"{question}\nexpected: {as_text(record.get('ground_truth'))}".strip()
    trace.outcome(checks=[Evidence(check="correct", ok=solved if isinstance(solved, bool) else None, detail=detail)])


def _read_entry(entry: Mapping[str, Any], trace: TraceBuilder, line: int | None) -> int:
    role, name = text(entry.get("role")), text(entry.get("name"))
    speaker = name or role.partition("(")[0].strip()
    person, machine = speaker.lower() in _PEOPLE, speaker.lower() in _MACHINES
    known = role if role in _ROLES else "user" if person else "assistant"
    return trace.message(
        {"role": known, "content": entry.get("content")},
        line=line,
        agent=speaker or None,
        maker="user" if person else "environment" if machine else "model",
        raw=dict(entry) if role != known else None,
    )


def _mistake(record: Mapping[str, Any], positions: Mapping[int, int], trace: TraceBuilder) -> None:
    """The mistake stands at a place of the history, counted from 0, which files write as text."""
    words = as_text(record.get("mistake_step")).strip()
    place = int(words) if words.isascii() and words.isdigit() and len(words) < 9 else None
    who = as_text(record.get("mistake_agent"))
    remark = f"the mistake was made here by {who}" if place in positions else f"the mistake was made by {who}"
    reason = text(record.get("mistake_reason")).strip()
    trace.note(
        "mistake", f"{remark}: {reason}" if reason else remark, message=None if place is None else positions.get(place)
    )
