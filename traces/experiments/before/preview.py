"""The preview of a condition: what a model call is given under it, beside what it is given where nothing is changed.

Both requests are built by the loop itself, which stands before the step and goes no further: no model is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from agent import tokens
from agent.errors import AgentError
from agent.interventions import KINDS, hidden_tools
from agent.loop import Loop
from agent.messages import Message
from agent.protocol import violations
from agent.request import Placed, apply_edits, lay_out
from agent.trace import Edit, Trace
from traces.experiments.before.baseline import before_step
from traces.experiments.design.experiment import NOTHING_CHANGED, ArmedFault, Condition
from traces.experiments.subjects.task import Task

ON_PURPOSE = "this request is broken on purpose: strict servers refuse it, and others guess what is meant"


class Pair(NamedTuple):
    """One message of the two requests, side by side."""

    before: Placed | None
    """As the baseline has it; None: it is inserted by the condition."""
    after: Placed | None
    """As the condition has it; None: it is no longer inserted."""

    @property
    def changed(self) -> bool:
        """Whether the two differ."""
        if self.before is None or self.after is None:
            return True
        gone = (self.before.op == "drop", self.after.op == "drop")
        return gone[0] != gone[1] or (not all(gone) and self.before.message != self.after.message)


@dataclass(frozen=True, slots=True)
class Preview:
    """One request under a condition, and the same request in the baseline."""

    trace: Trace
    """The run as it stands before the step; the edits speak of its messages."""
    step: int
    messages: Sequence[Message]
    """The messages that the request is made of."""
    original: tuple[Edit, ...]
    """What the baseline's request changes of them: the context budget, and interventions of the run's own."""
    edits: tuple[Edit, ...]
    """The same of the condition's request, all together."""
    hidden: frozenset[str]
    """Tools that the condition takes off the offer, and that were on it."""
    problems: tuple[str, ...]
    """Why a strict server would refuse the request, or why there can be none: a sentence each."""
    broken: bool
    """Whether it breaks the protocol on purpose."""
    tokens_before: int
    """About how many tokens the baseline's request takes, the tools on offer included."""
    tokens_after: int
    notes: tuple[str, ...]
    """What the condition does besides: settings that are off, tools, faults; a sentence each."""

    @property
    def pairs(self) -> list[Pair]:
        """The two requests row for row, what is left out in its place."""
        return list(_pairs(self.messages, self.original, self.edits))

    @property
    def same(self) -> bool:
        """Whether the model is given the same in both."""
        return not self.hidden and not any(pair.changed for pair in self.pairs)


def preview(task: Task, condition: Condition, step: int, trace: Trace | None = None) -> Preview:
    """What a model call is given under a condition, when everything before it went as in the baseline.

    Args:
        task: what is run.
        condition: under which.
        step: of the run, from 1.
        trace: the baseline of the task, where it is at hand: it saves playing a script once more.

    Raises:
        InputError: there is no such step, or the condition makes no sense for this task; the text says why.
        AgentError: there can be no request in the baseline either.
    """
    before = before_step(task, NOTHING_CHANGED, step, trace).loop
    after = before_step(task, condition, step, trace).loop
    original = _edits(before)
    messages = tuple(before.messages)
    edits, problems = original, list[str]()
    try:
        edits = _edits(after)
    except AgentError as error:
        problems.append(str(error))
    sent = apply_edits(messages, edits)
    offered = {name: tokens.count_schemas([schema]) for name, schema in _offered(before).items()}
    hidden = hidden_tools(condition.interventions) & set(offered)
    return Preview(
        trace=before.trace,
        step=step,
        messages=messages,
        original=original,
        edits=edits,
        hidden=hidden,
        problems=tuple(problems or (each.text for each in violations(sent))),
        broken=condition.breaks_protocol,
        tokens_before=tokens.count_messages(apply_edits(messages, original)) + sum(offered.values()),
        tokens_after=tokens.count_messages(sent) + sum(size for name, size in offered.items() if name not in hidden),
        notes=tuple(_notes(condition, set(offered))),
    )


def fault_words(armed: ArmedFault) -> str:
    """A fault of a condition in a sentence."""
    about, params = armed.fault.about, armed.fault.params
    set_to = "".join(f", {name} {value}" for name, value in params.items())
    return f"at step {armed.step}{set_to}: {about.sentence}"


def _edits(loop: Loop) -> tuple[Edit, ...]:
    step = loop.next_step()
    return tuple(step.request.edits) if step is not None and step.request is not None else ()


def _offered(loop: Loop) -> dict[str, dict[str, object]]:
    """The schemas of the tools on offer by name."""
    return {str(schema.get("function", {}).get("name")): schema for schema in loop.tools.schemas()}


def _pairs(messages: Sequence[Message], original: Sequence[Edit], edits: Sequence[Edit]) -> Iterator[Pair]:
    """Both lists have one row for each message, and before it those that are inserted there."""
    before, after = _by_position(messages, original), _by_position(messages, edits)
    for position in range(len(messages) + 1):
        (inserted, kept), (also_inserted, also_kept) = before.get(position, _NONE), after.get(position, _NONE)
        yield from (Pair(*both) for both in zip_longest(inserted, also_inserted))
        yield from (Pair(*both) for both in zip_longest(kept, also_kept))


_NONE: tuple[list[Placed], list[Placed]] = ([], [])


def _by_position(messages: Sequence[Message], edits: Sequence[Edit]) -> dict[int, tuple[list[Placed], list[Placed]]]:
    """By position: what is inserted before it, and the message itself."""
    rows: dict[int, tuple[list[Placed], list[Placed]]] = {}
    for placed in lay_out(messages, edits):
        rows.setdefault(placed.position, ([], []))[placed.op != "insert"].append(placed)
    return rows


def _notes(condition: Condition, offered: set[str]) -> Iterator[str]:
    if condition.breaks_protocol:
        yield ON_PURPOSE
    for item in condition.interventions:
        if item.about.group == "switch":
            yield KINDS[item.kind].sentence
        if item.kind == "hide_tool" and item.params["tool"] not in offered:
            yield f"no tool {item.params['tool']!r} is on offer here, so that hiding it changes nothing"
    yield from map(fault_words, condition.faults)
