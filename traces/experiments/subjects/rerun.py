"""Where the rerun of a saved trace begins: at one of its model calls, with the request that was recorded there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agent import clock
from agent.errors import AgentError, InputError
from agent.events import Maker, Phase
from agent.fork import fork
from agent.ids import new_trace_id
from agent.loop import Loop
from agent.messages import Message
from agent.models.absent import AbsentModel
from agent.models.made_calls import model_calls
from agent.moments import moments
from agent.noting import turns_begun
from agent.recorded import tool_names
from agent.request import request_of
from agent.state import Counters, RunState
from agent.trace import Entry, Source, Trace, TraceStep, maker_of
from traces.held import held_by_steps


class Beginning(NamedTuple):
    """A run that stands before a model call of a trace."""

    snapshot: dict[str, Any]
    """What ``Loop.resume`` goes on from."""
    forked: bool
    """False: the recorded request was not the message list, and has become it; the steps before it are not there."""
    turns: int = 1
    """Turns of the conversation that have begun."""


def step_of(trace: Trace, number: int) -> TraceStep:
    """A step of a trace by its number.

    Raises:
        InputError: there is no such step; the text says which ones there are.
    """
    count = len(trace.steps)
    if 1 <= number <= count:
        return trace.steps[number - 1]
    there = "it has no steps" if not count else "its only step is 1" if count == 1 else f"its steps are 1 to {count}"
    raise InputError(f"the trace has no step {number}: {there}")


def sent_in(trace: Trace, step: TraceStep) -> list[Message]:
    """What the model was given in a step: as recorded, else as far as the order of the file says."""
    if step.request is not None:
        return list(request_of(trace, step))
    held = next((each for each in held_by_steps(trace) if each.step is step), None)
    spans = held.spans if held else ((0, len(trace.messages)),)
    return [message for start, end in spans for message in trace.messages[start:end]]


def beginning(trace: Trace, number: int) -> Beginning:
    """The run as it stood before the model call of a step, so that its next request is the recorded one.

    Where the loop would make another request of the message list than was recorded (a client kept part of it back, or
    changed it), the recorded request itself becomes the message list.

    Args:
        trace: without secrets; it stays as it is.
        number: of the step, from 1.

    Raises:
        InputError: there is no such step, or the trace keeps settings that make no sense.
    """
    step = step_of(trace, number)
    sent = sent_in(trace, step)
    here = next((each for each in moments(trace) if each.phase is Phase.PREPARE and each.step == number), None)
    if here is not None:
        snapshot = fork(trace, here)
        if _would_send(snapshot, trace) == sent:
            return Beginning(snapshot, True, turns_begun(RunState.from_dict(snapshot)))
    return Beginning(_of_request(trace, number, sent), False)


def _would_send(snapshot: dict[str, Any], trace: Trace) -> Sequence[Message] | None:
    """The next request of a run; None where there can be none."""
    loop = Loop.resume(snapshot, model=AbsentModel(snapshot), tools=tool_names(trace))
    try:
        step = loop.next_step()
    except AgentError:
        return None
    return None if step is None else list(request_of(loop.trace, step))


def _of_request(trace: Trace, number: int, sent: Sequence[Message]) -> dict[str, Any]:
    """A run without steps whose message list is a recorded request."""
    made = {id(message): entry for message, entry in zip(trace.messages, trace.entries, strict=True)}
    entries = [_entry(made.get(id(message)), message) for message in sent]
    new = Trace(
        trace_id=new_trace_id(),
        created=clock.now(),
        title=trace.title,
        task=trace.task,
        source=Source(kind="fork", parent=trace.trace_id, at={"step": number, "phase": str(Phase.PREPARE)}),
        tools=trace.tools,
        config={name: value for name, value in trace.config.items() if name != "interventions"},
        messages=list(sent),
        entries=entries,
    )
    words = [at for at, message in enumerate(sent) if message.role == "user"]
    counters = Counters(task_at=words[-1] if words else 0, model_calls=_calls_before(trace, number))
    return RunState(new, Phase.PREPARE, counters=counters).to_dict()


def _calls_before(trace: Trace, number: int) -> int:
    """How many model calls were made before the one that the reply of a step answers."""
    calls = [(call.step, call.kind) for call in model_calls(trace)]
    return calls.index((number, "reply")) if (number, "reply") in calls else sum(step < number for step, _ in calls)


def _entry(known: Entry | None, message: Message) -> Entry:
    """Where a message comes from. The steps that made it are not in the new trace."""
    if known is None:
        return Entry(maker=maker_of(message.role))
    maker = Maker.USER if known.maker == Maker.CODE and message.role == "user" else known.maker
    return Entry(maker=str(maker), at=known.at, agent=known.agent, line=known.line)
