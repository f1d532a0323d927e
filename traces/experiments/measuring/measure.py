"""Measuring: from the trace of one run to its row, by the rules of :mod:`traces.experiments.outcomes`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from agent import jsontext
from agent.cutting import head
from agent.messages import Message
from agent.models.likeness import arguments_of
from agent.models.replies import visible_text, was_cut
from agent.request import PromptSizes, by_position, request_of
from agent.stops import BY_A_PERSON, StopReason
from agent.tokens import count_message
from agent.tool_result import error_in
from agent.trace import Trace, TraceStep
from agent.usage import Usage
from traces.experiments.cells import Cell
from traces.experiments.measuring.inventing import invented_in, normal
from traces.experiments.rows import DECIDED, Row, Status
from traces.experiments.subjects.task import Task
from traces.prices import PriceTable, step_costs

_LONGEST_ANSWER = 2000
_FAILED = (StopReason.MODEL_ERROR, StopReason.CONTEXT_OVERFLOW, StopReason.SCRIPT_EXHAUSTED)
"""The reasons that say that a model call failed."""


def row_of(
    cell: Cell,
    trace: Trace,
    task: Task,
    *,
    first_step: int,
    scripted: bool,
    status: Status | None = None,
    prices: PriceTable | None = None,
) -> Row:
    """What is kept of a run.

    A scripted model costs what its script says, and nothing by a table of prices.

    Args:
        cell: what was run.
        trace: what it left behind.
        task: what it was to do.
        first_step: steps of a recording that come before its own; only its own are measured.
        scripted: whether its model is a scripted one, whose time means nothing.
        status: where it is known from outside, as of a run that was stopped; None: the trace says it.
        prices: for model calls whose cost the provider does not say; None: such costs are not known.
    """
    steps, outcome = trace.steps[first_step:], trace.outcome
    decides = task.subject.reruns_decision
    reply = _reply(trace, steps[0]) if decides and steps else None
    reason = outcome.reason if reply is None else DECIDED
    status = status or _status(reason, task)
    answer = outcome.final if reply is None else visible_text(reply)
    verified = outcome.verified if task.evidence else None
    calls, repeated, errors = _calls(trace, first_step)
    used = _used(trace, steps)
    return Row(
        **cell._asdict(),
        trace_id=trace.trace_id,
        status=status,
        reason=reason,
        detail="" if reason == DECIDED else outcome.detail,
        verified=verified,
        answer=head(answer, _LONGEST_ANSWER),
        decision=None if reply is None else decision_of(reply),
        same_decision=_same_decision(task, reply, status),
        agrees=_agrees(task, answer, reply, status),
        invented=bool(verified is not True and _names_more(trace, steps, answer, reply)),
        steps=len(steps),
        calls=calls,
        repeated_calls=repeated,
        tool_errors=0 if decides else errors,
        prompt_tokens=used.prompt_tokens,
        completion_tokens=used.completion_tokens,
        tokens=used.total,
        estimated=used.estimated,
        cost=_cost(trace, first_step, None if scripted else prices),
        latency_ms=None if scripted else _sum(step.latency_ms for step in steps),
        strip=strip_of(trace, None if reply is None else steps[0].reply),
        started=next((step.started for step in steps if step.started), trace.created),
    )


def decision_of(reply: Message) -> str:
    """The calls of a reply, one a line, the same text for the same calls in whatever order; empty for none."""
    return "\n".join(sorted(f"{call.name}({arguments_of(call)})" for call in reply.tool_calls))


def recorded_answer(task: Task) -> str | None:
    """The final answer of the recorded run, or of the recorded decision; None where there is none.

    It is the text of a reply, as that of a rerun is, whatever else a file of another program calls the outcome.
    """
    if task.source is None or task.recorded_step is None:
        return None
    step = task.recorded_step if task.subject.reruns_decision else task.source.steps[-1]
    reply = _reply(task.source, step)
    if reply is None or reply.tool_calls or was_cut(step.finish_reason):
        return None
    return visible_text(reply) or None


def strip_of(trace: Trace, last: int | None = None) -> str:
    """The message list as one letter a message; :attr:`~traces.experiments.rows.Row.strip` says which.

    Args:
        trace: of the run.
        last: position of the last message that counts; None: all do.
    """
    request = next((step.request for step in reversed(trace.steps) if step.request is not None), None)
    dropped, replaced, _ = by_position(request.edits if request else ())
    changed = {*dropped, *replaced}
    messages = trace.messages if last is None else trace.messages[: last + 1]
    return "".join(_letter(message, at in changed) for at, message in enumerate(messages))


def _letter(message: Message, changed: bool) -> str:
    if message.role in ("tool", "function"):
        if changed:
            return "x"
        return "e" if error_in(message.text) is not None else "t"
    if message.role == "assistant":
        return "c" if message.tool_calls else "a"
    return "s" if message.role in ("system", "developer") else "u"


# ---- how it ended ----


def _status(reason: str | None, task: Task) -> Status:
    if reason in BY_A_PERSON:
        return "stopped"
    if reason == StopReason.SCRIPT_EXHAUSTED and task.source is not None:
        return "ended"  # the end of the recording
    return "error" if reason is None or reason in _FAILED else "ended"


def _reply(trace: Trace, step: TraceStep) -> Message | None:
    return None if step.reply is None else trace.messages[step.reply]


def _same_decision(task: Task, reply: Message | None, status: Status) -> bool | None:
    """Whether it asks for the recorded calls. A failed call is not the recorded decision, and a stopped one is none."""
    if not task.subject.reruns_decision or status == "stopped" or task.source is None or task.recorded_step is None:
        return None
    recorded = _reply(task.source, task.recorded_step)
    if recorded is None:
        return None
    return reply is not None and decision_of(reply) == decision_of(recorded)


def _agrees(task: Task, answer: str, reply: Message | None, status: Status) -> bool | None:
    recorded = recorded_answer(task)
    if recorded is None or status == "stopped":
        return None
    answered = bool(answer.strip()) and (reply is None or not reply.tool_calls)
    return answered and normal(answer) == normal(recorded)


def _names_more(trace: Trace, steps: Sequence[TraceStep], answer: str, reply: Message | None) -> bool:
    """Whether a final answer names something that its request does not hold; no answer names nothing."""
    step = next((step for step in reversed(steps) if step.reply is not None), None)
    if not answer.strip() or step is None or (reply is not None and reply.tool_calls):
        return False
    return bool(invented_in(answer, _texts(trace, step)))


def _texts(trace: Trace, step: TraceStep) -> Iterator[str]:
    """All that a model was given to read: the messages, the calls in them, the tools on offer."""
    for message in request_of(trace, step):
        yield message.text
        yield from (f"{call.name} {call.arguments_text()}" for call in message.tool_calls)
    yield jsontext.dumps(trace.tools)


# ---- numbers ----


def _calls(trace: Trace, first_step: int) -> tuple[int, int, int]:
    """Calls, repeated calls and errors of a run's own steps. A call of the recording can be repeated too."""
    seen: set[tuple[str, str]] = set()
    calls = repeated = errors = 0
    for number, step in enumerate(trace.steps):
        reply, own = _reply(trace, step), number >= first_step
        for call in reply.tool_calls if reply is not None else ():
            key = (call.name, arguments_of(call))
            calls, repeated = calls + own, repeated + (own and key in seen)
            seen.add(key)
        errors += sum(run.ok is False for run in step.tools) if own else 0
    return calls, repeated, errors


def _used(trace: Trace, steps: Sequence[TraceStep]) -> Usage:
    """The tokens of the model calls that were answered: as reported, else counted by us, which is marked."""
    sizes = PromptSizes(trace)
    used = Usage.sum(_usage(trace, step, sizes) for step in steps)
    return replace(used, total_tokens=None)  # prompt and completion together, as the rule says


def _usage(trace: Trace, step: TraceStep, sizes: PromptSizes) -> Usage | None:
    reply, known = _reply(trace, step), step.usage or Usage()
    if known.prompt_tokens is not None and known.completion_tokens is not None:
        return known
    if reply is None:
        return step.usage
    prompt, completion = known.prompt_tokens, known.completion_tokens
    return Usage(
        prompt_tokens=sizes.about(step.request) if prompt is None else prompt,
        completion_tokens=count_message(reply) if completion is None else completion,
        estimated=True,
    )


def _cost(trace: Trace, first_step: int, prices: PriceTable | None) -> float | None:
    """What the answered calls cost together; None where that of one of them is not known."""
    costs = [each.value for each in step_costs(trace, prices or PriceTable())[first_step:]]
    answered = [cost for cost, step in zip(costs, trace.steps[first_step:], strict=True) if step.reply is not None]
    return None if None in answered else _sum(answered)


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; None where nothing is. What is no sum that can be true counts as not known."""
    known = [value for value in values if value is not None and math.isfinite(value) and value >= 0]
    return sum(known) if known else None
