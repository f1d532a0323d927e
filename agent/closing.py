"""How a run ends: the reason, the answer, the evidence. Two fields, because stopping is not finishing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.evidence import Check, verify
from agent.faults import Fault
from agent.models.replies import visible_text
from agent.models.text_calls import claims_a_call
from agent.state import RunState
from agent.stops import Stop, StopReason
from agent.trace import Evidence, Outcome

CLAIMED = "claimed_call"
NOT_STRUCK = "fault_not_struck"
"""Kinds of notes: an answer that speaks of a call which was never made; a fault that was still armed at the end."""


def conclude(run: RunState, stop: Stop, checks: Sequence[Check]) -> Outcome:
    """Write the outcome of the run into its trace."""
    reply = run.reply
    final = visible_text(reply) if reply is not None and stop.reason is StopReason.FINAL else ""
    outcome = Outcome(reason=str(stop.reason), detail=stop.detail, final=final)
    outcome.active_s = round(run.counters.active_s, 3)
    run.trace.outcome = outcome
    if not final:
        outcome.fallback = _last_text(run)
    outcome.verified, outcome.evidence = verify([*_claims(run, final), *checks], run.trace)
    run.trace.notes += [_not_struck(run, fault) for fault in run.faults]
    return outcome


def _claims(run: RunState, final: str) -> list[Check]:
    """A text that says a tool was used, where none was, must not pass for a finished task: a check that fails."""
    names = [str(tool.get("function", {}).get("name")) for tool in run.trace.tools]
    if not final or not names:
        return []
    called = {tool.name for step in run.trace.steps[run.counters.turn_start :] for tool in step.tools}
    claim = claims_a_call(final, names, called=called)
    if claim is None:
        return []
    text = f"the answer speaks of a tool call that was never made: {claim}"
    run.trace.notes.append({"kind": CLAIMED, "text": text, "step": run.step.index, "message": run.step.reply})
    return [lambda trace: Evidence(check=CLAIMED, ok=False, detail=text)]


def _not_struck(run: RunState, fault: Fault) -> dict[str, Any]:
    """The note about a fault that found no phase in which it could strike."""
    text = f"an armed fault did not strike: {fault.about.sentence}"
    return {"kind": NOT_STRUCK, "text": text, "step": len(run.trace.steps), "fault": fault.kind}


def _last_text(run: RunState) -> str:
    for message in reversed(run.trace.messages[run.counters.task_at :]):
        if message.role == "assistant" and (text := visible_text(message)):
            return text
    return ""
