"""The library: which lines of the list of traces are wanted, in which order, and what they add up to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from traces.annotations import Notes
from traces.billing import TotalCost, total_cost
from traces.index import TraceInfo
from traces.prices import PriceTable

NO_NOTES: Mapping[str, Notes] = {}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which traces to list. What is empty does not narrow the list."""

    text: str = ""
    """Words that all stand somewhere in title, task, model, id, file name or notes; case does not matter."""
    formats: frozenset[str | None] = field(default_factory=frozenset)
    models: frozenset[str | None] = field(default_factory=frozenset)
    outcomes: frozenset[str | None] = field(default_factory=frozenset)
    kinds: frozenset[str] = field(default_factory=frozenset)
    tags: frozenset[str] = field(default_factory=frozenset)
    """One of them stands on the trace or on a message of it."""
    findings: bool = False
    """Only traces in which the linter found an error or a warning."""

    def __bool__(self) -> bool:
        return self != Wanted()


def narrow(infos: Sequence[TraceInfo], wanted: Wanted, notes: Mapping[str, Notes] = NO_NOTES) -> list[TraceInfo]:
    """The lines that are wanted, in their order.

    Args:
        infos: the list.
        wanted: what to look for.
        notes: by the id of the trace.
    """
    tests: list[Callable[[TraceInfo], bool]] = []
    if words := wanted.text.casefold().split():
        tests.append(lambda info: _holds(info, notes.get(info.id), words))
    for chosen, name in (
        (wanted.formats, "format"),
        (wanted.models, "model"),
        (wanted.outcomes, "outcome"),
        (wanted.kinds, "kind"),
    ):
        if chosen:
            tests.append(_one_of(name, chosen))
    if wanted.tags:
        tests.append(lambda info: bool((found := notes.get(info.id)) and not wanted.tags.isdisjoint(found.tags)))
    if wanted.findings:
        tests.append(lambda info: bool(info.found_errors or info.found_warnings))
    return [info for info in infos if all(test(info) for test in tests)]


def _one_of(name: str, chosen: frozenset[Any]) -> Callable[[TraceInfo], bool]:
    return lambda info: getattr(info, name) in chosen


def _holds(info: TraceInfo, notes: Notes | None, words: Sequence[str]) -> bool:
    texts = [info.title, info.task, info.model or "", info.format or "", info.id, info.path.rsplit("/", 1)[-1]]
    if notes is not None:
        texts += [notes.trace.text, *(note.text for note in notes.messages.values()), *notes.tags]
    everything = "\n".join(texts).casefold()
    return all(word in everything for word in words)


SORTS: dict[str, Callable[[TraceInfo], Any]] = {
    "created": lambda info: info.created,
    "title": lambda info: info.title.casefold(),
    "steps": lambda info: info.steps,
    "messages": lambda info: info.messages,
    "tool_calls": lambda info: info.tool_calls,
    "errors": lambda info: info.errors,
    "tokens": lambda info: info.tokens,
    "duration_s": lambda info: info.duration_s,
    "findings": lambda info: None if info.found_errors is None else (info.found_errors, info.found_warnings),
}
"""What a list can be sorted by. Where a value is not reported the trace comes last."""


def sort(infos: Sequence[TraceInfo], by: str) -> list[TraceInfo]:
    """The lines in order of one value: titles by the alphabet, anything else the largest or newest first."""
    value = SORTS[by]
    known = [info for info in infos if value(info) is not None]
    unknown = [info for info in infos if value(info) is None]
    return sorted(known, key=value, reverse=by != "title") + unknown


@dataclass(frozen=True, slots=True)
class Totals:
    """What several traces add up to. A sum is None where none of them reports the value."""

    traces: int
    steps: int
    messages: int
    tool_calls: int
    errors: int
    tokens: int | None
    tokens_known: int
    """How many traces report their tokens."""
    cost: float | None
    """US dollars, by the files and by the table of prices."""
    cost_known: int
    """How many traces have a cost that is wholly known."""
    computed: bool
    """Some of the cost was computed."""
    duration_s: float | None
    duration_known: int


def totals(infos: Sequence[TraceInfo], table: PriceTable) -> Totals:
    """Add up these lines. Files without a trace do not count."""
    infos = [info for info in infos if info.error is None]
    costs = [cost_of(info, table) for info in infos]
    known = [cost for cost in costs if cost.value is not None]
    tokens = [info.tokens for info in infos if info.tokens is not None]
    durations = [info.duration_s for info in infos if info.duration_s is not None]
    return Totals(
        traces=len(infos),
        steps=sum(info.steps for info in infos),
        messages=sum(info.messages for info in infos),
        tool_calls=sum(info.tool_calls for info in infos),
        errors=sum(info.errors for info in infos),
        tokens=sum(tokens) if tokens else None,
        tokens_known=len(tokens),
        cost=sum(cost.value or 0 for cost in known) if known else None,
        cost_known=sum(cost.complete for cost in known),
        computed=any(cost.computed for cost in known),
        duration_s=sum(durations) if durations else None,
        duration_known=len(durations),
    )


def cost_of(info: TraceInfo, table: PriceTable) -> TotalCost:
    """What the trace of a line cost."""
    return total_cost(info.cost, info.bill, table)
