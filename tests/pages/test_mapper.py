"""The form for a file of an unknown shape: it is filled in, shows what comes out, and what is kept is used again."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from traces.mapping import Columns, kept

CHAT = {
    "files": [{"size": 3}],
    "turns": [
        {"speaker": "Customer", "utterance": "Is it open?", "note": "by phone"},
        {"speaker": "Bot", "utterance": "<b>Yes</b>, it is.", "note": "at once"},
        {"speaker": "debug", "utterance": "gc ran", "note": ""},
    ],
}


def script(path: str) -> None:
    """A page with the form, which shows the conversation instead once columns are kept."""
    import streamlit as st

    from pages.parts.mapper import by_columns, mapper
    from pages.parts.opened import Opened
    from traces import read_file

    report = by_columns(Opened(read_file(path, "file.json"))).report
    for trace in report.traces:
        for message in trace.messages:
            st.text(f"{message.role}: {message.text}")
    mapper(report, key="map")


@pytest.fixture
def form(tmp_path: Path) -> AppTest:
    path = tmp_path / "chat.txt"
    path.write_text(json.dumps(CHAT), encoding="utf-8")
    app = AppTest.from_function(script, args=(str(path),), default_timeout=30)
    app.run()
    assert not app.exception
    return app


def field(app, name):
    return app.selectbox(key=f"map-{name}")


def preview(app):
    return app.dataframe[0].value


def opened(app):
    return [str(each.value) for each in app.text if ": " in str(each.value)]


def test_the_fields_are_filled_in_by_a_guess_and_the_first_messages_are_shown(form):
    assert (field(form, "records").value, field(form, "role").value) == ("turns", "speaker")
    assert field(form, "role-Customer").value == "user"
    assert preview(form)["text"].tolist()[:2] == ["Is it open?", "<b>Yes</b>, it is."]
    assert opened(form) == []


def test_a_press_opens_the_file_by_what_the_fields_hold_then(form, data):
    field(form, "content").set_value("note").run()
    assert preview(form)["text"].tolist()[:2] == ["by phone", "at once"]
    form.button(key="map-open").click().run()
    assert opened(form)[:2] == ["user: by phone", "assistant: at once"]
    assert kept(data)[0].content == "note"


def test_columns_that_are_kept_open_the_next_file_of_the_shape_and_can_be_forgotten(form, data, tmp_path):
    form.button(key="map-open").click().run()
    path = tmp_path / "next.txt"
    path.write_text(json.dumps({"turns": [{"speaker": "Bot", "utterance": "Hello."}]}), encoding="utf-8")
    other = AppTest.from_function(script, args=(str(path),), default_timeout=30).run()
    assert opened(other) == ["assistant: Hello."]
    other.button(key="map-forget").click().run()
    assert (opened(other), kept(data)) == ([], [])


def test_another_list_of_records_is_guessed_anew_and_without_words_nothing_opens(form):
    field(form, "records").set_value("files").run()
    assert form.button(key="map-open").disabled
    assert any("No message comes out" in str(each.value) for each in form.info)
    field(form, "records").set_value("turns").run()
    assert field(form, "content").value == "utterance"


def test_a_role_can_be_left_out(form):
    assert field(form, "role-debug").value == "debug"
    field(form, "role-debug").set_value("").run()
    form.button(key="map-open").click().run()
    assert len(opened(form)) == 2


def test_columns_from_a_file_fill_the_fields_in_and_another_file_is_one_sentence(form):
    columns = Columns(records="turns", content="note")
    form.file_uploader[0].set_value(("columns.json", columns.to_json(), "application/json")).run()
    assert (field(form, "content").value, field(form, "role").value) == ("note", "")
    form.file_uploader[0].set_value(("other.json", b"{}", "application/json")).run()
    assert not form.exception
    assert field(form, "content").value == "note"


def test_on_a_server_that_others_reach_columns_stay_with_the_session(form, data, monkeypatch):
    monkeypatch.setattr("pages.parts.mapper.private", lambda: False)
    form.button(key="map-open").click().run()
    assert len(opened(form)) == 3
    assert kept(data) == []
    form.button(key="map-forget").click().run()
    assert opened(form) == []
