"""The classes of a data folder, kept in one small database, so that they survive a restart of the server."""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from agent import clock, jsontext
from agent.errors import InputError
from agent.ids import new_trace_id
from agent.models.metered import Used
from traces.classroom.klass import Klass, Seat, Showing, Terms
from traces.database import Database
from traces.spreadsheet import FORMULA

FILE = ".classes.sqlite"
"""Of the data folder. The point in front keeps it out of the list of traces."""
MOST_SEATS = 200
"""Seats of one class."""
LONGEST_NAME = 40
"""Characters of the name of a student; of a title twice as many."""
CODE_LENGTH = 6
_CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without what looks like something else when it is read from a wall."""

_TABLES = """
create table if not exists classes (id text primary key, title text not null, secret text not null unique,
    code text not null unique, created text not null, ended integer not null, closed integer not null, showing text,
    terms text);
create table if not exists seats (id text primary key, class text not null, number integer not null,
    name text not null, removed integer not null);
create table if not exists used (seat text primary key, calls integer not null, tokens integer not null,
    estimated integer not null);
"""


class Classes:
    """All classes of a server. Every method may be called from any thread.

    They are held in memory, so that it costs nothing to ask; what changes is written at once. Another server over the
    same folder is heard of when somebody asks for what is not known here.

    Args:
        folder: the data folder; its file is made with the first class.
    """

    def __init__(self, folder: Path | str) -> None:
        self._base = Database(Path(folder) / FILE, _TABLES)
        self._lock = threading.RLock()
        self._classes: dict[str, Klass] = {}
        self._seats: dict[str, Seat] = {}
        self._used: dict[str, Used] = {}
        self._read()

    @property
    def set_aside(self) -> Path | None:
        """Where a file with classes was put that could not be read any more; None: there never was one."""
        return self._base.broken if self._base.broken.is_file() else None

    # -- classes

    def begin(self, title: str, klass: str | None = None) -> Klass:
        """A new class.

        Args:
            title: as the teacher gave it.
            klass: its id, one that nothing has yet; None: any.

        Raises:
            InputError: it cannot be kept.
        """
        title = clean_name(title, 2 * LONGEST_NAME)
        id = klass or new_trace_id()
        return self._keep(Klass(id, title, secrets.token_urlsafe(18), self._new_code(), clock.now()))

    @property
    def going(self) -> bool:
        """Whether there is a class here that has not ended."""
        return any(not klass.ended for klass in list(self._classes.values()))

    def all(self) -> list[Klass]:
        """All classes, the newest first."""
        with self._lock:
            return sorted(self._classes.values(), key=lambda each: each.created, reverse=True)

    def get(self, klass: str) -> Klass | None:
        """The class of this id."""
        return self._classes.get(klass)

    def of_teacher(self, secret: str) -> Klass | None:
        """The class whose teacher's link holds this secret."""
        return self._find_class(lambda each: secrets.compare_digest(each.secret.encode(), secret.encode()))

    def of_code(self, code: str) -> Klass | None:
        """The class that students join by this code, however they typed it."""
        wanted = "".join(code.split()).upper()
        return self._find_class(lambda each: each.code == wanted)

    def show(self, klass: str, showing: Showing | None) -> None:
        """Let the class see that its teacher shows this, or nothing any more."""
        self._change(klass, showing=showing)

    def lend(self, klass: str, terms: Terms | None) -> None:
        """Keep on which terms a model is lent; None: it was taken back."""
        self._change(klass, terms=terms)

    def close(self, klass: str, closed: bool) -> None:
        """Let nobody else take a seat, or let them again."""
        self._change(klass, closed=closed)

    def end(self, klass: str) -> None:
        """End the class. Its seats stay known, so that they can be told."""
        self._change(klass, ended=True, showing=None, terms=None)

    # -- seats

    def take_seat(self, code: str, name: str, seat: str | None = None) -> Seat:
        """A new seat.

        Args:
            code: of the class.
            name: as the student gave it.
            seat: its id, one that nobody can guess and nothing has yet; None: any.

        Raises:
            InputError: no class goes on under this code, it is full, or the seat cannot be kept.
        """
        klass = self.of_code(code)
        if klass is None or klass.ended:
            raise InputError("no class goes on under this code")
        if klass.closed:
            raise InputError("nobody else can join this class")
        with self._lock:
            taken = [each for each in self._seats.values() if each.klass == klass.id]
            if sum(not each.removed for each in taken) >= MOST_SEATS:
                raise InputError("the class is full")
            number = 1 + max((each.number for each in taken), default=0)
            id = seat or secrets.token_urlsafe(12)
            return self._keep_seat(Seat(id, klass.id, number, _name_of_seat(name) or str(number)))

    def seat(self, seat: str) -> Seat | None:
        """The seat of this id, also one that was removed."""
        found = self._seats.get(seat)
        if found is None:
            self._read()
            found = self._seats.get(seat)
        return found

    def seats(self, klass: str) -> list[Seat]:
        """The seats of a class, in the order of coming, without those that were removed."""
        with self._lock:
            found = [each for each in self._seats.values() if each.klass == klass and not each.removed]
        return sorted(found, key=lambda each: each.number)

    def next_number(self, klass: str) -> int:
        """The number that the next seat will have."""
        with self._lock:
            return 1 + max((each.number for each in self._seats.values() if each.klass == klass), default=0)

    def remove(self, seat: str) -> None:
        """Take a seat out of its class. What was answered there stays."""
        if (found := self._seats.get(seat)) is not None:
            self._keep_seat(replace(found, removed=True))

    # -- what was used of a lent model

    def used(self, klass: str) -> dict[str, Used]:
        """What each seat of a class has used of what was lent to it."""
        with self._lock:
            return {seat: used for seat, used in self._used.items() if self._is_of(seat, klass)}

    def keep_used(self, seat: str, used: Used) -> None:
        """Keep what a seat has used so far."""
        with self._lock:
            self._used[seat] = used
        values = (seat, used.calls, used.tokens, used.estimated)
        self._base.write(lambda base: base.execute("insert or replace into used values (?,?,?,?)", values))

    # -- the file

    def _is_of(self, seat: str, klass: str) -> bool:
        found = self._seats.get(seat)
        return found is not None and found.klass == klass

    def _find_class(self, fits: Callable[[Klass], bool]) -> Klass | None:
        for again in (False, True):
            if again:
                self._read()
            for klass in self.all():
                if fits(klass):
                    return klass
        return None

    def _new_code(self) -> str:
        taken = {klass.code for klass in self._classes.values()}
        while (code := "".join(secrets.choice(_CODE_LETTERS) for _ in range(CODE_LENGTH))) in taken:
            pass
        return code

    def _change(self, klass: str, **changes: Any) -> None:
        with self._lock:
            if (found := self._classes.get(klass)) is not None:
                self._keep(replace(found, **changes))

    def _keep(self, klass: Klass) -> Klass:
        showing = None if klass.showing is None else jsontext.dumps(asdict(klass.showing))
        terms = None if klass.terms is None else jsontext.dumps(asdict(klass.terms))
        values: tuple[Any, ...] = (klass.id, klass.title, klass.secret, klass.code, klass.created)
        values += (klass.ended, klass.closed, showing, terms)
        self._base.write(lambda base: base.execute("insert or replace into classes values (?,?,?,?,?,?,?,?,?)", values))
        with self._lock:
            self._classes[klass.id] = klass
        return klass

    def _keep_seat(self, seat: Seat) -> Seat:
        values = (seat.id, seat.klass, seat.number, seat.name, seat.removed)
        self._base.write(lambda base: base.execute("insert or replace into seats values (?,?,?,?,?)", values))
        with self._lock:
            self._seats[seat.id] = seat
        return seat

    def _read(self) -> None:
        """Take in what the file holds and is not known yet."""
        none: _Found = ([], [], [])
        classes, seats, used = self._base.read(_all_rows, none)
        with self._lock:
            self._classes = _by_id(classes, _class_of) | self._classes
            self._seats = _by_id(seats, lambda row: Seat(row[0], row[1], row[2], row[3], bool(row[4]))) | self._seats
            self._used = _by_id(used, lambda row: Used(row[1], row[2], bool(row[3]))) | self._used


def clean_name(text: str, longest: int = LONGEST_NAME) -> str:
    """A name as it is kept: on one line, without what cannot be printed, and not too long."""
    kept = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(kept.split())[:longest].strip()


def _name_of_seat(text: str) -> str:
    """The browser gives the table of a class as a CSV file, where a name must be no formula for a spreadsheet."""
    return clean_name(text).lstrip("".join((*FORMULA, " ")))


_Kept = TypeVar("_Kept")
_Rows = list[tuple[Any, ...]]
_Found = tuple[_Rows, _Rows, _Rows]


def _all_rows(base: sqlite3.Connection) -> _Found:
    def rows(table: str) -> Iterable[tuple[Any, ...]]:
        return base.execute(f"select * from {table}")

    return list(rows("classes")), list(rows("seats")), list(rows("used"))


def _by_id(rows: _Rows, make: Callable[[tuple[Any, ...]], _Kept]) -> dict[str, _Kept]:
    """What was made of each row; one that another version wrote, or nobody, is left out, so that the others count."""
    made = {}
    for row in rows:
        with suppress(ValueError, TypeError, LookupError):
            made[row[0]] = make(row)
    return made


def _class_of(row: tuple[Any, ...]) -> Klass:
    showing = Showing(**json.loads(row[7])) if row[7] else None
    terms = Terms(**json.loads(row[8])) if row[8] else None
    id, title, secret, code, created, ended, closed = row[:7]
    return Klass(id, title, secret, code, created, bool(ended), bool(closed), showing, terms)
