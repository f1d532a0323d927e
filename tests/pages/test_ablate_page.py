"""The Ablate page: how a design begins, what its form and its text do to each other, and its preview."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from agent import Message, ToolCall, Trace
from agent.journal import write_trace
from agent.trace import TraceStep
from pages.parts import address_ablate
from pages.parts.ablate_condition_fields import numbers_in
from tests.pages.ablating import (
    DESIGN,
    HOSTILE,
    Visit,
    choose,
    conditions,
    design_of,
    draft,
    experiment,
    look_at,
    press,
    preview,
    write,
)
from tests.pages.conftest import texts
from traces.experiments.design.file import parse_design
from traces.script_store import ScriptStore


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
