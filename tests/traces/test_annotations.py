import csv
import io
import json
from multiprocessing import get_context

import pytest

from agent.errors import InputError
from traces.annotations import CSV_COLUMNS, MAX_TEXT, Annotations, Note, clean_tags, notes_csv


def test_a_folder_without_notes_has_none(tmp_path):
    book = Annotations(tmp_path / "saved")
    assert not book.of("9f2c1ab04d77")
    assert list(book.all()) == [] and book.stamp == 0
    assert not (tmp_path / "saved").exists()


def test_notes_and_tags_of_a_message_and_of_the_trace_are_kept_side_by_side(tmp_path):
    book = Annotations(tmp_path)
    book.write("run-1", Note("here it goes wrong", ("wrong tool", "look")), 3, title="Sums")
    notes = book.write("run-1", Note("", ("good",)))
    assert notes == Annotations(tmp_path).of("run-1")
    assert (notes.title, notes.trace.tags, notes.tags) == ("Sums", ("good",), ("good", "look", "wrong tool"))
    assert notes.messages[3].text == "here it goes wrong" and notes.messages[3].at.endswith("Z")


def test_an_empty_note_takes_the_old_one_away_and_at_last_the_file(tmp_path):
    book = Annotations(tmp_path)
    book.write("run-1", Note("a"), 0)
    book.write("run-1", Note("b"))
    assert set(book.write("run-1", Note(" \n"), 0).messages) == set()
    assert book.of("run-1").trace.text == "b"
    book.write("run-1", Note())
    assert not book.path_of("run-1").exists() and list(book.all()) == []


def test_the_stamp_changes_with_every_note(tmp_path):
    book = Annotations(tmp_path)
    stamps = [book.stamp]
    for number in range(3):
        book.write("run-1", Note(f"{number}"))
        stamps.append(book.stamp)
    assert stamps[0] == 0 and len(set(stamps)) > 1


@pytest.mark.parametrize("trace_id", ["../../etc/passwd", "a/b", "", "x" * 300, "\ud800", "."])
def test_no_id_leads_out_of_the_folder(tmp_path, trace_id):
    book = Annotations(tmp_path / "saved")
    book.write(trace_id, Note("x"))
    assert book.of(trace_id).trace.text == "x"
    assert {path.parent for path in tmp_path.rglob("*.json")} == {tmp_path / "saved" / ".notes"}


def test_a_long_note_is_refused_and_tags_are_one_short_line(tmp_path):
    with pytest.raises(InputError, match="at most"):
        Annotations(tmp_path).write("run-1", Note("x" * (MAX_TEXT + 1)))
    assert clean_tags(["a, b", " a\nb ", "", 3, "x" * 99]) == ("a b", "x" * 40)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema": "agent-notes/1"}', b"[" * 10**5, b"\xff"])
def test_a_broken_file_counts_as_none_and_hides_no_other(tmp_path, content):
    book = Annotations(tmp_path)
    book.write("run-1", Note("x"))
    book.path_of("run-2").write_bytes(content)
    assert not book.of("run-2")
    assert [notes.trace_id for notes in book.all()] == ["run-1"]


def test_odd_parts_of_a_file_cost_only_themselves(tmp_path):
    book = Annotations(tmp_path)
    book.write("run-1", Note("x"), 1)
    path = book.path_of("run-1")
    data = json.loads(path.read_text())
    data["messages"] |= {"²": {"text": "no"}, "2": None, "3": {"text": 3, "tags": [1, "kept"]}}
    path.write_text(json.dumps(data | {"trace": 5, "title": []}))
    assert {key: (note.text, note.tags) for key, note in book.of("run-1").messages.items()} == {
        1: ("x", ()),
        3: ("", ("kept",)),
    }


def test_the_table_of_notes_is_inert_in_a_spreadsheet(tmp_path):
    book = Annotations(tmp_path)
    book.write("run-1", Note('=HYPERLINK("http://x")\nsecond "line"', ("@tag", "b")), 4, title="+1")
    book.write("run-1", Note("whole"))
    rows = list(csv.reader(io.StringIO(notes_csv(book.all()).decode("utf-8-sig"))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert rows[1][:5] == ["run-1", "'+1", "", "", "whole"]
    assert rows[2][:5] == ["run-1", "'+1", "5", "'@tag, b", '\'=HYPERLINK("http://x")\nsecond "line"']


def _write_many(folder, start):
    for position in range(start, start + 20):
        Annotations(folder).write("run-1", Note(f"{position}"), position)


def test_several_processes_lose_no_note(tmp_path):
    with get_context("spawn").Pool(3) as pool:
        pool.starmap(_write_many, [(tmp_path, 0), (tmp_path, 20), (tmp_path, 40)])
    assert sorted(Annotations(tmp_path).of("run-1").messages) == list(range(60))
