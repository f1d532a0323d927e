"""What a run leaves behind while it goes on: its steps, messages and counters, and one log record a step."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from agent import clock, tokens
from agent.approval import digest
from agent.asking import ASKED_WITH
from agent.context import ContextBudget, Fitted, cap_result
from agent.cutting import head
from agent.errors import AgentError, ModelError
from agent.events import Maker, Phase
from agent.messages import Message
from agent.models.base import ModelReply
from agent.protocol import INTERRUPTED
from agent.request import request_of
from agent.state import PendingCall, RunState
from agent.stops import Stop
from agent.tool_result import ToolResult
from agent.trace import Outcome, ToolRun, Trace, TraceStep, maker_of
from agent.usage import Usage

logger = logging.getLogger("agent")

ASKED_UNTIL = "asked_until"
"""The key of the last step before a change of tools, options or protocol, under which the old ones are kept."""
ARMED = "armed"
"""The key of a step under which the faults are kept that its reply armed."""
DETOUR = "detour"
"""The kind of a note that says that the run left the usual way from phase to phase."""
UNKNOWN = "unknown"
"""The decision of a call that was in flight when the program ended: nobody can say whether its tool ran."""
NUDGE = "Your last message was empty. Please go on: call a tool or give the final answer."
_FLAT = 1.02
"""A count that grew by less than this factor stands still: templates make it jitter by a few tokens."""
_TRUNCATION_GROWTH = 200
"""Tokens that a request must have grown by before a flat count of the provider says that it cuts prompts."""


def begin_turn(run: RunState, messages: Sequence[Message]) -> None:
    """Begin the next turn with what comes from outside; the outcome of the one before it moves into the notes."""
    trace, counters = run.trace, run.counters
    if trace.outcome.reason:
        before = {"kind": "turn", "text": trace.outcome.reason, "step": len(trace.steps)}
        trace.notes.append({**before, "outcome": trace.outcome.to_dict()})
    run.failure, trace.outcome, run.phase = None, Outcome(), Phase.PREPARE
    counters.turn_start = len(trace.steps)
    counters.signatures, counters.rejected, counters.failing, counters.nudges = [], [], 0, 0
    for message in messages:
        at = trace.add(message, maker_of(message.role))
        if message.role == "user":
            counters.task_at = at
            trace.task = trace.task or message.text
            trace.title = trace.title or head(message.text, 60)


def turns_begun(run: RunState) -> int:
    """How many turns the conversation has had, the one at hand included."""
    begun = [note for note in run.trace.notes if note.get("kind") == "turn" or note.get("new_turn")]
    return 1 + len(begun)


def hear(run: RunState, messages: Sequence[Message], at: str | None = None) -> None:
    """Take in what was said from outside while a step went on, now or ``at`` a time."""
    for message in messages:
        run.trace.add(message, maker_of(message.role), run.step.index, at=at)


def calls_before(run: RunState, pending: PendingCall) -> list[dict[str, Any]]:
    """The arguments of the calls of the same tool before this one, as a person may have edited them."""
    earlier = [tool.arguments for step in run.trace.steps[:-1] for tool in step.tools if tool.name == pending.name]
    for other in run.pending:
        if other is pending:
            break
        if other.name == pending.name:
            edited = other.decision.arguments if other.decision else None
            earlier.append(other.call.arguments if edited is None else edited)
    return earlier


def goes_on_with_step(run: RunState) -> bool:
    """Whether the next model call belongs to the step at hand.

    So it is where the call was refused as too long, or never came back because the program was interrupted.
    """
    last = run.trace.steps[-1] if run.iteration else None
    return bool(last and last.reply is None and (last.latency_ms is None or run.context.refused_step == last.index))


def step_number(run: RunState) -> int:
    """The step at hand, from 1; before prepare and call the one that they are the beginning of."""
    count = len(run.trace.steps)
    begins = run.phase in (Phase.PREPARE, Phase.CALL) and not goes_on_with_step(run)
    return count + 1 if begins else max(count, 1)


def begin_step(run: RunState) -> TraceStep:
    """The record of the step whose model call is about to be made."""
    steps = run.trace.steps
    if not goes_on_with_step(run):
        steps.append(TraceStep(index=len(steps) + 1))
    elif (then := steps[-1].extra.pop(ASKED_UNTIL, None)) and len(steps) > 1:
        steps[-2].extra.setdefault(ASKED_UNTIL, then)
    step = steps[-1]
    step.started, step.request = clock.now(), run.request
    return step


def asked_now(trace: Trace) -> dict[str, Any]:
    """What a model call is asked with beside its messages, as the trace has it now."""
    return {"tools": trace.tools, **{key: trace.config.get(key) for key in (ASKED_WITH, "protocol")}}


def note_asked(trace: Trace, before: dict[str, Any]) -> None:
    """Keep what the steps so far were asked with, where it is no longer what the trace says now.

    Args:
        trace: the trace, with its new tools and config.
        before: what :func:`asked_now` gave before the change.
    """
    if not trace.steps:
        return
    last = trace.steps[-1].extra
    then = last.pop(ASKED_UNTIL, before)
    if then != asked_now(trace):
        last[ASKED_UNTIL] = then


def asked_at(trace: Trace, position: int) -> dict[str, Any]:
    """What the step at this position of the list of steps was asked with; after the last one: what holds now."""
    noted = (
        step.extra[ASKED_UNTIL] for step in trace.steps[position:] if isinstance(step.extra.get(ASKED_UNTIL), dict)
    )
    return next(noted, None) or asked_now(trace)


def keep_asked(trace: Trace, source: Trace) -> None:
    """Let a trace that is the beginning of another one say the same of what its steps were asked with."""
    for step, original in zip(trace.steps, source.steps, strict=False):
        if (noted := original.extra.get(ASKED_UNTIL)) is not None:
            step.extra[ASKED_UNTIL] = noted
    then = asked_at(source, len(trace.steps))
    trace.tools = then["tools"]
    trace.config = {**trace.config, **{key: then.get(key) for key in (ASKED_WITH, "protocol")}}


def record_reply(run: RunState, reply: ModelReply, latency_ms: float, *, need_tokens: bool) -> None:
    """Append the assistant message as it came, and note what the provider said about it.

    Args:
        run: the run.
        reply: what the model answered.
        latency_ms: of the call.
        need_tokens: a limit depends on the tokens, so what is not reported is estimated and marked.
    """
    step, counters = run.step, run.counters
    step.usage = reply.usage
    if need_tokens and (reply.usage is None or reply.usage.total is None):
        step.usage = estimate_usage(run, reply)
    step.latency_ms, step.first_token_ms = latency_ms, reply.first_token_ms
    step.finish_reason, step.cost, step.model = reply.finish_reason, reply.cost, reply.model
    if reply.retries:
        step.retries = [asdict(retry) for retry in reply.retries]
    if reply.warnings:
        step.warnings = list(reply.warnings)
    if warning := truncation_warning(run):
        step.warnings.append(warning)
    step.reply = run.trace.add(reply.message, Maker.MODEL, step.index, raw=reply.raw)
    step.tools = [
        ToolRun(tool_call_id=call.id, name=call.name, arguments=call.arguments) for call in reply.message.tool_calls
    ]
    run.pending = [PendingCall(call) for call in reply.message.tool_calls]
    if reply.faults:
        step.extra[ARMED] = [fault.to_dict() for fault in reply.faults]
        for fault in reply.faults:
            run.arm(fault)
    count_usage(run, step.usage, reply.cost)
    counters.model_calls += 1


def count_usage(run: RunState, usage: Usage | None, cost: float | None) -> None:
    """Add one model call to what the budgets are measured against."""
    if usage is not None:
        run.counters.tokens += usage.total or 0
        run.counters.tokens_estimated |= usage.estimated
    if cost is not None:
        run.counters.cost = (run.counters.cost or 0.0) + cost


def record_failure(run: RunState, error: AgentError, latency_ms: float, *, answered: bool) -> None:
    """Note a model call that gave no reply.

    Args:
        run: the run.
        error: what went wrong.
        latency_ms: of the call, its retries included.
        answered: the model was really asked, so its next call is the next turn of a script.
    """
    run.step.latency_ms = round(latency_ms, 3)
    run.counters.model_calls += answered
    if isinstance(error, ModelError):
        run.step.retries = [asdict(retry) for retry in error.retries]


def estimate_usage(run: RunState, reply: ModelReply) -> Usage:
    """What the call probably took; the provider's numbers stand where there are any."""
    given = reply.usage or Usage()
    prompt, completion = given.prompt_tokens, given.completion_tokens
    if prompt is None:
        prompt = tokens.count_messages(request_of(run.trace, run.step)) + tokens.count_schemas(run.trace.tools)
    if completion is None:
        completion = tokens.count_message(reply.message)
    return Usage(
        prompt,
        completion,
        prompt + completion,
        given.cached_tokens,
        given.cache_write_tokens,
        given.reasoning_tokens,
        True,
    )


def record_result(run: RunState, index: int, pending: PendingCall, result: ToolResult) -> None:
    """Keep the result of a call until the batch is complete, and how it came about."""
    decision = pending.decision
    pending.result, pending.finished = result, pending.finished or clock.now()
    tool = run.step.tools[index]
    tool.name = pending.name or pending.call.name
    tool.started, tool.latency_ms, tool.ok = pending.started, result.latency_ms, result.ok
    if decision is None:
        tool.decision = UNKNOWN
    else:
        tool.decision = "timed_out" if result.timed_out else decision.kind
        if decision.arguments is not None:
            tool.arguments = decision.arguments
        if decision.by == "user" and decision.kind != "run":
            _note_intervention(run, decision.kind, Phase.APPROVE, {"call": pending.call.id, **decision.words()})


def note_unknowns(run: RunState) -> None:
    """Say in the trace which tools had begun when the program ended, and gave no result."""
    for tool, pending in zip(run.tool_runs, run.pending, strict=True):
        if pending.begun and pending.result is None:
            tool.decision = UNKNOWN


def _note_intervention(run: RunState, kind: str, phase: Phase, params: dict[str, Any]) -> None:
    about = {"kind": kind, "params": params, "step": len(run.trace.steps), "phase": str(phase), "by": "user"}
    run.trace.interventions.append(about)


def note_extension(run: RunState, changes: dict[str, Any]) -> None:
    """A person let the run go on with other settings."""
    _note_intervention(run, "extended", Phase.DECIDE, changes)


def note_detour(run: RunState, text: str, following: Phase | None, **more: Any) -> None:
    """Say in the trace that the run leaves the usual way from phase to phase.

    Only so can :mod:`agent.moments` tell later where the run had been.
    """
    left = {"step": step_number(run), "phase": run.phase and str(run.phase)}
    phase, run.phase = run.phase, following
    goes_on = {"step": step_number(run), "phase": following and str(following)}
    run.phase = phase
    if run.failure:
        more["failure"] = [str(run.failure.reason), run.failure.detail]
    run.trace.notes.append({"kind": DETOUR, "text": text, **left, "next": goes_on, **more})


def note_refusal(run: RunState) -> None:
    """The provider found the request too long, and a shorter one will be made; the refused one is kept."""
    refused = run.request and run.request.to_dict()
    note_detour(
        run, "the model server found the request too long; a shorter one is made", Phase.PREPARE, request=refused
    )


def note_no_request(run: RunState, why: Stop) -> None:
    """Prepare could not make a request."""
    note_detour(run, f"there can be no request: {why.detail}", Phase.DECIDE)


def reopen(run: RunState, following: Phase) -> None:
    """Let a turn that was over go on at a phase. Its outcome moves into the notes; what counts repeats begins anew."""
    trace, counters = run.trace, run.counters
    before = trace.outcome
    run.failure, trace.outcome = None, Outcome()
    counters.signatures, counters.failing = [], 0
    text = f"the run had ended ({before.reason}) and goes on"
    note_detour(run, text, following, outcome=before.to_dict())
    run.phase = following


def append_results(run: RunState, budget: ContextBudget | None) -> None:
    """Write one tool message for each call, in call order, under the call's id."""
    step = run.step
    for index, pending in enumerate(run.pending):
        result = pending.result or ToolResult.failed(INTERRUPTED, retryable=True)
        if pending.result is None:
            record_result(run, index, pending, result)
        text = (pending.decision.notice() if pending.decision else "") + result.text
        shown = cap_result(text, budget.result_limit) if budget else text
        message = Message("tool", shown, tool_call_id=pending.result_id or pending.call.id)
        raw = None if shown is text else text
        step.tools[index].message = run.trace.add(message, _maker(pending), step.index, at=pending.finished, raw=raw)


def note_rejections(run: RunState) -> None:
    """Remember what a person rejected, so that the same call made again is refused without asking."""
    for pending in run.pending:
        if pending.decision and pending.decision.kind == "rejected":
            again = digest(pending.call, with_id=False)
            if again not in run.counters.rejected:
                run.counters.rejected.append(again)


def nudge(run: RunState) -> None:
    """Ask the model to go on after an empty answer: one message of the program's own, visible like any other."""
    run.counters.nudges += 1
    run.trace.add(Message("user", NUDGE), Maker.CODE, run.step.index)


def note_compaction(run: RunState, fitted: Fitted) -> None:
    """Say in the trace that the request of this step holds less than the message list."""
    left_out = sum(end - start for start, end in run.context.dropped)
    text = f"{left_out} messages are left out of the request: {fitted.before} tokens became {fitted.tokens}"
    kind = "the provider's count" if run.context.known else "estimated"
    run.trace.notes.append({"kind": "context", "text": f"{text} ({kind})", "step": step_number(run)})


def note_summary(run: RunState, text: str, reply: ModelReply, latency_ms: float) -> None:
    """Keep a summary that the context budget had made: what it says, and what making it took."""
    took = {"usage": reply.usage and reply.usage.to_dict(), "latency_ms": latency_ms, "cost": reply.cost}
    run.trace.notes.append({"kind": "summary", "text": text, "step": step_number(run), **took})


def wants_log() -> bool:
    """Whether anybody listens to the records of steps."""
    return logger.isEnabledFor(logging.INFO)


def step_record(run: RunState, state: str) -> dict[str, Any]:
    """The structured record of the step that just ended in ``state``."""
    step, usage = run.step, run.step.usage or Usage()
    return {
        "trace_id": run.trace.trace_id,
        "step": step.index,
        "state": state,
        "msg_count": len(run.trace.messages),
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total,
        "latency_ms": step.latency_ms,
        "tool_latency_ms": {tool.tool_call_id: tool.latency_ms for tool in step.tools},
    }


def log_step(run: RunState, state: str) -> None:
    """One record on the logger ``agent`` for the step that just ended in ``state``."""
    logger.info("agent.step", extra=step_record(run, state))


def _maker(pending: PendingCall) -> Maker:
    kind = pending.decision.kind if pending.decision else "denied"
    if kind in ("mocked", "rejected"):
        return Maker.USER
    return Maker.ENVIRONMENT if pending.begun and pending.name else Maker.CODE


def truncation_warning(run: RunState) -> str | None:
    """A warning when the provider's prompt count stands still although the request grew.

    Some servers drop the oldest tokens beyond a small default window and answer HTTP 200 all the way.
    """
    steps = run.trace.steps
    if steps[-1].usage is None or len(steps) < 2:
        return None
    before, step = steps[-2:]
    known, now = _reported_prompt(before), _reported_prompt(step)
    if known is None or now is None or now > known * _FLAT or not before.request or not step.request:
        return None
    grown = tokens.count_messages(run.trace.messages[before.request.upto : step.request.upto])
    if grown < _TRUNCATION_GROWTH or step.request.edits:
        return None
    return (
        f"The server's context window is likely cutting the prompt: about {grown} tokens were added, but it still "
        f"counts {now}. Raise the window (Ollama: num_ctx, llama.cpp: --ctx-size)."
    )


def _reported_prompt(step: TraceStep) -> int | None:
    return step.usage.prompt_tokens if step.usage and not step.usage.estimated else None
