"""What a class is: its links, its seats, what its teacher shows, and on which terms a model is lent to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Showing:
    """What a teacher shows to a class."""

    kind: Literal["lesson", "run"]
    name: str
    """Of a lesson: its name. Of a run: the id of its read-only view."""
    variant: str = ""
    """Of a lesson."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a model is lent. The key is no part of it, and so never reaches the disk."""

    model: str
    """The name by which its server knows it."""
    base_url: str
    """Where it is served, without a user's name or password; empty: where the environment says, else at OpenAI."""
    calls: int
    """Model calls that each student may make."""
    tokens: int
    """Tokens that each student may use."""


@dataclass(frozen=True, slots=True)
class Klass:
    """A class."""

    id: str
    """Names the class where answers are kept. No secret, and no way in."""
    title: str
    secret: str
    """Of the teacher's link: whoever knows it is the teacher."""
    code: str
    """Of the students' link, short enough to be typed. It gives a seat and nothing else."""
    created: str
    """ISO 8601."""
    ended: bool = False
    closed: bool = False
    """Whether nobody else may take a seat."""
    showing: Showing | None = None
    terms: Terms | None = None
    """On which a model is lent, or was until the server was started again; None: none is."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A place in a class."""

    id: str
    """The secret of the student's link, and the learner as the kept answers know one."""
    klass: str
    """The id of the class."""
    number: int
    """From 1 on, in the order of coming; never given twice in a class."""
    name: str
    """As the student gave it; two may have the same."""
    removed: bool = False
