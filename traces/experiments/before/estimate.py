"""What a whole experiment will take, told before it starts: from the least to the most, and by which rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from agent.faults import LIMIT_REMOVED, TOOL_RETURNS_TOO_MUCH
from agent.ids import new_trace_id
from agent.interventions import Intervention
from agent.limits import HARD_CAP
from agent.models.fake import FakeModel
from agent.tools import Tool
from agent.usage import Usage
from traces.experiments.before.doubts import doubts
from traces.experiments.before.foreseen import Foreseen, Use, foreseen
from traces.experiments.design.experiment import Condition, Experiment, ModelSpec
from traces.experiments.subjects.models import make_model
from traces.experiments.subjects.task import Task, load_subject
from traces.prices import PriceTable, computed_cost

RULE = (
    "from the least, when every run goes as the recorded or scripted one, to the most, when every run goes on to its "
    "step limit and each request is longer by a reply and its results"
)
ONE_CALL = "a decision rerun is one model call"
FREE = "scripted models cost nothing and take no time; their tokens are what they state, or an estimate"
_USUAL_REPLY = 500
"""Tokens that a reply of a live model may well have."""
_USUAL_RESULTS = 500
"""Tokens that the results of one step may well have."""
_CHARACTERS = 4
"""Of one token of plain text."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """What an experiment takes. ``None``: not known."""

    runs: int
    calls_low: int
    calls_high: int
    tokens_low: int
    tokens_high: int
    cost_low: float | None
    """US dollars."""
    cost_high: float | None
    seconds_low: float | None
    """Of all model calls, one after the other."""
    seconds_high: float | None
    remarks: tuple[str, ...] = ()
    """By which rule, what is not known, and whether the budget is smaller: a sentence each."""
    doubts: tuple[str, ...] = ()
    """What the design says and probably does not mean: a sentence each."""


def estimate(
    experiment: Experiment, base: Path, prices: PriceTable | None = None, own: Iterable[Tool] = ()
) -> Estimated:
    """What an experiment will take. Nothing is asked of a live model, and none of one's own tools runs.

    Args:
        experiment: the design.
        base: the folder that its paths are relative to.
        prices: for the cost of live models; None: it is not known.
        own: tools of one's own, which it may name.

    Raises:
        InputError: a subject cannot be read, or a model cannot answer it; the text says why.
    """
    own, prices = tuple(own), prices or PriceTable()
    tasks = {subject.name: load_subject(subject, base, own) for subject in experiment.subjects}
    parts = [_part(experiment, task, spec, prices) for task in tasks.values() for spec in experiment.models]
    low, high = Use(), Use()
    for part in parts:
        low, high = low.plus(part.low), high.plus(part.high)
    found = Estimated(
        runs=experiment.size,
        calls_low=low.calls,
        calls_high=high.calls,
        tokens_low=low.prompt + low.completion,
        tokens_high=high.prompt + high.completion,
        cost_low=_sum(part.cost(part.low) for part in parts),
        cost_high=_sum(part.cost(part.high) for part in parts),
        seconds_low=_sum(part.seconds(part.low) for part in parts),
        seconds_high=_sum(part.seconds(part.high) for part in parts),
        doubts=tuple(doubts(experiment, tasks)),
    )
    return replace(found, remarks=(*_rules(experiment), *_unpriced(experiment, prices), *_budget(experiment, found)))


# ---- one subject with one model ----


class _Part(NamedTuple):
    """All runs of one subject with one model."""

    spec: ModelSpec
    low: Use
    high: Use
    latency_ms: float | None
    prices: PriceTable

    def cost(self, use: Use) -> float | None:
        """US dollars; None: not known."""
        if self.spec.kind != "live":
            return 0.0
        usage = Usage(prompt_tokens=use.prompt, completion_tokens=use.completion)
        return computed_cost(usage, self.prices.find(self.spec.model)).value

    def seconds(self, use: Use) -> float | None:
        """Of the model calls; None: not known."""
        if self.spec.kind != "live":
            return 0.0
        return None if self.latency_ms is None else use.calls * self.latency_ms / 1000


def _part(experiment: Experiment, task: Task, spec: ModelSpec, prices: PriceTable) -> _Part:
    live = spec.kind == "live"
    known = foreseen(task, stated=task.source is not None or not live)
    runs = len(experiment.conditions) * experiment.repeats
    low, high = known.use.times(runs), Use()
    price = prices.find(spec.model) if live else None
    for condition in experiment.conditions:
        longest = _longest(task, spec, known, condition, price.window if price else None)
        high = high.plus(longest.times(experiment.repeats))
    return _Part(spec, low, high, known.latency_ms if live else None, prices)


def _longest(task: Task, spec: ModelSpec, known: Foreseen, condition: Condition, window: int | None) -> Use:
    """What a run takes that goes on to its step limit, and never less than the known one."""
    live = spec.kind == "live"
    usual = max(known.reply or 0, _USUAL_REPLY if live else 0)
    reply = spec.max_tokens if live and spec.max_tokens else usual
    if task.subject.reruns_decision:
        return known.use._replace(completion=max(known.use.completion, reply))
    results = max(known.results or 0, _USUAL_RESULTS if live and known.results != 0 else 0)
    calls, most = _limits(task, spec, known, condition)
    room = min(filter(None, (most, window)), default=None)
    extra = sum(
        int(armed.fault.number("characters")) // _CHARACTERS
        for armed in condition.faults
        if armed.fault.kind == TOOL_RETURNS_TOO_MUCH
    )
    prompt = _prompts(calls, known.first + extra, reply + results, room)
    return Use(*map(max, known.use, Use(calls, prompt, calls * reply)))


def _prompts(calls: int, first: int, growth: int, room: int | None) -> int:
    """Tokens of all requests of a run together, each so much longer than the one before; none is above ``room``."""
    whole = calls
    if room and first + growth * (calls - 1) > room:
        whole = max(0, (room - first) // growth + 1) if growth else 0
    return whole * first + growth * whole * (whole - 1) // 2 + (calls - whole) * (room or 0)


def _limits(task: Task, spec: ModelSpec, known: Foreseen, condition: Condition) -> tuple[int, int | None]:
    """Model calls that a run may make under a condition, and tokens that one request may have; None: any number."""
    model = FakeModel([]) if spec.kind == "live" else make_model(spec, task, seed=0)
    switches = replace(condition, faults=(), interventions=tuple(_switches(condition)))
    loop = task.begin(model, switches, seed=0, trace_id=new_trace_id(), journal=None).loop
    settings, run = loop.settings, loop.run
    removed = any(armed.fault.kind == LIMIT_REMOVED for armed in condition.faults)
    limit = HARD_CAP if removed or settings.max_steps is None else settings.max_steps
    calls = max(limit - run.iteration, 1) + (known.turns - 1) * limit
    if spec.kind == "script" and task.script.always is None:
        calls = min(calls, max(len(task.script.turns) - run.counters.model_calls, 1))
    return calls, settings.context.max_tokens if settings.context else None


def _switches(condition: Condition) -> Iterator[Intervention]:
    return (item for item in condition.interventions if item.about.group == "switch")


def _sum(values: Iterable[float | None]) -> float | None:
    """All of them together; None where one is not known."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return sum(known)


# ---- in words ----


def _rules(experiment: Experiment) -> Iterator[str]:
    if any(not subject.reruns_decision for subject in experiment.subjects):
        yield RULE
    if any(subject.reruns_decision for subject in experiment.subjects):
        yield ONE_CALL
    if any(spec.kind != "live" for spec in experiment.models):
        yield FREE


def _unpriced(experiment: Experiment, prices: PriceTable) -> Iterator[str]:
    for spec in experiment.models:
        if spec.kind == "live" and prices.find(spec.model) is None:
            yield f"what {spec.model} costs is not in the table of prices"


def _budget(experiment: Experiment, found: Estimated) -> Iterator[str]:
    budget = experiment.budget
    limits: Sequence[tuple[str, float | None, float | None, float | None]] = (
        ("tokens", budget.tokens, found.tokens_low, found.tokens_high),
        ("dollars", budget.cost, found.cost_low, found.cost_high),
    )
    for unit, limit, low, high in limits:
        if limit is None:
            continue
        if low is not None and limit < low:
            yield f"the budget of {limit:,.10g} {unit} is less than the least: not all runs will be made"
        elif high is not None and limit < high:
            yield f"the budget of {limit:,.10g} {unit} may be used up before all runs are made"
        elif high is None:
            yield f"the budget of {limit:,.10g} {unit} cannot be compared, as the cost is not known"
