"""Which message answers which call: what formats need that keep a result with its call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from agent.trace import Trace, TraceStep
from traces.lookup import steps_by_reply
from traces.repair import TOOL_ROLES


def answers(trace: Trace) -> dict[int, list[int | None]]:
    """For each message that asks for tools, by its position: the position of each call's result, None without one."""
    steps = steps_by_reply(trace.steps)
    taken: set[int] = set()
    found: dict[int, list[int | None]] = {}
    for position, message in enumerate(trace.messages):
        if message.tool_calls and message.role not in TOOL_ROLES:
            found[position] = _results(trace, position, steps.get(position), taken)
    return found


def placed_results(results: Mapping[int, Iterable[int | None]]) -> Iterator[int]:
    """The positions of all results that answer a call, of what :func:`answers` gave."""
    yield from (at for found in results.values() for at in found if at is not None)


def _results(trace: Trace, position: int, step: TraceStep | None, taken: set[int]) -> list[int | None]:
    """By place where the step lists as many runs as the message has calls, else by id."""
    calls = trace.messages[position].tool_calls
    runs = list(step.tools) if step else []
    by_place = len(runs) == len(calls)
    results: list[int | None] = []
    for place, call in enumerate(calls):
        run = runs[place] if by_place else next((run for run in runs if run.tool_call_id == call.id), None)
        if run is not None and not by_place:
            runs.remove(run)
        at = run.message if run is not None else None
        if at is None or not position < at < len(trace.messages) or at in taken or trace.messages[at].tool_calls:
            results.append(None)
        else:
            results.append(at)
            taken.add(at)
    return results


def counted(number: int, what: str, then: str) -> list[str]:
    """``["3 results without a call: left out"]``; nothing where the number is 0. ``what`` is the singular."""
    if not number:
        return []
    first, _, rest = what.partition(" ")
    plural = f"{first}s {rest}".strip()
    return [f"{number:,} {what if number == 1 else plural}: {then}"]
