"""How far an experiment is: counts, time left, tokens and money, from the rows that there are."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from agent import clock
from traces.experiments.cells import Cell, cells, in_order
from traces.experiments.design.experiment import Experiment
from traces.experiments.rows import Row
from traces.experiments.running.gate import Spent
from traces.experiments.running.ledger import latest

State = Literal["ready", "running", "paused", "cancelled", "done", "failed"]
"""``ready``: it has not begun, or was interrupted. ``done``: all runs are made, or the budget is used up."""

_WINDOW = 50
"""Runs that the time left is worked out from."""


class Counts(NamedTuple):
    """The runs of one condition."""

    total: int
    done: int
    """Over, errors among them; without those that were stopped."""
    errors: int
    stopped: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an experiment stands."""

    state: State
    total: int
    done: int
    """Runs that are over, errors among them; without those that were stopped."""
    running: int
    errors: int
    stopped: int
    tokens: int
    """Of all runs, as far as known; those under way among them where there is a budget."""
    cost: float
    """US dollars, as far as known."""
    elapsed_s: float
    """Seconds of work in this session; pauses do not count."""
    left_s: float | None
    """Seconds that the rest will probably take; None: not known."""
    by_condition: Mapping[str, Counts] = field(default_factory=dict)
    resting: int = 0
    """Runs under way that rest in a pause: nothing of them changes until it ends."""
    waiting: str = ""
    """Which models wait because their provider failed, and what was said; empty where none does."""
    error: str = ""
    """Why it failed, or paused itself."""
    remark: str = ""
    """Why it is over before all runs were made."""


class Tally:
    """The rows of an experiment as they come in. Every method may be called from any thread.

    Args:
        experiment: its design.
        lines: of its ledger.
    """

    def __init__(self, experiment: Experiment, lines: Iterable[Row]) -> None:
        self._lock = threading.Lock()
        self._experiment = experiment
        known = {cell.key for cell in cells(experiment)}
        lines = [line for line in lines if line.key in known]
        self._rows = {row.key: row for row in latest(lines)}
        self.spent = Spent()
        """By all runs, those among them that were run again."""
        for line in lines:
            self.spent.add(line.tokens, line.cost)
        self._watch = _Watch()

    def add(self, row: Row) -> None:
        """A run is over."""
        with self._lock:
            self._rows[row.key] = row
            self._watch.lap()

    def move(self, moving: bool) -> None:
        """The experiment moves from now on, or rests."""
        with self._lock:
            self._watch.move(moving)

    def rows(self) -> list[Row]:
        """The row of each run that is over, in the order in which the runs begin."""
        return in_order(self._experiment, self._all())

    def left(self, *, retry_errors: bool = False) -> list[Cell]:
        """The cells that are not over, in order: those without a row, and those whose run was stopped.

        Args:
            retry_errors: also those whose run was an error.
        """
        again = {"stopped", "error"} if retry_errors else {"stopped"}
        with self._lock:
            over = {key for key, row in self._rows.items() if row.status not in again}
        return [cell for cell in cells(self._experiment) if cell.key not in over]

    def trace_ids(self) -> set[str]:
        """The traces of all rows."""
        with self._lock:
            return {row.trace_id for row in self._rows.values()}

    def progress(self, state: State, running: int, used: Spent, *, resting: int = 0, **words: str) -> Progress:
        """Where it stands now."""
        rows = self._all()
        whole = self._counts(rows, self._experiment.size)
        share = self._experiment.size // len(self._experiment.conditions)
        by_condition: dict[str, list[Row]] = {condition.name: [] for condition in self._experiment.conditions}
        for row in rows:
            by_condition[row.condition].append(row)
        with self._lock:
            per_run = self._watch.per_run()
            elapsed_s = self._watch.elapsed()
        return Progress(
            state=state,
            total=whole.total,
            done=whole.done,
            running=running,
            errors=whole.errors,
            stopped=whole.stopped,
            tokens=used.tokens,
            cost=used.cost,
            elapsed_s=elapsed_s,
            left_s=None if per_run is None else per_run * (whole.total - whole.done),
            by_condition={name: self._counts(own, share) for name, own in by_condition.items()},
            resting=resting,
            **words,
        )

    def _all(self) -> list[Row]:
        with self._lock:
            return list(self._rows.values())

    @staticmethod
    def _counts(rows: list[Row], total: int) -> Counts:
        errors = sum(row.status == "error" for row in rows)
        stopped = sum(row.status == "stopped" for row in rows)
        return Counts(total, len(rows) - stopped, errors, stopped)


class _Watch:
    """A stopwatch that stands still in pauses, and the laps of the last runs."""

    def __init__(self) -> None:
        self._before = 0.0
        self._since: float | None = None
        self._laps: deque[float] = deque(maxlen=_WINDOW + 1)

    def move(self, moving: bool) -> None:
        if moving == (self._since is not None):
            return
        now = self.elapsed()
        if moving and not self._laps:
            self._laps.append(now)
        self._before, self._since = now, clock.monotonic() if moving else None

    def lap(self) -> None:
        self._laps.append(self.elapsed())

    def elapsed(self) -> float:
        return self._before + (0.0 if self._since is None else clock.monotonic() - self._since)

    def per_run(self) -> float | None:
        """Seconds from the end of one run to that of the next, lately; None before the first one."""
        return (self._laps[-1] - self._laps[0]) / (len(self._laps) - 1) if len(self._laps) > 1 else None
