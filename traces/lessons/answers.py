"""What learners answered and wrote: kept on this machine alone, one small database in the data folder.

The first answer of a learner to a question is the one that counts. What a class says by raising hands is counted by a
person and kept as numbers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent import clock, jsontext
from traces.annotations import MAX_TEXT
from traces.database import Database

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
create table if not exists tasks (
    learner text not null, lesson text not null, words text not null default '', looked integer not null default 0,
    primary key (learner, lesson)
);
"""


@dataclass(frozen=True, slots=True)
class Question:
    """Which question an answer belongs to."""

    lesson: str
    variant: str
    ask: str
    """See :attr:`traces.lessons.lesson.Ask.id`."""

    @property
    def key(self) -> str:
        """Names it among all questions, for the keys of what is drawn about it."""
        return f"{self.lesson}-{self.variant}-{self.ask}"


@dataclass(frozen=True, slots=True)
class Score:
    """How a learner stands in a lesson."""

    right: int = 0
    answered: int = 0
    """Questions whose answer is known to be right or wrong; those passed over do not count."""


@dataclass(frozen=True, slots=True)
class TaskWords:
    """What a learner did with the task of a lesson."""

    words: str = ""
    """The answer in words of the learner's own."""
    looked: bool = False
    """Whether the lesson's answer was looked at."""


class Answers:
    """The answers of a data folder. Every method may be called from any thread and any process.

    Reading gives nothing where there are no answers, or none that can be read; those that keep something raise
    :class:`~agent.errors.InputError` where the file cannot be written.

    Args:
        folder: the data folder; its file is made when the first answer is kept.
    """

    def __init__(self, folder: Path | str) -> None:
        self._base = Database(Path(folder) / FILE, _TABLES)

    @property
    def set_aside(self) -> Path | None:
        """Where a file with answers was put that could not be read any more; None: there never was one."""
        return self._base.broken if self._base.broken.is_file() else None

    def put(self, learner: str, question: Question, choice: str, right: bool | None, *, klass: str = "") -> None:
        """Keep an answer. A second one to the same question changes nothing but a ``right`` that was not known yet.

        Args:
            learner: who answered.
            question: what was asked.
            choice: one of :func:`traces.lessons.questions.choices`; empty: it was passed over.
            right: whether it is right; None: not known yet.
            klass: the class that the learner is in; empty for none.
        """
        self._write(
            "insert into answers (learner, lesson, variant, ask, class, choice, right, at) values (?,?,?,?,?,?,?,?)"
            " on conflict do update set right = excluded.right where right is null and choice = excluded.choice",
            (learner, *_place(question), klass, choice, right, clock.now()),
        )

    def given(self, learner: str, lesson: str, variant: str) -> dict[str, str]:
        """What this learner answered in a variant of a lesson: question -> choice, empty where it was passed over."""
        rows = self._rows(
            "select ask, choice from answers where learner = ? and lesson = ? and variant = ?",
            (learner, lesson, variant),
        )
        return dict(rows)

    def forget(self, learner: str, lesson: str, variant: str = "") -> None:
        """Let the learner answer a lesson anew; empty variant: all of them."""
        where, more = (" and variant = ?", (variant,)) if variant else ("", ())
        self._write(f"delete from answers where learner = ? and lesson = ?{where}", (learner, lesson, *more))

    def scores(self, learner: str) -> dict[str, Score]:
        """How a learner stands in every lesson with an answer."""
        rows = self._rows(
            "select lesson, sum(right), count(right) from answers where learner = ? and choice <> '' group by lesson",
            (learner,),
        )
        return {lesson: Score(right or 0, answered) for lesson, right, answered in rows}

    def scores_of_class(self, klass: str) -> dict[str, Score]:
        """How every learner of a class stands in all lessons together."""
        rows = self._rows(
            "select learner, sum(right), count(right) from answers where class = ? and choice <> '' group by learner",
            (klass,),
        )
        return {learner: Score(right or 0, answered) for learner, right, answered in rows}

    def latest(self, klass: str) -> Question | None:
        """The question that somebody of a class answered last; None: nobody has answered one."""
        rows = self._rows(
            "select lesson, variant, ask from answers where class = ? and choice <> '' order by at desc limit 1",
            (klass,),
        )
        return Question(*rows[0]) if rows else None

    def tally(self, klass: str, question: Question) -> dict[str, int]:
        """How a class answered: choice -> how many, the hands that were counted included."""
        said = self._rows(
            f"select choice, count(*) from answers where {_OF_CLASS} and choice <> '' group by choice",
            (klass, *_place(question)),
        )
        found = dict(said)
        for choice, count in self.hands(klass, question).items():
            found[choice] = found.get(choice, 0) + count
        return found

    def hands(self, klass: str, question: Question) -> dict[str, int]:
        """The hands that were counted: choice -> how many."""
        return dict(self._rows(f"select choice, count from hands where {_OF_CLASS}", (klass, *_place(question))))

    def count_hands(self, klass: str, question: Question, counts: Mapping[str, int]) -> None:
        """Keep how many hands were raised for these choices, in place of what was counted for them before."""
        rows = [(klass, *_place(question), choice, count) for choice, count in counts.items()]
        self._base.write(lambda base: base.executemany("insert or replace into hands values (?,?,?,?,?,?)", rows))

    def finish(self, learner: str, what: str, *, klass: str = "") -> None:
        """Note that a learner came to the end of a lesson (its name), or solved an exercise (``exercise:name``)."""
        self._write("insert or ignore into done values (?,?,?,?)", (learner, klass, what, clock.now()))

    def finished(self, learner: str) -> frozenset[str]:
        """What this learner has come to the end of."""
        return frozenset(row[0] for row in self._rows("select what from done where learner = ?", (learner,)))

    def write_task(self, learner: str, lesson: str, words: str) -> None:
        """Keep what a learner wrote to the task of a lesson, in place of what stood there.

        No more than :data:`traces.annotations.MAX_TEXT` characters of it.
        """
        self._write(
            "insert into tasks (learner, lesson, words) values (?,?,?)"
            " on conflict do update set words = excluded.words",
            (learner, lesson, jsontext.clean(words)[:MAX_TEXT]),
        )

    def look_at_task(self, learner: str, lesson: str) -> None:
        """Note that a learner has seen the lesson's answer to its task."""
        self._write(
            "insert into tasks (learner, lesson, looked) values (?,?,1) on conflict do update set looked = 1",
            (learner, lesson),
        )

    def task(self, learner: str, lesson: str) -> TaskWords:
        """What a learner did with the task of a lesson."""
        rows = self._rows("select words, looked from tasks where learner = ? and lesson = ?", (learner, lesson))
        return TaskWords(rows[0][0], bool(rows[0][1])) if rows else TaskWords()

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        def find(base: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return base.execute(query, values).fetchall()

        return self._base.read(find, [])

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        self._base.write(lambda base: base.execute(statement, values))


_OF_CLASS = "class = ? and lesson = ? and variant = ? and ask = ?"


def _place(question: Question) -> tuple[str, str, str]:
    return question.lesson, question.variant, question.ask
