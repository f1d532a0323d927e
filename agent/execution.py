"""Running the calls of one step: one after the other or side by side, each with its own time limit.

A thread cannot be killed. One whose time is up, or whose run was stopped, is left alone: its result and what it emits
are dropped, and as a daemon it cannot hold the end of the program.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from agent import clock, jsontext
from agent.tool_result import ToolResult

if TYPE_CHECKING:
    from agent.messages import ToolCall
    from agent.tools import RunContext, Tool

MAX_PARALLEL = 16
"""Calls of one step that run at the same time; further ones wait for a place."""
_LOOK_S = 0.1
"""How often a waiting batch looks whether the run was stopped, in seconds."""


class Job(NamedTuple):
    """One approved call."""

    position: int
    """Place among all calls of the reply, from 0, whether they run or not; results are told apart by it, never by id or
    order of arrival."""
    call: ToolCall
    tool: Tool
    arguments: dict[str, Any]
    """What to run with; the tool gets a copy."""
    context: RunContext


def execute(
    jobs: Sequence[Job],
    *,
    parallel: bool = True,
    stop: threading.Event | None = None,
    deadline_s: float | None = None,
    begin: Callable[[int], object] | None = None,
) -> Iterator[tuple[int, ToolResult]]:
    """Run the jobs and yield ``(position, result)`` as each one finishes.

    A failing tool is a result. A tool without any time limit that is not async runs in the calling thread when it is
    alone or ``parallel`` is off; all others run in threads of their own. Of equal calls to a tool that is not
    idempotent the first runs and the others are answered with an error.

    Args:
        jobs: in call order.
        parallel: run several at the same time.
        stop: when it is set, what has not finished yields an "interrupted" error within a second; a tool that runs in
            the calling thread is waited for.
        deadline_s: seconds after which every tool that still runs is given up like one whose own time is up.
        begin: told the position of each job right before its tool starts, in the calling thread.

    Raises:
        KeyboardInterrupt, SystemExit: a tool raised it, in whichever thread.
    """
    batch = _Batch(stop, None if deadline_s is None else clock.monotonic() + deadline_s, begin)
    if len(jobs) == 1:
        yield batch.run_one(jobs[0])
        return
    repeats = _repeats(jobs)
    yield from repeats.items()
    jobs = [job for job in jobs if job.position not in repeats]
    if parallel and len(jobs) > 1:
        yield from batch.run_together(jobs)
    else:
        for job in jobs:
            yield batch.run_one(job)


def _repeats(jobs: Sequence[Job]) -> dict[int, ToolResult]:
    """Answers for calls that repeat an earlier one of a tool that must not run twice."""
    first: dict[tuple[str, str], int] = {}
    answers = {}
    for job in jobs:
        if job.tool.idempotent:
            continue
        position = first.setdefault((job.tool.name, jsontext.canonical(job.arguments)), job.position)
        if position != job.position:
            answers[job.position] = ToolResult.failed(
                f"not run: duplicate of call {position + 1}; {job.tool.name} runs once for equal arguments",
                retryable=False,
            )
    return answers


class _Batch:
    """What the jobs of one step have in common; the deadline is on the clock of :mod:`agent.clock`."""

    def __init__(
        self, stop: threading.Event | None, deadline: float | None, begin: Callable[[int], object] | None
    ) -> None:
        self.stop = stop
        self.deadline = deadline
        self.begin = begin

    def run_one(self, job: Job) -> tuple[int, ToolResult]:
        """Run a job that has no company, in this thread if possible."""
        if self.stopped():
            return job.position, _interrupted()
        if job.tool.needs_thread or self.deadline is not None:
            return next(self.run_together([job]))
        if self.begin is not None:
            self.begin(job.position)
        return job.position, job.tool.run(job.arguments, job.context)

    def run_together(self, jobs: Sequence[Job]) -> Iterator[tuple[int, ToolResult]]:
        """Run each job in a thread, :data:`MAX_PARALLEL` at a time."""
        done: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        waiting = deque(jobs)
        running: dict[int, _Worker] = {}
        try:
            while waiting or running:
                stopped = self.stopped()
                while waiting and len(running) < MAX_PARALLEL and not stopped:
                    job = waiting.popleft()
                    if self.begin is not None:
                        self.begin(job.position)
                    worker = _Worker(job, done, self.deadline)
                    running[worker.job.position] = worker
                finished = _finished(done, running, 0.0 if stopped else None if self.stop is None else _LOOK_S)
                if stopped and not finished:
                    break
                for worker in finished:
                    del running[worker.job.position]
                    yield worker.job.position, worker.outcome()
            for position, worker in running.items():
                yield position, _interrupted(worker.since_ms())
            for job in waiting:
                yield job.position, _interrupted()
        finally:
            for worker in running.values():
                worker.abandon()

    def stopped(self) -> bool:
        """Whether the user stopped the run."""
        return self.stop is not None and self.stop.is_set()


def _finished(done: queue.SimpleQueue[_Worker], running: dict[int, _Worker], wait: float | None) -> list[_Worker]:
    """The next worker that is done, or all whose time is up; nothing when ``wait`` seconds passed before that."""
    for worker in running.values():
        if (left := worker.left_s()) is not None:
            wait = left if wait is None else min(wait, left)
    try:
        worker = done.get(timeout=wait)
    except queue.Empty:
        late = [worker for worker in running.values() if worker.left_s() == 0]
        for worker in late:
            worker.abandon()
        return late
    return [worker] if running.get(worker.job.position) is worker else []


def _interrupted(latency_ms: float | None = None) -> ToolResult:
    what = "not run" if latency_ms is None else "interrupted, its outcome is unknown"
    return ToolResult.failed(f"{what}: the run was stopped", retryable=True, latency_ms=latency_ms)


class _Worker:
    """One job in a thread of its own."""

    def __init__(self, job: Job, done: queue.SimpleQueue[_Worker], deadline: float | None) -> None:
        self.job = job
        self.cancel: Callable[[], object] | None = None
        """Ends an async tool; there is nothing like it for others."""
        self._done = done
        self._started = clock.monotonic()
        self._own_deadline = None if job.tool.timeout is None else self._started + job.tool.timeout
        self._deadline = min((at for at in (self._own_deadline, deadline) if at is not None), default=None)
        self._result: ToolResult | BaseException | None = None
        self.abandoned = False
        """Nobody waits for it any more."""
        work = contextvars.copy_context().run
        threading.Thread(target=work, args=(self._work,), name=f"tool {job.tool.name}", daemon=True).start()

    def _work(self) -> None:
        _worker.set(self)
        try:
            self._result = self.job.tool.run(self.job.arguments, replace(self.job.context, emit=self._emit))
        except BaseException as error:
            self._result = error
        self._done.put(self)

    def _emit(self, type: str, payload: dict[str, Any]) -> None:
        if not self.abandoned:
            self.job.context.emit(type, payload)

    def since_ms(self) -> float:
        """Milliseconds since the start."""
        return clock.since_ms(self._started)

    def left_s(self) -> float | None:
        """Seconds that the tool still has, not below 0; None without a limit."""
        return None if self._deadline is None else max(0.0, self._deadline - clock.monotonic())

    def abandon(self) -> None:
        """Wait for it no longer."""
        self.abandoned = True
        if self.cancel is not None:
            self.cancel()

    def outcome(self) -> ToolResult:
        """The result of a worker that is done or abandoned."""
        if isinstance(self._result, BaseException):
            raise self._result
        if self.abandoned or self._result is None:
            own = self._deadline == self._own_deadline
            words = f"timed out after {self.job.tool.timeout:g} s" if own else "given up: the time of the run is over"
            return ToolResult.failed(
                f"{words}; its outcome is unknown", retryable=own, latency_ms=self.since_ms(), timed_out=True
            )
        return self._result


_worker: contextvars.ContextVar[_Worker | None] = contextvars.ContextVar("worker", default=None)
"""The worker in whose thread a tool runs."""


def wait_for(awaitable: Awaitable[Any]) -> Any:
    """The result of an async tool, waited for here; in a thread when an event loop already runs in this one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_cancellable(awaitable))
    box: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
    work = contextvars.copy_context().run
    threading.Thread(target=work, args=(_wait_in_thread, awaitable, box), daemon=True).start()
    value, error = box.get()
    if error is not None:
        raise error
    return value


def _wait_in_thread(awaitable: Awaitable[Any], box: queue.SimpleQueue[tuple[Any, BaseException | None]]) -> None:
    try:
        box.put((asyncio.run(_cancellable(awaitable)), None))
    except BaseException as error:
        box.put((None, error))


async def _cancellable(awaitable: Awaitable[Any]) -> Any:
    """Await it in a way that the worker of this thread, if there is one, can end from outside."""
    worker, task, loop = _worker.get(), asyncio.current_task(), asyncio.get_running_loop()

    def cancel() -> None:
        if task is not None:
            with suppress(RuntimeError):  # the loop was just closed: there is nothing left to end
                loop.call_soon_threadsafe(task.cancel)

    if worker is not None:
        worker.cancel = cancel
        if worker.abandoned:
            cancel()
    return await awaitable
