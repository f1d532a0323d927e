"""What a trace keeps of the calls of a step, in the forms that a run itself works with: decisions and results."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from agent.approval import Decision
from agent.errors import ToolDefinitionError
from agent.state import PendingCall
from agent.tool_result import ToolResult, error_in
from agent.tools import Tool, ToolRegistry
from agent.trace import ToolRun, Trace
from agent.workings import nobody_was_there

BY_A_PERSON = ("edited", "mocked", "skipped", "rejected")
"""Kinds of the interventions that are a person's decision about a call."""


def tool_names(trace: Trace) -> ToolRegistry:
    """Tools of the names on offer that can do nothing: enough to know what a model means by a name."""
    registry = ToolRegistry()
    for schema in trace.tools:
        function = schema.get("function") if isinstance(schema, Mapping) else None
        with suppress(ToolDefinitionError):
            registry.add(Tool(str(function and function.get("name")), "", {}, dict))
    return registry


def settle(pending: PendingCall, run: ToolRun, said: Decision | None) -> None:
    """Let a call be decided as it was, where approve alone would decide otherwise.

    Args:
        pending: the call, as approve left it.
        run: what was done about it.
        said: a person's decision about it, beside simply letting it run.
    """
    now = pending.decision
    if said is not None:
        if now is None or (now.kind, now.reason) != (said.kind, said.reason):
            pending.decision = said.about(pending.call)
    elif now is None and run.decision == "denied":
        pending.decision = nobody_was_there(pending).about(pending.call)
    elif run.decision in ("run", "timed_out") and (now is None or now.kind != "run"):
        pending.decision = Decision.run().about(pending.call)


def said_about(trace: Trace, step: int, call_id: str) -> Decision | None:
    """What a person decided about a call of this step instead of letting it run as asked."""
    for item in trace.interventions:
        params = item.get("params") or {}
        if (item.get("step"), params.get("call")) == (step, call_id) and item.get("kind") in BY_A_PERSON:
            words = {name: params[name] for name in ("reason", "arguments", "result", "stop") if name in params}
            return Decision(item["kind"], "user", **words)
    return None


def result_of(trace: Trace, pending: PendingCall, run: ToolRun) -> ToolResult | None:
    """The result that a call was given; None where the trace holds none."""
    if run.message is None:
        return None
    raw = trace.entries[run.message].raw
    text = raw if isinstance(raw, str) else trace.messages[run.message].text
    text = text.removeprefix(pending.decision.notice() if pending.decision else "")
    ok = run.ok is not False
    retryable = None if ok else (error_in(text) or {}).get("retryable")
    return ToolResult(text, text, ok, retryable, run.latency_ms, run.decision == "timed_out")
