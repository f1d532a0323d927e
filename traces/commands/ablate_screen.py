"""What ``python -m traces ablate`` shows: how far it is, and at the end what was found."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence

from agent import clock
from agent.console import one_line, tell
from agent.models.openai_chat import OPENAI_URL
from traces.commands.aligned import aligned
from traces.experiments.analysis.analyse import analyse
from traces.experiments.analysis.summary import Arm, Estimate
from traces.experiments.before.estimate import Estimated
from traces.experiments.design.experiment import Experiment
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.report.telling import interval_words, number_words
from traces.experiments.rows import Row
from traces.experiments.running.progress import Progress

_EVERY_S = 10.0
"""How often a line is written where it cannot be rewritten."""
_NOTHING = Estimate(None)


class Screen:
    """The progress on standard error: one line that is rewritten on a terminal, else a line from time to time."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._last = ""
        self._since = -_EVERY_S

    def show(self, progress: Progress) -> None:
        """Say how far it is, where that is news."""
        line = one_line(told(progress))
        if self._terminal:
            line = line[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be rewritten
            if line != self._last:
                sys.stderr.write(f"\r{line.ljust(len(self._last))}")
                sys.stderr.flush()
        elif clock.monotonic() - self._since >= _EVERY_S:
            self._since = clock.monotonic()
            tell(line)
        self._last = line

    def close(self, progress: Progress) -> None:
        """Say how far it has come at the end."""
        self._since = -_EVERY_S
        self.show(progress)
        if self._terminal:
            tell("")


def told(progress: Progress) -> str:
    """Where an experiment stands, in one line."""
    parts = [f"{progress.done:,} of {progress.total:,} runs"]
    if progress.errors:
        parts.append(f"{progress.errors:,} error{'' if progress.errors == 1 else 's'}")
    if progress.stopped:
        parts.append(f"{progress.stopped:,} stopped")
    parts.append(f"{progress.tokens:,} tokens")
    if progress.cost:
        parts.append(f"{progress.cost:.4f} US dollars")
    if progress.left_s and progress.state == "running":
        parts.append(f"about {_time(progress.left_s)} left")
    return "; ".join([", ".join(parts), *([progress.waiting] if progress.waiting else [])])


def estimated(estimate: Estimated) -> Iterator[str]:
    """What an experiment will take, and what is doubtful about it, line by line."""
    calls = _range(f"{estimate.calls_low:,}", f"{estimate.calls_high:,}")
    tokens = _range(f"{estimate.tokens_low:,}", f"{estimate.tokens_high:,}")
    line = f"{estimate.runs:,} runs, {calls} model calls, {tokens} tokens"
    if estimate.cost_low is not None and estimate.cost_high:
        line += f", {_range(f'{estimate.cost_low:.4f}', f'{estimate.cost_high:.4f}')} US dollars"
    yield line
    yield from (f"note: {sentence}" for sentence in (*estimate.remarks, *estimate.doubts))


def keys_sent(experiment: Experiment) -> Iterator[str]:
    """Which key goes to which server, line by line: a design may be somebody else's, and names both."""
    for spec in experiment.models:
        if spec.kind == "live" and os.environ.get(spec.key_env):
            server = spec.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
            yield f"note: {spec.name}: the key in {spec.key_env} goes to {server}"


def findings(experiment: Experiment, rows: Sequence[Row]) -> Iterator[str]:
    """The arms, and once all runs are there the verdicts, line by line."""
    summary = analyse(experiment, rows)
    name = OUTCOMES[summary.outcome].name
    yield f"{experiment.title or 'experiment'}: {name}"
    several = len(experiment.models) > 1
    heads = ("condition", *(("model",) if several else ()), "runs", "errors", "stopped", name, "interval")
    yield from aligned([heads, *(_arm(arm, summary.outcome, several) for arm in summary.arms)])
    if len(rows) == experiment.size:  # before that a verdict would be a peek
        for each in summary.verdicts:
            model = f" ({each.model})" if several else ""
            yield f"{each.condition}{model}: {each.sentence}"
            yield from (f"    {remark}" for remark in each.remarks)
    yield from (f"note: {sentence}" for sentence in summary.remarks)


def _arm(arm: Arm, outcome: str, several: bool) -> tuple[str, ...]:
    found = arm.outcomes.get(outcome, _NOTHING)
    counts = (f"{arm.started:,}", f"{arm.errors:,}", f"{arm.stopped:,}")
    value, interval = number_words(found.value, outcome), interval_words(found.low, found.high, outcome)
    return (arm.condition, *((arm.model,) if several else ()), *counts, value, interval)


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
