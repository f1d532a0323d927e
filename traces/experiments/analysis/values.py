"""Values: what each run says about an outcome, by the rules of :mod:`traces.experiments.outcomes`.

A value that is missing or makes no sense is never counted as it comes: it is left out or counts as "no", and is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.usage import MOST_TOKENS
from traces.experiments.design.experiment import BASELINE
from traces.experiments.measuring.inventing import normal
from traces.experiments.outcomes import AGREEMENT, FINISHED, INVENTED, OUTCOMES, SAME_DECISION, SUCCESS
from traces.experiments.rows import DECIDED, Row

Place = tuple[str, int]
"""Subject and repeat: runs of two conditions at the same place are a pair."""


@dataclass(slots=True)
class Values:
    """One outcome in all runs of one model that count. A rate has 1 for yes and 0 for no."""

    outcome: str
    by_condition: dict[str, dict[Place, float]] = field(default_factory=dict)
    odd: int = 0
    """Runs whose value makes no sense: it is neither yes nor no, or no number from 0 that can be true."""
    unknown: int = 0
    """Runs that ended and say nothing, although others of their task do."""

    @property
    def is_rate(self) -> bool:
        """Whether it is yes or no in each run."""
        return OUTCOMES[self.outcome].scale == "rate"

    def of(self, condition: str) -> list[float]:
        """The values of one condition, in the order of the design."""
        return list(self.by_condition.get(condition, {}).values())

    def by_subject(self, condition: str) -> dict[str, list[float]]:
        """The same, the repeats of each task together."""
        found: dict[str, list[float]] = {}
        for (subject, _), value in self.by_condition.get(condition, {}).items():
            found.setdefault(subject, []).append(value)
        return found


def values_of(outcome: str, rows: Sequence[Row]) -> Values:
    """What the runs of one model say about an outcome.

    A task about which no run says anything (there is no evidence to check) is left out. Where some do, a run with an
    error counts as "no" in a rate, and so does a success that cannot be told.

    Args:
        outcome: a name in :data:`OUTCOMES`.
        rows: runs of one model that count, in the order of the design, one for each cell.
    """
    values = Values(outcome)
    say = _answers_agree(rows) if outcome == AGREEMENT else _SAY.get(outcome, lambda row: getattr(row, outcome))
    said = [(row, say(row)) for row in rows]
    sensible = _is_yes_or_no if values.is_rate else _is_amount
    told_of = {row.subject for row, value in said if sensible(value)}
    for row, value in said:
        if row.subject not in told_of and value is None:
            continue
        if (counted := _counted(row, value, values)) is not None:
            values.by_condition.setdefault(row.condition, {})[row.subject, row.repeat] = counted
    return values


def _counted(row: Row, value: Any, values: Values) -> float | None:
    """What a run counts as, and a note of what is wrong with it."""
    if row.status == "error":  # of a number it did only a part, which is no measure of the whole
        return 0.0 if values.is_rate else None
    if (_is_yes_or_no if values.is_rate else _is_amount)(value):
        return float(value)
    if value is None:
        values.unknown += 1
    else:
        values.odd += 1
    return 0.0 if values.outcome == SUCCESS else None


def _is_yes_or_no(value: Any) -> bool:
    return isinstance(value, bool)


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < MOST_TOKENS


# ---- what a run says ----


def _finished(row: Row) -> bool | None:
    """A decision rerun has nothing to finish, and of one with an error nobody can tell that it is not one."""
    return None if row.status == "error" or row.reason == DECIDED else row.reason == "final"


_SAY: dict[str, Callable[[Row], Any]] = {
    SUCCESS: lambda row: row.verified,
    FINISHED: _finished,
    SAME_DECISION: lambda row: row.same_decision,
    INVENTED: lambda row: row.invented,
}


def _answers_agree(rows: Sequence[Row]) -> Callable[[Row], Any]:
    """Whether a run gives the recorded answer, or the most common one of the other baseline runs of its task.

    A run is never compared with itself, and no run with its own twin: else a baseline whose answers all differ would
    agree with itself more than any arm could.
    """
    answers: dict[str, dict[int, str]] = {}
    for row in rows:
        if row.condition == BASELINE and (answer := normal(row.answer)):
            answers.setdefault(row.subject, {})[row.repeat] = answer

    def agrees(row: Row) -> Any:
        if row.agrees is not None:
            return row.agrees
        others = (answer for repeat, answer in answers.get(row.subject, {}).items() if repeat != row.repeat)
        usual = _most_common(others)
        return None if usual is None else normal(row.answer) == usual

    return agrees


def _most_common(answers: Iterable[str]) -> str | None:
    """The one given most often; of several the first."""
    counts = Counter(answers).most_common(1)
    return counts[0][0] if counts else None
