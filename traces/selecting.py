"""A part of a trace that is a trace itself: some of its steps, and what people and the program said before them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from agent.errors import InputError
from agent.trace import Request, Trace, TraceStep


def select_steps(trace: Trace, wanted: Collection[int]) -> Trace:
    """The trace with these steps alone. Messages of no step stay where they stand before the last step kept.

    Args:
        trace: never changed.
        wanted: numbers of steps, from 1, as in ``TraceStep.index``.

    Raises:
        InputError: the trace has none of these steps.
    """
    kept = [step for step in trace.steps if step.index in wanted]
    if not kept:
        raise InputError(f"the trace has none of these steps; it has {len(trace.steps):,}")
    own = {position for step in kept for position in _positions(step)}
    others = {position for step in trace.steps for position in _positions(step)} - own
    last = max(own, default=len(trace.messages) - 1)
    positions = [
        position
        for position, entry in enumerate(trace.entries)
        if position in own or (position < last and position not in others and entry.step in (None, *wanted))
    ]
    new = {old: number for number, old in enumerate(positions)}
    numbers = ", ".join(str(step.index) for step in kept)
    note = {"kind": "selection", "text": f"only the steps {numbers} of {len(trace.steps)} are here"}
    return replace(
        trace,
        messages=[trace.messages[position] for position in positions],
        entries=[trace.entries[position] for position in positions],
        steps=[_moved(step, new) for step in kept],
        notes=[note, *(_moved_note(item, new) for item in trace.notes if _belongs(item, wanted))],
    )


def step_numbers(text: str) -> set[int]:
    """``3-5, 8`` as ``{3, 4, 5, 8}``.

    Raises:
        InputError: it is no list of numbers.
    """
    numbers: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", part)
        if found is None:
            raise InputError(f"steps are given as numbers like 3-5,8, not {text!r}")
        numbers |= set(range(int(found[1]), int(found[2] or found[1]) + 1))
    return numbers


def _positions(step: TraceStep) -> set[int]:
    found = {run.message for run in step.tools if run.message is not None}
    return found if step.reply is None else found | {step.reply}


def _moved(step: TraceStep, new: dict[int, int]) -> TraceStep:
    request = step.request
    if request is not None:
        upto = sum(old < request.upto for old in new)
        edits = [replace(edit, message=new[edit.message]) for edit in request.edits if edit.message in new]
        request = Request(upto=upto, edits=edits, extra=request.extra)
    return replace(
        step,
        reply=None if step.reply is None else new[step.reply],
        request=request,
        tools=[replace(run, message=None if run.message is None else new[run.message]) for run in step.tools],
    )


def _belongs(note: dict[str, Any], wanted: Collection[int]) -> bool:
    return note.get("step") is None or note["step"] in wanted


def _moved_note(note: dict[str, Any], new: dict[int, int]) -> dict[str, Any]:
    return note if note.get("message") is None else {**note, "message": new.get(note["message"])}
