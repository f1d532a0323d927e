"""Verdicts: what may be said about each arm, and when nothing may be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from traces.experiments.analysis import needed, verdict_words
from traces.experiments.analysis import statistics as st
from traces.experiments.analysis.contrast import Contrast, runs_needed
from traces.experiments.analysis.summary import Arm, Effect, Finding, Verdict
from traces.experiments.design.experiment import Condition, Experiment
from traces.experiments.outcomes import AGREEMENT, FINISHED, SAME_DECISION, SUCCESS

LEAST = 0.15
"""A baseline that succeeds more rarely has nothing that could be taken away: no loss is claimed of it."""
INTERMITTENT = 0.6
"""Up to here a baseline is called intermittent: its runs often fail with nothing taken away."""
WANTED = (SUCCESS, FINISHED, AGREEMENT, SAME_DECISION)
"""The rates that are high where all is well, so that a loss of them is what one looks for."""


@dataclass(frozen=True, slots=True)
class Case:
    """All that the verdict about one arm rests on."""

    experiment: Experiment
    condition: Condition
    arm: Arm
    baseline: Arm
    seen: Contrast | None
    """None: there is nothing to compare."""
    effect: Effect | None
    """Of the primary outcome, its p value corrected. None where there is nothing to compare."""
    identical: bool
    """Whether all repeats of this arm, and of its baseline, were the same."""

    @property
    def margin(self) -> float:
        """The difference that would matter, in the unit of the outcome."""
        return self.seen.margin(self.experiment.margin) if self.seen else self.experiment.margin

    @property
    def too_low(self) -> bool:
        """Whether the baseline has so little of the outcome that no loss of it could be seen."""
        return self.wanted is not None and self.wanted < LEAST

    @property
    def wanted(self) -> float | None:
        """How often the baseline has the outcome, where a loss of it is what one looks for."""
        return self.seen.means[0] if self.seen and self.seen.outcome in WANTED else None


def verdicts(cases: Sequence[Case]) -> list[Verdict]:
    """The verdict about each arm of an experiment. The p values of all of them are corrected together."""
    tested = [case for case in cases if case.effect is not None and case.effect.p_holm is not None]
    found = sum(_is_significant(case) for case in tested)
    return [_verdict(case, _next_alpha(case.experiment.alpha, len(tested), found)) for case in cases]


def _next_alpha(alpha: float, tests: int, found: int) -> float:
    """What Holm's correction leaves for the smallest p value among those that are not significant."""
    return alpha / max(tests - found, 1)


def _verdict(case: Case, alpha: float) -> Verdict:
    found = Verdict(
        model=case.arm.model,
        condition=case.arm.condition,
        finding=_finding(case, alpha),
        margin=case.margin if case.seen else None,
        identical=case.identical,
    )
    if found.finding == "inconclusive" and not found.without_chance and case.seen is not None and case.seen.fewest > 1:
        found = replace(found, needed=runs_needed(case.seen, alpha, case.margin))
    sentence = verdict_words.sentence(case, found, alpha)
    return replace(found, sentence=sentence, remarks=tuple(verdict_words.remarks(case, found.finding)))


def _finding(case: Case, alpha: float) -> Finding:
    seen, effect = case.seen, case.effect
    if seen is None or effect is None:
        return "refused"
    if effect.low is None or effect.high is None:
        return "refused" if case.too_low else "inconclusive"
    if case.too_low and not (_is_significant(case) and (effect.value or 0) > 0):
        return "refused"
    if _is_significant(case):
        return "effect"
    # Equal numbers have an interval of no width however few they are; they say nothing where no test could have spoken.
    could_speak = seen.is_rate or seen.fewest >= (needed.fewest_pairs if seen.paired else needed.fewest_runs)(alpha)
    inside = st.Interval(effect.low, effect.high).inside(case.margin)
    return "none" if inside and could_speak else "inconclusive"


def _is_significant(case: Case) -> bool:
    return case.effect is not None and case.effect.p_holm is not None and case.effect.p_holm < case.experiment.alpha
