"""What ``python -m agent`` shows of a run while it goes on and at its end."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

from agent.console import MOST_SHOWN, one_line, printable, say, tell
from agent.events import AgentEvent, Phase
from agent.loop import Loop
from agent.result import Step, steps_of
from agent.stops import StopReason
from agent.trace import Trace

_CALLS_OPEN = (Phase.APPROVE, Phase.EXECUTE, Phase.APPEND)
"""Phases before which the calls of the last step have no results yet."""

_LOOK_AT = {
    StopReason.MAX_ITERATIONS: "whether the last steps come nearer to an answer; --max-steps allows more",
    StopReason.REPEATED_CALL: "what the model is told by the result that it got each time",
    StopReason.CONSECUTIVE_ERRORS: "the errors in the last results, and what the model made of them",
    StopReason.TOKEN_BUDGET: "how the prompt grows from step to step",
    StopReason.COST_BUDGET: "how the prompt grows from step to step",
    StopReason.DEADLINE: "the latencies of the steps: model or tools",
    StopReason.CONTEXT_OVERFLOW: "the longest results in the message list",
    StopReason.TRUNCATED: "the length limit of one reply",
    StopReason.SCRIPT_EXHAUSTED: "the turns of the script: none of them answers the last request",
}
"""What to look at after a run was ended by something else than the model's answer."""


class Screen:
    """Prints the steps of a run as they are completed.

    Args:
        quiet: print nothing; the trace follows at the end.
    """

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self._printed = 0
        self._turn_began = 0
        self._streamed: list[str] = []
        self._line_open = False

    def begin_turn(self, loop: Loop) -> None:
        """The lines of earlier turns are on the screen already."""
        self._printed, self._turn_began = 0, len(loop.trace.steps)

    def print_steps(self, loop: Loop) -> None:
        """Print the lines that were completed since the last time."""
        open_step = len(loop.trace.steps) - 1 if loop.phase in _CALLS_OPEN else math.inf
        lines = [step for step in steps_of(loop.trace) if self._turn_began <= step.index < open_step]
        for step in [] if self.quiet else lines[self._printed :]:
            if loop.stop_reason is not StopReason.MODEL_ERROR or step.kind != "error":
                say(_line(step))
        self._printed = len(lines)

    def show(self, event: AgentEvent) -> None:
        """Tell on standard error what is worth telling while a model call goes on: streamed text and retries."""
        if self.quiet:
            return
        if event.type == "model.delta" and sys.stderr.isatty():
            self._stream(str(event.payload.get("text") or ""))
            return
        if self._line_open:
            self._line_open = False
            tell("")
        if event.type == "model.retry":
            status = f" with status {event.payload['status']}" if event.payload["status"] else ""
            wait = f"trying again in {event.payload['wait_s']:.1f} s"
            tell(f"note: attempt {event.payload['attempt']} failed{status}, {wait}")

    def print_outcome(self, loop: Loop) -> None:
        """The answer; or why there is none, after how much, and what to look at. And what the evidence says."""
        outcome = loop.trace.outcome
        if loop.stop_reason is StopReason.FINAL:
            if not self._is_on_terminal(outcome.final):
                say(printable(outcome.final))
        elif loop.stop_reason is not StopReason.MODEL_ERROR:
            tell(self._stop_line(loop))
        for answer in outcome.evidence:
            if answer.ok is not True:
                why = f" ({answer.detail})" if answer.detail else ""
                tell(printable(f"not verified: {answer.check}{why}"))

    def _stream(self, text: str) -> None:
        if not self._line_open:
            self._line_open, self._streamed = True, []
        self._streamed.append(text)
        sys.stderr.write(printable(text))
        sys.stderr.flush()

    def _is_on_terminal(self, answer: str) -> bool:
        """Whether the person has just seen the answer come in; the line of the step shows it a second time."""
        return sys.stdout.isatty() and "".join(self._streamed).strip() == answer.strip()

    def _stop_line(self, loop: Loop) -> str:
        rounds = sum(step.reply is not None for step in loop.trace.steps[self._turn_began :])
        used = [f"{rounds} round{'' if rounds == 1 else 's'}", *_burnt(loop.trace)]
        advice = _LOOK_AT.get(loop.stop_reason) if loop.stop_reason else None
        where = f"; look at {advice}" if advice else ""
        return f"no answer: stopped by {loop.stop_reason} after {', '.join(used)}{where}"


def failure(trace: Trace) -> str:
    """Why the model gave no answer, in one sentence."""
    return one_line(trace.outcome.detail or "the model gave no answer", MOST_SHOWN)


def _line(step: Step) -> str:
    """A step as it is printed. A stop may repeat the words of a server, and those of a web page have no end."""
    if step.kind == "error":
        step = replace(step, detail=one_line(step.detail, MOST_SHOWN))
    return printable(str(step))


def _burnt(trace: Trace) -> list[str]:
    """Tokens and money as far as they were reported."""
    usage, costs = trace.usage, [step.cost for step in trace.steps if step.cost is not None]
    tokens = [] if usage.total is None else [f"{'about ' if usage.estimated else ''}{usage.total:,} tokens burnt"]
    return [*tokens, *([f"{sum(costs):.4f} US dollars spent"] if costs else [])]
