"""mini-swe-agent: ``.traj.json`` files of version 1 (a message list, or one with ``info``) and of the format 1.1.

The messages are those of OpenAI Chat, or items of OpenAI Responses, with an ``extra`` beside them that says what ran,
how it ended and what it cost. Version 1 has no tool calls: commands stand in fences, results come from the user's role.
Source: mini-swe-agent, ``docs/usage/output_files.md``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import amount, milliseconds, moment, text
from traces.reply import Reply
from traces.wire import litellm, responses
from traces.wire.parts import count, listed, mapping

NAME = "mini-swe-agent"
_LOOKED_AT = 20
_FINAL_WORDS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT", "MICRO_SWE_AGENT_FINAL_OUTPUT")
"""What the prompt tells the model to print at the end; no other program has such words."""
_RETURN_CODE = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>")
_ENDS = {"submitted": "final", "usercancelled": "stopped_by_user", "userinterruption": "stopped_by_user"}
_ENDS |= {"contextwindowexceedederror": "context_overflow", "timeexceeded": "deadline"}


def matches(document: Document) -> bool:
    """A trajectory that names its format, or messages whose prompt holds the words that end a run."""
    return any(map(_is_run, _runs(document)[:_LOOKED_AT]))


def read(document: Document, out: ImportBuilder) -> None:
    """Read a message list, or each record that holds one."""
    for number, run in enumerate(_runs(document)):
        line = None if isinstance(run, list) else document.line_of(number)
        if _is_run(run):
            _read_run({"messages": run} if isinstance(run, list) else run, out, line)
        else:
            out.unread("a record that is no trajectory")


def _runs(document: Document) -> list[Any]:
    records = document.records
    return [records] if records and isinstance(records[0], Mapping) and "role" in records[0] else records


def _is_run(run: Any) -> bool:
    if isinstance(run, list):
        return _is_prompted(run)
    record = mapping(run)
    if not isinstance(record.get("messages"), list):
        return False
    if text(record.get("trajectory_format")).startswith("mini-swe-agent"):
        return True
    info = mapping(record.get("info"))
    return (
        "mini_version" in info or ("exit_status" in info and "epoch" not in record) or _is_prompted(record["messages"])
    )


def _is_prompted(messages: list[Any]) -> bool:
    """Whether one of the first two messages tells the model how to end the run; a tool or a reply may repeat that."""
    return any(
        word in text(message.get("content"))
        for message in listed(messages[:2])
        if message.get("role") in ("system", "user")
        for word in (*_FINAL_WORDS, "mswea_bash_command")
    )


def _read_run(run: Mapping[str, Any], out: ImportBuilder, line: int | None) -> None:
    info = mapping(run.get("info"))
    about = {key: value for key, value in run.items() if key != "messages"}
    trace = out.trace(text(run.get("instance_id")), about)
    trace.model(mapping(mapping(info.get("config")).get("model")).get("model_name"))
    story = _Story(trace, line)
    for message in run["messages"]:
        if isinstance(message, Mapping):
            story.add(message)
        else:
            out.unread("an entry of a message list that is no message")
    cost = amount(mapping(info.get("model_stats")).get("instance_cost"))
    trace.reported(cost=cost or None)
    status = text(info.get("exit_status")) or story.exit_status
    trace.outcome(
        _ENDS.get(status.lower(), status or None),
        final=text(info.get("submission")) or story.submission or None,
        detail=status or None,
    )


class _Story:
    """One conversation, message by message."""

    def __init__(self, trace: TraceBuilder, line: int | None) -> None:
        self._trace, self._line = trace, line
        self._before: str | None = None
        """When the model was last given something."""
        self._answered_at: str | None = None
        self._calls = 0
        """Calls of the last answer: the time of a result says what a tool took only where there is one."""
        self._has_answered = False
        self._is_submitting = False
        """Whether the last answer prints the words that end the run: what comes back is the submission."""
        self.exit_status = self.submission = ""

    def add(self, message: Mapping[str, Any]) -> None:
        extra = mapping(message.get("extra"))
        at = moment(extra.get("timestamp", message.get("timestamp")))
        self.exit_status = text(extra.get("exit_status")) or self.exit_status
        self.submission = text(extra.get("submission")) or self.submission
        if isinstance(message.get("output"), list):
            self._answer(responses.read_response(message), extra, at)
        elif message.get("role") == "assistant":
            self._answer(self._read_answer(message, extra), extra, at)
        else:
            self._given(message, extra, at)

    @staticmethod
    def _read_answer(message: Mapping[str, Any], extra: Mapping[str, Any]) -> Reply:
        response = mapping(extra.get("response"))
        reply = litellm.read_response(response) if response else Reply()
        return replace(reply, message=_without_extra(message))

    def _answer(self, reply: Reply, extra: Mapping[str, Any], at: str | None) -> None:
        said, at, cost = mapping(reply.message), at or reply.at, amount(extra.get("cost"))
        cost = reply.cost if cost is None else cost
        latency_ms = milliseconds(self._before, at)
        self._trace.message({"role": "assistant", **said}, at=at, line=self._line)
        started = self._before if latency_ms is not None else None
        self._trace.numbers(replace(reply, cost=cost, latency_ms=latency_ms, started=started))
        self._answered_at, self._has_answered = at, True
        self._calls = len(listed(said.get("tool_calls")))
        self._is_submitting = any(word in text(said.get("content")) for word in _FINAL_WORDS)

    def _given(self, message: Mapping[str, Any], extra: Mapping[str, Any], at: str | None) -> None:
        """What is no answer of the model. A result without a call leaves a note where it is an error."""
        for data in [message] if "role" in message else responses.converted([message]):
            role, call_id = data.get("role"), text(data.get("tool_call_id"))
            maker = "code" if role == "exit" else "environment" if role == "user" and self._has_answered else None
            raw = dict(message) if extra else None
            position = self._trace.message(_without_extra(data), at=at, line=self._line, maker=maker, raw=raw)
            code, problem = _return_code(extra, data), text(extra.get("exception_info"))
            if call_id:
                latency_ms = milliseconds(self._answered_at, at) if self._calls == 1 else None
                ok = False if problem else None if code is None else code == 0
                self._trace.tool_run(call_id, started=self._answered_at, latency_ms=latency_ms, ok=ok)
            elif self._has_answered and (problem or code):
                self._trace.note("error", problem or f"exit code {code}", message=position)
            if self._is_submitting and role == "user":
                self.exit_status = self.exit_status or "Submitted"
                self.submission = self.submission or text(data.get("content"))
        self._before = at or self._before


def _without_extra(message: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in ("extra", "timestamp")}


def _return_code(extra: Mapping[str, Any], message: Mapping[str, Any]) -> int | None:
    code = count(extra.get("returncode"))
    if code is not None:
        return code
    found = _RETURN_CODE.match(text(message.get("content")))
    return int(found[1]) if found else None
