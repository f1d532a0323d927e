"""The Ablate page: what a visitor may not, where keys go, and what Start does with a design."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import ablate_design_draft as drafts
from pages.parts import experiments
from pages.parts.ablate_design_model import typed_keys
from tests.pages.ablating import (
    HOSTILE,
    LIVE,
    Visit,
    choose,
    design_of,
    draft,
    experiment,
    press,
    write,
)
from tests.pages.conftest import texts
from traces.experiments.design.experiment import ModelSpec

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
