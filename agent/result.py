"""The plain call: ``run(...)`` and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from agent.loop import Loop
from agent.messages import Message
from agent.models.base import Model
from agent.models.replies import visible_text
from agent.stops import StopReason
from agent.tools import Tool, ToolRegistry
from agent.trace import Trace, TraceStep

StepKind = Literal["tool_call", "final", "error"]


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a run: a tool call with its result, the final answer, or why there is none.

    All calls of one round carry the same index, from 0.
    """

    index: int
    kind: StepKind
    detail: str

    def __str__(self) -> str:
        """The printed line: ``[0] tool_call add({'a': 2, 'b': 3}) -> 5``."""
        return f"[{self.index}] {self.kind:<9} {self.detail}"


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run came to."""

    messages: list[Message]
    steps: list[Step]
    final: str
    """The final answer; empty when there is none, and the last step says why."""
    reason: StopReason | None
    """Why it ended; None while it goes on."""
    trace: Trace


def run(
    model: Model,
    registry: ToolRegistry | Iterable[Tool | Callable[..., Any]] = (),
    user_input: str = "",
    system: str = "",
    max_steps: int | None = 8,
    **options: Any,
) -> RunResult:
    """Run one task to its end. Never raises for what the model or a tool does: that is in the last step.

    Args:
        model: anything with ``complete(messages, tool_schemas)``.
        registry: the tools.
        user_input: the task.
        system: the system text; empty for none.
        max_steps: the fuse. When it blows, the last step is ``Step(max_steps, "error", ...)``.
        options: further arguments of :class:`~agent.loop.Loop`.
    """
    loop = Loop(model, registry, system=system, max_steps=max_steps, **options)
    loop.start(user_input)
    loop.finish()
    return result_of(loop.trace)


def result_of(trace: Trace) -> RunResult:
    """The result of the run that left this trace, its steps told from the trace alone."""
    outcome = trace.outcome
    reason = StopReason(outcome.reason) if outcome.reason else None
    return RunResult(trace.messages, steps_of(trace), outcome.final, reason, trace)


def steps_of(trace: Trace) -> list[Step]:
    """The steps of a run as far as it has come, one for each tool call and one for the end."""
    steps = [line for step in trace.steps for line in _lines(trace, step)]
    outcome = trace.outcome
    if outcome.reason and outcome.reason != StopReason.FINAL:
        stopped = f"{outcome.reason}: {outcome.detail}" if outcome.detail else outcome.reason
        told = steps[-1].index if steps else -1
        steps.append(Step(told + 1, "error", stopped))
    return steps


def _lines(trace: Trace, step: TraceStep) -> list[Step]:
    lines = []
    for tool in step.tools:
        text = "" if tool.message is None else trace.messages[tool.message].text
        lines.append(Step(step.index - 1, "tool_call", f"{tool.name}({tool.arguments}) -> {text}"))
    ended = step is not trace.steps[-1] or trace.outcome.final
    if not step.tools and step.reply is not None and ended and (text := visible_text(trace.messages[step.reply])):
        lines.append(Step(step.index - 1, "final", text))
    return lines
