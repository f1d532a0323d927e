"""The conversation of a Codex rollout, told line by line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.importing import ImportBuilder
from traces.readers.fields import amount, difference, duration, ended_well, milliseconds, text
from traces.reply import Reply
from traces.wire import responses
from traces.wire.openai_chat import decoded
from traces.wire.parts import kind_of, listed, mapping

_HEAD = 400
"""Characters of a tool's output in which its exit code and time can stand; what follows is the output itself."""
_EXIT_CODE = re.compile(r"(?:exited with code|Exit code:) (-?\d{1,9})\b")
_WALL_TIME = re.compile(r"Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds")
_MADE = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "<subagent_notification>",
    "<skill>",
    "<collaboration_mode>",
    "# AGENTS.md instructions",
)
"""How texts begin that the program writes in the user's role."""
_NOTED = frozenset(("error", "stream_error", "warning", "guardian_warning"))
_VOICES = {"user_message": "user", "agent_message": "assistant"}
_ABORTED = {"interrupted": "stopped_by_user", "replaced": "stopped_by_user", "budget_limited": "token_budget"}


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a rollout."""

    kind: str
    """``response_item``, ``event_msg``, ``turn_context``, ``session_meta`` or ``compacted``."""
    payload: Mapping[str, Any]
    at: str | None
    line: int | None

    @property
    def event(self) -> str:
        """Of an event its type, else ``""``."""
        return kind_of(self.payload) if self.kind == "event_msg" else ""


class Story:
    """A conversation on its way to a trace.

    The items of one answer stand in a row; it is complete when something else is said, or its tokens are counted.
    """

    def __init__(self, trace: TraceBuilder, out: ImportBuilder) -> None:
        self._trace, self._out = trace, out
        self._answer: list[Record] = []
        self._asked_at: str | None = None
        self._model: str | None = None
        self._total: Usage | None = None
        self._is_counted = True
        """Whether the last step has its tokens; before the first step there is none to count for."""
        self._called_at: dict[str, str | None] = {}
        self._runs: dict[str, tuple[float | None, bool | None]] = {}
        """Milliseconds and success of each call, where an event or the output says so."""
        self._reason: str | None = None
        self._final = ""
        self._speakers: set[str] = set()
        """Who speaks in items. Events repeat that; somebody who speaks in events alone is heard there."""
        self._thinks = False
        """Whether items hold thoughts that can be read; the same goes for those."""

    def tell(self, records: Sequence[Record]) -> None:
        """Read the lines in their order."""
        said = [record.payload for record in records if record.kind == "response_item"]
        self._speakers = {text(item.get("role")) for item in said if not _is_made(item)}
        self._thinks = any(kind_of(item) == "reasoning" and listed(item.get("summary")) for item in said)
        for record in records:
            if record.kind == "response_item":
                self._item(record)
            elif record.kind == "event_msg":
                self._event(record)
            elif record.kind == "turn_context":
                self._turn(record.payload)
            elif record.kind == "compacted":
                self._close()
                self._trace.note("compaction", text(record.payload.get("message")) or "the conversation was compacted")
            elif record.kind != "session_meta":
                self._out.unread(f"a line beside the conversation: {record.kind or 'without type'}"[:120])
        self._close()
        for call_id, (latency_ms, ok) in self._runs.items():
            self._trace.tool_run(call_id, latency_ms=latency_ms, ok=ok)
        self._trace.reported(usage=self._total, duration_s=duration(record.at for record in records))
        self._trace.outcome(self._reason, final=self._final)

    def _turn(self, context: Mapping[str, Any]) -> None:
        self._model = text(context.get("model")) or self._model
        self._trace.model(self._model)
        settings = {key: context[key] for key in ("effort", "approval_policy", "cwd") if context.get(key) is not None}
        self._trace.config(**settings)

    # -- items -------------------------------------------------------------------------------------------------------

    def _item(self, record: Record) -> None:
        item = record.payload
        kind, role = kind_of(item), item.get("role")
        if kind == "ghost_snapshot":
            self._out.unread("a mark of the state of the files, not of the conversation")
        elif role == "assistant" or (role is None and not kind.endswith("_output")):
            if call_id := text(item.get("call_id")):
                self._called_at[call_id] = record.at
            self._answer.append(record)
        else:
            self._close()
            self._given(record)

    def _given(self, record: Record) -> None:
        for message in responses.converted([record.payload]):
            maker = "code" if message["role"] == "user" and _is_made(record.payload) else None
            self._trace.message(message, at=record.at, line=record.line, maker=maker)
            if message["role"] == "tool":
                self._ran(text(message.get("tool_call_id")), _first_text(message), record.at)
        self._asked_at = record.at or self._asked_at

    def _ran(self, call_id: str, output: str, at: str | None) -> None:
        begun = self._called_at.get(call_id)
        self._trace.tool_run(call_id, started=begun, latency_ms=milliseconds(begun, at))
        if call_id not in self._runs and (said := _said_by(output)) != (None, None):
            self._runs[call_id] = said

    def _close(self) -> None:
        """The answer is complete."""
        if not self._answer:
            return
        first, last = self._answer[0], self._answer[-1]
        messages = responses.converted([record.payload for record in self._answer])
        self._answer = []
        for message in messages:
            self._trace.message(message, at=last.at, line=first.line)
        latency_ms = milliseconds(self._asked_at, last.at)
        started = self._asked_at if latency_ms is not None else None
        self._trace.numbers(Reply(model=self._model, started=started, latency_ms=latency_ms))
        self._asked_at = last.at or self._asked_at
        self._is_counted = False

    # -- events ------------------------------------------------------------------------------------------------------

    def _event(self, record: Record) -> None:
        payload, kind = record.payload, record.event
        if kind == "token_count":
            self._count(mapping(payload.get("info")))
        elif kind.endswith("_end") and text(payload.get("call_id")):
            self._ended(payload)
        elif kind in ("task_started", "turn_started"):
            self._reason, self._final = None, ""
        elif kind in ("task_complete", "turn_complete"):
            self._final = text(payload.get("last_agent_message"))
            self._reason = "final" if self._final else self._reason or "final"
        elif kind == "turn_aborted":
            reason = text(payload.get("reason"))
            self._reason = _ABORTED.get(reason, reason or "stopped_by_user")
        elif kind in _NOTED:
            self._close()
            self._trace.note("warning" if "warning" in kind else "error", text(payload.get("message")))
            self._reason = "model_error" if kind == "error" else self._reason
        elif (role := _VOICES.get(kind)) and role not in self._speakers:
            content = [{"type": f"{'in' if role == 'user' else 'out'}put_text", "text": text(payload.get("message"))}]
            self._item(replace(record, payload={"type": "message", "role": role, "content": content}))
        elif kind == "agent_reasoning" and not self._thinks:
            summary = [{"type": "summary_text", "text": text(payload.get("text"))}]
            self._item(replace(record, payload={"type": "reasoning", "summary": summary}))
        elif kind != "thread_name_updated":
            self._out.unread(f"an event that repeats or only accompanies what is said: {kind or 'without type'}"[:120])

    def _count(self, info: Mapping[str, Any]) -> None:
        """Tokens of the last answer: what the running total grew by, because events come twice."""
        now = read_usage(info.get("total_token_usage"))
        grown = None if now is None else difference(now, self._total)
        if now is None or grown is None:
            return
        self._total = now
        self._close()
        if isinstance(window := info.get("model_context_window"), int):
            self._trace.config(context_window=window)
        if self._is_counted:  # a call of which the file keeps no words, such as the summary of a compaction
            self._trace.bare_step(Reply(usage=grown, model=self._model))
        else:
            self._trace.numbers(Reply(usage=grown))
        self._is_counted = True

    def _ended(self, payload: Mapping[str, Any]) -> None:
        """How long a command, a patch or a call of an MCP server took, and how it ended."""
        took, code = mapping(payload.get("duration")), payload.get("exit_code")
        seconds, nanos = amount(took.get("secs")), amount(took.get("nanos")) or 0.0
        latency_ms = None if seconds is None else seconds * 1000 + nanos / 1e6
        result = mapping(payload.get("result"))
        ok = payload.get("success") if isinstance(payload.get("success"), bool) else None
        if (by_code := ended_well(code)) is not None:
            ok = by_code
        elif "Err" in result:
            ok = False
        elif "Ok" in result:
            ok = mapping(result["Ok"]).get("is_error", mapping(result["Ok"]).get("isError")) is not True
        self._runs[text(payload["call_id"])] = (latency_ms, ok)


def _first_text(item: Mapping[str, Any]) -> str:
    content = item.get("content")
    return content if isinstance(content, str) else next((text(part.get("text")) for part in listed(content)), "")


def _is_made(item: Mapping[str, Any]) -> bool:
    return _first_text(item).lstrip().startswith(_MADE)


def read_usage(data: Any) -> Usage | None:
    """Tokens in Codex's words: the cache is part of the input, reasoning of the output."""
    usage = mapping(data)
    return Usage.from_openai(
        {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "total_tokens": usage.get("total_tokens"),
            "prompt_tokens_details": {
                "cached_tokens": usage.get("cached_input_tokens"),
                "cache_write_tokens": usage.get("cache_write_input_tokens"),
            },
            "completion_tokens_details": {"reasoning_tokens": usage.get("reasoning_output_tokens")},
        }
    )


def _said_by(output: str) -> tuple[float | None, bool | None]:
    """Milliseconds and success by what an output says of itself: a head of text, or JSON with ``metadata``."""
    metadata = mapping(mapping(decoded(output)).get("metadata")) if output.startswith("{") else {}
    code, seconds = metadata.get("exit_code"), amount(metadata.get("duration_seconds"))
    if not metadata:
        exit_code, wall = _EXIT_CODE.search(output[:_HEAD]), _WALL_TIME.search(output[:_HEAD])
        code = int(exit_code[1]) if exit_code else None
        seconds = float(wall[1]) if wall else None
    return None if seconds is None else seconds * 1000, ended_well(code)
