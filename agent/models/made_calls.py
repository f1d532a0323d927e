"""The model calls that a trace tells of, in their order: those of the steps, and those that are no step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agent.events import Phase
from agent.noting import DETOUR
from agent.stops import ANSWERED
from agent.trace import Request, Trace


class ModelCall(NamedTuple):
    """One model call of a trace."""

    step: int
    """The step that it belongs to, from 1."""
    kind: str
    """``reply``; ``summary``, of the context budget; ``refused``, as too long, and made again shorter; ``failed``."""
    request: Request | None
    """What was sent; None where the trace does not say."""
    note: Mapping[str, Any] | None = None
    """The note that tells of a summary or a refusal."""


def model_calls(trace: Trace) -> Iterator[ModelCall]:
    """Every model call of a run, in order: the n-th one is what the n-th turn of a script of this run answers.

    A call that was stopped, or never came back, is none of them: it is made again when the run goes on. A failure that
    a fault put in is one: a script says it as a turn of its own.
    """
    told = sorted((note for note in trace.notes if _tells_of_a_call(note)), key=_step_of)
    told.reverse()
    failed = _failed_steps(trace)
    for number, step in enumerate(trace.steps, 1):
        while told and _step_of(told[-1]) <= number:
            yield _told(told.pop())
        if step.reply is not None:
            yield ModelCall(number, "reply", step.request)
        elif number in failed:
            yield ModelCall(number, "failed", step.request)
    while told:
        yield _told(told.pop())


def _tells_of_a_call(note: Mapping[str, Any]) -> bool:
    refused = note.get("kind") == DETOUR and isinstance(note.get("request"), Mapping)
    return refused or note.get("kind") == "summary"


def _step_of(note: Mapping[str, Any]) -> int:
    step = note.get("step")
    return step if isinstance(step, int) else 0


def _told(note: Mapping[str, Any]) -> ModelCall:
    if note.get("kind") == "summary":
        return ModelCall(_step_of(note), "summary", None, note)
    return ModelCall(_step_of(note), "refused", Request.from_dict(note["request"]), note)


def _failed_steps(trace: Trace) -> set[int]:
    """The steps, by number, at which the run ended because a model call failed, or would have ended."""
    reasons: dict[int, Any] = {len(trace.steps): trace.outcome.reason}
    never_made = set()
    for note in trace.notes:
        outcome, failure = note.get("outcome"), note.get("failure")
        if isinstance(outcome, Mapping):
            reasons[_step_of(note)] = outcome.get("reason")
        elif isinstance(failure, (list, tuple)) and failure:
            reasons[_step_of(note)] = failure[0]
            if note.get("phase") == Phase.PREPARE:
                never_made.add(_step_of(note))
    return {step for step, reason in reasons.items() if reason in ANSWERED} - never_made
