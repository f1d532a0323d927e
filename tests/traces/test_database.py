"""The small files that nothing else holds: made by writing alone, shared by many, set aside when they are broken."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import InputError
from traces.annotations import MAX_TEXT
from traces.database import Database
from traces.lessons.answers import FILE, LOCAL, Answers, Question, Score, TaskWords

Q = Question("one_call", "", "2-call.maker")


def test_reading_makes_no_file(tmp_path: Path) -> None:
    answers = Answers(tmp_path / "data")
    assert answers.given(LOCAL, "one_call", "") == {}
    assert answers.scores(LOCAL) == answers.tally("", Q) == answers.hands("", Q) == answers.scores_of_class("k") == {}
    assert answers.finished(LOCAL) == frozenset()
    assert answers.latest("") is None
    assert not (tmp_path / "data").exists()


def test_a_file_of_before_gets_the_tables_that_came_later(tmp_path: Path) -> None:
    answers = Answers(tmp_path)
    answers.put(LOCAL, Q, "code", False)
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as base:
        base.executescript("drop table tasks; pragma user_version = 1;")
    answers.write_task(LOCAL, "one_call", "my words")
    assert (answers.task(LOCAL, "one_call").words, answers.given(LOCAL, "one_call", "")) == (
        "my words",
        {Q.ask: "code"},
    )


def test_words_on_a_task_are_kept_to_their_size_whatever_stands_in_them(tmp_path: Path) -> None:
    answers = Answers(tmp_path)
    answers.look_at_task(LOCAL, "one_call")
    answers.write_task(LOCAL, "one_call", "\ud800" + "x" * (MAX_TEXT + 5))
    assert answers.task(LOCAL, "one_call") == TaskWords("\ufffd" + "x" * (MAX_TEXT - 1), looked=True)
    assert answers.task("another", "one_call") == TaskWords()


def test_forty_learners_answer_at_once_and_none_is_lost(tmp_path: Path) -> None:
    def answer(number: int) -> None:
        answers = Answers(tmp_path)
        for ask in range(5):
            place = Question("one_call", "", f"{ask}-call.maker")
            answers.put(f"seat{number}", place, "model", number % 2 == 0, klass="k")

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    answers = Answers(tmp_path)
    scores = answers.scores_of_class("k")
    assert len(scores) == 40
    assert {scores["seat0"], scores["seat1"]} == {Score(5, 5), Score(0, 5)}
    assert answers.tally("k", Question("one_call", "", "3-call.maker")) == {"model": 40}


@pytest.mark.parametrize("damage", ["no database", "torn"])
def test_a_broken_file_is_set_aside_and_lessons_go_on(tmp_path: Path, damage: str) -> None:
    answers, path = Answers(tmp_path), tmp_path / FILE
    for number in range(200):
        answers.put(f"seat{number}", Q, "model", True)
    whole = path.read_bytes()
    torn = b"no database at all" * 300 if damage == "no database" else whole[:4096] + b"\xff" * (len(whole) - 4096)
    path.write_bytes(torn)
    assert answers.given(LOCAL, "one_call", "") == {}
    answers.put(LOCAL, Q, "code", False)
    assert answers.given(LOCAL, "one_call", "") == {Q.ask: "code"}
    assert answers.set_aside is not None
    assert answers.set_aside.read_bytes() == torn


def test_who_finds_a_file_broken_that_another_has_begun_anew_meanwhile_sets_nothing_aside(tmp_path: Path) -> None:
    late, other = (Database(tmp_path / "kept.sqlite", "create table if not exists said (text);") for _ in range(2))
    late.write(lambda base: [_say("before")(base) for _ in range(2000)])
    whole = late.path.read_bytes()
    torn = whole[:4096] + b"\xff" * (len(whole) - 4096)
    late.path.write_bytes(torn)
    others = iter([_say("meanwhile")])

    def slowly(base: sqlite3.Connection) -> None:
        for work in others:
            other.write(work)
        base.execute("select sum(length(text)) from said").fetchall()
        _say("late")(base)

    late.write(slowly)
    assert late.read(lambda base: base.execute("select text from said").fetchall(), []) == [("meanwhile",), ("late",)]
    assert late.broken.read_bytes() == torn


def _say(text: str) -> Callable[[sqlite3.Connection], object]:
    return lambda base: base.execute("insert into said values (?)", (text,))


def test_a_file_that_is_busy_is_not_taken_for_broken(tmp_path: Path) -> None:
    answers = Answers(tmp_path)
    answers.put(LOCAL, Q, "code", False)
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    other.execute("begin immediate")
    assert answers.given(LOCAL, "one_call", "") == {Q.ask: "code"}
    other.execute("rollback")
    other.close()
    assert answers.set_aside is None


def test_an_answer_that_cannot_be_kept_is_told_as_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answers = Answers(tmp_path / "file")
    assert answers.scores(LOCAL) == {}
    with pytest.raises(InputError, match=r"\.learning\.sqlite cannot be read or written"):
        answers.put(LOCAL, Q, "code", True)


def test_the_first_answer_counts_and_the_last_question_of_a_class_is_known(tmp_path: Path) -> None:
    answers, later = Answers(tmp_path), Question("history", "", "1-call.reply")
    answers.put("ada", Q, "code", None, klass="k")
    answers.put("ada", Q, "model", True, klass="k")
    answers.put("ada", Q, "code", False, klass="k")
    answers.put("bob", Q, "", None, klass="k")
    assert answers.tally("k", Q) == {"code": 1}
    assert answers.scores_of_class("k") == {"ada": Score(0, 1)}
    answers.put("bob", later, "text", True, klass="k")
    answers.put("eve", Q, "code", False, klass="another")
    assert answers.latest("k") == later


def test_hands_are_counted_beside_what_was_answered(tmp_path: Path) -> None:
    answers = Answers(tmp_path)
    answers.put("ada", Q, "model", True, klass="k")
    answers.count_hands("k", Q, {"model": 4, "code": 2})
    answers.count_hands("k", Q, {"model": 7})
    assert answers.hands("k", Q) == {"model": 7, "code": 2}
    assert answers.tally("k", Q) == {"model": 8, "code": 2}
    assert answers.tally("", Q) == {}
