"""Files that are open: read once, and shared by all sessions that look at them."""

from __future__ import annotations

import threading
from pathlib import Path

import streamlit as st

from agent.errors import InputError
from traces import ImportReport, read_file
from traces.following import Follower, News
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
    """A file that another program may still be writing; what is added is read on. Sessions that show it share it."""

    def __init__(self, path: str) -> None:
        self._follower = Follower(path)
        self._lock = threading.Lock()
        self._opened: dict[str | None, Opened] = {}
        self._revision = 0
        self._gone = False

    @property
    def has_grown(self) -> bool:
        """Something was added since it was first read: another program is writing it."""
        return self._revision > 1

    def revision(self) -> object:
        """Look at the file; what is given is another value after every change."""
        with self._lock:
            self._look()
            return self._revision, self._gone

    def opened(self, format: str | None = None) -> Opened:
        """The file as it stands.

        Raises:
            InputError: it cannot be read; it may be written at this moment.
        """
        with self._lock:
            news = self._look()
            if news.gone or (news.problem and not self._opened):
                raise InputError(news.problem or f"{self._follower.path} is not there")
            if format not in self._opened:
                self._opened[format] = Opened(self._follower.report(format))
            return self._opened[format]

    def _look(self) -> News:
        news = self._follower.look()
        self._gone = news.gone
        if news:
            self._revision += 1
            self._opened.clear()
        return news


class Kept:
    """A file of the data folder that is read whole; it changes seldom. Sessions that show it share it."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._first = self.revision()

    @property
    def has_grown(self) -> bool:
        """It was changed since it was first shown."""
        return self.revision() != self._first

    def revision(self) -> object:
        """Look at the file; what is given is another value after every change."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns


@st.cache_resource(max_entries=8, show_spinner=False)
def followed(path: str) -> Followed:
    """The file at this path, read on as it grows."""
    return Followed(path)


@st.cache_resource(max_entries=64, show_spinner=False)
def kept(path: str) -> Kept:
    """The file at this path, to see whether it changes."""
    return Kept(path)


def read_kept(path: str, format: str | None = None) -> Opened:
    """The file at this path, read once for as long as it does not change.

    Args:
        path: of the file.
        format: the format, where detection should not decide.

    Raises:
        InputError: it cannot be read any more.
        OSError: it is not there any more.
    """
    status = Path(path).stat()
    return _read_path(path, status.st_mtime_ns, status.st_size, format)


@st.cache_resource(max_entries=8, show_spinner=False)
def _read_path(path: str, mtime_ns: int, size: int, format: str | None) -> Opened:
    return Opened(read_file(path, Path(path).name, format=format))
