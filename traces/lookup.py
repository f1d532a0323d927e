"""What made a message: the step whose reply it is, or the call that it answers."""

from __future__ import annotations

from collections.abc import Iterable

from agent.trace import ToolRun, TraceStep


def steps_by_reply(steps: Iterable[TraceStep]) -> dict[int, TraceStep]:
    """The step of each assistant message, by its position."""
    return {step.reply: step for step in steps if step.reply is not None}


def runs_by_result(steps: Iterable[TraceStep]) -> dict[int, ToolRun]:
    """The call that each result answers, by the position of the result."""
    return {run.message: run for step in steps for run in step.tools if run.message is not None}
