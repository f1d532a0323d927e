"""Rules about times and tokens: what is far from the rest of the same run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from agent.trace import TraceStep
from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Material
from traces.sizes import prompt_of
from traces.times import timestamp

SLOW = Rule(
    "latency_outlier",
    Severity.NOTE,
    "Unusually slow",
    (
        "The model call of step {step} took {seconds:.1f} s; half of the calls took no more than {usual:.1f} s.",
        "A call of {tool} in step {step} took {seconds:.1f} s; half of its calls took no more than {usual:.1f} s.",
    ),
    "One slow call often takes longer than all others together: a queue, a retry, a cold start or a hung tool.",
    "Look for retries and long outputs in this step; give calls and tools a time limit.",
)
BACKWARDS = Rule(
    "time_backwards",
    Severity.WARNING,
    "Time goes backwards",
    (
        "Message {n} is dated {seconds:.0f} s before message {other}, which stands above it.",
        "{count} messages are dated before the message above them.",
    ),
    "The order of the file is not the order of events, so durations and pairs cannot be trusted.",
    "Write messages in the order in which they happen, with one clock; sort by time where branches were merged.",
)
JUMP = Rule(
    "token_jump",
    Severity.WARNING,
    "Prompt jumps",
    (
        "The prompt grew from {before:,} to {now:,} tokens in step {step}; message {n} is the largest that came in.",
        "The prompt grew from {before:,} to {now:,} tokens in step {step}, and no message of the file explains it.",
    ),
    "Whatever came in is sent again with every later call.",
    "Cap tool results, or keep the long text outside and give the model a part of it with a way to ask for more.",
)
NO_USAGE = Rule(
    "usage_missing",
    Severity.NOTE,
    "Tokens not reported",
    ("{count} of {all} model calls report no tokens.",),
    "Sums over the run are too low by an unknown amount.",
    "Ask for usage in streamed calls too (include_usage), and keep it with every call.",
)
RULES = (SLOW, BACKWARDS, JUMP, NO_USAGE)

_FEWEST = 8
"""Steps below which nothing is called unusual."""
_SPREADS, _TIMES, _LEAST_MS = 8.0, 4.0, 2000.0
"""How many spreads above the median, how many times the median, and how many milliseconds more make an outlier."""
_MAD = 1.4826
"""Turns the median of the deviations into a standard deviation."""
_BACK_S = 1.0
_EACH = 5
"""From so many on, they are told together."""
_JUMP_LEAST, _JUMP_SHARE, _JUMP_TIMES = 4000, 0.5, 4.0
_JUMP_EXPLAINED = 0.1
"""Share of the growth that the largest new message must have to be its reason. Files are often kept in short."""


def check(material: Material) -> Iterator[Finding]:
    """Latencies, times, prompt sizes and missing counts."""
    yield from _slow(material)
    yield from _backwards(material)
    yield from _jumps(material)
    yield from _unreported(material)


def _slow(material: Material) -> Iterator[Finding]:
    timed = [(step.latency_ms, step) for step in material.trace.steps if step.latency_ms is not None]
    paces = [(ms / max(_written(step), 1), step) for ms, step in timed] if all(_written(s) for _, s in timed) else []
    slow_paced = {id(paces[at][1]) for at in _outliers([pace for pace, _ in paces], least=0)} if paces else None
    for at in _outliers([ms for ms, _ in timed]):
        ms, step = timed[at]
        if slow_paced is not None and id(step) not in slow_paced:
            continue  # a long answer takes long
        facts = {"step": step.index, "seconds": ms / 1000, "usual": median(ms for ms, _ in timed) / 1000}
        places = () if step.reply is None else (step.reply,)
        yield Finding(rule=SLOW, facts=facts, message=step.reply, step=step.index, evidence=places)
    yield from _slow_tools(material)


def _slow_tools(material: Material) -> Iterator[Finding]:
    by_tool: dict[str, list[tuple[float, int]]] = {}
    for number, call in enumerate(material.calls):
        if call.run.latency_ms is not None:
            by_tool.setdefault(call.run.name, []).append((call.run.latency_ms, number))
    for timed in by_tool.values():
        for at in _outliers([ms for ms, _ in timed]):
            call = material.calls[timed[at][1]]
            usual = median(ms for ms, _ in timed) / 1000
            facts = {"tool": call.name, "step": call.step.index, "seconds": timed[at][0] / 1000, "usual": usual}
            yield Finding(
                rule=SLOW, says=1, facts=facts, message=call.run.message, step=call.step.index,
                call_id=call.run.tool_call_id, evidence=tuple(call.places),
            )  # fmt: skip


def _written(step: TraceStep) -> int:
    return (step.usage and step.usage.completion_tokens) or 0


def _outliers(values: Sequence[float], least: float = _LEAST_MS) -> list[int]:
    """Positions of values far above the rest: by the median and the median deviation, which outliers do not move."""
    if len(values) < _FEWEST:
        return []
    middle = median(values)
    spread = _MAD * median(abs(value - middle) for value in values)
    limit = max(middle + _SPREADS * spread, middle * _TIMES, middle + least)
    return [at for at, value in enumerate(values) if value > limit]


def _backwards(material: Material) -> Iterator[Finding]:
    entries = material.trace.entries
    found: list[tuple[int, int, float]] = []
    latest: dict[str | None, tuple[float, int]] = {}
    for at, entry in enumerate(entries):
        moment = timestamp(entry.at)
        if moment is None:
            continue
        known = latest.get(entry.agent)
        if known is not None and moment < known[0] - _BACK_S:
            same_step = entry.step is not None and entry.step == entries[known[1]].step
            if not same_step:  # results of calls that ran at once may come in any order
                found.append((at, known[1], known[0] - moment))
                latest[entry.agent] = (moment, at)
        elif known is None or moment >= known[0]:
            latest[entry.agent] = (moment, at)
    if len(found) > _EACH:
        facts: dict[str, object] = {"count": len(found)}
        places = tuple(at for at, _, _ in found)
        yield Finding(rule=BACKWARDS, says=1, facts=facts, message=places[0], evidence=places)
        return
    for at, other, seconds in found:
        facts = {"n": at + 1, "other": other + 1, "seconds": seconds}
        yield Finding(rule=BACKWARDS, facts=facts, message=at, step=entries[at].step, evidence=(other, at))


class _Prompt(NamedTuple):
    tokens: int
    step: TraceStep
    until: int
    """Position of its answer; where it has none, of the last answer before."""


def _jumps(material: Material) -> Iterator[Finding]:
    for prompts in _prompts_by_agent(material):
        growth = [now.tokens - before.tokens for before, now in pairwise(prompts)]
        usual = median([max(0, more) for more in growth]) if len(growth) >= _FEWEST else 0
        for more, (before, now) in zip(growth, pairwise(prompts), strict=True):
            if more >= max(_JUMP_LEAST, before.tokens * _JUMP_SHARE, usual * _JUMP_TIMES):
                yield _jump(material, before, now)


def _prompts_by_agent(material: Material) -> Iterable[list[_Prompt]]:
    counted: dict[str | None, list[_Prompt]] = {}
    agent, until = None, 0
    for step in material.trace.steps:
        if step.reply is not None:
            agent, until = material.trace.entries[step.reply].agent, step.reply
        if (prompt := prompt_of(step)) is not None:
            counted.setdefault(agent, []).append(_Prompt(prompt, step, until))
    return counted.values()


def _jump(material: Material, before: _Prompt, now: _Prompt) -> Finding:
    more = now.tokens - before.tokens
    came_in = range(before.until, now.until) or range(now.until, now.until + 1)
    largest = max(came_in, key=lambda at: material.carried[at].tokens)
    explained = material.carried[largest].tokens >= more * _JUMP_EXPLAINED
    facts = {"before": before.tokens, "now": now.tokens, "step": now.step.index, "n": largest + 1}
    at, places = (largest, (largest, now.until)) if explained else (now.until, (now.until,))
    return Finding(
        rule=JUMP, says=0 if explained else 1, facts=facts, message=at, step=now.step.index,
        evidence=tuple(dict.fromkeys(places)), cost_tokens=more * max(material.carried[largest].sent, 1),
    )  # fmt: skip


def _unreported(material: Material) -> Iterator[Finding]:
    entries = material.trace.entries
    steps = [s for s in material.trace.steps if s.reply is not None and entries[s.reply].maker == "model"]
    if any(step.request for step in steps):  # the others came as history of the first request
        steps = [step for step in steps if step.request]
    without = [step for step in steps if step.usage is None or step.usage.total is None]
    if without and len(without) < len(steps):
        places = tuple(step.reply for step in without if step.reply is not None)
        facts = {"count": len(without), "all": len(steps)}
        yield Finding(rule=NO_USAGE, facts=facts, message=places[0], step=without[0].index, evidence=places)
