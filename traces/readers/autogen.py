"""AutoGen AgentChat: states of teams and agents, results of tasks, and lists of its messages; Magentic-One too.

Source: microsoft/autogen, ``autogen_agentchat/messages.py`` and ``autogen_agentchat/state/_states.py``. A team's state
holds the same conversation more than once: the thread of the group counts, the memory of each agent only without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.autogen_messages import EVENTS, Thread
from traces.readers.fields import text
from traces.wire.parts import listed, mapping

NAME = "autogen"
_LOOKED_AT = 20
_THREAD_KEYS = ("message_thread", "agent_states", "llm_context", "messages", "agent_state", "inner_team_state")
_REASONS = (
    ("maximum number of messages", "max_iterations"),
    ("maximum number of turns", "max_iterations"),
    ("token usage limit", "token_budget"),
    ("timeout", "deadline"),
    ("external termination", "stopped_by_user"),
    ("text '", "final"),
)
"""How the words of AutoGen's conditions begin, and which of our reasons that is."""


def matches(document: Document) -> bool:
    """A state, a result with messages, or a list of messages that only AutoGen has."""
    records = document.records[:_LOOKED_AT]
    return any(_is_message(record) or _is_state(record) or _is_result(record) for record in records)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every state and result; messages that stand alone are one conversation."""
    loose: Thread | None = None
    said: list[Any] = []
    trace: TraceBuilder | None = None
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        if _is_state(record):
            _read_state(record, out, "", None)
        elif _is_result(record):
            if trace is not None and record["messages"] == said[-len(record["messages"]) :]:
                _stop(record, trace)  # a stream ends with all that it gave
            else:
                _read_result(record, out)
        elif _is_message(record):
            trace = trace or out.trace()
            loose = loose or Thread(trace, out)
            loose.add(record, line)
            said += [record] if record["type"] != "ModelClientStreamingChunkEvent" else []
        else:
            out.unread("a record that is no state, result or message of AutoGen")
    if loose is not None:
        loose.end()


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and text(value.get("type")) in EVENTS and "content" in value


def _is_state(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("agent_states"), Mapping):
        return True
    return text(value.get("type")).endswith("State") and not value.keys().isdisjoint(_THREAD_KEYS)


def _is_result(value: Any) -> bool:
    return isinstance(value, Mapping) and any(map(_is_message, listed(value.get("messages"))[:_LOOKED_AT]))


def _read_result(record: Mapping[str, Any], out: ImportBuilder) -> None:
    trace = out.trace("", {key: value for key, value in record.items() if key != "messages"})
    thread = Thread(trace, out)
    for message in listed(record["messages"]):
        thread.add(message, None)
    thread.end()
    _stop(record, trace)


def _stop(record: Mapping[str, Any], trace: TraceBuilder) -> None:
    words = text(record.get("stop_reason"))
    if not words:
        return
    reason = next((ours for begin, ours in _REASONS if words.lower().startswith(begin)), words)
    trace.outcome(reason, detail=words)


# -- states --------------------------------------------------------------------------------------------------------


def _read_state(state: Mapping[str, Any], out: ImportBuilder, name: str, parent: str | None) -> None:
    """A state and those inside it, outer ones first."""
    waiting = [(state, name, parent)]
    while waiting:
        current, title, above = waiting.pop(0)
        agents = {key.partition("/")[0]: value for key, value in mapping(current.get("agent_states")).items()}
        managers = [agent for agent in agents.values() if isinstance(mapping(agent).get("message_thread"), list)]
        threads = [listed(manager["message_thread"]) for manager in managers] or [_thread(current)]
        trace_id = above
        for thread, manager in zip(threads, managers or [current], strict=True):
            if thread:
                trace_id = _read_thread(thread, manager, out, title, above)
        for agent_name, agent in agents.items():
            if isinstance(agent, Mapping):
                waiting += _inside(agent, agent_name, trace_id, told=bool(managers))


def _thread(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages of an agent's own state: its memory, under the name of this or of an older version."""
    context = mapping(state.get("llm_context"))
    found = (state.get("message_thread"), context.get("messages"), state.get("llm_messages"), state.get("messages"))
    return next((messages for value in found if (messages := listed(value))), [])


def _inside(
    agent: Mapping[str, Any], name: str, parent: str | None, *, told: bool
) -> Iterator[tuple[Mapping[str, Any], str, str | None]]:
    """The states inside an agent's: a team of its own, and its memory where no thread of the group tells the same."""
    inner = mapping(agent.get("agent_state")) or agent
    if team := mapping(inner.get("inner_team_state")):
        yield team, name, parent
    elif not told and "message_thread" not in inner:
        yield inner, name, None


def _read_thread(
    messages: list[Mapping[str, Any]], state: Mapping[str, Any], out: ImportBuilder, title: str, parent: str | None
) -> str:
    about = {key: value for key, value in state.items() if key not in _THREAD_KEYS}
    trace = out.trace(title, about, parent=parent)
    thread = Thread(trace, out, speaker=title)
    for message in messages:
        thread.add(message, None)
    thread.end()
    return trace.trace_id
