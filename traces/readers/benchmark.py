"""Trajectories of benchmarks and training sets whose boxes map cleanly to messages; everything else can be mapped.

AgentTuning and AgentBench (``conversations`` of ``role`` and ``content``), Nebius' SWE-agent trajectories
(``trajectory`` of ``role`` and ``text``), WebArena (``trajectory`` of states and actions in turn), ScreenAgent (lists
of prompts and answers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent.trace import Evidence
from traces.builder import TraceBuilder
from traces.container import Document
from traces.growth import Conversations, Exchange
from traces.importing import ImportBuilder
from traces.readers.fields import amount, text
from traces.readers.rewards import reward
from traces.repair import as_text
from traces.wire import openai_chat
from traces.wire.parts import linked, listed, mapping

NAME = "benchmark-traj"
_LOOKED_AT = 20
_ROLES = {"ai": "assistant", "agent": "assistant", "human": "user"}
_TITLES = ("title", "instance_id", "intent", "id", "task_id", "trial_name", "task")


def matches(document: Document) -> bool:
    """Some of the first records are rows of one of these shapes."""
    return any(_reader_of(record) is not None for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read every row; each is a conversation."""
    growing = Conversations(out)
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        reader = _reader_of(record)
        if reader is None:
            out.unread("a row without a trajectory of a known shape")
        elif reader is _read_conversation and "episode" in record:
            growing.add(_request(record, line))
        else:
            about = mapping(record)
            trace = out.trace(_title(about), {key: value for key, value in about.items() if key not in _LISTS})
            trace.model(about.get("model_name") or about.get("model"))
            reader(record, trace, line)
            _end(about, trace)


_LISTS = ("conversations", "conversation", "trajectory", "tools")
_Row = Callable[[Any, TraceBuilder, int | None], None]


def _reader_of(record: Any) -> _Row | None:
    if isinstance(record, list):
        prompts = listed(record)
        return _read_prompts if prompts and {"send_prompt", "LLM_response"} <= prompts[0].keys() else None
    if not isinstance(record, Mapping):
        return None
    if _conversation(record):
        return _read_conversation
    trajectory = listed(record.get("trajectory"))
    if any("role" in turn and "text" in turn for turn in trajectory[:_LOOKED_AT]):
        return _read_texts
    if any("axtree" in state or "observation" in state for state in trajectory[:2]) and "intent" in record:
        return _read_states
    return None


def _conversation(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages of a row that calls them a conversation."""
    for key in ("conversations", "conversation"):
        turns = listed(record.get(key))
        if any("role" in turn and "content" in turn for turn in turns[:_LOOKED_AT]):
            return turns
    return []


def _title(row: Mapping[str, Any]) -> str:
    return next((as_text(row[key]) for key in _TITLES if isinstance(row.get(key), (str, int)) and row[key] != ""), "")


def _end(row: Mapping[str, Any], trace: TraceBuilder) -> None:
    """What a row says about its end and about success: a reward, or a target that was hit or missed."""
    checks: list[Evidence] = []
    if amount(row.get("reward")) is not None:
        checks.append(reward(row["reward"]))
    elif isinstance(row.get("target"), bool):
        checks.append(Evidence(check="target", ok=row["target"], detail="hit" if row["target"] else "missed"))
    trace.outcome(text(row.get("exit_status")) or None, checks=checks)


# -- messages ------------------------------------------------------------------------------------------------------


def _message(turn: Mapping[str, Any]) -> dict[str, Any]:
    role = text(turn.get("role"))
    return {**turn, "role": _ROLES.get(role, role)}


def _read_conversation(record: Mapping[str, Any], trace: TraceBuilder, line: int | None) -> None:
    trace.tools(openai_chat.tools_of(record))
    if system := text(record.get("system")):
        trace.message({"role": "system", "content": system}, line=line)
    for turn in _conversation(record):
        trace.message(_message(turn), line=line)


def _request(record: Mapping[str, Any], line: int | None) -> Exchange:
    """A row for each episode repeats the rows before it and goes on."""
    messages = [_message(turn) for turn in _conversation(record)]
    return Exchange(messages=messages, reply=None, model=record.get("model"), line=line)


def _read_texts(record: Mapping[str, Any], trace: TraceBuilder, line: int | None) -> None:
    for turn in listed(record["trajectory"]):
        words = turn.get("text") if turn.get("text") is not None else turn.get("system_prompt")
        trace.message({"role": _message(turn)["role"], "content": words}, line=line)


def _read_states(record: Mapping[str, Any], trace: TraceBuilder, line: int | None) -> None:
    """States of a page and actions in turn; the first state comes with the task."""
    trace.message({"role": "user", "content": as_text(record["intent"])}, line=line)
    for turn in record["trajectory"]:
        state = mapping(turn)
        if "axtree" in state or "observation" in state:
            trace.message({"role": "user", "content": _state(state)}, line=line, maker="environment")
        else:
            message = {"role": "assistant", "content": as_text(state.get("action", turn))}
            if thought := text(mapping(state.get("metadata")).get("cot")):
                message["reasoning_content"] = thought
            trace.message(message, line=line)
            action = mapping(state.get("action"))
            if action.get("action_name") == "stop":
                trace.outcome("final", final=text(action.get("answer")))


def _state(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    words = text(state.get("axtree")) or as_text(state.get("observation") or "")
    parts: list[dict[str, Any]] = [{"type": "text", "text": "\n".join(filter(None, (text(state.get("url")), words)))}]
    if picture := text(state.get("screenshot_path")):
        parts.append(linked(picture))
    return parts


def _read_prompts(record: list[Any], trace: TraceBuilder, line: int | None) -> None:
    """Each entry is one request with a picture of the screen, and the answer."""
    for entry in listed(record):
        parts: list[dict[str, Any]] = [{"type": "text", "text": as_text(entry.get("send_prompt") or "")}]
        if picture := text(entry.get("saved_image_name")):
            parts.append(linked(picture))
        trace.message({"role": "user", "content": parts}, line=line)
        trace.message({"role": "assistant", "content": as_text(entry.get("LLM_response") or "")}, line=line)
