"""The Traces page: the list, one trace from the library, an uploaded file, and text that must stay text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from agent import FakeModel, Loop, Message, Tool, ToolCall, Trace
from agent.faults import Fault
from agent.journal import write_trace
from agent.trace import TraceStep
from pages.parts.opened import Followed, Kept
from pages.parts.runs import registry
from traces import open_trace
from traces.store import SAMPLES

Visit = Callable[..., AppTest]

HOSTILE = "![t](https://evil.example/p) <img src=https://evil.example/i onerror=alert(1)> $5 to $7 :red[x] `c` # h"
BIG = 2**70 + 1


def shown(app: AppTest) -> str:
    return "\n".join(str(each.value) for kind in ("markdown", "text", "code", "caption") for each in app.get(kind))


def numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in app.metric}


def upload(app: AppTest, data: Any, name: str = "log.json") -> AppTest:
    payload = data if isinstance(data, bytes) else json.dumps(data).encode()
    app.file_uploader[0].upload(name, payload, "application/json").run()
    assert not app.exception
    return app


@pytest.fixture
def saved(data: Path) -> Trace:
    trace = Trace(title=HOSTILE, task="t")
    trace.add(Message("user", HOSTILE), "user")
    call = ToolCall("c1", "look_up", {"id": BIG, "why": HOSTILE})
    trace.add(Message("assistant", None, tool_calls=(call,)), "model", 1)
    trace.add(Message("tool", json.dumps({"id": BIG}), tool_call_id="c1"), "environment", 1)
    trace.steps.append(TraceStep(index=1, reply=1))
    trace.outcome.reason = "final"
    write_trace(trace, data)
    return trace


def test_the_list_shows_saved_traces(visit: Visit, saved: Trace) -> None:
    app = visit("traces")
    titles = app.dataframe[0].value["title"].tolist()
    assert saved.title in titles


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_every_bundled_trace_opens(visit: Visit, sample: Path) -> None:
    (trace,) = open_trace(sample)
    app = visit("traces", trace=trace.trace_id, message="2")
    assert len(app.dataframe[0].value) == len(trace.messages)
    assert "Message 2" in shown(app)


def test_a_link_opens_a_trace_at_a_message(visit: Visit, saved: Trace) -> None:
    app = visit("traces", trace=saved.trace_id, message="1")
    assert len(app.dataframe[0].value) == 3
    assert "Message 1" in shown(app)
    assert HOSTILE in [code.value for code in app.code]


def test_every_digit_of_a_large_number_is_shown(visit: Visit, saved: Trace) -> None:
    app = visit("traces", trace=saved.trace_id, message="2")
    assert str(BIG) in "".join(code.value for code in app.code)
    app = visit("traces", trace=saved.trace_id, message="3")
    assert str(BIG) in "".join(code.value for code in app.code)


def test_trace_text_is_never_markdown(visit: Visit, saved: Trace) -> None:
    for message in ("1", "2", "3"):
        app = visit("traces", trace=saved.trace_id, message=message)
        own_words = [element.value for kind in ("markdown", "caption", "subheader") for element in app.get(kind)]
        assert [text for text in own_words if "evil" in text] == []
        assert [button.label for button in app.button if "evil" in button.label] == []


def test_what_is_missing_is_not_reported_and_not_zero(visit: Visit, saved: Trace) -> None:
    app = visit("traces", trace=saved.trace_id)
    assert numbers(app)["Prompt tokens"] == "not reported"
    assert numbers(app)["Cost"] == "not reported"


def test_the_address_names_the_step_too_and_a_step_alone_leads_to_its_message(visit: Visit, saved: Trace) -> None:
    app = visit("traces", trace=saved.trace_id, step="1")
    assert "Message 2" in shown(app)
    app.button(key="next-message").click().run()
    assert {name: "".join(app.query_params[name]) for name in ("message", "step")} == {"message": "3", "step": "1"}


def test_a_message_number_beyond_the_end_selects_nothing(visit: Visit, saved: Trace) -> None:
    app = visit("traces", trace=saved.trace_id, message="99")
    assert "Select a row of the table" in shown(app)


def test_an_unknown_trace_is_told(visit: Visit) -> None:
    app = visit("traces", trace="000000000000")
    assert app.warning[0].value == "There is no trace with the id in the address."


def test_an_interrupted_run_can_be_continued(visit: Visit, open_run: Any, data: Path) -> None:
    run = open_run(["never said"], journal=data)
    assert "This run is still open." in shown(visit("traces", trace=run.id))
    registry().end(run.id)
    assert "This run was interrupted." in shown(visit("traces", trace=run.id))


def links(app: AppTest) -> list[str]:
    return [str(link.proto.label) for link in app.get("page_link")]


def test_a_finished_run_of_the_app_opens_in_the_stepper(visit: Visit, press: Callable[..., AppTest]) -> None:
    run_id = press(visit(), "continue").query_params["run"]
    registry().end(run_id)
    app = visit("traces", trace=run_id)
    assert "Open in the stepper" in links(app)
    assert "The model answered and asked for nothing more." in shown(visit(run=run_id))


def test_a_trace_of_another_program_does_not_open_in_the_stepper(visit: Visit, saved: Trace) -> None:
    assert "Open in the stepper" not in links(visit("traces", trace=saved.trace_id))


def test_faults_of_a_saved_trace_are_told(visit: Visit, data: Path) -> None:
    loop = Loop(FakeModel([[ToolCall("c1", "act", {})], "done"]), [Tool("act", "", {}, dict)], journal=data)
    loop.start("go")
    loop.arm(Fault("tool_raises"))
    loop.finish()
    app = visit("traces", trace=loop.trace.trace_id)
    assert "Faults that struck: 1" in [each.label for each in app.expander]
    assert "Noticed by: the runner of tools" in shown(app)


@pytest.mark.parametrize(("language", "words"), [("en", ("open", "interrupted")), ("zh", ("开着", "中断"))])
def test_a_run_that_is_open_here_is_not_listed_as_interrupted(
    visit: Visit, open_run: Any, data: Path, language: str, words: tuple[str, str]
) -> None:
    run = open_run(["never said"], journal=data)

    def kinds() -> list[str]:
        return [kind for (kind,) in visit("traces", lang=language).dataframe[0].value["kind"]]

    assert words[0] in kinds() and words[1] not in kinds()
    registry().end(run.id)
    assert words[1] in kinds() and words[0] not in kinds()


def test_an_uploaded_chat_log_opens(visit: Visit) -> None:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "good day"}]
    app = upload(visit("traces"), {"messages": messages})
    assert app.dataframe[0].value["text"].tolist() == ["hello", "good day"]
    assert numbers(app)["Messages"] == "2"


def test_several_conversations_of_a_file_can_be_chosen(visit: Visit) -> None:
    lines = [{"messages": [{"role": "user", "content": text}]} for text in ("first", "second")]
    app = upload(visit("traces"), "\n".join(map(json.dumps, lines)).encode(), "log.jsonl")
    assert app.dataframe[0].value["text"].tolist() == ["first"]
    app.selectbox(key="conversation-choice").select_index(1).run()
    assert app.dataframe[0].value["text"].tolist() == ["second"]


def test_the_conversation_is_in_the_address_and_its_message_is_its_own(visit: Visit) -> None:
    lines = [{"messages": [{"role": "user", "content": text}]} for text in ("first", "second")]
    app = visit("traces", message="1")
    upload(app, "\n".join(map(json.dumps, lines)).encode(), "log.jsonl")
    app.query_params["message"] = "1"
    app.selectbox(key="conversation-choice").select_index(1).run()
    assert app.query_params["conversation"] in ("2", ["2"])
    assert "message" not in app.query_params
    app.query_params["conversation"] = "1"
    app.run()
    assert app.dataframe[0].value["text"].tolist() == ["first"]


def test_a_link_to_a_message_of_a_file_of_ones_own_is_good_in_a_fresh_browser(visit: Visit, data: Path) -> None:
    app = upload(visit("traces"), {"messages": [{"role": "user", "content": "hello"}]}, "../../my log.json")
    assert [path.name for path in data.iterdir() if not path.name.startswith(".")] == ["my log.json"]
    trace_id = "".join(app.query_params["trace"])
    fresh = visit("traces", trace=trace_id, message="1")
    assert fresh.dataframe[0].value["text"].tolist() == ["hello"]
    assert "Message 1" in shown(fresh)
    assert numbers(fresh)["Duration"] == "not reported"


def test_the_same_file_is_kept_once_and_several_are_listed(visit: Visit, data: Path) -> None:
    payload = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
    for _ in range(2):
        upload(visit("traces"), payload)
    assert len(list(data.glob("*.json"))) == 1
    app = visit("traces")
    other = json.dumps({"messages": [{"role": "user", "content": "other"}]}).encode()
    app.file_uploader[0].upload("a.json", payload).upload("b.json", other).run()
    assert "2 files were added to the list." in shown(app)
    assert {"hello", "other"} <= set(app.dataframe[0].value["title"])


def test_a_file_opens_by_its_path_and_is_not_copied(visit: Visit, data: Path, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("logs") / "run.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "hello"}]}))
    app = visit("traces")
    app.text_input(key="path-field").set_value(f' "{path}" ').run()
    assert app.query_params["path"] in (str(path), [str(path)])
    assert app.dataframe[0].value["text"].tolist() == ["hello"]
    assert list(data.glob("*.json")) == []
    assert "text" in visit("traces", path=str(path), message="1").dataframe[0].value


@pytest.mark.parametrize("path", ["/nowhere/x.json", "/dev/zero", "/", "relative.json"])
def test_a_path_that_is_no_file_is_explained(visit: Visit, path: str) -> None:
    app = visit("traces", path=path)
    assert app.error[0].value == "This file cannot be opened."
    assert path in shown(app)


def test_a_server_that_others_reach_opens_nothing_by_path(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "private.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "a secret"}]}))
    st.config.set_option("server.address", "0.0.0.0")
    try:
        app = visit("traces", path=str(path))
    finally:
        st.config.set_option("server.address", "127.0.0.1")
    assert "a secret" not in shown(app) and not app.dataframe
    assert not [field for field in app.text_input if field.key == "path-field"]


def test_a_file_that_grows_is_read_on(visit: Visit, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("logs") / "chat.jsonl"
    line = json.dumps({"messages": [{"role": "user", "content": "first"}]}) + "\n"
    path.write_text(line)
    app = visit("traces", path=str(path))
    assert "followed while it grows" not in shown(app)
    path.write_text(line + line.replace("first", "second"))
    app.run()
    assert len(app.selectbox(key="conversation-choice").options) == 2
    assert "followed while it grows" in shown(app)


def test_the_format_that_was_found_can_be_overruled(visit: Visit) -> None:
    app = upload(visit("traces"), {"messages": [{"role": "user", "content": "hello"}]})
    app.selectbox(key="format-choice").select("agent-trace/1").run()
    assert app.query_params["as"] in ("agent-trace/1", ["agent-trace/1"])
    assert not app.dataframe
    app.selectbox(key="format-choice").select("").run()
    assert app.dataframe[0].value["text"].tolist() == ["hello"]


def test_a_very_long_trace_is_shown_in_pages_and_a_link_opens_its_page(visit: Visit, data: Path) -> None:
    trace = Trace()
    for number in range(5003):
        trace.add(Message("user", f"word {number + 1}"), "user")
    write_trace(trace, data)
    assert len(visit("traces", trace=trace.trace_id).dataframe[0].value) == 5000
    app = visit("traces", trace=trace.trace_id, message="5002")
    assert app.dataframe[0].value["number"].tolist() == [5001, 5002, 5003]
    assert "Message 5002" in shown(app)


def test_a_trace_names_its_model_and_leads_to_its_first_error(visit: Visit) -> None:
    (trace,) = open_trace(SAMPLES / "atlantis.json")
    app = visit("traces", trace=trace.trace_id)
    assert "Model: script" in shown(app)
    app.button(key="first-error").click().run()
    assert "error result" in app.dataframe[0].value["note"].tolist()
    assert "Message 4" in shown(app)


def test_a_run_that_goes_on_is_not_told_to_have_no_end(visit: Visit, open_run: Any, data: Path) -> None:
    run = open_run(["never said"], journal=data)
    text = shown(visit("traces", trace=run.id))
    assert "The run is going on" in text
    assert "does not say how the run ended" not in text


def test_the_list_speaks_chinese(visit: Visit) -> None:
    frame = visit("traces", lang="zh").dataframe[0].value
    assert "先加后乘" in frame["title"].tolist()
    assert "工具连续几步都失败。" in frame["outcome"].tolist()


def test_lines_that_cannot_be_read_are_remarked(visit: Visit) -> None:
    good = json.dumps({"messages": [{"role": "user", "content": "hello"}]})
    app = upload(visit("traces"), f"{good}\n{{broken\n{good}\n".encode(), "log.jsonl")
    assert "line 2" in shown(app)


def test_a_file_of_another_kind_opens_as_what_it_is(visit: Visit) -> None:
    app = upload(visit("traces"), {"temperature": BIG})
    assert app.warning[0].value == "No conversation was found in this file."
    assert str(BIG) in "".join(code.value for code in app.code)


def test_a_file_that_is_no_json_is_explained(visit: Visit) -> None:
    app = upload(visit("traces"), b"\x00\x01 nothing", "x.json")
    assert "That did not work" in shown(app)
    assert "x.json" in shown(app)


def test_a_long_text_is_shown_in_part(visit: Visit, data: Path) -> None:
    trace = Trace()
    trace.add(Message("user", "word " * 100_000), "user")
    write_trace(trace, data)
    app = visit("traces", trace=trace.trace_id, message="1")
    assert max(len(code.value) for code in app.code) == 20_000
    assert "The first 20.0 kB of 500.0 kB." in shown(app)
    assert len(app.download_button) == 1


def test_every_session_that_shows_a_growing_file_is_told(tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("logs") / "chat.jsonl"
    line = json.dumps({"messages": [{"role": "user", "content": "first"}]}) + "\n"
    for look_at in (Followed, Kept):
        path.write_text(line)
        file = look_at(str(path))
        first = file.revision()
        assert (file.revision(), file.has_grown) == (first, False)
        path.write_text(path.read_text() + line)
        one, other = file.revision(), file.revision()
        assert one == other != first
        assert file.has_grown


def test_a_foreign_file_of_the_data_folder_that_grows_is_still_shown(visit: Visit, data: Path) -> None:
    line = json.dumps({"messages": [{"role": "user", "content": "first"}]}) + "\n"
    app = upload(visit("traces"), line.encode(), "log.jsonl")
    (data / "log.jsonl").write_text(line + line)
    app.run()
    assert not app.exception
    assert len(app.selectbox(key="conversation-choice").options) == 2
