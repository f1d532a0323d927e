"""Rows of experiments that never ran, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from traces.experiments.analysis.analyse import analyse
from traces.experiments.analysis.summary import Effect, Summary, Verdict
from traces.experiments.design.experiment import Condition, Experiment, ModelSpec, Subject
from traces.experiments.rows import Row


def row(condition: str, repeat: int, **said: Any) -> Row:
    """A run that ended with an answer, of the one task and model, unless it is said otherwise."""
    usual: dict[str, Any] = {
        "subject": "task",
        "model": "script",
        "seed": repeat,
        "trace_id": "0" * 12,
        "status": "ended",
        "reason": "final",
        "steps": 2,
    }
    return Row(condition=condition, repeat=repeat, **{**usual, **said})


def successes(condition: str, verified: Iterable[Any], **said: Any) -> list[Row]:
    """One run for each value; the whole numbers 1 and 0 stand for yes and no, anything else is taken as it is."""
    values = (bool(each) if type(each) is int and each in (0, 1) else each for each in verified)
    return [row(condition, at, verified=each, **said) for at, each in enumerate(values)]


def numbers(condition: str, steps: Iterable[Any], **said: Any) -> list[Row]:
    """One run for each number of steps."""
    return [row(condition, at, steps=each, **said) for at, each in enumerate(steps)]


def design(
    rows: Sequence[Row], *, subjects: Sequence[str] = ("task",), models: Sequence[str] = ("script",), **said: Any
) -> Experiment:
    """The experiment that these rows are of."""
    return Experiment(
        subjects=tuple(Subject(name=name, task="?") for name in subjects),
        models=tuple(ModelSpec(name=name) for name in models),
        conditions=tuple(Condition(name=name) for name in dict.fromkeys(each.condition for each in rows)),
        **{"repeats": max((each.repeat for each in rows), default=0) + 1, **said},
    )


def found(rows: Sequence[Row], **said: Any) -> Summary:
    """What the analysis makes of them."""
    return analyse(design(rows, **said), rows)


def verdict(summary: Summary, condition: str, model: str = "script") -> Verdict:
    """The verdict about one arm."""
    return next(each for each in summary.verdicts if (each.condition, each.model) == (condition, model))


def effect(summary: Summary, condition: str, outcome: str = "success") -> Effect:
    """One difference to the baseline."""
    return next(each for each in summary.effects if (each.condition, each.outcome) == (condition, outcome))
