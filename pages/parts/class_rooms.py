"""The classes of this server process, and what the session at hand is in them: a student's, a teacher's, or neither."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from agent.errors import InputError
from agent.models.metered import Used
from pages.parts import address_class
from pages.parts.data import data_folder
from pages.parts.tabs import tabs
from traces.classroom.classes import Classes
from traces.classroom.klass import Klass, Seat
from traces.classroom.lending import Lendings
from traces.classroom.presence import Presence


@dataclass(frozen=True, slots=True)
class Rooms:
    """All classes over one data folder, with what is known of them in memory alone."""

    classes: Classes
    presence: Presence
    lendings: Lendings

    def keep_used(self, seat: str, used: Used) -> None:
        """Keep what a seat has used of a lent model; where the disk refuses, it counts all the same until a restart."""
        with suppress(InputError):
            self.classes.keep_used(seat, used)


def rooms() -> Rooms:
    """The classes of this server process."""
    folder, known = data_folder(), _known()
    found = known.get(folder)
    return found if found is not None else known.setdefault(folder, Rooms(Classes(folder), Presence(), Lendings()))


@st.cache_resource(show_spinner=False)
def _known() -> dict[Path, Rooms]:
    """By the data folder, of which a server has one. Every drawing asks: an argument would cost more than the rest."""
    return {}


def own_seat() -> Seat | None:
    """The seat of this session; None: it has none, or it was removed."""
    seat_id = address_class.seat_id()
    found = rooms().classes.seat(seat_id) if seat_id is not None else None
    return None if found is None or found.removed else found


def own_class() -> Klass | None:
    """The class that this session has a seat in, also one that has ended."""
    seat = own_seat()
    return rooms().classes.get(seat.klass) if seat is not None else None


def taught_class() -> Klass | None:
    """The class that this session teaches; None: none, or one that has ended."""
    secret = address_class.taught()
    klass = rooms().classes.of_teacher(secret) if secret is not None else None
    return None if klass is None or klass.ended else klass


def wake(klass: Klass, seat: str | None = None) -> None:
    """Draw the pages of a class again, or those of one seat: something was decided about them.

    Args:
        klass: the class.
        seat: the id of the seat; None: all of the class.
    """
    seats = [seat] if seat is not None else [each.id for each in rooms().classes.seats(klass.id)]
    tabs().wake(rooms().presence.sessions(seats))
