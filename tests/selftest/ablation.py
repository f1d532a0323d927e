"""How often the laboratory is right: experiments whose truth is known, run and judged by the real thing.

    python tests/selftest/ablation.py [--seed N] [--experiments N] [--cause b|none|...] [--repeats N] [--effect 0.7]
                                      [--notes N] [--chance 0.9] [--statistics]

A fake model reads some notes and answers right with a given chance. Of one note, the cause, it is right less often by
``--effect`` where that is blank; the others make no difference, though each condition draws its own chances. Each
condition blanks one note. A run is a real loop, its rows are measured and analysed as those of any experiment.

Printed are, each with its Wilson interval: with no cause planted, the experiments in which any arm was called an effect
(nominal 5 %, all arms together); with one planted, those that found it, that found nothing else, and that wrongly said
"no effect" of it. ``--statistics`` does the same for data that the loop does not give: numbers, and runs without pairs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from agent.interventions import Intervention
from traces.experiments.analysis.analyse import analyse
from traces.experiments.analysis.contrast import Contrast, effect
from traces.experiments.analysis.needed import mcnemar_power
from traces.experiments.analysis.statistics import Counts, holm, wilson
from traces.experiments.analysis.summary import Summary
from traces.experiments.cells import cells
from traces.experiments.design.experiment import Condition, Experiment, ModelSpec, Subject
from traces.experiments.running.one_run import run_cell
from traces.experiments.subjects.task import load_subject

WORD = "AMBER"
NOMINAL = 0.05
MODEL = ModelSpec(name="script")


@dataclass(frozen=True, kw_only=True)
class World:
    """What is true."""

    notes: str = "abc"
    """One letter a note, and an arm for each."""
    cause: str = ""
    """The note that matters; empty: none does."""
    chance: float = 0.9
    """How often the model is right with nothing taken away."""
    effect: float = 0.7
    """How much less often without the note that matters."""
    repeats: int = 12

    @property
    def power(self) -> float:
        """How often McNemar's exact test finds the cause by itself, held against the smallest alpha of Holm."""
        without = self.chance - self.effect
        gained, lost = without * (1 - self.chance), self.chance * (1 - without)
        return mcnemar_power(self.repeats, gained, lost, NOMINAL / len(self.notes))

    def script(self) -> str:
        """The script of its model, as JSON."""
        right, wrong = {"text": f"It is {WORD}."}, {"text": "It is COPPER."}
        rules = [{"when": {"calls": 0}, "calls": [{"name": f"read_{note}"} for note in self.notes]}]
        for note in self.notes:
            blank = {"tool": f"read_{note}", "result": "blank"}
            chance = self.chance - (self.effect if note == self.cause else 0)
            rules += [{"when": {**blank, "chance": round(chance, 6)}, **right}, {"when": blank, **wrong}]
        rules.append({"when": {"chance": self.chance}, **right})
        tools = [{"name": f"read_{note}", "results": [{"result": f"Note {note}."}]} for note in self.notes]
        evidence = [{"answer_contains": WORD}]
        asked = {"task": "Which word is it?", "tools": tools, "parallel": False}
        return json.dumps({**asked, "rules": rules, "default": wrong, "evidence": evidence})

    def experiment(self, seed: int) -> Experiment:
        """One experiment in it."""
        blanks = [Intervention("blank_results", {"tools": [f"read_{note}"]}) for note in self.notes]
        arms = [Condition(name=note, interventions=(blank,)) for note, blank in zip(self.notes, blanks, strict=True)]
        subject = Subject(name="notes", script="notes.json")
        return Experiment(subjects=(subject,), conditions=tuple(arms), repeats=self.repeats, seed=seed)


def summaries(world: World, experiments: int, seed: int) -> Iterator[Summary]:
    """So many experiments, no two of which share a seed of a run."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "notes.json").write_text(world.script(), encoding="utf-8")
        task = load_subject(world.experiment(0).subjects[0], Path(folder))
    for number in range(experiments):
        experiment = world.experiment((seed * experiments + number) * world.repeats)
        conditions = {condition.name: condition for condition in experiment.conditions}
        rows = [run_cell(cell, conditions[cell.condition], task, MODEL)[0] for cell in cells(experiment)]
        yield analyse(experiment, rows)


@dataclass
class Score:
    """How many of the experiments ended how."""

    experiments: int = 0
    found: int = 0
    """The cause was called an effect."""
    alone: int = 0
    """And nothing else was."""
    false: int = 0
    """Something that is no cause was called an effect."""
    denied: int = 0
    """Of the cause it was said that it has no effect."""

    def add(self, summary: Summary, cause: str) -> None:
        """Count one."""
        findings = {verdict.condition: verdict.finding for verdict in summary.verdicts}
        false = any(finding == "effect" and note != cause for note, finding in findings.items())
        found = findings.get(cause) == "effect"
        self.experiments += 1
        self.found += found
        self.alone += found and not false
        self.false += false
        self.denied += findings.get(cause) == "none"


def score(world: World, experiments: int, seed: int) -> Score:
    """Run so many experiments and count."""
    result = Score()
    for summary in summaries(world, experiments, seed):
        result.add(summary, world.cause)
    return result


# ---- statistics alone ----

Draw = Callable[[np.random.Generator, int], np.ndarray]


def yes_or_no(generator: np.random.Generator, size: int) -> np.ndarray:
    """A rate of 80 %."""
    return (generator.random(size) < 0.8).astype(float)


def skewed(generator: np.random.Generator, size: int) -> np.ndarray:
    """Like tokens: a long tail."""
    return np.round(generator.lognormal(5, 0.6, size))


def small(generator: np.random.Generator, size: int) -> np.ndarray:
    """Like steps: few values, many of them equal."""
    return 2.0 + generator.poisson(0.7, size)


KINDS: dict[str, tuple[Draw, bool, bool]] = {
    "steps, pairs": (small, False, True),
    "tokens, pairs": (skewed, False, True),
    "steps, no pairs": (small, False, False),
    "tokens, no pairs": (skewed, False, False),
    "a rate, no pairs": (yes_or_no, True, False),
}
"""How values are drawn, whether they are yes or no, and whether they are pairs."""


def false_alarms(kind: str, experiments: int, seed: int, *, repeats: int = 12, arms: int = 3) -> int:
    """Of experiments in which nothing has an effect, those in which some arm seems to have one after the correction."""
    draw, is_rate, paired = KINDS[kind]
    generator = np.random.default_rng(seed)
    alarms = 0
    for number in range(experiments):
        baseline = draw(generator, repeats).tolist()
        seen = [
            Contrast("success" if is_rate else "steps", is_rate, baseline, draw(generator, repeats).tolist(), paired, 1)
            for _ in range(arms)
        ]
        found = [effect(each, "m", str(at), seed + number).p for at, each in enumerate(seen)]
        alarms += min(holm([p for p in found if p is not None])) < NOMINAL
    return alarms


# ---- what is printed ----


def told(what: str, count: int, of: int) -> str:
    """One line: a share with its interval."""
    low, high = wilson(Counts(count, of))
    return f"{what:<58} {count:>5} of {of:,}  {count / of:6.1%}  [{low:.1%}, {high:.1%}]"


def report(world: World, experiments: int, seed: int) -> Iterator[str]:
    """The lines about one world."""
    result, arms = score(world, experiments, seed), len(world.notes)
    about = f"{arms} arms, {world.repeats} repeats, right {world.chance:.0%}"
    if not world.cause:
        yield told(f"no cause ({about}): false alarms", result.false, experiments)
        return
    planted = f"cause {world.cause} ({about}, {world.chance - world.effect:.0%} without)"
    yield told(f"{planted}: found", result.found, experiments)
    yield f"    expected of the exact test: {world.power:.1%}"
    yield told("    found, and nothing else", result.alone, experiments)
    yield told("    another arm called an effect", result.false, experiments)
    yield told('    "no effect" said of the cause', result.denied, experiments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--cause", default="b", help="a letter; none: only experiments without a cause")
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--effect", type=float, default=0.7)
    parser.add_argument("--chance", type=float, default=0.9)
    parser.add_argument("--notes", type=int, default=3, help="how many; an arm for each")
    parser.add_argument("--statistics", action="store_true", help="also numbers and runs without pairs, by themselves")
    given = parser.parse_args(arguments)
    notes = ascii_lowercase[: given.notes]
    if given.cause not in ("none", *notes):
        parser.error(f"--cause must be none or one of the notes: {', '.join(notes)}")
    if not 0 <= given.chance - given.effect <= given.chance <= 1:
        parser.error("--chance must be at most 1, and --effect at most --chance")
    started = time.perf_counter()
    known = {"notes": notes, "repeats": given.repeats, "chance": given.chance, "effect": given.effect}
    worlds = [World(**known)] + [World(**known, cause=given.cause)] * (given.cause != "none")
    for world, experiments in zip(worlds, (given.experiments, max(given.experiments // 5, 1)), strict=False):
        print(*report(world, experiments, given.seed), sep="\n", flush=True)
    for kind in KINDS if given.statistics else ():
        alarms = false_alarms(kind, given.experiments, given.seed, repeats=given.repeats, arms=given.notes)
        print(told(f"statistics alone, {kind}: false alarms", alarms, given.experiments), flush=True)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
