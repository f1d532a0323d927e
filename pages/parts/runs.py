"""The runs of this server: one process-wide registry by unguessable id.

A session of the browser is gone after a reload, and a second tab has its own; a run must outlive both. The registry is
bounded: a run that nobody looked at for long is ended and dropped. Its journal stays on disk, from where it can be
opened again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from agent.loop import Loop
from agent.redact import redact_text
from agent.runner import Runner
from agent.shown import shown
from agent.trace import Trace
from pages.parts.keys import Action
from pages.parts.setup import Setup

MOST_RUNS = 100
"""Runs kept in memory at once."""

SETUP = "setup"
"""The key under which a trace keeps the settings of its run."""

FORGOTTEN_S = 3600.0
"""Seconds without a look after which a run counts as forgotten."""


@dataclass(slots=True)
class Lead:
    """Where whoever moves a run looks, which is what those see who follow."""

    session: str | None = None
    """Whose look it is."""
    at: int | None = None
    """The earlier moment that is looked at, from 0; None: how the run stands."""
    message: int | None = None
    """Position of the message that is selected; None: the newest is shown."""


@dataclass(slots=True)
class OpenRun:
    """A run and what the pages need to know about it."""

    runner: Runner
    setup: Setup
    """What it was started with; a second tab shows these settings."""
    asked: Action | None = None
    """The last button pressed: tells "pausing after this call" from "this was the last phase asked for"."""
    moved_by: str | None = None
    """The session that moved it last; None: nobody in this server."""
    lead: Lead = field(default_factory=Lead)
    """Where whoever moves it looks."""
    editors: set[str] = field(default_factory=set)
    """The sessions in which somebody is writing what is to be done about a call."""
    asleep: bool = False
    """True when its live model is not here, or no longer the right one; it is shown, but must not move."""
    recovered: bool = False
    """True when it was found interrupted on disk by this server."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while a person's decision changes the resting run, so that two tabs cannot both do it."""
    seen: float = field(default_factory=time.monotonic)
    """When a page last drew it; monotonic seconds."""

    @property
    def loop(self) -> Loop:
        """The loop that the runner drives."""
        return self.runner.loop

    def trace(self) -> Trace:
        """The trace up to now, for people: without the key in use."""
        return shown(self.held(), self.loop.secrets)

    def held(self) -> Trace:
        """The trace up to now as it really is, as lists of their own: the worker appends to the live ones."""
        live = self.loop.trace
        entries = list(live.entries)
        return replace(
            live,
            entries=entries,
            messages=live.messages[: len(entries)],
            steps=list(live.steps),
            notes=list(live.notes),
            interventions=list(live.interventions),
        )

    def keep_setup(self, **changes: Any) -> None:
        """Note changed settings, so that other tabs show them and the run keeps them, on disk as well."""
        self.setup = replace(self.setup, **changes)
        self.loop.remember(SETUP, self.setup.to_dict())

    @property
    def unsaid(self) -> tuple[str, ...]:
        """What no line about the run may repeat: the key in use, and the id, which those who only look must not get."""
        return (*self.loop.secrets, self.id)

    @property
    def partial(self) -> str:
        """The text of the reply that is streaming in, without the key in use."""
        return redact_text(self.runner.partial, self.unsaid)

    @property
    def id(self) -> str:
        """The id of the run, which is the id of its trace and the secret of its link."""
        return self.loop.trace.trace_id

    @property
    def done(self) -> bool:
        """True when the run has ended."""
        return self.loop.phase is None and self.loop.stop_reason is not None and not self.loop.more


class Runs:
    """All open runs. Every method may be called from any session's thread."""

    def __init__(self, most: int = MOST_RUNS, forgotten_s: float = FORGOTTEN_S) -> None:
        self._runs: dict[str, OpenRun] = {}
        self._lock = threading.Lock()
        self._most = most
        self._forgotten_s = forgotten_s

    def find(self, run_id: str) -> OpenRun | None:
        """The open run of this id."""
        with self._lock:
            run = self._runs.get(run_id)
            if run is not None:
                run.seen = time.monotonic()
            return run

    def open(self, run_id: str, make: Callable[[], OpenRun]) -> OpenRun:
        """The run of this id, made by ``make`` if there is none: two presses at once make one run."""
        with self._lock:
            if run_id not in self._runs:
                self._end_forgotten()
                self._runs[run_id] = make()
            return self._runs[run_id]

    def renew(self, old: OpenRun, make: Callable[[], OpenRun]) -> OpenRun:
        """Put the run that ``make`` gives into the place of ``old``, unless somebody else was quicker."""
        with self._lock:
            if self._runs.get(old.id) is old:
                self._runs[old.id] = make()
            return self._runs.get(old.id, old)

    def end(self, run_id: str) -> None:
        """Forget this run, and stop it if it moves; a paused one stays on disk as it is. Unknown ids do no harm."""
        with self._lock:
            run = self._runs.pop(run_id, None)
        if run is not None and run.runner.busy:
            run.runner.stop()

    def listed(self) -> list[OpenRun]:
        """All open runs, the last seen first."""
        with self._lock:
            return sorted(self._runs.values(), key=lambda run: run.seen, reverse=True)

    def _end_forgotten(self) -> None:
        """Make room: first what nobody looks at any more, then the run that was not looked at for longest."""
        now = time.monotonic()
        by_age = sorted(self._runs, key=lambda run_id: self._runs[run_id].seen)
        forgotten = [run_id for run_id in by_age if now - self._runs[run_id].seen > self._forgotten_s]
        surplus = by_age[: max(0, len(by_age) + 1 - self._most)]
        for run_id in dict.fromkeys(forgotten + surplus):
            run = self._runs.pop(run_id)
            if run.runner.busy:
                run.runner.stop()


@st.cache_resource(show_spinner=False)
def registry() -> Runs:
    """The registry of this server process."""
    return Runs()
