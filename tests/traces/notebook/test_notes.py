"""The learner's notes: any number at any place, shared with the Traces page where that has room, and nothing lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.errors import InputError
from traces.annotations import MAX_TEXT, Annotations, Note
from traces.notebook.notes import PlacedNotes
from traces.store import Store


def texts(notes: PlacedNotes, trace_id: str = "t1") -> list[tuple[str, str]]:
    return [(note.place, note.text) for note in notes.of(trace_id)]


def test_the_first_note_on_a_message_is_the_one_that_the_traces_page_shows(tmp_path: Path) -> None:
    notes, shown = PlacedNotes(tmp_path), Annotations(tmp_path)
    shown.write("t1", Note("", ("slow",)), 2)
    for text in ("first", "second"):
        notes.add("t1", "message-2", text, title="A run")
    notes.add("t1", "trace", "on all of it")
    assert texts(notes) == [("trace", "on all of it"), ("message-2", "first"), ("message-2", "second")]
    kept = shown.of("t1")
    assert (kept.messages[2].text, kept.messages[2].tags, kept.trace.text) == ("first", ("slow",), "on all of it")


def test_notes_at_other_places_are_kept_beside_them_and_are_changed_and_taken_away(tmp_path: Path) -> None:
    notes = PlacedNotes(tmp_path)
    for place in ("moment-3", "end", "end"):
        notes.add("t1", place, f"at {place}")
    first, second, _ = notes.of("t1")
    notes.change("t1", first.id, "changed")
    notes.change("t1", second.id, "   ")
    notes.change("t1", "no such id", "x")
    assert texts(notes) == [("moment-3", "changed"), ("end", "at end")]
    assert not Annotations(tmp_path).of("t1")


def test_a_note_of_the_traces_page_is_changed_and_taken_away_here_too(tmp_path: Path) -> None:
    Annotations(tmp_path).write("t1", Note("there before", ("tag",)), 0)
    notes = PlacedNotes(tmp_path)
    (note,) = notes.of("t1")
    notes.change("t1", note.id, "new words")
    assert Annotations(tmp_path).of("t1").messages[0].text == "new words"
    notes.change("t1", note.id, "")
    assert (texts(notes), Annotations(tmp_path).of("t1").tags) == ([], ("tag",))


def test_an_empty_note_is_none_and_one_too_long_is_refused_by_a_sentence(tmp_path: Path) -> None:
    notes = PlacedNotes(tmp_path)
    notes.add("t1", "end", "  \n")
    assert texts(notes) == []
    for place in ("end", "message-1"):
        with pytest.raises(InputError, match="at most"):
            notes.add("t1", place, "x" * (MAX_TEXT + 1))


def test_two_who_write_at_once_both_keep_their_notes(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: PlacedNotes(tmp_path).add("t1", "message-1", f"note {n}"), range(16)))
    assert sorted(text for _, text in texts(PlacedNotes(tmp_path))) == sorted(f"note {n}" for n in range(16))


def test_a_damaged_file_and_a_hostile_id_do_no_harm(tmp_path: Path) -> None:
    notes = PlacedNotes(tmp_path)
    notes.add("../../x", "end", "kept inside")
    assert texts(notes, "../../x") == [("end", "kept inside")]
    (file,) = (tmp_path / ".notebook").iterdir()
    file.write_text(
        '{"schema": "agent-notebook/1", "notes": [1, {"id": "a"}, {"id": "a", "place": "end", "text": "ok"}]}'
    )
    assert texts(notes, "../../x") == [("end", "ok")]
    file.write_text("not json")
    assert texts(notes, "../../x") == []
    assert file.parent.parent == tmp_path


def test_the_list_of_traces_takes_no_note_for_a_trace(tmp_path: Path) -> None:
    PlacedNotes(tmp_path).add("t1", "end", "a note")
    assert [info for info in Store(tmp_path).list() if info.kind != "bundled"] == []
