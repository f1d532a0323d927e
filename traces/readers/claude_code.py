"""Claude Code: session files of one line an event, exports of its web version, and what ``--output-format stream-json``
prints.

No specification is published; the shape is known from real files and from the readers of claude-code-log and
claude-code-transcripts. Sub-agents are traces of their own, and so is what a rewind took back: both cost tokens, and
neither is a part of the conversation that led to the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.claude_lines import Line, Session, branches, is_line, is_mark, make_line, sessions
from traces.readers.claude_story import Story
from traces.readers.fields import text
from traces.wire.parts import kind_of, mapping

NAME = "claude-code"
_LOOKED_AT = 50
"""A session can begin with many lines of the program."""
_ABOUT = ("sessionId", "session_id", "cwd", "gitBranch", "version", "entrypoint", "userType", "slug")


def matches(document: Document) -> bool:
    """Some of the first lines are of a session, messages or not, or it is an export of such lines."""
    first = document.records[:_LOOKED_AT]
    return any(is_line(record) or _exported(record) is not None for record in first) or any(map(is_mark, first))


def read(document: Document, out: ImportBuilder) -> None:
    """Read every session of the file."""
    for session in sessions(_lines(document, out), out):
        _read_session(session, out)


def _exported(record: Any) -> list[Any] | None:
    lines = mapping(record).get("loglines")
    return lines if isinstance(lines, list) and any(map(is_line, lines[:_LOOKED_AT])) else None


def _lines(document: Document, out: ImportBuilder) -> Iterator[Line]:
    for number, record in enumerate(document.records):
        for item in _exported(record) or [record]:
            if isinstance(item, Mapping):
                yield make_line(item, document.line_of(number))
            else:
                out.unread("a line that is no object")


def _read_session(session: Session, out: ImportBuilder) -> None:
    taken_back = branches(session.main)
    gone = {id(line) for lines, _ in taken_back for line in lines}
    main = [line for line in session.main if id(line) not in gone]
    trace = out.trace(_title(session.main), _about(session))
    story = Story(trace, out)
    story.tell(main)
    is_alone = not any(line.is_said for line in main)
    for lines, instead in taken_back:
        wanted = {id(line) for line in lines}
        branch = out.trace("", {"branch": "taken back by a rewind"}, parent=trace.trace_id)
        Story(branch, out).tell([line for line in session.main if id(line) in wanted])
        trace.note(
            "rewind",
            f"{len(lines):,} lines were taken back before this prompt; they are the trace {branch.trace_id}",
            message=story.positions.get(instead),
        )
    for agent, lines in session.agents.items():
        _read_agent(agent, lines, None if is_alone else story, out)


def _read_agent(agent: str, lines: list[Line], caller: Story | None, out: ImportBuilder) -> None:
    """A sub-agent. Newer versions keep it in a file of its own, where nobody says who called it."""
    call_id = agent if caller is None or agent in caller.calls else caller.agents.get(agent, "")
    asked = caller.calls.get(call_id, {}) if caller else {}
    about = {"agent": agent, "agent_type": asked.get("subagent_type")} if caller else {"agent": agent}
    trace = out.trace(text(asked.get("description")), about, parent=caller.trace.trace_id if caller else None)
    Story(trace, out).tell(lines)
    if caller:
        where = caller.results.get(call_id)
        caller.trace.note("sub-agent", f"the sub-agent {agent} is the trace {trace.trace_id}", message=where)


def _title(lines: list[Line]) -> str:
    """The title that a person gave, else the newest that the program made; a summary may be of another session."""
    titles: dict[str, str] = {}
    known = {line.uuid for line in lines if line.uuid}
    for line in lines:
        kind, record = line.kind, line.record
        if kind in ("custom-title", "ai-title"):
            titles[kind] = text(record.get("customTitle")) or text(record.get("aiTitle")) or text(record.get("title"))
        elif kind == "summary":
            leaf = text(record.get("leafUuid")) or text(record.get("leafUUID"))
            if leaf in known or not known or kind not in titles:
                titles[kind] = text(record.get("summary"))
    return next((title for kind in ("custom-title", "ai-title", "summary") if (title := titles.get(kind))), "")


def _about(session: Session) -> dict[str, Any]:
    """What the lines say of the session."""
    about: dict[str, Any] = {}
    for line in session.main:
        if line.is_said or kind_of(line.record) == "system":
            about |= {key: value for key in _ABOUT if (value := line.record.get(key)) is not None and key not in about}
    return about
