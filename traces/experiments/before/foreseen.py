"""What is known of a task before any run of it: how long its requests and replies are, taken from its baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from agent import tokens
from agent.events import Maker
from agent.request import PromptSizes
from agent.trace import Request, Trace, TraceStep
from traces.experiments.before.baseline import baseline, before_step
from traces.experiments.design.experiment import NOTHING_CHANGED
from traces.experiments.subjects.task import Task

_SHORT = 20
"""Tokens of a short answer."""


class Use(NamedTuple):
    """What some model calls take."""

    calls: int = 0
    prompt: int = 0
    """Tokens."""
    completion: int = 0
    """Tokens."""

    def plus(self, other: Use) -> Use:
        """Both together."""
        return Use(*(mine + its for mine, its in zip(self, other, strict=True)))

    def times(self, count: int) -> Use:
        """The same, so many times."""
        return Use(*(each * count for each in self))


class Foreseen(NamedTuple):
    """One run of a task as it is known before."""

    use: Use
    """What it takes as recorded, or as its script has it; of a task of the user's own one call with a short answer."""
    first: int
    """Tokens of its first request."""
    reply: int | None
    """Tokens of its longest reply; None: nothing is known."""
    results: int | None
    """Tokens of the most results of one step; None: nothing is known."""
    turns: int
    """How often the user speaks, from there on."""
    latency_ms: float | None
    """Of a model call on average, where a real one was recorded."""


def foreseen(task: Task, *, stated: bool) -> Foreseen:
    """What is known of a run of a task.

    Args:
        task: any.
        stated: whether to believe the tokens that steps state. Those of a script mean nothing to a live model.
    """
    trace = baseline(task)
    if trace is None or not trace.steps:
        loop = before_step(task, NOTHING_CHANGED, 1).loop
        schemas = loop.tools.schemas()
        first = tokens.count_messages(loop.messages) + tokens.count_schemas(schemas)
        return Foreseen(Use(1, first, _SHORT), first, None, None if schemas else 0, 1, None)
    if not stated:
        trace = replace(trace, steps=[replace(step, usage=None) for step in trace.steps])
    steps = trace.steps if task.source is None else trace.steps[task.subject.step - 1 :]
    steps = steps[:1] if task.subject.reruns_decision else steps
    sizes = PromptSizes(trace)
    calls = [_call(trace, step, sizes) for step in steps]
    times = [step.latency_ms for step in steps if step.latency_ms is not None] if task.source else []
    return Foreseen(
        use=Use(len(calls), sum(prompt for prompt, _ in calls), sum(completion for _, completion in calls)),
        first=calls[0][0],
        reply=max(completion for _, completion in calls),
        results=max(_results(trace, step) for step in steps),
        turns=1 + _later_turns(trace, steps[0]),
        latency_ms=sum(times) / len(times) if times else None,
    )


def _call(trace: Trace, step: TraceStep, sizes: PromptSizes) -> tuple[int, int]:
    """Tokens of the prompt and of the reply of a step: as stated, else estimated."""
    usage, reply = step.usage, step.reply
    prompt = usage.prompt_tokens if usage else None
    completion = usage.completion_tokens if usage else None
    if prompt is None:
        prompt = sizes.about(step.request or Request(upto=len(trace.messages) if reply is None else reply))
    if completion is None:
        completion = 0 if reply is None else tokens.count_message(trace.messages[reply])
    return prompt, completion


def _results(trace: Trace, step: TraceStep) -> int:
    there = (run.message for run in step.tools)
    return tokens.count_messages(trace.messages[position] for position in there if position is not None)


def _later_turns(trace: Trace, step: TraceStep) -> int:
    """How often the user speaks after the request of a step."""
    upto = step.request.upto if step.request else step.reply or 0
    rest = zip(trace.messages[upto:], trace.entries[upto:], strict=True)
    return sum(message.role == "user" and entry.maker != Maker.CODE for message, entry in rest)
