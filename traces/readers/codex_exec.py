"""What ``codex exec --json`` prints: items of a thread as they begin and end, without times.

A call and its result are one item. Which calls one answer asked for is not said; those that run at the same time are
taken together. Source: openai/codex, ``codex-rs/exec/src/exec_events.rs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.codex_story import read_usage
from traces.readers.fields import ended_well, text
from traces.repair import as_text
from traces.wire.parts import Parts, kind_of, listed, mapping, media

NAME = "codex-exec"
_LOOKED_AT = 20
_EVENTS = frozenset(("thread.started", "turn.started", "turn.completed", "turn.failed", "item.started"))
_EVENTS |= {"item.updated", "item.completed"}
_TOOLS = frozenset(("command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"))
_BESIDE = frozenset(("id", "type", "status", "aggregated_output", "exit_code", "result", "error", "agents_states"))
"""Keys of a tool's item that are not what the tool was asked."""


def matches(document: Document) -> bool:
    """Some of the first lines are events of a thread, its turns or its items."""
    return any(_is_event(record) for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read each thread; one that is resumed goes on in the same trace."""
    threads: dict[str, _Thread] = {}
    thread: _Thread | None = None
    for number, record in enumerate(document.records):
        kind = kind_of(record)
        if kind == "thread.started" or (thread is None and _is_event(record)):
            name = text(mapping(record).get("thread_id"))
            thread = threads[name] if name in threads else threads.setdefault(name, _Thread(out))
        if thread is None or not (_is_event(record) or kind == "error"):
            out.unread(f"a line that is no event of a thread: {kind or 'without type'}"[:120])
        else:
            thread.add(record, document.line_of(number))
    for thread in threads.values():
        thread.end()


def _is_event(record: Any) -> bool:
    kind = kind_of(record)
    if kind not in _EVENTS:
        return False
    return isinstance(mapping(record).get("item"), Mapping) if kind.startswith("item.") else True


@dataclass(slots=True)
class _Open:
    """Calls that run at the same time, on their way to one answer and its results."""

    items: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """The newest state of each, by its id."""
    ended: list[str] = field(default_factory=list)
    line: int | None = None


class _Thread:
    """One thread on its way to a trace."""

    def __init__(self, out: ImportBuilder) -> None:
        self._out = out
        self._trace: TraceBuilder = out.trace()
        self._said = Parts()
        self._line: int | None = None
        self._open = _Open()
        self._usages: list[Usage] = []
        self._failure = ""
        self._is_complete = False

    def add(self, event: Mapping[str, Any], line: int | None) -> None:
        """The next event."""
        kind, item = kind_of(event), mapping(event.get("item"))
        if kind == "turn.completed":
            self._is_complete, self._failure = True, ""
            if (usage := read_usage(event.get("usage"))) is not None:
                self._usages.append(usage)
        elif kind in ("turn.failed", "error"):
            self._failure = text(mapping(event.get("error")).get("message")) or text(event.get("message"))
            self._trace.note("error", self._failure)
        elif kind == "turn.started":
            self._is_complete = False
        elif item:
            self._item(kind, item, line)

    def _item(self, event: str, item: Mapping[str, Any], line: int | None) -> None:
        kind = kind_of(item)
        if kind in _TOOLS:
            self._tool(event, item, line)
        elif event != "item.completed":
            return  # what grows is told once, when it is complete
        elif kind == "reasoning":
            self._close()
            self._said.thought(text(item.get("text")))
        elif kind in ("agent_message", "plan"):
            self._close()
            if self._said.has_text:
                self._flush()
            self._said.text(text(item.get("text")))
            self._line = line
        elif kind == "error":
            self._trace.note("error", text(item.get("message")))
        elif kind == "todo_list":
            self._trace.note("plan", _plan(item))
        else:
            self._said.add(item)
            self._out.unread(f"an item of an unknown type: {kind or 'without type'}"[:120])

    def _tool(self, event: str, item: Mapping[str, Any], line: int | None) -> None:
        item_id = text(item.get("id"))
        if item_id not in self._open.items and self._open.ended:
            self._close()
        self._open.items[item_id] = item
        self._open.line = self._open.line or line
        if event == "item.completed" and item_id not in self._open.ended:
            self._open.ended.append(item_id)

    def _close(self) -> None:
        """The calls that ran together are over: tell what asked for them, and their results in the order they came."""
        if not self._open.items:
            return
        for item_id, item in self._open.items.items():
            arguments = {key: value for key, value in item.items() if key not in _BESIDE}
            if isinstance(given := arguments.get("arguments"), Mapping):
                arguments = dict(given)
            self._said.call(item_id, _tool_name(item), arguments)
        self._line = self._open.line
        done, self._open = self._open, _Open()
        self._flush()
        for item_id in done.ended:
            self._result(item_id, done.items[item_id], done.line)

    def _flush(self) -> None:
        if self._said:
            self._trace.message(self._said.message("assistant"), line=self._line)
            self._said = Parts()

    def _result(self, item_id: str, item: Mapping[str, Any], line: int | None) -> None:
        failed = item.get("status") in ("failed", "declined") or bool(item.get("error"))
        failed = failed or ended_well(item.get("exit_code")) is False
        message = {"role": "tool", "tool_call_id": item_id or None, "content": _output(item)}
        self._trace.message(message, line=line)
        decision = "denied" if item.get("status") == "declined" else None
        self._trace.tool_run(item_id, ok=not failed, decision=decision)

    def end(self) -> None:
        """Nothing more comes."""
        self._close()
        self._flush()
        self._trace.reported(usage=_total(self._usages))
        if self._failure:
            self._trace.outcome("model_error", detail=self._failure)
        elif self._is_complete:
            self._trace.outcome("final")


def _tool_name(item: Mapping[str, Any]) -> str:
    """A tool of an MCP server as Codex itself calls it, any other by the type of its item."""
    server, tool = text(item.get("server")), text(item.get("tool"))
    return f"{server}__{tool}" if server and tool else tool or kind_of(item)


def _output(item: Mapping[str, Any]) -> Any:
    """What a tool gave: its output, the content of its result, its error, else how it ended."""
    if error := mapping(item.get("error")):
        return text(error.get("message")) or as_text(error)
    content = mapping(item.get("result")).get("content")
    if isinstance(content, list):
        parts = Parts()
        for part in listed(content):
            if kind_of(part) == "text":
                parts.text(text(part.get("text")))
            elif kind_of(part) in ("image", "audio") and isinstance(data := part.get("data"), str):
                parts.add(media(part.get("mimeType"), data))
            else:
                parts.text(as_text(part))
        return parts.content
    output = item.get("aggregated_output")
    return output if isinstance(output, str) else text(item.get("status"))


def _plan(item: Mapping[str, Any]) -> str:
    marks = (
        ("x" if todo.get("completed") is True else " ", text(todo.get("text"))) for todo in listed(item.get("items"))
    )
    return "\n".join(f"[{mark}] {words}" for mark, words in marks)


def _total(usages: list[Usage]) -> Usage | None:
    """Tokens of the thread. Codex counts from its beginning; a count that falls is one of a new beginning."""
    if not usages:
        return None
    grows = all((b.total or 0) >= (a.total or 0) for a, b in pairwise(usages))
    return usages[-1] if grows else Usage.sum(usages)
