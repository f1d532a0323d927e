"""Tool spans beside the calls that models asked for: when they ran, how long, and what they gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.trace import ToolRun
from traces.builder import TraceBuilder
from traces.reply import Reply
from traces.spans.tree import Span, ToolUse
from traces.times import time_of

_RECENT = 50
"""Steps of a conversation whose calls may still be waiting for their tools."""
Used = tuple[Span, ToolUse]


@dataclass(slots=True, eq=False)
class _Waiting:
    """A tool span that no call has been found for yet."""

    span: Span
    use: ToolUse
    owner: object
    """The agent whose run it is."""


class ToolRuns:
    """The tool spans of one trace, in the order of their start.

    A span belongs to the call with its id; without one to the oldest call of its agent by that name.
    """

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._found: dict[int, tuple[ToolRun, ToolUse]] = {}

    def add(self, span: Span, owner: object) -> None:
        """A tool was run."""
        self._waiting.append(_Waiting(span, span.use(), owner))

    def match(self, builder: TraceBuilder, owner: object, steps: int | None = _RECENT) -> None:
        """Give the calls of a conversation their times.

        Args:
            builder: the conversation.
            owner: the agent that it belongs to.
            steps: how many of its last steps to look at; None: all.
        """
        if not self._waiting:
            return
        for run in builder.tool_runs(steps):
            if id(run) in self._found:
                continue
            waiting = self._span_of(run, owner)
            if waiting is None:
                continue
            self._waiting.remove(waiting)
            self._found[id(run)] = (run, waiting.use)
            builder.tool_run(run.tool_call_id, **facts(waiting.span, waiting.use))

    def _span_of(self, run: ToolRun, owner: object) -> _Waiting | None:
        by_id = (each for each in self._waiting if each.use.call_id and each.use.call_id == run.tool_call_id)
        by_name = (each for each in self._waiting if each.use.name == run.name and each.owner is owner)
        return next(by_id, None) or next(by_name, None)

    def results(self, builder: TraceBuilder) -> list[dict[str, Any]]:
        """Tool messages for the calls of a conversation that have none there, where their spans know the result."""
        found = [self._found[id(run)] for run in builder.tool_runs(_RECENT) if id(run) in self._found]
        return [
            {**_result(use), "tool_call_id": run.tool_call_id, "name": run.name}
            for run, use in found
            if run.message is None and use.result is not None
        ]

    def take(self, owner: object, *, nameless: bool = False) -> list[Used]:
        """The spans of an agent that no call was found for; they wait no more.

        Args:
            owner: the agent.
            nameless: only those without a call id. With one, the call may still be found in another conversation.
        """
        taken = [each for each in self._waiting if each.owner is owner and not (nameless and each.use.call_id)]
        self._waiting = [each for each in self._waiting if each not in taken]
        return [(each.span, each.use) for each in taken]


def facts(span: Span, use: ToolUse) -> dict[str, Any]:
    """What a span says of a run, as :meth:`TraceBuilder.tool_run` takes it."""
    ok = False if span.error is not None else use.ok
    return {"started": time_of(span.started), "latency_ms": span.latency_ms, "ok": ok}


def _result(use: ToolUse) -> dict[str, Any]:
    """The result of a run as a tool message."""
    failed = {"is_error": True} if use.ok is False else {}
    return {"role": "tool", "tool_call_id": use.call_id, "name": use.name, "content": use.result, **failed}


def bare(builder: TraceBuilder, used: Sequence[Used]) -> None:
    """Tool runs that no message tells of."""
    for span, use in used:
        call_id = use.call_id or span.id or use.name
        builder.bare_tool(call_id, use.name, use.arguments if isinstance(use.arguments, dict) else None)
        builder.tool_run(call_id, **facts(span, use))


# -- calls without words -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Wordless:
    """A model call without words. The tools that ran before the next one are what it asked for."""

    reply: Reply
    span: Span
    tools: list[Used] = field(default_factory=list)


def rebuilt(used: Sequence[Used]) -> tuple[Mapping[str, Any] | None, list[dict[str, Any]]]:
    """``(message, results)``: what the model must have asked for, from tool spans that say what they were given.

    None and nothing where they do not say.
    """
    if not any(use.result is not None or use.arguments is not None for _, use in used):
        return None, []
    calls, results = [], []
    for number, (span, use) in enumerate(used, 1):
        call_id = use.call_id or f"{span.id or 'tool'}-{number}"
        function = {"name": use.name, "arguments": use.arguments}
        calls.append({"id": call_id, "type": "function", "function": function})
        if use.result is not None:
            results.append({**_result(use), "tool_call_id": call_id})
    return {"role": "assistant", "content": None, "tool_calls": calls}, results
