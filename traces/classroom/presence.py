"""Where each seat is: known in memory alone, told anew by every page that is drawn."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

_MOST_SESSIONS = 8
"""Tabs of one seat that are remembered; a reload makes a new one each time."""


@dataclass(slots=True)
class Where:
    """Where a seat was last seen."""

    what: str = ""
    """The name of a lesson, ``exercise:name``, or empty for the Run page."""
    run: str = ""
    """The id of the run that was shown; empty for none."""
    at: float = 0.0
    """When, monotonic seconds."""
    sessions: list[str] = field(default_factory=list)
    """Its tabs, the last one last."""
    begin_again: set[str] = field(default_factory=set)
    """Runs that its pages are to leave, because the teacher has reset them."""


class Presence:
    """Where the seats of all classes are. Every method may be called from any thread and takes microseconds."""

    def __init__(self) -> None:
        self._seats: dict[str, Where] = {}

    def note(self, seat: str, what: str, run: str, session: str | None) -> None:
        """The page of a seat was drawn, and showed this."""
        where = self._seats.setdefault(seat, Where())
        where.what, where.run, where.at = what, run, time.monotonic()
        self.here(seat, session)

    def here(self, seat: str, session: str | None) -> None:
        """A tab belongs to a seat."""
        where = self._seats.setdefault(seat, Where())
        if session is not None and session not in where.sessions:
            where.sessions = [*where.sessions, session][-_MOST_SESSIONS:]

    def where(self, seat: str) -> Where | None:
        """Where a seat was last seen; None: not since the server was started."""
        found = self._seats.get(seat)
        return found if found is not None and found.at else None

    def sessions(self, seats: Iterable[str]) -> list[str]:
        """The tabs of these seats."""
        return [session for seat in seats if (where := self._seats.get(seat)) for session in where.sessions]

    def reset(self, seat: str, run: str) -> None:
        """The pages of a seat are to leave a run."""
        where = self._seats.setdefault(seat, Where())
        where.begin_again = {*where.begin_again, run}

    def is_reset(self, seat: str, run: str) -> bool:
        """Whether the pages of a seat are to leave a run. Each of its tabs is to, so this stays so."""
        where = self._seats.get(seat)
        return where is not None and run in where.begin_again

    def forget(self, seat: str) -> None:
        """The seat is no more."""
        self._seats.pop(seat, None)
