"""Who learns here: under which name answers are kept, and in which class."""

from __future__ import annotations

from dataclasses import dataclass

from pages.parts import address_class
from pages.parts.class_rooms import own_seat
from pages.parts.data import private
from traces.lessons.answers import LOCAL


@dataclass(frozen=True, slots=True)
class Learner:
    """A learner, as the kept answers know one."""

    id: str
    """Not a name: the seat in a class, or what stands for this session."""
    klass: str = ""
    """The class; empty for none."""


def learner() -> Learner:
    """The learner of this session: the seat in a class, which another browser of the same student has as well.

    Without a class it is one and the same on a private server, where the answers of yesterday count.
    """
    if (seat := own_seat()) is not None:
        return Learner(seat.id, seat.klass)
    if private():
        return Learner(LOCAL)
    return Learner(address_class.without_seat())
