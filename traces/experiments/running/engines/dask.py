"""A Dask cluster: the runs are its tasks, and this process keeps what comes back.

Without an address a cluster of processes of this machine is made for the occasion, which listens on the loopback alone.
The workers of another one need this program in the same version, and for live models a key in their own environment.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from agent.errors import InputError, ModelError
from agent.ids import new_trace_id
from traces.experiments.cells import Cell
from traces.experiments.rows import Row
from traces.experiments.running.engines.station import Luggage, Order, order, perform
from traces.experiments.running.job import Job
from traces.experiments.running.one_run import clear, not_run
from traces.keeping import write_whole

_TICK_S = 0.5
"""How often the workers are told of a pause or an end."""
_AHEAD = 2
"""Runs for each thread of the cluster that are on their way: the next one lies ready when one ends."""
PATIENCE = "20s"
"""For the first answer of a scheduler."""


def run(job: Job) -> None:
    """Make all runs of a job.

    Raises:
        InputError: the cluster cannot be reached or is lost, or cannot run the experiment.
        OSError: the folder cannot be written. What was recorded stays.
    """
    if any(job.keys.values()):
        raise InputError(
            "keys are not sent to a cluster: set the environment variable of the key on its workers, "
            "or run with threads"
        )
    with _connected(job) as client:
        _Dispatch(job, client).work()


@contextmanager
def _connected(job: Job) -> Iterator[Any]:
    """A client of the cluster; one that was made for the occasion ends with it."""
    distributed = _distributed()
    with ExitStack() as stack:
        try:
            cluster: Any = job.scheduler or stack.enter_context(
                distributed.LocalCluster(
                    n_workers=job.workers,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address=None,
                )
            )
            client = stack.enter_context(distributed.Client(cluster, timeout=PATIENCE, set_as_default=False))
        except (OSError, ValueError, RuntimeError, TimeoutError) as error:
            name = job.scheduler or "of this machine"
            raise InputError(f"the scheduler {name} cannot be reached: {error}") from error
        yield client


def _distributed() -> Any:
    """The package, loaded when it is needed; it has no types."""
    try:
        return import_module("distributed")
    except ImportError as error:
        raise InputError("the engine dask needs the package distributed: pip install distributed") from error


class _Dispatch:
    """Sends runs out and takes them in."""

    def __init__(self, job: Job, client: Any) -> None:
        self._job, self._client = job, client
        files = {path.relative_to(job.folder.path).as_posix(): path.read_bytes() for path in _files(job)}
        tools = tuple(str(path.resolve()) for path in job.tools_files)
        self._session = new_trace_id()
        luggage = Luggage(self._session, job.id, files, tools, job.prices)
        self._luggage = client.scatter(luggage, broadcast=True, hash=False)
        self._threads = max(1, sum(client.nthreads().values()))
        self._slots = threading.Semaphore(_AHEAD * self._threads)
        self._back: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._out: dict[Any, Cell] = {}
        self._failure: Exception | None = None
        self._told = Order()

    def work(self) -> None:
        """Everything, to the end."""
        feeder = threading.Thread(target=self._feed, daemon=True, name=f"{self._job.id} feeder")
        feeder.start()
        try:
            self._take_all()
            if self._failure:
                raise self._failure
        except BaseException:
            self._job.gate.close("the cluster failed")
            with suppress(Exception):  # it may be gone
                self._tell()
            raise
        finally:
            feeder.join()

    def _feed(self) -> None:
        """Send out run after run. A thread of its own, for it waits where a run must wait before it may begin."""
        job = self._job
        try:
            for cell in job.to_run():
                if not (job.gate.may_begin(cell.model) and self._has_slot()):
                    break
                future = self._client.submit(perform, self._luggage, list(cell), job.gate.left, pure=False)
                self._out[future] = cell
                self._count()
                future.add_done_callback(self._back.put)
        except Exception as error:
            self._failure = error
        finally:
            self._back.put(None)

    def _has_slot(self) -> bool:
        """Wait for one; False: nothing more may begin."""
        while not self._slots.acquire(timeout=_TICK_S):
            if self._job.gate.closed:
                return False
        return True

    def _count(self) -> None:
        self._job.gate.elsewhere = min(len(self._out), self._threads)

    def _take_all(self) -> None:
        """Take in what comes back until nothing is out any more."""
        feeding = True
        while feeding or self._out:
            self._tell()
            try:
                future = self._back.get(timeout=_TICK_S)
            except queue.Empty:
                continue
            if future is None:
                feeding = False
            else:
                self._take(future)

    def _take(self, future: Any) -> None:
        """What came back becomes a trace file and a row."""
        job, cell = self._job, self._out.pop(future)
        self._slots.release()
        self._count()
        error = future.exception() if future.status == "error" else None
        if future.status == "cancelled":
            raise InputError("the cluster was lost; --resume goes on where it was")
        if error is not None:
            self._lost(cell, error)
        elif result := future.result():
            data, trace = result
            row = Row.from_dict(data)
            clear(job.folder.traces, row.trace_id)
            write_whole(job.folder.traces / f"{row.trace_id}.json", trace)
            job.record(row)
        future.release()

    def _lost(self, cell: Cell, error: BaseException) -> None:
        """A run that gave nothing: its worker died again and again, or cannot run the experiment at all."""
        if not isinstance(error, _distributed().KilledWorker):
            raise error
        job = self._job
        words = ModelError(f"the worker process died each time it made this run: {error}")
        row, _ = not_run(cell, job.tasks[cell.subject], job.model(cell), job.id, job.folder.traces, words)
        job.record(row)

    def _tell(self) -> None:
        """Pauses and ends reach all workers, also one that came in late."""
        gate = self._job.gate
        now = Order(gate.paused, gate.closed)
        if now != self._told or now != Order():
            self._client.run(order, self._session, now)
            self._told = now


def _files(job: Job) -> Iterator[Path]:
    """What a worker needs of the folder."""
    yield job.folder.design
    if job.folder.subjects.is_dir():
        yield from (path for path in sorted(job.folder.subjects.iterdir()) if path.is_file())
