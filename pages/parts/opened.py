"""Files that are open: read once, and shared by all sessions that look at them."""

from __future__ import annotations

import threading
from pathlib import Path

import streamlit as st

from agent.errors import InputError
from traces import ImportReport, read_file
from traces.following import Follower
from traces.index import TraceInfo
from traces.reading import Reading


class Opened:
    """A file that was read, shared by all sessions that show it."""

    def __init__(self, report: ImportReport) -> None:
        self.report = report
        self._readings: dict[int, Reading] = {}

    def reading(self, number: int) -> Reading:
        """The conversation at this position, with what was already worked out from it."""
        return self._readings.setdefault(number, Reading(self.report.traces[number]))


class Followed:
    """A file that another program may still be writing. Sessions that show it share it."""

    def __init__(self, path: str) -> None:
        self._follower = Follower(path)
        self._lock = threading.Lock()
        self._opened: dict[str | None, Opened] = {}
        self._seen = False
        self.has_grown = False
        """Something was added since it was first read: another program is writing it."""

    def grown(self) -> bool:
        """Look whether there is anything new."""
        with self._lock:
            return self._look()

    def opened(self, format: str | None = None) -> Opened:
        """The file as it stands.

        Raises:
            InputError: it cannot be read; it may be written at this moment.
        """
        with self._lock:
            self._look()
            if format not in self._opened:
                self._opened[format] = Opened(self._follower.report(format))
            return self._opened[format]

    def _look(self) -> bool:
        news = self._follower.look()
        if news:
            self.has_grown = self._seen
            self._seen = True
            self._opened.clear()
        if news.gone or (news.problem and not self._opened):
            raise InputError(news.problem or f"{self._follower.path} is not there")
        return bool(news)


@st.cache_resource(max_entries=8, show_spinner=False)
def followed(path: str) -> Followed:
    """The file at this path, read on as it grows."""
    return Followed(path)


def read_saved(info: TraceInfo, format: str | None = None) -> Opened:
    """The file of a line of the list, read once for as long as it does not change.

    Args:
        info: the line.
        format: the format, where detection should not decide.

    Raises:
        InputError: it cannot be read any more.
    """
    return read_kept(info.path, format)


def read_kept(path: str, format: str | None = None) -> Opened:
    """The file at this path, read once for as long as it does not change.

    Raises:
        InputError: it cannot be read any more.
    """
    status = Path(path).stat()
    return _read_path(path, status.st_mtime_ns, status.st_size, format)


@st.cache_resource(max_entries=8, show_spinner=False)
def _read_path(path: str, mtime_ns: int, size: int, format: str | None) -> Opened:
    return Opened(read_file(path, Path(path).name, format=format))
