"""What learners answered: kept on this machine alone, one small database in the data folder.

The first answer of a learner to a question is the one that counts. What a class says by raising hands is counted by a
person and kept as numbers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent import clock
from agent.errors import InputError

FILE = ".learning.sqlite"
"""Of the data folder. The point in front keeps it out of the list of traces."""
LOCAL = "local"
"""The learner of a server that only one person can reach."""

_TABLES = """
create table if not exists answers (
    learner text not null, class text not null, lesson text not null, variant text not null, ask text not null,
    choice text not null, right integer, at text not null,
    primary key (learner, lesson, variant, ask)
);
create table if not exists hands (
    class text not null, lesson text not null, variant text not null, ask text not null, choice text not null,
    count integer not null, primary key (class, lesson, variant, ask, choice)
);
create table if not exists done (
    learner text not null, class text not null, what text not null, at text not null, primary key (learner, what)
);
"""


@dataclass(frozen=True, slots=True)
class Question:
    """Which question an answer belongs to."""

    lesson: str
    variant: str
    ask: str
    """See :attr:`traces.lessons.lesson.Ask.id`."""


@dataclass(frozen=True, slots=True)
class Score:
    """How a learner stands in a lesson."""

    right: int = 0
    answered: int = 0
    """Questions whose answer is known to be right or wrong; those passed over do not count."""


class Answers:
    """The answers of a data folder. Every method may be called from any thread and any process.

    Args:
        folder: the data folder; made when the first answer is kept.
    """

    def __init__(self, folder: Path | str) -> None:
        self._path = Path(folder) / FILE

    def put(self, learner: str, question: Question, choice: str, right: bool | None, *, klass: str = "") -> None:
        """Keep an answer. A second one to the same question changes nothing but a ``right`` that was not known yet.

        Args:
            learner: who answered.
            question: what was asked.
            choice: one of :func:`traces.lessons.questions.choices`; empty: it was passed over.
            right: whether it is right; None: not known yet.
            klass: the class that the learner is in; empty for none.

        Raises:
            InputError: the database cannot be written.
        """
        place = (learner, question.lesson, question.variant, question.ask)
        with self._open() as base:
            base.execute(
                "insert into answers (learner, lesson, variant, ask, class, choice, right, at) values (?,?,?,?,?,?,?,?)"
                " on conflict do update set right = excluded.right where right is null and choice = excluded.choice",
                (*place, klass, choice, right, clock.now()),
            )

    def given(self, learner: str, lesson: str, variant: str) -> dict[str, str]:
        """What this learner answered in a variant of a lesson: question -> choice, empty where it was passed over."""
        with self._open() as base:
            rows = base.execute(
                "select ask, choice from answers where learner = ? and lesson = ? and variant = ?",
                (learner, lesson, variant),
            )
            return dict(rows.fetchall())

    def forget(self, learner: str, lesson: str, variant: str = "") -> None:
        """Let the learner answer a lesson anew; empty variant: all of them."""
        with self._open() as base:
            where, more = (" and variant = ?", (variant,)) if variant else ("", ())
            base.execute(f"delete from answers where learner = ? and lesson = ?{where}", (learner, lesson, *more))

    def scores(self, learner: str) -> dict[str, Score]:
        """How a learner stands in every lesson with an answer."""
        with self._open() as base:
            rows = base.execute(
                "select lesson, sum(right), count(right) from answers where learner = ? and choice <> ''"
                " group by lesson",
                (learner,),
            )
            return {lesson: Score(right or 0, answered) for lesson, right, answered in rows.fetchall()}

    def tally(self, klass: str, question: Question) -> dict[str, int]:
        """How a class answered: choice -> how many, the hands that were counted included."""
        place = (klass, question.lesson, question.variant, question.ask)
        where = "class = ? and lesson = ? and variant = ? and ask = ?"
        with self._open() as base:
            said = base.execute(
                f"select choice, count(*) from answers where {where} and choice <> '' group by choice", place
            )
            found = dict(said.fetchall())
            for choice, count in base.execute(f"select choice, count from hands where {where}", place).fetchall():
                found[choice] = found.get(choice, 0) + count
        return found

    def hands(self, klass: str, question: Question) -> dict[str, int]:
        """The hands that were counted: choice -> how many."""
        place = (klass, question.lesson, question.variant, question.ask)
        with self._open() as base:
            where = "class = ? and lesson = ? and variant = ? and ask = ?"
            return dict(base.execute(f"select choice, count from hands where {where}", place).fetchall())

    def count_hands(self, klass: str, question: Question, counts: Mapping[str, int]) -> None:
        """Keep how many hands were raised for each choice, in place of what was counted before."""
        with self._open() as base:
            base.executemany(
                "insert or replace into hands values (?,?,?,?,?,?)",
                [
                    (klass, question.lesson, question.variant, question.ask, choice, count)
                    for choice, count in counts.items()
                ],
            )

    def finish(self, learner: str, what: str, *, klass: str = "") -> None:
        """Note that a learner came to the end of a lesson (its name), or solved an exercise (``exercise:name``)."""
        with self._open() as base:
            base.execute("insert or ignore into done values (?,?,?,?)", (learner, klass, what, clock.now()))

    def finished(self, learner: str) -> frozenset[str]:
        """What this learner has come to the end of."""
        with self._open() as base:
            return frozenset(row[0] for row in base.execute("select what from done where learner = ?", (learner,)))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            base = sqlite3.connect(self._path, timeout=10)
            try:
                base.executescript(_TABLES)
                with base:
                    yield base
            finally:
                base.close()
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"the answers in {self._path.name} cannot be read or written: {error}") from error
