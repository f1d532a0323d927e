"""The Scripts page: the list, a text that is written, its mistakes, its preview, and what the buttons do."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from agent import tool
from agent.scripts import parse_script, scenarios
from agent.scripts.harmless import NOT_RUN
from pages.parts.options import Options
from pages.parts.script_actions import with_title
from pages.parts.script_play import SECONDS, has_chance, try_out
from pages.parts.script_snippets import keys, snippets, starter
from tests.pages.conftest import ROOT, texts
from traces import open_trace
from traces.script_store import ScriptStore
from traces.scripting import script_data
from traces.store import SAMPLES

PLAIN = "title: Plain\ntask: go\nturns: [done]\n"
BY_HAND = """
title: By hand
task: What is 2 + 3?
tools: [add]
turns:
  - calls: [{name: add, arguments: {a: 2, b: 3}}]
  - rules:
      - {when: {result: missing}, text: nothing came}
      - {when: {contains: "5"}, text: five}
    default: dunno
"""
CHANCE = "task: go\nturns:\n  - rules:\n      - {when: {chance: 0.5}, text: heads}\n    default: tails\n"


@pytest.fixture
def store(data):
    return ScriptStore(data)


def open_script(visit, script):
    return visit("scripts", script=script)


def type_into(app: AppTest, script: str, text: str) -> AppTest:
    """What the editor says a moment after the last key; it is an element that the test driver does not know."""
    version = app.session_state["script-versions"].get(script, 0) if "script-versions" in app.session_state else 0
    app.session_state[f"script-editor-{script}"] = {"edit": {"text": text, "version": version}}
    app.run()
    assert not app.exception
    return app


def badges(app):
    return texts(app, "markdown")


def rows(app, column="title"):
    return app.dataframe[0].value[column].tolist()


# ---- the list ----


def test_the_list_shows_what_comes_with_the_project_and_what_is_kept(visit, store):
    store.save("mine", BY_HAND)
    app = visit("scripts")
    frame = app.dataframe[0].value
    assert len(frame) == len(scenarios()) + 1
    assert frame.iloc[0][["title", "turns", "tools", "rules"]].tolist() == ["By hand", "2", "add", "by hand"]
    assert frame.iloc[0]["kind"] == ["own"]
    assert {kind for (kind,) in frame["kind"][1:]} == {"bundled"}


def test_a_search_narrows_the_list(visit, store):
    store.save("mine", BY_HAND)
    app = visit("scripts")
    app.text_input(key="scripts-search").set_value("hand ADD").run()
    assert rows(app) == ["By hand"]
    app.text_input(key="scripts-search").set_value("no such script").run()
    assert "No script passes the filter." in texts(app, "caption")


def test_a_hostile_title_stays_a_text(visit, store):
    title = "![x](http://e/x.png) <b>bold</b> \u202e中文"
    script = store.save("x", f"title: {json.dumps(title)}\nturns: [done]\n")
    assert title in rows(visit("scripts"))
    app = open_script(visit, script)
    assert title in texts(app, "text")
    assert "http://e/x.png" not in badges(app)


def test_a_server_that_others_can_reach_lists_no_foreign_scripts(visit, store, monkeypatch):
    script = store.save("secret", PLAIN)
    monkeypatch.setattr("pages.parts.script_list.private", lambda: False)
    monkeypatch.setattr("pages.parts.script_actions.private", lambda: False)
    app = visit("scripts")
    assert "Plain" not in rows(app)
    app = open_script(visit, script)  # whoever has the link
    assert not [button for button in app.button if button.key == "script-delete"]
    app.button(key="scripts-all").click().run()
    assert "Plain" in rows(app)


# ---- writing ----


def test_a_new_script_begins_with_one_that_can_be_played(visit):
    app = visit("scripts")
    app.button(key="script-new").click().run()
    assert "This script can be played." in badges(app)
    assert "not saved" in badges(app)
    assert "written by hand" in badges(app)
    app.button(key="scripts-all").click().run()
    assert app.dataframe[0].value["kind"][0] == ["not saved"]


def test_mistakes_are_told_with_their_lines_as_one_types(visit, store):
    script = store.save("mine", PLAIN)
    app = type_into(open_script(visit, script), script, "title: Plain\ntusk: go\nturns:\n  - text: 3\n")
    assert "2 mistakes" in badges(app)
    assert {button.label for button in app.button if button.key.startswith("script-mistake")} == {"Line 2", "Line 4"}
    assert "unknown key 'tusk'; did you mean 'task'?" in texts(app, "text")
    assert app.button(key="script-run").disabled
    assert "As of the last text without a mistake." in texts(app, "caption")
    app.button(key="script-mistake-1").click().run()
    assert app.session_state["script-command"].line == 4


@pytest.mark.parametrize(
    "text", ["", "\t", "{", "- [", "turns: 3", "turns: [a]\nturns: [b]", "\x00", "x: !!python/object:a"]
)
def test_no_text_is_too_odd_to_be_drawn(visit, store, text):
    script = store.save("mine", PLAIN)
    app = type_into(open_script(visit, script), script, text)
    assert "1 mistake" in badges(app)


def test_a_long_text_is_checked_when_asked(visit, store):
    script = store.save("mine", PLAIN)
    text = f"turns:\n  - text: {'x' * 1_100_000}\n"
    app = type_into(open_script(visit, script), script, text)
    assert "mistake" not in badges(app)
    app.button(key="script-check").click().run()
    assert "a script may have 1,000,000 characters" in texts(app, "text")


def test_what_is_not_saved_survives_other_pages_and_languages(visit, store):
    script = store.save("mine", PLAIN)
    app = type_into(open_script(visit, script), script, PLAIN + "# more\n")
    app.query_params["lang"] = "zh"
    app.run()
    app.switch_page("pages/compare.py").run()
    app.switch_page("pages/scripts.py").run()
    app.button(key="scripts-all").click().run()
    assert list(app.dataframe[0].value["kind"][0]) == ["自己的", "未保存"]
    app.query_params["script"] = script
    app.run()
    assert "未保存" in badges(app)
    app.button(key="script-save").click().run()
    assert store.read(script) == PLAIN + "# more\n"


def test_a_text_that_is_typed_back_is_no_draft(visit, store):
    script = store.save("mine", PLAIN)
    app = type_into(open_script(visit, script), script, PLAIN + "# more\n")
    type_into(app, script, PLAIN)
    assert "not saved" not in badges(app)
    app.button(key="scripts-all").click().run()
    assert app.dataframe[0].value["kind"][0] == ["own"]


def test_changes_are_discarded(visit, store):
    script = store.save("mine", PLAIN)
    app = type_into(open_script(visit, script), script, "turns: [other]")
    app.button(key="script-discard").click().run()
    assert "not saved" not in badges(app)
    assert "done" in app.dataframe[0].value["says"].tolist()
    assert store.read(script) == PLAIN


# ---- saving, deleting, running ----


def test_a_copy_of_a_bundled_script_gets_its_own_title(visit, store):
    app = open_script(visit, "calc")
    assert app.button(key="script-save").disabled
    app.session_state["script-names"] = True
    app.run()
    app.text_input(key="script-name").set_value("Mine: 计算").run()
    app.button(key="script-save-as").click().run()
    (info,) = store.list()
    assert info.title == "Mine: 计算"
    assert info.id in app.query_params["script"]
    assert "bundled" not in badges(app)


def test_a_deleted_script_comes_back(visit, store):
    script = store.save("mine", PLAIN)
    app = open_script(visit, script)
    app.button(key="script-delete").click().run()
    assert store.list() == []
    assert "Plain" not in rows(app)
    app.button(key="script-undo").click().run()
    assert rows(app)[0] == "Plain"
    assert store.read(script) == PLAIN


def test_what_comes_with_the_project_cannot_be_deleted(visit):
    app = open_script(visit, "calc")
    assert "script-delete" not in {button.key for button in app.button}


@pytest.mark.parametrize("script", ["gone-1234", "../../etc/passwd", "x" * 500, "new.0"])
def test_an_id_of_no_script_is_told(visit, script):
    app = open_script(visit, script)
    assert not app.exception
    assert script.startswith("new.") or "There is no script" in app.warning[0].value


def test_a_kept_script_is_told_from_a_new_one_whatever_its_title(visit, store):
    script = store.save("New", PLAIN)
    app = open_script(visit, script)
    assert "This script can be played." in badges(app)
    assert "script-delete" in {button.key for button in app.button}


def test_a_folder_that_cannot_be_written_is_told_and_the_text_stays(visit, data):
    (data / "scripts").write_text("in the way", encoding="utf-8")
    app = visit("scripts")
    app.button(key="script-new").click().run()
    app.button(key="script-save").click().run()
    assert "That did not work" in badges(app)
    assert "not saved" in badges(app)


def test_an_uploaded_script_is_opened_and_a_broken_one_told(visit):
    app = visit("scripts")
    app.file_uploader[0].upload("x.yaml", b"\xff\xfe\x00", "text/yaml").run()
    assert "a script is UTF-8 text" in texts(app, "text")
    app.file_uploader[0].upload("x.yaml", PLAIN.replace("\n", "\r\n").encode(), "text/yaml").run()
    assert "Plain" in texts(app, "text")
    assert "This script can be played." in badges(app)


def test_a_changed_script_is_saved_before_it_runs(visit, store):
    script = store.save("mine", PLAIN)
    app = type_into(open_script(visit, script), script, "title: Changed\nturns: [done]\n")
    app.button(key="script-run").click().run()
    assert store.read(script) == "title: Changed\nturns: [done]\n"
    assert app.selectbox(key="scenario").value == f"script:{script}"


def test_a_bundled_script_runs_as_it_is(visit, store):
    app = open_script(visit, "order")
    app.button(key="script-run").click().run()
    assert app.selectbox(key="scenario").value == "order"
    assert store.list() == []


OTHERS = "title: Others\nturns: [theirs]\n"


def test_what_another_tab_saved_meanwhile_is_not_replaced_by_accident(visit, store):
    script = store.save("mine", PLAIN)
    app = type_into(open_script(visit, script), script, "turns: [my own]\n")
    store.save("", OTHERS, id=script)
    app.button(key="script-save").click().run()
    assert store.read(script) == OTHERS
    assert "saved elsewhere" in texts(app, "warning")
    app.button(key="script-save").click().run()
    assert store.read(script) == "turns: [my own]\n"
    assert not app.warning


def test_a_script_that_another_tab_saved_meanwhile_does_not_run_instead(visit, store):
    script = store.save("mine", PLAIN)
    app = type_into(open_script(visit, script), script, "turns: [my own]\n")
    store.save("", OTHERS, id=script)
    app.button(key="script-run").click().run()
    assert "saved elsewhere" in texts(app, "warning")
    assert app.button(key="script-run")


@pytest.mark.parametrize("wrote", [False, True])
def test_a_tab_in_which_nothing_is_unsaved_follows_what_another_one_saves(visit, store, wrote):
    script = store.save("mine", PLAIN)
    app = open_script(visit, script)
    if wrote:
        app = type_into(app, script, "turns: [my own]\n")
        app.button(key="script-save").click().run()
    store.save("", OTHERS, id=script)
    app.run()
    assert not app.warning
    assert "Others" in texts(app, "text")
    assert "not saved" not in badges(app)
    app = type_into(app, script, OTHERS + "# mine\n")
    app.button(key="script-save").click().run()
    assert store.read(script) == OTHERS + "# mine\n"


def test_back_from_the_run_leads_to_the_script(visit, store):
    app = open_script(visit, "order")
    app.button(key="script-run").click().run()
    app.switch_page("pages/scripts.py")
    app.query_params["scenario"] = "order"  # what the framework leaves in the browser's history on the way out
    app.run()
    assert app.query_params["script"] == "order"
    assert "scenario" not in app.query_params


# ---- the preview ----


def test_the_preview_says_what_happens_and_which_rule_speaks(visit, store):
    app = open_script(visit, store.save("mine", BY_HAND))
    messages, rules = (frame.value for frame in app.dataframe)
    assert messages["says"].tolist() == ["What is 2 + 3?", 'add({"a": 2, "b": 3})', "5", "five"]
    assert rules["rule"].tolist() == ["turn 2 · rule 2 of 2"]
    assert rules["when"].tolist() == ['{"contains": "5"}']
    assert rules["held"][0].startswith("add: present · calls: 1")
    assert "The model answered and asked for nothing more." in badges(app)


def test_another_seed_is_another_preview(visit, store):
    app = open_script(visit, store.save("mine", CHANCE))
    said = set()
    for seed in range(8):
        app.number_input(key="script-seed").set_value(seed).run()
        said.add(app.dataframe[0].value["says"].tolist()[-1])
    assert said == {"heads", "tails"}


def test_a_seed_is_only_asked_for_where_there_is_chance():
    assert has_chance(parse_script(CHANCE))
    assert not has_chance(parse_script(BY_HAND))
    nested = CHANCE.replace("{chance: 0.5}", "{not: {any: [{turn: 2}, {chance: 0.5}]}}")
    assert has_chance(parse_script(nested))


def test_tools_of_ones_own_do_not_run():
    ran = []

    @tool
    def launch() -> str:
        """Does something real."""
        ran.append(1)
        return "launched"

    played = try_out(parse_script("tools: [launch]\nturns: [{calls: [{name: launch}]}, ok]", own=[launch]))
    assert ran == []
    assert played.not_run == ("launch",)
    assert NOT_RUN in [message.text for message in played.trace.messages]


def test_the_page_names_the_tools_that_do_not_run(visit, store, monkeypatch):
    @tool
    def launch() -> str:
        """Does something real."""
        raise AssertionError("it ran")

    options = Options(tools=(launch,))
    monkeypatch.setattr("pages.parts.script_reading.options", lambda: options)
    app = open_script(visit, store.save("mine", "tools: [launch]\nturns: [{calls: [{name: launch}]}, ok]"))
    assert "Tools of your own do not run here: launch" in texts(app, "text")


def test_a_preview_ends_in_time(monkeypatch):
    monkeypatch.setattr("pages.parts.script_play.SECONDS", 0.3)
    wait = "{kind: tool_times_out, params: {timeout_s: 60}}"
    played = try_out(
        parse_script(
            f"tools: [add]\nturns: [{{calls: [{{name: add, arguments: {{a: 1, b: 2}}}}], faults: [{wait}]}}, ok]"
        )
    )
    assert played.cut
    assert SECONDS > 0.3


@pytest.mark.parametrize("info", scenarios(), ids=lambda info: info.name)
def test_every_bundled_script_has_a_preview(info):
    played = try_out(parse_script(info.path.read_text(encoding="utf-8")))
    assert not played.cut
    assert played.trace.outcome.reason


# ---- the trace it came from ----


def test_a_recorded_script_is_compared_with_its_trace(visit, store):
    trace = open_trace(SAMPLES / "calc.json")[0]
    data = script_data(trace)
    script = store.save("recorded", json.dumps(data))
    app = open_script(visit, script)
    app.toggle(key="script-compare").set_value(True).run()
    assert "The replay gives what was recorded" in badges(app)
    assert "All messages are the same." in badges(app)
    data["turns"][-1] = {"text": "another answer"}
    type_into(app, script, json.dumps(data))
    assert "Where the replay is not what was recorded" in badges(app)
    assert "now 'another answer'" in texts(app, "text")
    links = [link.proto.label for link in app.get("page_link")]
    assert [label for label in links if "message" in label] == ["A: message 7"]


def test_a_trace_that_is_not_here_is_said_to_be_so(visit, store):
    data = script_data(open_trace(SAMPLES / "calc.json")[0])
    data["recorded"]["trace"] = "feedfeedfeed"
    app = open_script(visit, store.save("recorded", json.dumps(data)))
    assert "The trace is not in this library." in texts(app, "caption")


# ---- the format ----


def test_the_piece_to_insert_goes_to_the_editor(visit):
    app = open_script(visit, "calc")
    app.session_state["script-tabs"] = "Format"
    app.run()
    app.selectbox(key="script-snippet").set_value(3).run()
    app.button(key="script-insert").click().run()
    assert app.session_state["script-command"].text == app.code[0].value


def test_the_help_names_sections_that_the_description_of_the_format_has():
    told = (ROOT / "agent" / "scripts" / "FORMAT.md").read_text(encoding="utf-8")
    for section, rows in keys().items():
        assert f"\n## {section}\n" in told
        for name in ", ".join(key for key, _ in rows).split(", "):
            assert f"`{name}`" in told


def test_every_piece_fits_into_a_script():
    for piece in snippets():
        whole = piece.text if not piece.text.startswith("  -") else f"turns:\n{piece.text}"
        head = "" if "tools:" in whole else "tools: [add]\n"
        tail = "" if "turns:" in whole else "\nturns: [done]"
        parse_script(f"{head}{whole}{tail}")
    assert parse_script(starter()).rules


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (PLAIN, "Another: title"),
        ("turns: [done]\n", 'With "quotes"'),
        ("title_zh: 旧\ntitle: old\nturns: [done]\n", "新的"),
    ],
)
def test_a_title_is_written_into_the_text(text, title):
    script = parse_script(with_title(text, title))
    assert (script.title, script.title_zh) == (title, "")


@pytest.mark.parametrize(
    "text", ["- done\n", "title: >\n  long\n  title\nturns: [done]\n", '{"turns": ["a"]}', "turns: ["]
)
def test_a_title_that_has_no_line_of_its_own_stays(text):
    assert with_title(text, "new") == text
