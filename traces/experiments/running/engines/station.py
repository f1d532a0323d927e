"""The far side of a cluster: what a worker process keeps of an experiment, and one run there.

A worker needs this program and nothing else: the design and its subjects come with the work, and the row and the trace
go back with the result. Keys of live models never travel: a worker takes them out of its own environment.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.toolbox.own import load_all
from traces.experiments.cells import Cell
from traces.experiments.design.experiment import Budget
from traces.experiments.design.file import read_design
from traces.experiments.folder import Folder
from traces.experiments.running.gate import CANCELLED, Gate, Spent
from traces.experiments.running.job import load_tasks
from traces.experiments.running.one_run import run_cell
from traces.prices import PriceTable

MOST = 4
"""Experiments that a worker keeps at hand."""


@dataclass(frozen=True, slots=True)
class Luggage:
    """What a worker is sent of an experiment."""

    session: str
    """One session of one experiment; another one brings its own."""
    experiment: str
    """The id of the experiment."""
    files: Mapping[str, bytes]
    """The design and its subjects, by their paths in the folder."""
    tools_files: tuple[str, ...] = ()
    """Files with tools of one's own, which must be there on the worker under the same paths."""
    prices: PriceTable | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """What holds for all runs of a session."""

    paused: bool = False
    closed: str = ""
    """Why nothing goes on; empty while it does."""


class Station:
    """An experiment in a worker process."""

    def __init__(self, luggage: Luggage) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="experiment-")
        self._folder = Folder(Path(self._home.name))
        for name, data in luggage.files.items():
            path = self._folder.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        own = load_all(luggage.tools_files)
        experiment = read_design(self._folder.design, own)
        self._tasks = load_tasks(experiment, self._folder.path, own, {})
        self._specs = {spec.name: spec for spec in experiment.models}
        self._conditions = {condition.name: condition for condition in experiment.conditions}
        self._luggage = luggage
        self.gate = Gate(Budget(), Spent())

    def perform(self, cell: Cell, left: Budget) -> tuple[dict[str, Any], bytes] | None:
        """One run; gives its row and its trace file, or None where nothing may begin any more."""
        self.gate.budget = left
        if not self.gate.may_begin(cell.model):
            return None
        row, trace = run_cell(
            cell,
            self._conditions[cell.condition],
            self._tasks[cell.subject],
            self._specs[cell.model],
            experiment=self._luggage.experiment,
            journal=self._folder.traces,
            control=self.gate,
            prices=self._luggage.prices,
        )
        self.gate.forget(row.trace_id)
        file = self._folder.traces / f"{trace.trace_id}.json"
        data = file.read_bytes()
        file.unlink()
        return row.to_dict(), data


_lock = threading.Lock()
_stations: dict[str, Station] = {}
_orders: dict[str, Order] = {}


def perform(luggage: Luggage, cell: list[Any], left: Budget) -> tuple[dict[str, Any], bytes] | None:
    """One run in this worker process.

    Args:
        luggage: of the experiment.
        cell: the fields of a :class:`~traces.experiments.cells.Cell`.
        left: what may still be used.

    Raises:
        InputError: the experiment cannot be run here: a file, a tool or a key is missing.
    """
    with _lock:
        if (station := _stations.get(luggage.session)) is None:
            station = _stations[luggage.session] = Station(luggage)
            _obey(station, _orders.get(luggage.session, Order()))
            for old in list(_stations)[:-MOST]:
                del _stations[old]
    return station.perform(Cell(*cell), left)


def order(session: str, given: Order) -> None:
    """Tell this worker process what holds from now on, also for a session of which it has seen nothing yet."""
    _orders[session] = given
    for old in list(_orders)[:-MOST]:
        del _orders[old]
    if station := _stations.get(session):
        _obey(station, given)


def _obey(station: Station, given: Order) -> None:
    if given.closed:
        station.gate.close(given.closed, at_once=given.closed == CANCELLED)
    elif given.paused:
        station.gate.pause()
    else:
        station.gate.resume()
