"""What must be said of an experiment as a whole, in plain English sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from traces.experiments.analysis import needed
from traces.experiments.analysis.summary import Stability
from traces.experiments.analysis.values import Values
from traces.experiments.analysis.verdict_words import amount, counted, difference
from traces.experiments.analysis.verdicts import INTERMITTENT, LEAST, WANTED
from traces.experiments.design.experiment import Experiment
from traces.experiments.outcomes import OUTCOMES, SUCCESS
from traces.experiments.rows import Row

if TYPE_CHECKING:
    from traces.experiments.analysis.verdicts import Case


def of_runs(experiment: Experiment, rows: Sequence[Row]) -> Iterator[str]:
    """Whether it is over, what was stopped, what failed, and what was only estimated."""
    if len(rows) < experiment.size:
        yield f"The experiment is not over: {len(rows):,} of {experiment.size:,} runs are there."
    if stopped := sum(not row.counted for row in rows):
        yield f"{counted(stopped, 'run was', 'runs were')} stopped by a person or by the budget, and counted apart."
    if errors := sum(row.status == "error" for row in rows):
        yield (
            f"{counted(errors, 'run', 'runs')} ended with an error. Such a run counts in every rate as one without it, "
            "never as a wrong answer, and is left out of numbers."
        )
    if estimated := sum(row.counted and row.estimated for row in rows):
        yield f"The tokens of {counted(estimated, 'run', 'runs')} are an estimate, because the model reports none."


def of_outcomes(experiment: Experiment, values: Sequence[Values]) -> Iterator[str]:
    """Which outcomes say nothing, and which values could not be taken as they come."""
    told = {each.outcome for each in values if each.by_condition}
    if silent := [kind.name for outcome, kind in OUTCOMES.items() if outcome not in told]:
        yield f"Left out, because no run says anything about it: {', '.join(silent)}."
    if experiment.outcome == SUCCESS and SUCCESS not in told:
        yield "Success needs evidence: add evidence to the subjects, or choose another outcome."
    for outcome, kind in OUTCOMES.items():
        odd, unknown = (sum(getattr(each, what) for each in values if each.outcome == outcome) for what in _WRONG)
        taken = "counted as not successful" if outcome == SUCCESS else "left out"
        if odd:
            runs = counted(odd, "run has a value", "runs have a value")
            yield f"{runs} of {kind.name} that makes no sense (it must be {_SENSE[kind.scale]}): {taken}."
        if unknown and outcome in told:
            yield f"{counted(unknown, 'run does', 'runs do')} not say anything about {kind.name}: {taken}."


_WRONG = ("odd", "unknown")
_SENSE = {"rate": "yes or no", "number": "a finite number from 0"}


def of_sensitivity(experiment: Experiment, cases: Sequence[Case]) -> Iterator[str]:
    """The least difference of a rate that so many runs can show at all."""
    seen = [case.seen for case in cases if case.seen is not None and case.seen.paired and case.seen.is_rate]
    if not seen:
        return
    pairs, differing = min(each.fewest for each in seen), needed.fewest_pairs(experiment.alpha / len(seen))
    if differing > pairs:
        yield (
            f"{counted(pairs, 'pair', 'pairs')} of runs for each arm cannot show any effect of "
            f"{counted(len(seen), 'arm', 'arms')}: {differing} must differ, all in one direction."
        )
    else:
        share = difference(differing / pairs, experiment.outcome)
        yield (
            f"With {pairs:,} pairs of runs for each arm, at least {differing} must differ, all in one direction, "
            f"before the smallest p value of {counted(len(seen), 'arm', 'arms')} is called an effect: {share}."
        )


def of_baseline(experiment: Experiment, seen: Stability) -> Iterator[str]:
    """How the baseline of one model compares with itself."""
    where = f"The baseline of {seen.model}" if len(experiment.models) > 1 else "The baseline"
    if seen.value is None:
        return
    value = amount(seen.value, experiment.outcome)
    if seen.low is None or seen.high is None:
        yield f"{where} ran only once for each task: nothing is known about chance."
        return
    if seen.identical:
        yield f"{where} was identical in all seeds: its runs are one observation repeated, and show no chance at all."
    elif not seen.stable:
        far = difference(max(-seen.low, seen.high), experiment.outcome)
        yield f"{where} is unstable: two samples of it, each as large as an arm, differ by up to {far} by chance alone."
    name = OUTCOMES[experiment.outcome].name
    if experiment.outcome in WANTED and seen.value < LEAST:
        yield f"{where} itself has {name} in only {value} of its runs: no loss can be seen."
    elif experiment.outcome in WANTED and seen.value <= INTERMITTENT:
        yield f"{where} is intermittent: {name} in {value} of its runs with nothing changed."
