"""Worker threads of this process: they take the runs in their order, one after the other."""

from __future__ import annotations

import threading

from traces.experiments.cells import Cell
from traces.experiments.running.job import Job
from traces.experiments.running.one_run import run_cell


def run(job: Job) -> None:
    """Make all runs of a job.

    Raises:
        OSError: the folder cannot be written. What was recorded stays.
        Exception: whatever else kept a run from being recorded.
    """
    cells, taking = job.to_run(), threading.Lock()
    failures: list[Exception] = []

    def take() -> Cell | None:
        with taking:
            return None if failures else next(cells, None)

    def work() -> None:
        try:
            while (cell := take()) is not None and job.gate.may_begin(cell.model):
                _perform(job, cell)
        except Exception as error:
            failures.append(error)
            job.gate.close("a run could not be kept")

    threads = [threading.Thread(target=work, daemon=True, name=f"{job.id} {n + 1}") for n in range(job.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _perform(job: Job, cell: Cell) -> None:
    """One run, its trace into the folder and its row to whoever keeps them."""
    row, _ = run_cell(
        cell,
        job.condition(cell),
        job.tasks[cell.subject],
        job.model(cell),
        experiment=job.id,
        key=job.keys.get(cell.model),
        journal=job.folder.traces,
        control=job.gate,
        prices=job.prices,
    )
    job.record(row)
