"""The panel of notes and tags, alone on a page of its own."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.annotating import tagged
from traces.annotations import Annotations, Note
from traces.store import SAMPLES


def _page(selected: int | None) -> None:
    import streamlit as st

    from pages.parts.annotating import annotations_panel
    from pages.parts.notices import notices
    from traces import open_trace
    from traces.store import SAMPLES

    notices()
    if st.session_state.get("elsewhere"):  # another tab of the trace
        return
    annotations_panel(open_trace(SAMPLES / "calc.json")[0], selected, key="notes")


@pytest.fixture
def trace_id():
    from traces import open_trace

    return open_trace(SAMPLES / "calc.json")[0].trace_id


def panel(selected=None):
    app = AppTest.from_function(_page, kwargs={"selected": selected}, default_timeout=30).run()
    assert not app.exception
    return app


def save(app, place):
    (button,) = [each for each in app.button if each.key.endswith(f"-{place}-save")]
    return button.click().run()


def test_a_note_on_a_message_and_one_on_the_trace_are_kept(data, trace_id):
    app = panel(2)
    app.text_area[0].input("  here it starts ")
    save(app, 2)
    app.text_area[1].input("a good run")
    save(app, "trace")
    notes = Annotations(data).of(trace_id)
    assert (notes.messages[2].text, notes.trace.text) == ("here it starts", "a good run")
    assert app.text_area[0].value == "here it starts"
    assert any("here it starts" in each.value for each in app.text)


def test_the_fields_begin_with_what_is_kept_and_an_emptied_note_is_gone(data, trace_id):
    Annotations(data).write(trace_id, Note("old", ("a", "b")), 1)
    app = panel(1)
    assert (app.text_area[0].value, app.multiselect[0].value) == ("old", ["a", "b"])
    app.text_area[0].input("")
    app.multiselect[0].set_value([])
    save(app, 1)
    assert not Annotations(data).of(trace_id)


def test_what_was_written_and_not_saved_is_still_there_after_another_message(data, trace_id):
    app = panel(2)
    app.text_area[0].input("half a thought").run()
    assert any("not saved yet" in each.value for each in app.caption)
    app.session_state["elsewhere"] = True
    app.run()
    assert not app.text_area
    app.session_state["elsewhere"] = False
    app.run()
    assert app.text_area[0].value == "half a thought"
    save(app, 2)
    assert Annotations(data).of(trace_id).messages[2].text == "half a thought"
    assert not any("not saved yet" in each.value for each in app.caption)


def test_without_a_selected_message_only_the_trace_has_a_field(data):
    app = panel()
    assert len(app.text_area) == 1
    assert any("Select a message" in each.value for each in app.caption)


def test_a_note_that_cannot_be_kept_says_so(data, monkeypatch):
    monkeypatch.setattr("traces.annotations.MAX_TEXT", 3)
    app = panel()
    app.text_area[0].input("too long")
    save(app, "trace")
    assert any("at most" in each.value for each in app.text)


def test_a_server_for_others_keeps_no_notes(data, monkeypatch):
    monkeypatch.setattr("pages.parts.annotating.private", lambda: False)
    assert not panel(1).text_area


def test_tags_of_messages_are_given_to_other_parts(data, trace_id):
    Annotations(data).write(trace_id, Note("x", ("slow",)), 3)
    Annotations(data).write(trace_id, Note("no tag"), 4)
    assert tagged(trace_id) == {3: ("slow",)}
