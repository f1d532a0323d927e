"""Classes and seats: what a link and a code give, what survives a restart, and what is never kept."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from agent.errors import InputError
from agent.models.metered import Used
from traces.classroom.classes import FILE, LONGEST_NAME, MOST_SEATS, Classes
from traces.classroom.klass import Klass, Showing, Terms
from traces.classroom.lending import Lendings, Lent, Server
from traces.classroom.presence import Presence
from traces.spreadsheet import safe_cell

KEY = "sk-classroom-0815-0815"


@pytest.fixture
def classes(tmp_path: Path) -> Classes:
    return Classes(tmp_path)


@pytest.fixture
def klass(classes: Classes) -> Klass:
    return classes.begin("Monday")


def test_asking_makes_no_file(tmp_path: Path) -> None:
    classes = Classes(tmp_path)
    assert (classes.all(), classes.of_code("ABCDEF"), classes.of_teacher("x"), classes.seat("x")) == (
        [],
        None,
        None,
        None,
    )
    assert list(tmp_path.iterdir()) == []


def test_the_teachers_link_and_the_code_lead_to_the_class_and_to_no_other(classes: Classes, klass: Klass) -> None:
    other = classes.begin("Tuesday")
    assert classes.of_teacher(klass.secret) == klass
    assert classes.of_code(f" {klass.code.lower()[:3]} {klass.code[3:]} ") == klass
    for wrong in (klass.code, klass.id, klass.secret[:-1], klass.secret + "x", "", "é"):
        assert classes.of_teacher(wrong) is None
    for wrong in (klass.id, klass.secret, klass.code[:-1], ""):
        assert classes.of_code(wrong) is None
    assert len({klass.id, klass.secret, klass.code, other.id, other.secret, other.code}) == 6
    assert len(klass.secret) >= 20


def test_seats_are_numbered_and_names_may_repeat_and_are_data(classes: Classes, klass: Klass) -> None:
    seats = [classes.take_seat(klass.code, name) for name in ("Ada", "Ada", " <b>*x*</b>\n\x00 ", "", "长" * 99)]
    assert [seat.number for seat in seats] == [1, 2, 3, 4, 5]
    assert [seat.name for seat in seats] == ["Ada", "Ada", "<b>*x*</b>", "4", "长" * LONGEST_NAME]
    assert len({seat.id for seat in seats}) == 5
    assert classes.seats(klass.id) == seats


@pytest.mark.parametrize(
    "name", ['=HYPERLINK("http://evil.example")', "+1", "-2+3", "@SUM(A1)", " = =1", "＝1", "=", "|x"]
)
def test_no_name_is_a_formula_in_a_spreadsheet(classes: Classes, klass: Klass, name: str) -> None:
    kept = classes.take_seat(klass.code, name).name
    assert kept
    assert safe_cell(kept) == kept


def test_a_number_is_never_given_twice(classes: Classes, klass: Klass) -> None:
    first = classes.take_seat(klass.code, "Ada")
    classes.remove(first.id)
    assert classes.take_seat(klass.code, "Bob").number == 2
    assert [seat.name for seat in classes.seats(klass.id)] == ["Bob"]
    found = classes.seat(first.id)
    assert found is not None
    assert found.removed


def test_nobody_joins_a_class_that_is_closed_over_or_full(classes: Classes, klass: Klass) -> None:
    classes.close(klass.id, True)
    with pytest.raises(InputError, match="nobody else"):
        classes.take_seat(klass.code, "Ada")
    classes.close(klass.id, False)
    for _ in range(MOST_SEATS):
        last = classes.take_seat(klass.code, "Ada")
    with pytest.raises(InputError, match="full"):
        classes.take_seat(klass.code, "Ada")
    classes.remove(last.id)
    classes.take_seat(klass.code, "Ada")
    classes.end(klass.id)
    with pytest.raises(InputError, match="no class"):
        classes.take_seat(klass.code, "Ada")


def test_forty_students_join_at_once(classes: Classes, klass: Klass) -> None:
    threads = [threading.Thread(target=classes.take_seat, args=(klass.code, f"S{n}")) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [seat.number for seat in classes.seats(klass.id)] == list(range(1, 41))


def test_a_class_survives_a_restart_with_everything_but_a_key(tmp_path: Path) -> None:
    before = Classes(tmp_path)
    klass, other = before.begin("Monday"), before.begin("Tuesday")
    seat = before.take_seat(klass.code, "Ada")
    gone = before.take_seat(klass.code, "Bob")
    before.remove(gone.id)
    before.show(klass.id, Showing("lesson", "one_call", "slow"))
    before.lend(klass.id, Terms("m", "http://host/v1", 3, 100))
    before.keep_used(seat.id, Used(2, 50, True))
    before.close(klass.id, True)
    before.end(other.id)
    after = Classes(tmp_path)
    assert after.all() == before.all()
    assert after.seats(klass.id) == [seat]
    assert after.seat(gone.id) == before.seat(gone.id)
    assert after.used(klass.id) == {seat.id: Used(2, 50, True)}
    assert after.used(other.id) == {}
    found = after.of_code(other.code)
    assert found is not None
    assert found.ended


def test_what_another_server_over_the_same_folder_began_is_found(tmp_path: Path) -> None:
    here, there = Classes(tmp_path), Classes(tmp_path)
    klass = there.begin("Monday")
    seat = there.take_seat(klass.code, "Ada")
    assert here.of_code(klass.code) == klass
    assert here.seat(seat.id) == seat


def test_a_row_that_cannot_be_read_takes_no_other_class_away(tmp_path: Path) -> None:
    klass = Classes(tmp_path).begin("Monday")
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as base, base:
        odd = [
            ("a", "not json", None),
            ("b", '{"kind": "film"}', None),
            ("c", None, '{"price": 1}'),
            ("d", "[1]", None),
        ]
        for id, showing, terms in odd:
            values = (id, "Odd", f"secret-{id}", f"code-{id}", "2026-01-01", 0, 0, showing, terms)
            base.execute("insert into classes values (?,?,?,?,?,?,?,?,?)", values)
    classes = Classes(tmp_path)
    assert classes.all() == [klass]
    assert classes.of_code("222222") is None
    assert classes.seat("nobody") is None


def test_a_broken_file_is_set_aside_and_classes_go_on(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"this is no database" * 99)
    classes = Classes(tmp_path)
    assert classes.all() == []
    klass = classes.begin("Monday")
    assert Classes(tmp_path).all() == [klass]
    assert classes.set_aside is not None
    assert classes.set_aside.read_bytes().startswith(b"this is no database")


def test_a_folder_that_cannot_be_written_is_told_as_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be read or written"):
        Classes(tmp_path / "file").begin("Monday")


def test_where_somebody_is_costs_microseconds_to_tell() -> None:
    presence = Presence()
    started = time.perf_counter()
    for number in range(4000):
        presence.note(f"seat{number % 40}", "one_call", "run", "session")
    assert (time.perf_counter() - started) / 4000 < 100e-6
    where = presence.where("seat7")
    assert where is not None
    assert (where.what, where.run, where.sessions) == ("one_call", "run", ["session"])
    assert presence.where("nobody") is None


def test_a_reset_is_for_one_run_of_one_seat() -> None:
    presence = Presence()
    presence.reset("ada", "run1")
    assert presence.is_reset("ada", "run1")
    assert not presence.is_reset("ada", "run2")
    assert not presence.is_reset("bob", "run1")


def test_a_loan_ends_for_its_class_alone_and_its_key_is_in_no_file(tmp_path: Path) -> None:
    classes, lendings = Classes(tmp_path), Lendings()
    monday, tuesday = classes.begin("Monday"), classes.begin("Tuesday")
    terms, server = Terms("m", "http://127.0.0.1:9/v1", 3, 100), Server("m", "http://127.0.0.1:9/v1", KEY)
    for klass in (monday, tuesday):
        lendings.lend(klass.id, Lent(server, terms, {}, classes.keep_used))
        classes.lend(klass.id, terms)
    assert KEY not in repr(server)
    lendings.take_back(monday.id)
    assert lendings.of(monday.id) is None
    lent = lendings.of(tuesday.id)
    assert lent is not None
    assert not lent.meter.taken_back.is_set()
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_borrower_cannot_say_where_the_model_is(tmp_path: Path) -> None:
    lent = Lent(Server("m", "http://127.0.0.1:9/v1", KEY), Terms("m", "", 3, 100), {}, Classes(tmp_path).keep_used)
    with pytest.raises(TypeError):
        lent.borrow("ada", base_url="http://127.0.0.1:10/v1")
    assert KEY in lent.borrow("ada").secrets
