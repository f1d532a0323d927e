"""Approve and execute: what happens to the calls of one reply."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

from agent import jsontext
from agent.approval import RUN, Decision, digest
from agent.execution import Job, execute
from agent.limits import Limits
from agent.messages import ToolCall
from agent.policy import CapabilityPolicy
from agent.secret_names import MARK
from agent.state import Counters, PendingCall
from agent.tool_result import ToolResult
from agent.tools import RunContext, Tool, ToolRegistry

NO_CONTEXT = RunContext()
"""Given to the many tools that do not ask about the run."""
UNKNOWN_OUTCOME = "it was running when the program ended, so its outcome is unknown"
SECRET_LOST = "its arguments held a secret, which is not kept on disk"


def approve(
    calls: list[PendingCall], tools: ToolRegistry, policy: CapabilityPolicy | None, limits: Limits, counters: Counters
) -> bool:
    """Decide about every call that is not decided yet. False when a person has to be asked about one.

    A call for which a person must be asked stays undecided, with a ``question``. The policy is asked with the name that
    the call resolved to, whatever the model wrote. What it denies is denied, also where a person let it run before.
    """
    decided = True
    for index, pending in enumerate(calls):
        if pending.result is not None:
            continue
        tool = tools.resolve(pending.call.name)
        pending.name = tool.name if tool else None
        if pending.decision is not None:
            if pending.decision.by == "user":
                pending.decision = _under(policy, pending.decision, tool)
        elif pending.begun or pending.question:
            decided = False
        else:
            pending.decision, pending.question = _verdict(index, pending, policy, limits, counters)
            decided = decided and pending.decision is not None
    return decided


def foresee(
    calls: list[PendingCall], tools: ToolRegistry, policy: CapabilityPolicy | None, limits: Limits, counters: Counters
) -> list[PendingCall]:
    """The calls as :func:`approve` would leave them, as copies: nothing is decided yet."""
    ahead = [replace(pending) for pending in calls]
    approve(ahead, tools, policy, limits, counters)
    return ahead


def ask_about_unknowns(calls: list[PendingCall]) -> bool:
    """Take the approval back from every tool that had begun and has no result: whether it ran is for a person to say.

    True when there is such a call.
    """
    unknown = [pending for pending in calls if pending.begun and pending.result is None]
    for pending in unknown:
        if pending.decision is not None or not pending.question:  # otherwise a person is asked already
            pending.before, pending.decision, pending.question = pending.decision, None, UNKNOWN_OUTCOME
    return bool(unknown)


def ask_about_lost_secrets(calls: list[PendingCall]) -> bool:
    """Take the approval back from every call that would run with a mark where a secret was before it went to disk.

    What was decided without letting such arguments run stays, and holds for the call as it is now. True when there is a
    call to ask about.
    """
    asked = False
    for pending in calls:
        if pending.result is not None:
            continue
        call, decision = pending.call, pending.decision
        if _would_run_marked(call, decision or pending.before):
            pending.decision, pending.before, pending.question, asked = None, None, SECRET_LOST, True
        elif decision is not None and decision.digest and MARK in call.arguments_text():
            pending.decision = decision.about(call)
    return asked


def _would_run_marked(call: ToolCall, decision: Decision | None) -> bool:
    if decision is None or decision.arguments is None:
        return (decision is None or decision.runs) and MARK in call.arguments_text()
    return decision.runs and MARK in jsontext.dumps(decision.arguments)


def _verdict(
    index: int, pending: PendingCall, policy: CapabilityPolicy | None, limits: Limits, counters: Counters
) -> tuple[Decision | None, str]:
    if counters.rejected and digest(pending.call, with_id=False) in counters.rejected:
        return Decision("rejected", "user", "the same call was rejected before"), ""
    if limits.calls_per_step is not None and index >= limits.calls_per_step:
        return Decision("skipped", reason=f"not run: at most {limits.calls_per_step} calls in one reply"), ""
    if pending.name is None:
        return RUN, ""
    verdict, reason = policy.check(pending.name) if policy else ("run", "")
    if verdict == "deny":
        return Decision("denied", "policy", reason), ""
    return (None, reason) if verdict == "ask" else (RUN, "")


def act(
    calls: list[PendingCall],
    tools: ToolRegistry,
    policy: CapabilityPolicy | None,
    context: Callable[[PendingCall], RunContext],
    begin: Callable[[int], object],
    *,
    parallel: bool,
    stop: threading.Event,
    deadline_s: float | None = None,
    change: Callable[[list[Job]], list[Job]] | None = None,
) -> Iterator[tuple[int, ToolResult]]:
    """Run what was approved and answer the rest; gives the position and the result of each call as it comes.

    Args:
        calls: all calls of the reply; those with a result are passed over.
        tools: where the tools are.
        policy: asked once more, right before a tool runs: between approval and now it may have changed.
        context: what a tool that asks for it is told about the run.
        begin: told the position of each call right before its tool starts.
        parallel: whether tools may run at the same time.
        stop: set when the user stops the run.
        deadline_s: seconds after which a tool that still runs is given up.
        change: gives the calls that really run, for a fault that takes the place of a tool.
    """
    jobs = []
    for position, pending in enumerate(calls):
        if pending.result is not None:
            continue
        tool = tools.resolve(pending.call.name)
        pending.decision = decision = _last_word(pending, tool, policy)
        if (answer := decision.answer()) is not None:
            yield position, answer
        elif tool is None or (pending.call.problem and decision.kind != "edited"):
            begin(position)
            yield position, tools.run(pending.call, context(pending))
        else:
            arguments = decision.arguments if decision.arguments is not None else pending.call.arguments
            told = context(pending) if tool.wants_context else NO_CONTEXT
            jobs.append(Job(position, pending.call, tool, arguments, told))
    if change:
        jobs = change(jobs)
    yield from execute(jobs, parallel=parallel, stop=stop, deadline_s=deadline_s, begin=begin)


def _last_word(pending: PendingCall, tool: Tool | None, policy: CapabilityPolicy | None) -> Decision:
    """The decision that holds now."""
    decision = pending.decision or Decision("denied", reason="nobody approved this call")
    if not decision.holds_for(pending.call):
        return Decision("denied", reason="the approval was for another call")
    return _under(policy, decision, tool)


def _under(policy: CapabilityPolicy | None, decision: Decision, tool: Tool | None) -> Decision:
    """The decision, or the policy's denial of what it would let run."""
    if policy is None or tool is None or not decision.runs:
        return decision
    verdict, reason = policy.check(tool.name)
    if verdict == "deny" or (verdict == "ask" and decision.by != "user"):
        return Decision("denied", "policy", reason)
    return decision
