"""The Ablate page: how a design begins, what its form and its text do to each other, its preview, and its start."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from agent import Message, ToolCall, Trace
from agent.journal import write_trace
from agent.trace import TraceStep
from pages.parts import ablate_design_draft as drafts
from pages.parts import address_ablate, experiments
from pages.parts.ablate_condition_fields import numbers_in
from pages.parts.ablate_design_model import typed_keys
from tests.pages.conftest import texts
from traces.experiments.design.experiment import Experiment, ModelSpec
from traces.experiments.design.file import parse_design
from traces.script_store import ScriptStore

Visit = Callable[..., AppTest]

HOSTILE = "![t](https://evil.example/p) :red[x] `c`"
DESIGN = """
title: By hand
subjects: [code_word]
models: [script]
conditions: [blank_results]
repeats: 3
"""
LIVE = """
subjects: [{task: hello}]
models: [{name: m, model: m, base_url: "http://evil.example/v1"}]
outcome: finished
"""


@pytest.fixture
def saved(data: Path) -> Trace:
    """A trace that asks for no tool in its first step, and reads a code word in its second."""
    trace = Trace(title=HOSTILE, task="t")
    trace.add(Message("user", "What is the code word?"), "user")
    trace.add(Message("assistant", "I look."), "model", 1)
    trace.add(Message("user", "Go on."), "user")
    trace.add(Message("assistant", None, tool_calls=(ToolCall("c1", "look_up", {"id": 1}),)), "model", 2)
    trace.add(Message("tool", "The code word is WALNUT.", tool_call_id="c1"), "environment", 2)
    trace.add(Message("assistant", "It is WALNUT."), "model", 3)
    trace.steps += [TraceStep(index=index, reply=reply) for index, reply in ((1, 1), (2, 3), (3, 5))]
    trace.outcome.reason, trace.outcome.final = "final", "It is WALNUT."
    write_trace(trace, data)
    return trace


@pytest.fixture
def public() -> Iterator[None]:
    """A server that other machines can reach."""
    config.set_option("server.address", "0.0.0.0")
    yield
    config.set_option("server.address", "127.0.0.1")


@pytest.fixture
def new(visit: Visit) -> AppTest:
    """A new design, as the button makes it."""
    return press(visit("ablate"), "ablate-new")


def design_of(app: AppTest) -> str:
    return str(app.query_params["design"])


def draft(app: AppTest) -> drafts.Draft:
    found = drafts.find(design_of(app))
    assert found is not None
    return found


def experiment(app: AppTest) -> Experiment:
    return draft(app).experiment


def conditions(app: AppTest) -> list[str]:
    return [each.name for each in experiment(app).conditions]


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def choose(app: AppTest, kind: str, key: str, value: Any) -> AppTest:
    getattr(app, kind)(key=key).set_value(value).run()
    assert not app.exception
    return app


def write(app: AppTest, text: str) -> AppTest:
    """What the editor says a moment after the last key; it is an element that the test driver does not know."""
    editor = f"design-{design_of(app)}"
    app.session_state["script-texts"] = {editor: text}
    app.run()
    assert not app.exception
    return app


def look_at(app: AppTest, row: int) -> AppTest:
    """Select a condition in the table."""
    app.session_state["ablate-chosen"] = {(design_of(app), "conditions"): row}
    app.run()
    assert not app.exception
    return app


def preview(app: AppTest) -> list[list[str]]:
    """The rows of the preview: what is done to a message, and how it is sent in both."""
    frame = app.dataframe[1].value
    return [[row["state"][0], row["before"], row["after"]] for _, row in frame.fillna("-").iterrows()]


# ---- how a design begins ----


def test_a_new_design_takes_the_results_of_a_scenario_away(new: AppTest) -> None:
    assert conditions(new) == ["baseline", "blank_results", "drop_pairs"]
    assert experiment(new).subjects[0].scenario == "code_word"
    assert parse_design(draft(new).text) == experiment(new)


def test_a_trace_is_continued_from_its_first_call_by_a_stand_in(visit: Visit, saved: Trace) -> None:
    app = visit("ablate", trace=saved.trace_id)
    subject, model = experiment(app).subjects[0], experiment(app).models[0]
    assert (subject.step, subject.mode, model.kind) == (2, "continue", "stand_in")
    assert experiment(app).outcome == "agreement"
    assert conditions(app)[1:] == ["blank_results", "drop_pairs"]
    assert not app.button(key="ablate-start").disabled


def test_one_decision_is_judged_by_the_decision_where_there_is_a_result_that_it_can_depend_on(
    visit: Visit, saved: Trace
) -> None:
    app = visit("ablate", trace=saved.trace_id)
    app.segmented_control(key="ablate-mode").set_value("decision").run()
    assert (experiment(app).subjects[0].step, experiment(app).outcome) == (3, "same_decision")
    app.segmented_control(key="ablate-mode").set_value("continue").run()
    assert experiment(app).outcome == "agreement"
    choose(app, "selectbox", "ablate-outcome", "steps")
    app.segmented_control(key="ablate-mode").set_value("decision").run()
    assert experiment(app).outcome == "steps"


def test_a_recording_that_ends_with_a_call_is_not_judged_by_its_answer(visit: Visit, data: Path) -> None:
    trace = Trace(title="submits", task="t")
    trace.add(Message("user", "Mend it."), "user")
    trace.add(Message("assistant", None, tool_calls=(ToolCall("c1", "submit", {}),)), "model", 1)
    trace.add(Message("tool", "Submitted.", tool_call_id="c1"), "environment", 1)
    trace.steps.append(TraceStep(index=1, reply=1))
    trace.outcome.final = "diff"
    write_trace(trace, data)
    assert experiment(visit("ablate", trace=trace.trace_id)).outcome == "repeated_calls"


def test_evidence_makes_success_the_outcome(visit: Visit, saved: Trace) -> None:
    app = visit("ablate", trace=saved.trace_id)
    app.text_input(key="ablate-evidence").set_value("WALNUT").run()
    assert experiment(app).outcome == "success"


def test_the_step_of_the_address_is_the_one_that_is_run_again(visit: Visit, saved: Trace) -> None:
    assert experiment(visit("ablate", trace=saved.trace_id, step="3")).subjects[0].step == 3


def test_the_traces_page_leads_here(visit: Visit, saved: Trace) -> None:
    app = visit("traces", trace=saved.trace_id)
    links = [link for link in app.get("page_link") if link.proto.page == "ablate"]
    assert [link.proto.query_string for link in links] == [f"trace={saved.trace_id}"]


def test_the_live_model_of_the_run_page_is_asked(visit: Visit, saved: Trace) -> None:
    app = visit()
    app.radio(key="model").set_value("live").run()
    app.text_input(key="model_name").set_value("qwen").run()
    app.switch_page("pages/ablate.py")
    app.query_params["trace"] = saved.trace_id
    app.run()
    assert [(model.kind, model.model) for model in experiment(app).models] == [("live", "qwen")]


def test_a_scenario_and_a_script_of_the_address_are_subjects(visit: Visit, data: Path) -> None:
    assert experiment(visit("ablate", scenario="weather")).subjects[0].scenario == "weather"
    id = ScriptStore(data).save("mine", "title: Mine\ntask: go\nturns: [done]\n")
    app = visit("ablate", script=id)
    assert experiment(app).subjects[0].script == f"scripts/{id}.yaml"
    assert experiment(app).outcome == "finished"


@pytest.mark.parametrize("where", [{"trace": "0" * 12}, {"script": "none"}, {"scenario": "../x"}])
def test_what_is_not_there_is_told(visit: Visit, where: dict[str, str]) -> None:
    app = visit("ablate", **where)
    assert app.error[0].value == "This cannot be opened."


def test_a_reload_and_another_language_find_the_same_design(visit: Visit, new: AppTest) -> None:
    choose(new, "number_input", "ablate-repeats", 4)
    again = visit("ablate", design=design_of(new), lang="zh")
    assert again.number_input(key="ablate-repeats").value == 4
    assert again.button(key="ablate-start").label == "开始实验"


def test_back_to_the_address_where_a_design_began_finds_it_and_does_not_move_on(visit: Visit, saved: Trace) -> None:
    app = visit("ablate", trace=saved.trace_id)
    del app.query_params["design"]
    app.run()
    assert "design" not in app.query_params
    assert "Stand-in" in str(app.get("button_group"))


def test_a_design_that_is_gone_is_told(visit: Visit) -> None:
    assert "not here any more" in visit("ablate", design="0" * 12).warning[0].value


def test_an_exercise_can_be_started_as_it_comes(visit: Visit) -> None:
    app = press(visit("ablate"), "ablate-exercise-planted_cause")
    assert [subject.name for subject in experiment(app).subjects] == ["three notes"]
    assert not app.button(key="ablate-start").disabled


def test_an_uploaded_design_is_opened_and_a_broken_one_told(visit: Visit) -> None:
    app = visit("ablate")
    app.file_uploader[0].upload("x.yaml", b"\xff\xfe\x00", "text/yaml").run()
    assert "UTF-8" in texts(app, "text")
    app.file_uploader[0].upload("x.yaml", DESIGN.replace("\n", "\r\n").encode(), "text/yaml").run()
    assert experiment(app).title == "By hand"


def test_an_uploaded_design_with_a_mistake_is_shown_as_the_text_that_it_is(visit: Visit) -> None:
    app = visit("ablate")
    app.file_uploader[0].upload("x.yaml", b"subjects: [nowhere]\n", "text/yaml").run()
    assert app.session_state[address_ablate.TABS] == "YAML"
    assert "nowhere" in draft(app).text
    assert "The form shows the last design" not in texts(app, "caption")


# ---- the form ----


def test_a_condition_is_added_named_and_removed(new: AppTest) -> None:
    choose(new, "selectbox", "ablate-add", "shuffle_ids")
    press(new, "ablate-add-new")
    assert conditions(new)[-1] == "shuffle_ids"
    assert "breaks the protocol" in texts(new, "markdown")
    choose(new, "text_input", "ablate-name", " ids / mixed ")
    assert conditions(new)[-1] == "ids mixed"
    press(new, "ablate-condition-remove")
    assert conditions(new) == ["baseline", "blank_results", "drop_pairs"]


def test_the_baseline_cannot_be_removed_or_changed(new: AppTest) -> None:
    look_at(new, 0)
    assert "cannot be removed" in texts(new, "caption")
    assert "ablate-condition-remove" not in [button.key for button in new.button]
    assert new.button(key="ablate-add-to").disabled


def test_two_changes_make_one_condition_and_one_can_be_left_out(new: AppTest) -> None:
    choose(new, "selectbox", "ablate-add", "fault:tool_raises")
    press(new, "ablate-add-to")
    condition = experiment(new).conditions[1]
    assert [item.kind for item in condition.interventions] == ["blank_results"]
    assert [armed.fault.kind for armed in condition.faults] == ["tool_raises"]
    choose(new, "number_input", "ablate-fault-0-step", 2)
    assert experiment(new).conditions[1].faults[0].step == 2
    press(new, "ablate-interventions-0-out")
    assert experiment(new).conditions[1].interventions == ()


def test_parameters_are_kept_where_they_are_unusual(new: AppTest) -> None:
    choose(new, "text_input", "ablate-0-blank_results-text", "gone")
    new.multiselect(key="ablate-0-blank_results-tools").select("read_file").run()
    choose(new, "number_input", "ablate-0-blank_results-from_step", 2)
    assert experiment(new).conditions[1].interventions[0].params == {
        "text": "gone", "tools": ["read_file"], "from_step": 2,
    }  # fmt: skip
    choose(new, "text_input", "ablate-0-blank_results-text", "")
    assert "text" not in experiment(new).conditions[1].interventions[0].params


def test_what_an_intervention_cannot_do_without_begins_with_something_and_stays(new: AppTest) -> None:
    choose(new, "selectbox", "ablate-add", "hide_tool")
    press(new, "ablate-add-new")
    assert experiment(new).conditions[-1].interventions[0].params == {"tool": "read_file"}
    choose(new, "selectbox", "ablate-add", "replace_results")
    press(new, "ablate-add-new")
    before = experiment(new)
    choose(new, "text_input", "ablate-0-replace_results-find", "")
    assert experiment(new) == before
    assert "must not be empty" in texts(new, "text")


def test_a_number_becomes_a_curve_with_one_condition_for_each_value(new: AppTest) -> None:
    choose(new, "selectbox", "ablate-add", "keep_last_results")
    press(new, "ablate-add-new")
    choose(new, "text_input", "ablate-values-0", "0, 1，4")
    press(new, "ablate-curve-make-0")
    assert conditions(new)[3:] == ["keep_last_results 0", "keep_last_results 1", "keep_last_results 4"]
    assert [each.value for each in experiment(new).conditions[3:]] == [0, 1, 4]
    assert "sweep: keep_last_results" in draft(new).text
    choose(new, "text_input", "ablate-0-keep_last_results-text", "?")
    assert not experiment(new).conditions[3].sweep


@pytest.mark.parametrize(
    ("text", "values"), [("0, 1,1 ,2", [0, 1, 2]), ("", []), ("1, x", []), ("-1", []), (",".join("9" * 30), [9])]
)
def test_the_values_of_a_curve_are_whole_numbers(text: str, values: list[int]) -> None:
    assert numbers_in(text) == values


def test_subjects_and_models_of_every_kind_can_be_chosen(new: AppTest, saved: Trace) -> None:
    for kind in ("trace", "task", "scenario"):
        new.segmented_control(key="ablate-subjects-kind").set_value(kind).run()
        assert not new.exception
        assert getattr(experiment(new).subjects[0], kind)
    for kind in ("stand_in", "live", "script"):
        new.segmented_control(key="ablate-models-kind").set_value(kind).run()
        assert not new.exception
        assert experiment(new).models[0].kind == kind
    press(new, "ablate-subjects-add")
    assert len(experiment(new).subjects) == 2
    press(new, "ablate-subjects-remove")
    assert len(experiment(new).subjects) == 1


def test_evidence_budget_and_outcome_come_from_their_fields(new: AppTest) -> None:
    choose(new, "text_input", "ablate-evidence", "BANANA")
    choose(new, "number_input", "ablate-tokens", 5000)
    choose(new, "selectbox", "ablate-outcome", "steps")
    found = parse_design(draft(new).text)
    assert found.subjects[0].evidence == ({"answer_contains": "BANANA"},)
    assert (found.budget.tokens, found.outcome) == (5000, "steps")
    assert "Model calls of the run" in texts(new, "caption")


def test_a_design_that_is_probably_not_meant_says_so(visit: Visit, saved: Trace) -> None:
    app = visit("ablate", trace=saved.trace_id)
    assert "Probably not meant" not in texts(app, "markdown")
    choose(app, "selectbox", "ablate-outcome", "success")
    assert "Probably not meant" in texts(app, "markdown")


def test_a_trace_without_a_step_cannot_be_started(visit: Visit, data: Path) -> None:
    trace = Trace(title="empty", task="t")
    trace.add(Message("user", "hello"), "user")
    write_trace(trace, data)
    app = visit("ablate", trace=trace.trace_id)
    assert "no step 1" in texts(app, "text")
    assert app.button(key="ablate-start").disabled


def test_a_field_of_what_another_tab_has_removed_changes_nothing(visit: Visit, new: AppTest) -> None:
    look_at(new, 2)
    other = look_at(visit("ablate", design=design_of(new)), 2)
    press(other, "ablate-condition-remove")
    before = experiment(new)
    choose(new, "text_input", "ablate-name", "mine")
    assert experiment(new) == before
    assert "another tab" in texts(new, "text")


# ---- the text ----


def test_the_text_and_the_form_are_the_same_design(new: AppTest) -> None:
    write(new, DESIGN)
    assert new.number_input(key="ablate-repeats").value == 3
    choose(new, "number_input", "ablate-repeats", 7)
    assert parse_design(draft(new).text).repeats == 7
    assert parse_design(draft(new).text).title == "By hand"


def test_a_mistake_is_told_with_its_line_and_the_form_stays(new: AppTest) -> None:
    write(new, DESIGN.replace("blank_results", "blank_result"))
    assert "Line 5" in texts(new, "text")
    assert "blank_results" in texts(new, "text")
    assert new.button(key="ablate-start").disabled
    assert conditions(new)[1:] == ["blank_results", "drop_pairs"]
    choose(new, "number_input", "ablate-repeats", 5)
    assert not new.button(key="ablate-start").disabled


# ---- the preview ----


def test_the_preview_shows_the_request_beside_the_original(new: AppTest) -> None:
    rows = preview(new)
    assert [row[0] for row in rows] == [*["= unchanged"] * 3, "✎ changed"]
    assert rows[-1][1:] == ["The launch code word is BANANA.", "(empty)"]
    assert "valid" in texts(new, "markdown")
    look_at(new, 2)
    assert preview(new)[-1][1:] == ["The launch code word is BANANA.", "-"]


def test_a_request_that_is_broken_on_purpose_is_called_so(new: AppTest) -> None:
    choose(new, "selectbox", "ablate-add", "omit_results")
    press(new, "ablate-add-new")
    assert "broken on purpose" in texts(new, "markdown")


def test_text_of_a_trace_is_shown_as_text(visit: Visit, saved: Trace) -> None:
    app = visit("ablate", trace=saved.trace_id)
    assert experiment(app).subjects[0].name.startswith("![t](https:")
    assert "evil.example" not in texts(app, "markdown", "caption", "html")
    assert all("evil.example" not in button.label for button in app.button)


# ---- what others may not ----


def test_another_machine_cannot_have_a_file_read(visit: Visit, public: None, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("[]", encoding="utf-8")
    app = press(visit("ablate"), "ablate-new")
    write(app, f"subjects: [{{trace: {json.dumps(str(secret))}, name: x}}]\nmodels: [stand_in]\n")
    assert "only what its library lists" in texts(app, "text")
    assert "ablate-start" not in [button.key for button in app.button]


def test_words_of_a_design_that_may_not_be_read_are_no_markdown(visit: Visit, public: None) -> None:
    app = press(visit("ablate"), "ablate-new")
    write(app, f"subjects: [{{name: '{HOSTILE}', script: secret.yaml}}]\n")
    assert "evil.example" in texts(app, "text")
    assert "evil.example" not in texts(app, "warning", "error", "markdown", "caption", "html")


@pytest.mark.parametrize("experiment_id", ["..", "/"])
def test_an_experiment_that_is_none_opens_no_folder(visit: Visit, public: None, data: Path, experiment_id: str) -> None:
    (data / "secret.yaml").write_text("task: go\nturns: [done]\n", encoding="utf-8")
    app = visit("ablate", experiment=experiment_id)
    del app.query_params["experiment"]
    press(app.run(), "ablate-new")
    write(app, "subjects: [{script: secret.yaml}]\n")
    assert "only what its library lists" in texts(app, "text")


def test_a_key_goes_to_no_server_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ours")
    monkeypatch.setenv("OTHER", "sk-other")
    theirs = ModelSpec(name="theirs", kind="live", model="m", base_url="http://evil.example/v1", key_env="OTHER")
    ours = ModelSpec(name="ours", kind="live", model="m", key_env="OTHER")
    assert typed_keys([theirs, ours]) == {"theirs": "no-key", "ours": "sk-ours"}


def test_a_key_stays_in_its_field_and_belongs_to_its_server(new: AppTest) -> None:
    write(new, LIVE)
    field = "ablate-key-http://evil.example/v1"
    choose(new, "text_input", field, "sk-mine")
    new.session_state["ablate-tabs"] = "YAML"
    new.run()
    assert new.text_input(key=field).value == "sk-mine"
    new.session_state["ablate-tabs"] = "Form"
    new.run()
    assert "sk-mine" not in draft(new).text
    choose(new, "text_input", "ablate-url", "http://other.example/v1")
    assert new.text_input(key="ablate-key-http://other.example/v1").value == ""


def test_a_server_of_somebody_elses_design_is_not_taken_over(visit: Visit, public: None) -> None:
    app = press(visit("ablate"), "ablate-new")
    write(app, LIVE)
    assert "evil.example" in texts(app, "text")
    theirs = visit("ablate", design=design_of(app))
    assert "evil.example" not in texts(theirs, "text")


def test_a_visitor_cannot_ask_for_any_number_of_runs(visit: Visit, public: None, data: Path) -> None:
    app = press(visit("ablate"), "ablate-new")
    write(app, "subjects: code_word\nconditions: [blank_results]\nrepeats: 2501\n")
    press(app, "ablate-start")
    assert "at most 5,000 runs" in texts(app, "text")
    assert not list(data.glob("experiments/*"))


def test_amounts_of_money_beside_start_make_no_formula(new: AppTest) -> None:
    write(new, LIVE.replace("model: m,", "model: gpt-4o-mini,"))
    label = next(each.label for each in new.expander if "model calls" in each.label)
    assert label.count("\\$ ") == label.count("$") == 2


# ---- start ----


def test_start_runs_the_design_once_and_shows_it(new: AppTest) -> None:
    choose(new, "number_input", "ablate-repeats", 2)
    design = design_of(new)
    press(new, "ablate-start")
    id = str(new.query_params["experiment"])
    session = experiments.find(id)
    assert session is not None
    assert session.wait(30)
    assert len(session.rows) == 6
    found = drafts.find(design)
    assert found is not None
    assert found.started == id
    new.query_params.clear()
    new.query_params["design"] = design
    press(new.run(), "ablate-start")
    assert [line.id for line in experiments.listing()] == [id]


@pytest.mark.parametrize("wrong", ["conditions: [no_such]", "models: [{model: m, base_url: 'http://me:pw@host/v1'}]"])
def test_what_was_typed_just_before_the_press_is_not_started_where_it_is_wrong(
    new: AppTest, data: Path, wrong: str
) -> None:
    new.session_state["script-texts"] = {f"design-{design_of(new)}": f"subjects: [code_word]\n{wrong}\n"}
    press(new, "ablate-start")
    assert not new.query_params.get("experiment")
    assert not list(data.glob("experiments/*"))


def test_a_password_in_an_address_reaches_no_folder(new: AppTest, data: Path) -> None:
    write(new, LIVE)
    live = replace(experiment(new).models[0], base_url="http://me:secret@host.example/v1")
    drafts.set_fields(design_of(new), models=(live,))  # typed in the form; the button is still as it was drawn before
    press(new, "ablate-start")
    assert not list(data.glob("experiments/*"))


def test_the_list_tells_what_was_found_and_a_deletion_can_be_undone(visit: Visit, new: AppTest) -> None:
    press(new, "ablate-start")
    id = str(new.query_params["experiment"])
    session = experiments.find(id)
    assert session is not None
    assert session.wait(30)
    while not session.folder.report.exists():  # the last file of the report, which is written behind the page
        time.sleep(0.05)
    app = visit("ablate")
    row = app.dataframe[0].value.iloc[0]
    assert (row["runs"], row["found"].split()[:2]) == ("30 / 30", ["2", "×"])
    app.session_state["ablate-deleted"] = (experiments.delete(id), "By hand")
    app.run()
    assert "There is no experiment yet." in texts(app, "caption")
    press(app, "ablate-undo")
    assert [line.id for line in experiments.listing()] == [id]


def test_a_live_model_without_a_name_is_asked_for_it_in_plain_words(visit: Visit, data: Path) -> None:
    app = visit("ablate", scenario="code_word")
    drafts.set_fields(design_of(app), models=(ModelSpec(name="live", kind="live"),))
    app.run()
    assert "Name the live model." in [each.value for each in app.text]
    assert app.button(key="ablate-start").disabled
