"""Rules about the prefix of requests: what changed it, so that the provider could not use its cache."""

from __future__ import annotations

from collections.abc import Iterator

from agent import jsontext
from agent.noting import ASKED_UNTIL, asked_at
from agent.trace import Edit, Request, Trace, TraceStep
from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Material, short
from traces.sizes import prompt_of
from traces.times import timestamp

CHANGED = Rule(
    "prefix_changed",
    Severity.WARNING,
    "Prefix changed",
    (
        "The request of step {step} has another system text than the one before.",
        "The request of step {step} has other tools than the one before.",
        "The request of step {step} differs from the one before at message {n}: changed by {by}.",
        "The request of step {step} differs from the one before at message {n}: the context budget changed it.",
        "The request of step {step} ends before message {n}, which the one before had: the history was cut back.",
    ),
    "A provider's cache holds the head of a request up to the first difference; everything after it is paid in full.",
    "Keep the system text, the tools and old messages as they are; put what changes at the end; let a context budget "
    "leave out much at once and seldom.",
)
LOST = Rule(
    "cache_lost",
    Severity.NOTE,
    "Cache lost",
    (
        "Step {step} took {cached:,} tokens from the cache, though the request before had {before:,}.",
        "Step {step} took {cached:,} tokens from the cache, though the request before had {before:,}: {minutes} "
        "minutes lie between them.",
        "Step {step} took {cached:,} tokens from the cache, though the request before had {before:,}: another model "
        "answered.",
    ),
    "Tokens that do not come from the cache cost several times as much, and the first token comes later.",
    "Go on within the life of the cache (often 5 minutes), with the same model, and with an unchanged prefix.",
)
RULES = (CHANGED, LOST)

_CACHE_LIFE_S = 300
_LEAST = 2048
"""Tokens of a prompt below which providers do not use a cache, so that a miss means nothing."""
_HIT, _MISS = 0.5, 0.4
"""Share of the request before that comes from the cache where it works, and where it was lost."""


def check(material: Material) -> Iterator[Finding]:
    """Compare each request with the one before, by what was sent and by what the provider counted."""
    changed: set[int] = set()
    for finding in _changes(material):
        changed.add(finding.step or 0)
        yield finding
    yield from _losses(material, changed)


# -- by what was sent ----------------------------------------------------------------------------------------------


def _changes(material: Material) -> Iterator[Finding]:
    trace = material.trace
    before: TraceStep | None = None
    tools_changed = _steps_with_other_tools(trace)
    for step in trace.steps:
        if step.request is None:
            continue
        if before is not None and before.request is not None and before.request.upto:
            said = (1, 0, "") if id(step) in tools_changed else _difference(trace, before.request, step.request)
            if said is not None and (lost := _lost(material, before, step, said[1])) > 0:
                yield _finding(trace, step, lost, prompt_of(before) is None, *said)
        before = step


def _steps_with_other_tools(trace: Trace) -> set[int]:
    """The steps whose request came right after a change of the tools."""
    found = set()
    for at, step in enumerate(trace.steps[:-1]):
        if isinstance(step.extra.get(ASKED_UNTIL), dict):
            then, now = asked_at(trace, at).get("tools"), asked_at(trace, at + 1).get("tools")
            if then != now:
                found.add(id(trace.steps[at + 1]))
    return found


def _difference(trace: Trace, before: Request, now: Request) -> tuple[int, int, str] | None:
    """``(sentence, position, by)`` of the first difference inside the request before; None: it is all still there."""
    count = min(before.upto, len(trace.messages))
    then, since = _signs(before.edits), _signs(now.edits)
    different = [edit for sign, edit in (then | since).items() if (sign in then) != (sign in since)]
    inside = [edit for edit in different if 0 <= edit.message < count]
    if now.upto < count:
        cut = min((edit.message for edit in inside), default=count)
        if now.upto <= cut:
            return 4, now.upto, ""
    if not inside:
        return None
    first = min(inside, key=lambda edit: edit.message)
    if first.by == "context":
        return 3, first.message, first.by
    system = trace.messages[first.message].role in ("system", "developer")
    return (0 if system else 2), first.message, first.by


def _signs(edits: list[Edit]) -> dict[tuple[object, ...], Edit]:
    return {(e.op, e.message, e.count, None if e.with_ is None else jsontext.dumps(e.with_)): e for e in edits}


def _lost(material: Material, before: TraceStep, now: TraceStep, position: int) -> int:
    """Tokens of the request before that its successor has to pay in full again."""
    until = material.tokens_until
    prompt = prompt_of(before)
    request = before.request
    end = min(request.upto if request else 0, len(until) - 1)
    whole = prompt if prompt is not None else until[end]
    cached = now.usage.cached_tokens if now.usage else None
    kept = until[min(position, end)]
    if cached is not None and prompt is not None:
        kept = max(kept, cached)
    return max(0, whole - kept)


def _finding(trace: Trace, step: TraceStep, lost: int, estimated: bool, says: int, position: int, by: str) -> Finding:
    at = min(position, len(trace.messages) - 1)
    facts: dict[str, object] = {"step": step.index, "n": position + 1, "by": short(by) or "?"}
    places = tuple(dict.fromkeys(place for place in (at, step.reply) if place is not None))
    return Finding(
        rule=CHANGED, says=says, facts=facts, message=step.reply if step.reply is not None else at, step=step.index,
        evidence=places, cost_tokens=lost, cost_estimated=estimated,
    )  # fmt: skip


# -- by what the provider counted ----------------------------------------------------------------------------------


def _losses(material: Material, explained: set[int]) -> Iterator[Finding]:
    trace = material.trace
    last: dict[str | None, TraceStep] = {}
    for step in trace.steps:
        agent = trace.entries[step.reply].agent if step.reply is not None else None
        before = last.get(agent)
        if step.usage is None or step.usage.cached_tokens is None or prompt_of(step) is None:
            continue
        last[agent] = step
        if before is not None and step.index not in explained and (finding := _loss(trace, before, step)):
            yield finding


def _loss(trace: Trace, before: TraceStep, step: TraceStep) -> Finding | None:
    earlier, now = prompt_of(before) or 0, prompt_of(step) or 0
    cached = (step.usage and step.usage.cached_tokens) or 0
    had = ((before.usage and before.usage.cached_tokens) or 0) + (
        (before.usage and before.usage.cache_write_tokens) or 0
    )
    if earlier < _LEAST or now < earlier or had < earlier * _HIT or cached >= earlier * _MISS:
        return None
    pause = _pause_s(trace, before, step)
    says, facts = 0, {"step": step.index, "cached": cached, "before": earlier}
    if before.model and step.model and before.model != step.model:
        says = 2
    elif pause is not None and pause >= _CACHE_LIFE_S:
        says, facts = 1, {**facts, "minutes": round(pause / 60)}
    places = tuple(at for at in (before.reply, step.reply) if at is not None)
    return Finding(
        rule=LOST, says=says, facts=facts, message=step.reply, step=step.index, evidence=places,
        cost_tokens=earlier - cached,
    )  # fmt: skip


def _pause_s(trace: Trace, before: TraceStep, step: TraceStep) -> float | None:
    start, end = (_moment(trace, each) for each in (before, step))
    return None if start is None or end is None else end - start


def _moment(trace: Trace, step: TraceStep) -> float | None:
    at = timestamp(step.started)
    return at if at is not None or step.reply is None else timestamp(trace.entries[step.reply].at)
