"""The experiments of this server: one process-wide registry by unguessable id, each in a folder of the data folder.

As with runs, a session of the browser is gone after a reload, and an experiment must outlive it. It also outlives the
server: what is not in memory any more is opened again from its folder, and goes on where it was.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from agent.errors import AgentError, InputError
from agent.ids import new_trace_id
from pages.parts import address
from pages.parts.data import data_folder, prices, private
from pages.parts.options import options
from pages.parts.words import t
from traces.experiments.design.experiment import Experiment
from traces.experiments.folder import EXPERIMENTS, Folder
from traces.experiments.report.writing import write_report
from traces.experiments.running.progress import State
from traces.experiments.running.session import Session, create
from traces.trash import Deleted, Trash

MOST = 50
"""Experiments kept in memory at once; of the others the folder is opened again."""

MOST_SHARED = 5_000
"""Runs of one experiment where other machines can reach the server."""

_ID = re.compile(r"[0-9a-f]{12}")
_MOVING = ("running", "paused")


@dataclass(frozen=True, slots=True)
class Listed:
    """An experiment in the list."""

    id: str
    title: str
    folder: Folder
    state: State
    done: int
    """Runs that are over."""
    total: int
    created: float
    """Seconds since 1970."""


class _Registry:
    """The sessions in memory, the one that was asked for last at the end."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.sessions: dict[str, Session] = {}
        self.looks: dict[str, object] = {}
        """How the files of a session looked when it was opened."""
        self.reports: dict[str, threading.Thread] = {}
        """The threads that write a report as soon as an experiment is over."""
        self.lines: dict[str, tuple[object, Listed]] = {}
        """The line of a folder, and how its files looked then: with many runs it takes long to read."""

    def put(self, id: str, session: Session) -> Session:
        """Keep a session; the one that nobody asked for for longest, and that does nothing, makes room."""
        self.sessions.pop(id, None)
        self.sessions[id] = session
        resting = [each for each, kept in self.sessions.items() if kept.progress.state not in _MOVING]
        for each in resting[: max(0, len(self.sessions) - MOST)]:
            del self.sessions[each]
        return session


@st.cache_resource(show_spinner=False)
def _registry() -> _Registry:
    return _Registry()


def start(experiment: Experiment, base: Path, keys: Mapping[str, str], workers: int = 1) -> str:
    """Make a folder for a design and begin to run it; gives its id.

    Args:
        experiment: the design.
        base: the folder that its paths are relative to.
        keys: of live models, by the name of the model in the design, empty where there is none: no key of this server
            is looked up by what a design says. They stay in memory.
        workers: how many runs at a time.

    Raises:
        InputError: a subject cannot be read, the folder cannot be made, or there are more runs than a server that
            others can reach makes for a visitor.
    """
    if not private() and experiment.size > MOST_SHARED:
        raise InputError(
            t(
                "This server makes at most {most} runs of one experiment; the design asks for {n}.",
                most=f"{MOST_SHARED:,}",
                n=f"{experiment.size:,}",
            )
        )
    id = new_trace_id()
    create(_path(id).absolute(), experiment, base)
    go_on(id, keys, workers)
    address.opened().add(id)
    return id


def find(id: str) -> Session | None:
    """The experiment of this id, out of its folder where it is not in memory; None where there is none.

    Raises:
        InputError: its folder is there and cannot be read.
    """
    registry = _registry()
    with registry.lock:
        session = registry.sessions.get(id)
        if session is not None and session.progress.state == "ready" and registry.looks.get(id) != _look(_path(id)):
            session = None  # another process runs it, or did
        if session is None and is_kept(id):
            registry.looks[id] = _look(_path(id))
            session = _open(id)
        return registry.put(id, session) if session is not None else None


def go_on(id: str, keys: Mapping[str, str], workers: int = 1, *, retry_errors: bool = False) -> None:
    """Let an experiment that rests go on from where its folder stands; nothing where it moves already.

    Args:
        id: of the experiment.
        keys: of live models, by the name of the model in the design.
        workers: how many runs at a time.
        retry_errors: make the runs again that ended with an error.

    Raises:
        InputError: it is not there, a subject or a key is missing, or another process runs it.
    """
    registry = _registry()
    with registry.lock:
        session = registry.sessions.get(id)
        if session is not None and session.progress.state in _MOVING:
            return
        if not is_kept(id):
            raise InputError(f"there is no experiment {id!r} here; it may have been moved or deleted")
        session = registry.put(id, _open(id, keys, workers))
        session.start(retry_errors=retry_errors)
        report = threading.Thread(target=_report_when_over, args=(session,), daemon=True, name=f"report {id}")
        registry.reports[id] = report
        report.start()


def _report_when_over(session: Session) -> None:
    session.wait()
    if session.progress.state == "done":
        with suppress(AgentError, OSError):  # it can be written again on request, which then says what is wrong
            write_report(session.folder)


def listing() -> list[Listed]:
    """The experiments of the data folder, the newest first; what cannot be read is left out.

    A server that others can reach lists what this browser started or was given a link to: the id is the secret.
    """
    try:
        found = [path for path in (data_folder() / EXPERIMENTS).iterdir() if is_kept(path.name)]
    except OSError:
        return []
    shown = found if private() else [path for path in found if path.name in address.opened()]
    lines = []
    for path in shown:
        with suppress(InputError, OSError):  # deleted meanwhile, or spoilt by hand
            lines.append(_line(Folder(path)))
    return sorted(lines, key=lambda line: (line.created, line.id), reverse=True)


def _line(folder: Folder) -> Listed:
    registry, id = _registry(), folder.path.name
    created = folder.design.stat().st_mtime
    if (session := registry.sessions.get(id)) is not None:
        return _listed(session, created)
    look = _look(folder.path)
    known = registry.lines.get(id)
    if known is None or known[0] != look:
        known = registry.lines[id] = (look, _listed(_open(id), created))
    return known[1]


def _look(path: Path) -> object:
    """What changes when the experiment in this folder does; None where it is not there."""
    folder = Folder(path)
    try:
        stats = [file.stat() for file in (folder.design, folder.state, folder.ledger) if file.exists()]
    except OSError:
        return None
    return [(each.st_size, each.st_mtime_ns) for each in stats]


def _listed(session: Session, created: float) -> Listed:
    now, folder = session.progress, session.folder
    title = session.experiment.title or session.id
    return Listed(folder.path.name, title, folder, now.state, now.done, now.total, created)


def delete(id: str) -> Deleted:
    """Move an experiment with all its traces into the trash.

    Raises:
        InputError: it still runs, or cannot be moved.
    """
    registry = _registry()
    with registry.lock:
        session = registry.sessions.get(id)
        if session is not None and session.progress.state in _MOVING:
            raise InputError("this experiment still runs; cancel it first")
        registry.sessions.pop(id, None)
        if (report := registry.reports.pop(id, None)) is not None:
            report.join()  # else it would write into a folder that is gone
        return Trash(data_folder()).delete([_path(id)], folders=True)


def restore(deleted: Deleted) -> None:
    """Bring an experiment back.

    Raises:
        InputError: it is not in the trash any more, or cannot be moved.
    """
    Trash(data_folder()).restore(deleted.id)


def is_kept(id: str) -> bool:
    """Whether the data folder has an experiment of this id."""
    return _ID.fullmatch(id) is not None and Folder(_path(id)).design.is_file()


def _path(id: str) -> Path:
    return data_folder() / EXPERIMENTS / id


def _open(id: str, keys: Mapping[str, str] | None = None, workers: int = 1) -> Session:
    folder = Folder(_path(id))
    return Session(folder, keys=keys or {}, workers=workers, own=options().tools, prices=prices())
