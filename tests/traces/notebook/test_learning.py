"""The learning note: a small file next to the trace, with exactly its six keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.errors import InputError
from traces.annotations import MAX_TEXT
from traces.notebook.learning import KEYS, LearningNote, LearningNotes, notes_json
from traces.store import Store

NOTE = LearningNote(day="6", topic="环", core_takeaway="The model only asks.", pitfall_recorded="ids")


def test_the_file_holds_exactly_the_six_keys(tmp_path: Path) -> None:
    notes = LearningNotes(tmp_path)
    notes.write("t1", NOTE)
    data = json.loads(notes.path_of("t1").read_text(encoding="utf-8"))
    assert list(data) == ["day", "topic", "core_takeaway", "code_artifact", "pitfall_recorded", "next_day_input"]
    assert tuple(data) == KEYS
    assert data["topic"] == "环"
    assert notes.path_of("t1").stem == "t1"
    assert notes.of("t1") == NOTE


def test_it_is_no_trace_for_the_list_and_is_found_among_all(tmp_path: Path) -> None:
    notes = LearningNotes(tmp_path)
    notes.write("t1", NOTE)
    notes.write("t2", LearningNote(topic="two"))
    assert [info for info in Store(tmp_path).list() if info.kind != "bundled"] == []
    assert {trace_id for trace_id, _ in notes.all()} == {"t1", "t2"}
    assert [trace_id for trace_id, _ in notes.all(lambda trace_id: trace_id == "t2")] == ["t2"]
    assert notes.count() == 2
    listed = json.loads(notes_json([note for _, note in notes.all()]))
    assert [set(each) for each in listed] == [set(KEYS)] * 2


def test_what_is_no_note_is_none_and_too_long_a_text_is_refused(tmp_path: Path) -> None:
    notes = LearningNotes(tmp_path)
    assert notes.of("t1") is None
    notes.write("t1", NOTE)
    notes.path_of("t1").write_text('{"day": 3}')
    assert notes.of("t1") is None
    with pytest.raises(InputError, match="topic has at most"):
        notes.write("t1", LearningNote(topic="x" * (MAX_TEXT + 1)))
