"""Where runs are saved, and what of it this browser may list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from agent.errors import InputError
from pages.parts import address
from pages.parts.options import options
from traces.index import TraceInfo
from traces.prices import FILE_NAME, PriceTable, load_prices
from traces.store import DEFAULT_FOLDER, Progress, Store

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def data_folder() -> Path:
    """The folder named by ``--data``, else by ``AGENT_LAB_DATA``, else ``traces/saved``."""
    return options().data or Path(os.environ.get("AGENT_LAB_DATA") or DEFAULT_FOLDER)


def store() -> Store:
    """The bundled traces and those of the data folder."""
    return Store(data_folder())


def private() -> bool:
    """True when only this machine can reach the server."""
    return st.get_option("server.address") in _LOOPBACK


def listed(progress: Progress | None = None, *, experiments: bool = False) -> list[TraceInfo]:
    """The traces to choose from, the newest first.

    A server that others can reach lists the bundled ones and what this browser opened by itself or by a link: the id of
    a run, or of its experiment, is its secret.

    Args:
        progress: called while new files are read.
        experiments: with all runs of experiments, which may be thousands; else only with those that were opened.
    """
    kept, own = store(), address.opened()
    infos = kept.list(progress)
    if not private():
        infos = [each for each in infos if each.kind == "bundled" or each.id in own or kept.experiment_of(each) in own]
    return infos if experiments else without_experiments(infos)


def without_experiments(infos: Sequence[TraceInfo]) -> list[TraceInfo]:
    """The traces that are no runs of experiments, and those runs that this session has opened."""
    kept, own = store(), address.opened()
    return [each for each in infos if kept.experiment_of(each) is None or each.id in own]


def experiment_shown(info: TraceInfo) -> str | None:
    """The id of the experiment that a trace is a run of, where this browser may know it: its link is a secret."""
    experiment = store().experiment_of(info)
    return experiment if experiment and (private() or experiment in address.opened()) else None


def prices() -> PriceTable:
    """The price table with the user's own rows; the shipped one alone where theirs cannot be read."""
    try:
        return _prices(_stamp(data_folder() / FILE_NAME))
    except InputError:
        return load_prices()


@st.cache_resource(max_entries=2, show_spinner=False)
def _prices(stamp: tuple[int, int] | None) -> PriceTable:
    return load_prices(data_folder())


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
