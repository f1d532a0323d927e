"""What an experiment costs beyond the runs that it is made of, as a ratio to the bare loop, and whether memory is flat.

    python tests/bench/bench_ablation.py [--rounds N] [--runs N]

The floor plays the same script under the same conditions with the loop alone, its journal and trace file in a folder.
Ours is the whole experiment with one worker thread: cells, measuring, ledger, progress. CPU time, floor and ours in
turn, medians. Targets: 1,000 scripted runs take at most 3x the bare runs; the most memory of all runs is at most 3 MB
above that of the first quarter (the rows that an experiment keeps are 1 KB each).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agent.scripts import load_script
from agent.scripts.script import play
from tests.bench.ratios import compare
from traces.experiments.cells import cells
from traces.experiments.design.experiment import Experiment
from traces.experiments.design.file import parse_design
from traces.experiments.rows import Row
from traces.experiments.running.session import Session, create

DESIGN = """
subjects: [code_word]
conditions: [blank_results, drop_pairs, truncate_results]
repeats: %d
"""
MOST_GROWTH_MB = 3.0


def floor(experiment: Experiment, folder: Path) -> None:
    """Every run of the experiment by the loop alone."""
    script = load_script("code_word")
    conditions = {condition.name: condition for condition in experiment.conditions}
    for cell in cells(experiment):
        changes = (*script.interventions, *conditions[cell.condition].interventions)
        play(script.loop(pace=0, seed=cell.seed, interventions=changes, journal=folder), script)


def ours(experiment: Experiment, folder: Path, on_row: Callable[[int], None] | None = None) -> list[Row]:
    """The same runs as an experiment."""
    session = Session(create(folder / "experiment", experiment, folder))
    session.start()
    while not session.wait(0.05):
        if on_row:
            on_row(session.progress.done)
    if session.progress.state != "done":
        raise SystemExit(session.progress.error)
    return session.rows


def memory(experiment: Experiment) -> tuple[float, float]:
    """The most megabytes in use up to about a quarter of the runs, and up to the end of all of them."""
    seen: list[float] = []

    def look(done: int) -> None:
        if not seen and done >= experiment.size / 4:
            seen.append(tracemalloc.get_traced_memory()[1] / 1e6)

    with tempfile.TemporaryDirectory() as name:
        tracemalloc.start()
        rows = ours(experiment, Path(name), look)
        end = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    assert len(rows) == experiment.size
    return seen[0], end


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()
    experiment = parse_design(DESIGN % (options.runs // 4))
    warm_up = parse_design(DESIGN % 2)

    def in_new_folder(work: Callable[[Experiment, Path], object], design: Experiment = experiment) -> None:
        with tempfile.TemporaryDirectory() as name:
            work(design, Path(name))

    in_new_folder(floor, warm_up)
    in_new_folder(ours, warm_up)
    name = f"{experiment.size:,} scripted runs"
    seconds = compare(name, lambda: in_new_folder(floor), lambda: in_new_folder(ours), options.rounds, 3)
    print(f"{'':<46} {seconds / experiment.size * 1000:.2f} ms a run")
    quarter, end = memory(experiment)
    print(f"memory: {quarter:.1f} MB in the first quarter, {end:.1f} MB in all  (at most {MOST_GROWTH_MB:g} MB more)")


if __name__ == "__main__":
    main()
