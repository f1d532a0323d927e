"""Where runs are saved, and what of it this browser may list."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from pages.parts import address
from pages.parts.options import options
from traces import ImportReport, read_file
from traces.index import TraceInfo
from traces.store import DEFAULT_FOLDER, Store

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


def listed() -> list[TraceInfo]:
    """The traces to choose from, the newest first.

    A server that others can reach lists the bundled ones and what this browser opened by itself or by a link: the id of
    a run is its secret.
    """
    infos = store().list()
    if private():
        return infos
    own = address.opened()
    return [info for info in infos if info.kind == "bundled" or info.id in own]


def read_saved(info: TraceInfo) -> ImportReport:
    """The file of a line of the list, read once for as long as it does not change.

    Raises:
        InputError: it cannot be read any more.
    """
    status = Path(info.path).stat()
    return _read_path(info.path, status.st_mtime_ns, status.st_size)


@st.cache_resource(max_entries=8, show_spinner=False)
def _read_path(path: str, mtime_ns: int, size: int) -> ImportReport:
    return read_file(path, Path(path).name)


@st.cache_resource(max_entries=8, show_spinner=False)
def read_upload(data: bytes, name: str) -> ImportReport:
    """An uploaded file, read once; it stays in memory only.

    Raises:
        InputError: it cannot be opened.
    """
    return read_file(data, name)
