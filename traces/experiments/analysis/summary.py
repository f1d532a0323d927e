"""Summary: what an experiment found, as plain data. It is worked out in :mod:`traces.experiments.analysis.analyse`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Finding = Literal["effect", "none", "inconclusive", "refused"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One outcome of one arm: a rate with its Wilson interval, or a median with its percentile bootstrap interval."""

    value: float | None
    """None: no run of the arm says anything about it."""
    low: float | None = None
    high: float | None = None
    """The interval; None where there is only one run."""
    n: int = 0
    """Runs that it is of."""
    identical: bool = False
    """Whether all of these runs gave the same."""


@dataclass(frozen=True, slots=True)
class Arm:
    """All runs of one condition with one model."""

    model: str
    condition: str
    started: int
    """Runs without those that were stopped."""
    ended: int
    errors: int
    stopped: int
    """By a person or the budget; counted apart."""
    outcomes: dict[str, Estimate] = field(default_factory=dict)
    """By the name of the outcome; only those that apply."""
    reasons: dict[str, int] = field(default_factory=dict)
    """How many runs ended for which reason."""
    run_to_run: float | None = None
    """Of the primary outcome: spread between repeats of the same task (standard deviation)."""
    task_to_task: float | None = None
    """Of the primary outcome: spread between the means of tasks (standard deviation); None with one task."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One outcome of one arm against the baseline of the same model."""

    model: str
    condition: str
    outcome: str
    value: float | None
    """Arm minus baseline: of a rate the difference of the rates, of a number the mean of the paired differences."""
    low: float | None = None
    high: float | None = None
    """The interval: of rates Newcombe's, of numbers the expanded percentile bootstrap."""
    p: float | None = None
    """Of one test alone."""
    p_holm: float | None = None
    """Of the primary outcome: corrected by Holm over all arms of the experiment."""
    test: str = ""
    """Its name: "McNemar, exact", "Fisher, exact", "permutation"."""
    pairs: int = 0
    """Pairs of runs with the same task and seed; 0: unpaired."""
    gained: int = 0
    """Of a rate: pairs in which only the arm has it."""
    lost: int = 0
    """Of a rate: pairs in which only the baseline has it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the primary outcome says about one arm."""

    model: str
    condition: str
    finding: Finding
    """``effect``: the difference is more than chance. ``none``: no effect larger than the margin. ``inconclusive``: too
    few runs to say either. ``refused``: the baseline itself is too unstable, or there is nothing to compare."""
    needed: int | None = None
    """Of an inconclusive one: repeats of each condition that would probably settle it, in all; None: unknown, or more
    repeats say nothing new."""
    sentence: str = ""
    """In English, with the numbers."""
    remarks: tuple[str, ...] = ()
    """What a reader must know besides: one sentence each."""
    margin: float | None = None
    """The difference that would matter, in the unit of the outcome; None: unknown."""
    identical: bool = False
    """Whether all repeats of each task were identical, in the arm and in the baseline: one observation repeated."""

    @property
    def without_chance(self) -> bool:
        """Whether it must not be held against chance: that has no part in it, and more repeats say nothing new."""
        return self.identical and self.finding in ("effect", "inconclusive")


@dataclass(frozen=True, slots=True)
class Stability:
    """The baseline against itself: how far two halves of it differ by chance alone. Comes before any claim."""

    model: str
    value: float | None
    """The primary outcome in the baseline."""
    flips: float | None
    """Of a rate: the share of pairs of repeats of the same task that disagree; None with one repeat."""
    low: float | None = None
    high: float | None = None
    """The A/A spread: 95 of 100 differences between two samples of the baseline, each as large as an arm, lie here."""
    stable: bool = True
    identical: bool = False
    """Whether all repeats of each task were identical: a model without chance."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that the report and the page say in numbers."""

    title: str
    outcome: str
    alpha: float
    margin: float
    runs: int
    arms: tuple[Arm, ...] = ()
    effects: tuple[Effect, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    stability: tuple[Stability, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON data, as ``summary.json`` has it."""
        return asdict(self)
