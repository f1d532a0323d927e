"""A session: an experiment in its folder, as it is started, paused, cancelled, and continued after whatever happened.

What is over is in the ledger, and nothing that is there is run again. Everything else is in memory and may be lost.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args

from agent.errors import AgentError, InputError
from agent.toolbox.own import load_all
from agent.tools import Tool
from traces.experiments.design.file import read_design
from traces.experiments.folder import Folder
from traces.experiments.rows import Row
from traces.experiments.running.creating import check_subjects, create, read_state, write_state
from traces.experiments.running.gate import CANCELLED, Gate
from traces.experiments.running.holding import held
from traces.experiments.running.job import Job, load_tasks
from traces.experiments.running.ledger import Ledger, read_lines
from traces.experiments.running.progress import Progress, State, Tally
from traces.prices import PriceTable

__all__ = ["Session", "create"]

Engine = Literal["threads", "dask"]
ENGINES = "traces.experiments.running.engines"
MOST_WORKERS = 64


class Session:
    """An experiment that runs, or can. Every method may be called from any thread; none but :meth:`wait` waits.

    Args:
        folder: of the experiment, made by :func:`create`.
        keys: of live models, by the name of the model in the design. They stay in memory; what is missing is taken out
            of the environment.
        workers: how many runs at a time.
        engine: who performs the runs: threads of this process, or a Dask cluster.
        scheduler: the address of a cluster; None: one of processes of this machine, made for the occasion.
        own: tools of one's own, which subjects may name.
        prices: for what a provider does not say itself.
        tools_files: files with more such tools. Of these a cluster loads its own copies.

    Raises:
        InputError: the folder holds no experiment that can be read, or an argument makes no sense.
    """

    def __init__(
        self,
        folder: Folder,
        *,
        keys: Mapping[str, str] | None = None,
        workers: int = 1,
        engine: Engine = "threads",
        scheduler: str | None = None,
        own: Sequence[Tool] = (),
        prices: PriceTable | None = None,
        tools_files: Sequence[Path] = (),
    ) -> None:
        if not 1 <= workers <= MOST_WORKERS:
            raise InputError(f"workers must be a whole number from 1 to {MOST_WORKERS}, not {workers}")
        if engine not in get_args(Engine):
            raise InputError(f"there is no engine {engine!r}; known are {', '.join(get_args(Engine))}")
        self.folder = folder
        self.own = (*own, *load_all(tools_files))
        """All tools of one's own."""
        self.experiment = read_design(folder.design, self.own)
        self.id = read_state(folder).id
        self._keys, self._workers, self._engine, self._scheduler = dict(keys or {}), workers, engine, scheduler
        self._prices, self._tools_files = prices, tuple(tools_files)
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._over.set()
        self._error = ""
        self._look()

    def _look(self) -> None:
        """What the folder says."""
        state = read_state(self.folder)
        self._tally = Tally(self.experiment, read_lines(self.folder))
        self._gate = Gate(self.experiment.budget, self._tally.spent)
        whole = not self._tally.left()
        lost = state.ended == "done" and not state.remark  # all runs were made, and lines of the ledger are gone
        self._state: State = "done" if whole else "ready" if lost else state.ended or "ready"
        self._remark = "" if whole else state.remark

    # ---- what a person does ----

    def start(self, *, retry_errors: bool = False) -> None:
        """Begin, or go on after an interruption or a cancellation; nothing where it moves already.

        Args:
            retry_errors: make the runs again that ended with an error.

        Raises:
            InputError: a subject, a model or a key is missing, a subject was changed meanwhile, or another process runs
                this experiment.
        """
        with self._lock:
            if not self._over.is_set():
                self.resume()
                return
            with ExitStack() as stack:
                stack.enter_context(held(self.folder))
                self._look()
                state = read_state(self.folder)
                check_subjects(self.folder, state)
                job = self._job(stack.enter_context(closing(self._ledger())), retry_errors)
                write_state(self.folder, replace(state, ended=None, remark=""))
                self._state, self._error, self._remark = "running", "", ""
                self._over.clear()
                self._tally.move(True)
                holding = stack.pop_all()
            threading.Thread(target=self._work, args=(job, holding), daemon=True, name=f"experiment {self.id}").start()

    def pause(self) -> None:
        """No run begins, and those under way rest before their next phase."""
        with self._lock:
            if not self._over.is_set():
                self._gate.pause()
                self._tally.move(False)

    def resume(self) -> None:
        """Go on after a pause, also after one that the session made itself."""
        with self._lock:
            if not self._over.is_set():
                self._tally.move(True)
                self._gate.resume()

    def cancel(self) -> None:
        """Stop what is under way, and begin no more. :meth:`start` goes on from there."""
        self._gate.close(CANCELLED)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing runs; False: it still does after ``timeout`` seconds."""
        return self._over.wait(timeout)

    # ---- what there is to see ----

    @property
    def progress(self) -> Progress:
        """Where it stands."""
        gate, state = self._gate, self._state
        if state == "running" and gate.paused:
            state = "paused"
            self._tally.move(False)  # it may have paused itself
        return self._tally.progress(
            state,
            gate.running,
            gate.used,
            resting=gate.resting,
            waiting=gate.waiting if state == "running" else "",
            error=self._error or gate.alarm,
            remark=self._remark,
        )

    @property
    def rows(self) -> list[Row]:
        """The row of each run that is over, in the order in which the runs begin."""
        return self._tally.rows()

    # ---- the work ----

    def _ledger(self) -> Ledger:
        try:
            return Ledger(self.folder)
        except OSError as error:
            raise InputError(f"{self.folder.ledger} cannot be written: {error.strerror or error}") from error

    def _job(self, ledger: Ledger, retry_errors: bool) -> Job:
        known = self._tally.trace_ids()
        there = {path.name.partition(".")[0] for path in self.folder.traces.glob("*.json")}
        return Job(
            id=self.id,
            folder=self.folder,
            experiment=self.experiment,
            cells=self._tally.left(retry_errors=retry_errors),
            tasks=load_tasks(self.experiment, self.folder.path, self.own, self._keys),
            gate=self._gate,
            record=self._recorder(ledger),
            keys=self._keys,
            prices=self._prices,
            workers=self._workers,
            scheduler=self._scheduler,
            tools_files=self._tools_files,
            leftover=frozenset(there - known),
        )

    def _recorder(self, ledger: Ledger) -> Callable[[Row], None]:
        """Where a row goes: into the ledger first, then to all that look at it."""
        gate, tally, writing = self._gate, self._tally, threading.Lock()
        specs = {spec.name: spec for spec in self.experiment.models}
        conditions = {condition.name: condition for condition in self.experiment.conditions}

        def record(row: Row) -> None:
            with writing:
                ledger.add(row)
                tally.add(row)
            gate.note(row, specs[row.model], conditions[row.condition])

        return record

    def _work(self, job: Job, holding: ExitStack) -> None:
        """The thread of the experiment, from the first run to the last word."""
        try:
            with holding:
                import_module(f"{ENGINES}.{self._engine}").run(job)
                self._end(job.gate.closed)
        except Exception as error:  # whatever it is, a person must be told: nobody waits for this thread
            words = getattr(error, "strerror", None) or str(error)
            ours = isinstance(error, (AgentError, OSError))
            self._error = words if ours and words else f"{type(error).__name__}: {words}"
            self._state = "failed"
        finally:
            self._tally.move(False)
            self._over.set()

    def _end(self, closed: str) -> None:
        unfinished = closed if self._tally.left() else ""
        ended: Literal["done", "cancelled"] = "cancelled" if unfinished == CANCELLED else "done"
        remark = "" if ended == "cancelled" else unfinished
        write_state(self.folder, replace(read_state(self.folder), ended=ended, remark=remark))
        self._state, self._remark = ended, remark
