"""The words of verdicts: plain English sentences with their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from traces.experiments.analysis import needed
from traces.experiments.analysis.summary import Effect, Finding, Verdict
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.report.telling import PER_CENT, is_rate, number_words, p_words, points_words

if TYPE_CHECKING:
    from traces.experiments.analysis.contrast import Contrast
    from traces.experiments.analysis.verdicts import Case


def sentence(case: Case, verdict: Verdict, alpha: float) -> str:
    """What was found about one arm.

    Args:
        case: what it rests on.
        verdict: what may be said, and how many repeats would settle it.
        alpha: that a test of this arm is held against.
    """
    if case.seen is None or case.effect is None:
        return f"There is nothing to compare: {_silent(case)} about {OUTCOMES[case.experiment.outcome].name}."
    if case.effect.low is None:
        fewest = -(-needed.fewest_pairs(alpha) // case.seen.tasks)
        return (
            f"One run proves nothing: {_values(case.seen)}. With fewer than {fewest} repeats no difference can be told "
            "from chance."
        )
    seen = _seen(case.effect, case.seen)
    margin = difference(case.margin, case.experiment.outcome)
    if verdict.without_chance:
        if verdict.finding == "effect":
            return f"An effect, and every repeat was the same, here and in the baseline: {seen}."
        same = f"Every repeat was the same, here and in the baseline: {seen}."
        return f"{same} Where chance has no part, more repeats say nothing new."
    match verdict.finding:
        case "effect":
            return f"An effect: {seen}."
        case "none":
            return f"No effect larger than {margin}: {seen}."
        case "refused":
            return f"No loss could be seen, because the baseline itself has so little to lose: {seen}."
    enough = _hopeless(case)
    if verdict.needed:
        repeats = f"about {verdict.needed:,} repeats of each condition"
        enough = f"if further runs are like these, {repeats} would probably settle it"
    return f"Not enough runs to say: {seen}. Chance is not ruled out, nor an effect larger than {margin}; {enough}."


def remarks(case: Case, finding: Finding) -> Iterator[str]:
    """What a reader must know besides."""
    seen, effect, outcome = case.seen, case.effect, case.experiment.outcome
    if finding == "effect" and effect is not None and abs(effect.value or 0) < case.margin:
        margin = difference(case.margin, outcome)
        yield f"The difference is smaller than {margin}, which the design calls the least that would matter."
    if case.condition.breaks_protocol:
        yield "Its requests break the protocol on purpose. A server that refuses them gives errors, which is no answer."
    if case.arm.errors or case.baseline.errors:
        yield _errors(case)
    if seen is not None and not seen.paired:
        yield "No run has a twin of the same task and seed in the baseline, so all runs are compared without pairs."
    if seen is not None and seen.alone:
        yield f"{counted(seen.alone, 'run is', 'runs are')} not compared, because the other one of the pair is missing."
    if seen is not None and seen.tasks > 1 and finding != "refused":
        yield f"This is about these {seen.tasks} tasks: repeats of a task are no new tasks."
    if case.identical:
        yield (
            "Identical in all seeds: every repeat was the same, and so was every repeat of the baseline. They are one "
            "observation repeated. What is found is true of this script or setting; p counts runs."
        )


def amount(value: float, outcome: str) -> str:
    """A value of an outcome, with its unit."""
    return f"{number_words(value, outcome)} {OUTCOMES[outcome].unit}".rstrip()


def difference(value: float, outcome: str) -> str:
    """A difference of two values: of rates in points, so that 10 points of 50% are not taken for 10% of it."""
    return points_words(value) if is_rate(outcome) else amount(value, outcome)


def counted(count: int, one: str, many: str) -> str:
    """``3 runs``."""
    return f"{count:,} {one if count == 1 else many}"


def _seen(effect: Effect, seen: Contrast) -> str:
    """Both values, their difference, its interval and its test."""
    low, high = (number_words(each, seen.outcome, signed=True) for each in (effect.low, effect.high))
    value = number_words(effect.value, seen.outcome, signed=True)
    if seen.is_rate:
        low, high = (each.removesuffix(PER_CENT) for each in (low, high))
        value = points_words(effect.value or 0, signed=True)
    runs = f"{len(seen.arm):,} against {len(seen.baseline):,} runs"
    if seen.paired:
        runs = counted(effect.pairs, "pair", "pairs")
    tested = f"{effect.test}: {_p(effect.p)}, corrected for all arms {_p(effect.p_holm)}, {runs}"
    return f"{_values(seen)}; the difference is {value} (95\u202f% interval {low} to {high}; {tested})"


def _values(seen: Contrast) -> str:
    was, now = (amount(mean, seen.outcome) for mean in seen.means)
    what = "" if seen.is_rate else "mean of "
    return f"{what}{OUTCOMES[seen.outcome].name} {now}, in the baseline {was}"


def _p(value: float | None) -> str:
    words = p_words(value)
    return f"p {words}" if words.startswith("<") else f"p = {words}"


def _silent(case: Case) -> str:
    """Which side says nothing."""
    name = case.experiment.outcome
    silent = [
        which for which, arm in (("the baseline", case.baseline), ("this arm", case.arm)) if name not in arm.outcomes
    ]
    return f"no run of {' or of '.join(silent)} says anything"


def _hopeless(case: Case) -> str:
    if case.margin == 0:
        return "the baseline is 0, so that no share of it can serve as a margin"
    return f"not even {needed.MOST:,} repeats would probably settle it"


def _errors(case: Case) -> str:
    ended = f"{case.arm.errors} of {case.arm.started} runs ended with an error, {case.baseline.errors} of "
    ended += f"{case.baseline.started} in the baseline"
    if is_rate(case.experiment.outcome):
        return (
            f"{ended}. They count as runs without {OUTCOMES[case.experiment.outcome].name}, and not as wrong answers."
        )
    return f"{ended}. They are left out of this number."
