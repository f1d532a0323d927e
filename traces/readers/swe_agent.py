"""SWE-agent: ``.traj`` files of both eras, files of demonstrations that hold a history alone, and those without one.

Until 0.7 the model answers in text and the environment in the role of the user; since 1.0 there are tool calls, and a
tool message names its call in a list, ``tool_call_ids``. ``trajectory`` repeats the prompt at every step; only the
times of the tools are taken from it. Source: SWE-agent, ``docs/usage/trajectories.md`` and ``sweagent/types.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import amount, text
from traces.wire.openai_chat import decoded
from traces.wire.parts import listed, mapping

NAME = "swe-agent"
_LOOKED_AT = 20
_MARKS = frozenset(("agent", "message_type", "thought", "action", "is_demo", "tool_call_ids"))
"""Keys that a message of a history has beside role and content."""
_READ = frozenset(("role", "content", "tool_calls", "tool_call_ids", "agent", "message_type", "thought", "action"))
_READ |= {"is_demo", "thinking_blocks", "cache_control", "tags"}
_NO_MODELS = frozenset(("replay", "human", "human_thought", "instant_empty_submit"))
"""What stands in the place of a model where none is asked."""
_ENDS = (
    ("exit_cost", "cost_budget"),
    ("exit_context", "context_overflow"),
    ("exit_total_execution_time", "deadline"),
    ("exit_command_timeout", "deadline"),
    ("exit_format", "unknown_action"),
    ("exit_api", "model_error"),
    ("exit_environment_error", "error"),
    ("submitted", "final"),
)
"""What an exit status holds, and what it is in our words: a patch that was saved at a limit names both."""


def matches(document: Document) -> bool:
    """Some of the first records hold a history of messages as SWE-agent keeps them, or attempts with such histories."""
    return any(_is_run(record) or _has_steps(record) for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read every record; a file of several attempts gives a conversation for each."""
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        attempts = [item for item in listed(mapping(record).get("attempts")) if _is_history(item.get("history"))]
        if attempts:
            for count, attempt in enumerate(attempts, 1):
                _read_run(attempt, out, line, f"attempt {count} of {len(attempts)}")
        elif _is_run(record):
            _read_run(record, out, line)
        elif _has_steps(record):
            _read_run({**record, "history": _history_of(record["trajectory"])}, out, line)
        else:
            out.unread("a record without a history of messages")


def _is_run(record: Any) -> bool:
    run = mapping(record)
    return _is_history(run.get("history")) or any(
        _is_history(attempt.get("history")) for attempt in listed(run.get("attempts"))
    )


def _is_history(value: Any) -> bool:
    messages = listed(value)[:_LOOKED_AT]
    return any(isinstance(message.get("role"), str) and not _MARKS.isdisjoint(message) for message in messages)


def _has_steps(record: Any) -> bool:
    """Whether it holds steps but no history, as files do from which it was taken to make them smaller."""
    steps = listed(mapping(record).get("trajectory"))[:_LOOKED_AT]
    return any({"action", "observation", "response", "thought"} <= step.keys() for step in steps)


def _history_of(steps: Any) -> list[dict[str, Any]]:
    """The history that the steps tell: what the first of them asked, then each answer and what it brought."""
    first = next(iter(listed(steps)), {})
    history = [dict(message) for message in listed(first.get("query") or first.get("messages"))]
    for step in listed(steps):
        said = {key: step[key] for key in ("thought", "action", "tool_calls", "thinking_blocks") if key in step}
        history.append({"role": "assistant", "content": step.get("response"), **said})
        if seen := step.get("observation"):
            ids = step.get("tool_call_ids")
            history.append({"role": "tool" if ids else "user", "content": seen, "tool_call_ids": ids})
    return history


def _read_run(run: Mapping[str, Any], out: ImportBuilder, line: int | None, attempt: str = "") -> None:
    info, settings = mapping(run.get("info")), _settings(run.get("replay_config"))
    about = {key: value for key, value in run.items() if key not in ("history", "trajectory", "replay_config")}
    problem = text(mapping(settings.get("problem_statement")).get("id"))
    trace = out.trace(" · ".join(filter(None, (problem, attempt))), about)
    model = text(mapping(mapping(settings.get("agent")).get("model")).get("name"))
    trace.model(None if model in _NO_MODELS else model)
    _read_history(run, trace, out, line)
    _read_end(info, trace)


def _settings(value: Any) -> Mapping[str, Any]:
    """The settings of the run, which older files keep as JSON text."""
    return mapping(decoded(value) if isinstance(value, str) else value)


def _read_history(run: Mapping[str, Any], trace: TraceBuilder, out: ImportBuilder, line: int | None) -> None:
    times = _ToolTimes(run.get("trajectory"))
    history = run.get("history")
    answered = False
    for item in history if isinstance(history, list) else []:
        if not isinstance(item, Mapping):
            out.unread("an entry of a history that is no message")
            continue
        role = item.get("role")
        is_demo = item.get("is_demo") is True or item.get("message_type") == "demonstration"
        maker = "code" if is_demo else "environment" if role == "user" and answered else None
        position = trace.message(_message(item), line=line, agent=text(item.get("agent")) or None, maker=maker)
        if is_demo:
            trace.note("demonstration", "a worked example, not a part of this run", message=position)
            continue
        answered = answered or role == "assistant"
        if role == "assistant":
            latency_ms = times.of(item.get("action"))
            for call in listed(item.get("tool_calls")):
                trace.tool_run(text(call.get("id")), latency_ms=latency_ms)


def _message(item: Mapping[str, Any]) -> dict[str, Any]:
    """A message in OpenAI Chat form. The thought is reasoning only where the content does not hold it already."""
    content, ids = item.get("content"), item.get("tool_call_ids")
    message: dict[str, Any] = {key: value for key, value in item.items() if key not in _READ}
    message |= {"role": item.get("role"), "content": content, "tool_calls": item.get("tool_calls")}
    if isinstance(ids, list) and ids:
        message["tool_call_id"] = ids[0]
    blocks = [said for block in listed(item.get("thinking_blocks")) if (said := text(block.get("thinking")))]
    thought = "\n\n".join(blocks)
    if not thought and text(item.get("thought")).strip() not in (content if isinstance(content, str) else ""):
        thought = text(item.get("thought")).strip()
    return {**message, "reasoning_content": thought} if thought else message


class _ToolTimes:
    """Seconds that the tools took: steps of the trajectory come in the order of the messages that ask for them."""

    def __init__(self, trajectory: Any) -> None:
        self._steps = listed(trajectory)
        self._next = 0

    def of(self, action: Any) -> float | None:
        """Milliseconds of the next step with this action; None where there is none, or it was not measured."""
        for place in range(self._next, len(self._steps)):
            if self._steps[place].get("action") == action:
                self._next = place + 1
                seconds = amount(self._steps[place].get("execution_time"))
                return seconds and seconds * 1000
        return None


def _read_end(info: Mapping[str, Any], trace: TraceBuilder) -> None:
    """How it ended and what it took. A replay or a demonstration asks no model: its zeros mean "not known"."""
    status, stats = text(info.get("exit_status")), mapping(info.get("model_stats"))
    reason = next((ours for theirs, ours in _ENDS if theirs in status), status or None)
    trace.outcome(reason, final=text(info.get("submission")), detail=status)
    sent, received = stats.get("tokens_sent"), stats.get("tokens_received")
    if sent or received:
        trace.reported(usage=Usage.from_openai({"prompt_tokens": sent, "completion_tokens": received}))
    if cost := amount(stats.get("instance_cost")):
        trace.reported(cost=cost)
