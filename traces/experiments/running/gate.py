"""The gate: every run asks here before it begins, and between its phases, whether it may go on.

A person pauses or cancels here, the budget closes it, and a provider that fails makes the runs of its model wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from agent import clock
from agent.loop import Loop
from traces.experiments.design.experiment import Budget, Condition, ModelSpec
from traces.experiments.rows import Row

CANCELLED = "the experiment was cancelled"
OUT_OF_BUDGET = "the budget of the experiment is used up"
ERRORS_IN_A_ROW = 5
"""Runs of one model that may fail one after the other before the experiment pauses itself."""
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
"""How long the runs of a model wait after its provider failed; twice as long after each further failure."""


@dataclass(slots=True)
class Spent:
    """Tokens and US dollars."""

    tokens: int = 0
    cost: float = 0.0

    def add(self, tokens: int | None, cost: float | None) -> None:
        """Count these too; what is not known is not counted."""
        self.tokens += tokens or 0
        self.cost += cost or 0.0

    def reaches(self, budget: Budget) -> bool:
        """Whether nothing of the budget is left."""
        tokens = budget.tokens is not None and self.tokens >= budget.tokens
        return tokens or (budget.cost is not None and self.cost >= budget.cost)


@dataclass(slots=True)
class _Provider:
    """How a live model does."""

    in_a_row: int = 0
    """Failed runs since the last one that did not, or since a person let the experiment go on."""
    wait_s: float = 0.0
    until: float = 0.0
    """On the monotonic clock: no run of it begins before."""
    words: str = ""
    """What was said last."""


UsageOf = Callable[[], tuple[int | None, float | None]]
"""What one run has used up to now: tokens and US dollars; None where that is not known."""


@dataclass(slots=True)
class _Underway:
    loop: Loop
    usage: UsageOf
    used: Spent = field(default_factory=Spent)


class Gate:
    """Shared by all runs of one experiment. Every method may be called from any thread.

    Args:
        budget: what all runs together may use.
        spent: what was used before.
    """

    def __init__(self, budget: Budget, spent: Spent) -> None:
        self.budget = budget
        self.spent = spent
        """By runs that are over."""
        self.closed = ""
        """Why nothing goes on any more; empty while it does."""
        self.paused = False
        self.alarm = ""
        """Why it paused itself."""
        self.resting = 0
        """Runs under way that rest in a pause, as far as they are in this process."""
        self.elsewhere = 0
        """Runs under way in other processes, which an engine counts."""
        self._change = threading.Condition()
        self._underway: dict[str, _Underway] = {}
        self._providers: dict[str, _Provider] = {}

    # ---- from outside ----

    def pause(self, alarm: str = "") -> None:
        """No run begins, and those under way rest before their next phase."""
        with self._change:
            self.paused, self.alarm = True, alarm

    def resume(self) -> None:
        """Go on. Errors in a row are counted anew."""
        with self._change:
            self.paused, self.alarm = False, ""
            for provider in self._providers.values():
                provider.in_a_row = 0
            self._change.notify_all()

    def close(self, why: str, *, at_once: bool = True) -> None:
        """Let nothing go on any more: runs under way are stopped, ``at_once`` also in the middle of a phase."""
        with self._change:
            self.closed = self.closed or why
            for each in self._underway.values() if at_once else ():
                each.loop.stop()
            self._change.notify_all()

    @property
    def waiting(self) -> str:
        """Which models wait because their provider failed, for how long, and what was said; empty where none does."""
        with self._change:
            late = {name: each for name, each in self._providers.items() if each.until > clock.monotonic()}
            return "; ".join(
                f"{name} waits for {each.until - clock.monotonic():.0f} s: {each.words}" for name, each in late.items()
            )

    @property
    def used(self) -> Spent:
        """By all runs, those under way among them as far as they have come."""
        with self._change:
            return self._used()

    @property
    def running(self) -> int:
        """How many runs are under way."""
        return len(self._underway) + self.elsewhere

    @property
    def left(self) -> Budget:
        """What is left of the budget."""
        tokens, cost = self.budget.tokens, self.budget.cost
        used = self.used
        return Budget(None if tokens is None else tokens - used.tokens, None if cost is None else cost - used.cost)

    # ---- from a run ----

    def may_begin(self, model: str) -> bool:
        """Wait until a run of this model may begin; False: none may any more."""
        with self._change:
            while not self._is_closed():
                provider = self._providers.get(model)
                left = provider.until - clock.monotonic() if provider else 0.0
                if not self.paused and left <= 0:
                    return True
                self._change.wait(None if self.paused else left)
            return False

    def begin(self, loop: Loop, usage: UsageOf) -> None:
        """A run begins; it is under way until :meth:`note` is told its row, or :meth:`forget` its id."""
        with self._change:
            self._underway[loop.trace.trace_id] = _Underway(loop, usage)

    def between(self, loop: Loop) -> str:
        """Between two phases of a run: wait while there is a pause; gives why the run must stop, or nothing."""
        with self._change:
            if self._limited and (underway := self._underway.get(loop.trace.trace_id)):
                underway.used = Spent()
                underway.used.add(*underway.usage())
            self.resting += 1
            while not self._is_closed() and self.paused:
                self._change.wait()
            self.resting -= 1
            return self.closed

    def forget(self, trace_id: str) -> None:
        """A run is over, and somebody else adds up what it used."""
        with self._change:
            self._underway.pop(trace_id, None)

    def note(self, row: Row, spec: ModelSpec, condition: Condition) -> None:
        """Learn from a run that is over: what it used, and whether the provider of its model still answers."""
        with self._change:
            self.forget(row.trace_id)
            self.spent.add(row.tokens, row.cost)
            if spec.kind != "live" or row.status == "stopped":
                return
            provider = self._providers.setdefault(spec.name, _Provider())
            if row.status != "error":
                self._providers[spec.name] = _Provider()
            elif not fails_on_purpose(condition):
                self._note_failure(provider, row)

    def _note_failure(self, provider: _Provider, row: Row) -> None:
        now = clock.monotonic()
        provider.in_a_row += 1
        provider.words = row.detail
        if provider.until <= now:  # runs that fail together are one failure
            provider.wait_s = min(max(FIRST_WAIT_S, 2 * provider.wait_s), LONGEST_WAIT_S)
            provider.until = now + provider.wait_s
        if provider.in_a_row >= ERRORS_IN_A_ROW:
            self.paused = True
            self.alarm = f"{provider.in_a_row} runs of {row.model} failed one after the other: {row.detail}"

    # ---- with the lock held ----

    @property
    def _limited(self) -> bool:
        return self.budget.tokens is not None or self.budget.cost is not None

    def _used(self) -> Spent:
        total = Spent(self.spent.tokens, self.spent.cost)
        for each in self._underway.values():
            total.add(each.used.tokens, each.used.cost)
        return total

    def _is_closed(self) -> bool:
        if not self.closed and self._limited and self._used().reaches(self.budget):
            self.closed = OUT_OF_BUDGET
            self._change.notify_all()
        return bool(self.closed)


def fails_on_purpose(condition: Condition) -> bool:
    """Whether errors of its runs are what the condition is for: they say nothing about the provider."""
    return condition.breaks_protocol or any(armed.fault.about.group == "provider" for armed in condition.faults)
