"""What a trace keeps of decisions, results and settings, in the forms that a run itself works with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from agent import faults
from agent.approval import Decision
from agent.errors import ToolDefinitionError
from agent.events import EXECUTE, Phase
from agent.moments import Moment
from agent.settings import Settings
from agent.state import PendingCall
from agent.tool_result import ToolResult
from agent.tools import Tool, ToolRegistry
from agent.trace import ToolRun, Trace
from agent.workings import nobody_was_there

FORK_EDITS = ("message_edited", "system_edited", "tools_changed", "settings_changed")
"""Kinds of the interventions that a fork begins with."""
_BY_A_PERSON = ("edited", "mocked", "skipped", "rejected")
_ORDER: dict[str | None, int] = {**{str(phase): place for place, phase in enumerate(Phase)}, None: len(Phase)}


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
        if (item.get("step"), params.get("call")) == (step, call_id) and item.get("kind") in _BY_A_PERSON:
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
    return ToolResult(text, text, ok, None if ok else _retryable(text), run.latency_ms, run.decision == "timed_out")


def _retryable(text: str) -> bool | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value.get("retryable") if isinstance(value, dict) else None


def settings_at(trace: Trace, moment: Moment) -> Settings:
    """The settings under which the run stood at a moment: those of the trace, without what later faults switched off.

    Raises:
        InputError: the trace keeps settings that make no sense.
    """
    config = dict(trace.config)
    for item in reversed(trace.interventions):
        if _happened(item, moment):
            continue
        before: Any = (item.get("params") or {}).get("before")
        if item.get("kind") == faults.LIMIT_REMOVED:
            limits = {name: value for name, value in before.items() if name != "max_steps"}
            config |= {"max_steps": before["max_steps"], "limits": {**config["limits"], **limits}}
        elif item.get("kind") == faults.PERMISSION_CHECK_REMOVED:
            config["policy"] = before
        elif item.get("kind") == faults.RESULTS_NOT_WRITTEN_BACK:
            config["interventions"] = before
    return Settings.from_config(config)


def interventions_at(trace: Trace, moment: Moment) -> list[dict[str, Any]]:
    """What had been done to the run by then, beside its settings. The edits that a fork began with are always there."""
    return [item for item in trace.interventions if item.get("step") is not None and _happened(item, moment)]


def _happened(item: Mapping[str, Any], moment: Moment) -> bool:
    kind, step, phase = item.get("kind"), item.get("step"), item.get("phase")
    if step is None or kind in FORK_EDITS:
        return True
    if kind in _BY_A_PERSON:
        phase = EXECUTE  # a decision is noted with the result that comes of it
    return (step, _ORDER.get(phase, 0)) < (moment.step, _ORDER[moment.phase])
