"""One experiment on the Ablate page: as it runs, after it was interrupted, and what it found."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest

from agent.errors import InputError
from pages.parts import experiments
from pages.parts.ablate_downloads import zipped
from pages.parts.ablate_exercise import exercise_of
from pages.parts.ablate_progress import moves
from pages.parts.address_ablate import key_field
from tests.pages.conftest import texts
from tests.pages.provider import Provider
from traces.experiments.design.file import parse_design, read_design
from traces.experiments.exercise import Exercise, exercises
from traces.experiments.running.session import Session, create

Visit = Callable[..., AppTest]

HOSTILE = "![t](https://evil.example/p) :red[x] `c`"
DESIGN = f"""
title: "{HOSTILE}"
subjects: [code_word]
conditions:
  - blank_results
  - {{name: "{HOSTILE}", interventions: [drop_pairs]}}
repeats: 8
seed: 1
"""
LIVE = """
title: A live one
subjects: [{task: "Say done.", evidence: [{answer_contains: Done}]}]
models: [{name: m, model: m, base_url: "%s"}]
conditions: [blank_results]
repeats: 2
outcome: finished
"""
ID = "0123456789ab"


def kept(data: Path, text: str = DESIGN, id: str = ID) -> Session:
    """An experiment that has not begun."""
    return Session(create(data / "experiments" / id, parse_design(text, "design.yaml"), data))


def finished(data: Path, text: str = DESIGN, id: str = ID) -> Session:
    session = kept(data, text, id)
    session.start()
    assert session.wait(60)
    return session


def cut_off(data: Path, runs: int) -> Session:
    """An experiment as a server leaves it that is killed after so many runs, in the middle of a line."""
    session = finished(data)
    ledger = session.folder.ledger
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(lines[:runs]) + lines[runs][:20])
    for line in session.rows[runs:]:
        (session.folder.traces / f"{line.trace_id}.json").unlink()
    state = session.folder.state
    state.write_text(state.read_text(encoding="utf-8").replace('"ended": "done"', '"ended": null'), encoding="utf-8")
    return session


def chancy(session: Session) -> None:
    """Give each run of an experiment another answer, as a model with chance would."""
    lines = [{**row.to_dict(), "answer": str(at)} for at, row in enumerate(session.rows)]
    session.folder.ledger.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def settled(app: AppTest, id: str = ID) -> AppTest:
    """The page when the experiment rests."""
    session = experiments.find(id)
    assert session is not None
    assert session.wait(60)
    return app.run()


def keys(app: AppTest) -> set[str]:
    return {str(button.key) for button in app.button}


# ---- what is drawn ----


def test_an_experiment_that_is_over_shows_a_verdict_for_each_arm(visit: Visit, data: Path) -> None:
    finished(data)
    app = visit("ablate", experiment=ID)
    assert texts(app, "markdown").count("▼ effect") == 2
    assert "Verified success: 100\u202f% in the baseline, 0\u202f% here, a difference of −100 points." in texts(
        app, "text"
    )
    assert "Not finished" not in texts(app, "markdown")


def test_an_interrupted_experiment_makes_no_claim(visit: Visit, data: Path) -> None:
    cut_off(data, 7)
    app = visit("ablate", experiment=ID)
    assert "interrupted" in texts(app, "markdown")
    assert "Not finished" in texts(app, "markdown")
    assert "effect" not in texts(app, "markdown")
    assert "7 of 24 runs" in texts(app, "text")
    assert {"Stop reasons", "Messages of each run"} == {tab.label for tab in app.tabs}, "the others show intervals"
    assert not re.search(r"\[\d+\D+\d+\D*\]", " ".join(each.value.to_string() for each in app.dataframe))


def test_an_interrupted_experiment_goes_on_and_ends_as_if_nothing_had_happened(visit: Visit, data: Path) -> None:
    undisturbed = finished(data, id="ba9876543210")
    cut_off(data, 7)
    app = settled(press(visit("ablate", experiment=ID), "ablate-continue"))
    session = experiments.find(ID)
    assert session is not None
    different = ("trace_id", "started")
    told = [[{**line.to_dict(), **dict.fromkeys(different)} for line in each.rows] for each in (session, undisturbed)]
    assert told[0] == told[1]
    assert texts(app, "markdown").count("▼ effect") == 2


def test_names_of_a_design_are_never_markdown(visit: Visit, data: Path) -> None:
    finished(data)
    app = visit("ablate", experiment=ID)
    assert "evil.example" in texts(app, "text")
    assert "evil.example" not in texts(app, "markdown", "caption", "subheader", "button")
    assert [tab.label for tab in app.tabs if "evil.example" in tab.label] == []


def test_an_experiment_that_is_not_there_is_said_so(visit: Visit) -> None:
    app = visit("ablate", experiment="ffffffffffff")
    assert "no experiment with the id" in app.error[0].value


def test_the_page_speaks_chinese(visit: Visit, data: Path) -> None:
    finished(data)
    app = visit("ablate", experiment=ID, lang="zh")
    assert texts(app, "markdown").count("▼ 有效应") == 2
    assert "基线在所有种子下都相同" in texts(app, "text")


def test_a_folder_that_is_spoilt_is_told_and_breaks_no_list(visit: Visit, data: Path) -> None:
    finished(data)
    st.cache_resource.clear()
    (data / "experiments" / ID / "runs.jsonl").write_text("{]\n", encoding="utf-8")
    app = visit("ablate", experiment=ID)
    assert "runs.jsonl, line 1" in texts(app, "text")
    assert experiments.listing() == []


# ---- buttons ----


def test_a_moving_experiment_can_be_paused_continued_and_cancelled(visit: Visit, data: Path) -> None:
    kept(data, DESIGN.replace("repeats: 8", "repeats: 4000"))
    app = press(visit("ablate", experiment=ID), "ablate-continue")
    assert {"ablate-pause", "ablate-cancel"} <= keys(app)
    press(app, "ablate-pause")
    assert {"ablate-continue", "ablate-cancel"} <= keys(app)
    session = experiments.find(ID)
    assert session is not None
    assert session.progress.state == "paused"
    press(app, "ablate-continue")
    assert session.progress.state == "running"
    press(app, "ablate-cancel")
    app = settled(app)
    assert session.progress.state == "cancelled"
    assert "Cut short" in texts(app, "markdown")
    assert "ablate-continue" in keys(app)


def test_a_pause_is_followed_until_the_runs_under_way_rest(data: Path) -> None:
    session = kept(data, DESIGN.replace("repeats: 8", "repeats: 4000"))
    session.start()
    session.pause()
    deadline = time.monotonic() + 10
    while moves(session.progress) and time.monotonic() < deadline:
        time.sleep(0.01)
    now = session.progress
    assert (now.state, moves(now)) == ("paused", False)
    session.resume()
    assert moves(session.progress)
    session.cancel()
    assert session.wait(30)
    assert not moves(session.progress)


def test_failed_runs_are_made_again_when_the_server_is_back(visit: Visit, data: Path, provider: Provider) -> None:
    provider.refuse = "no-key"
    finished(data, LIVE % provider.url)
    app = visit("ablate", experiment=ID)
    assert "errors: 4" in texts(app, "text")
    assert "✖ 4 × " in texts(app, "text")
    provider.refuse = ""
    app = settled(press(app, "ablate-retry"))
    assert "errors: 0" in texts(app, "text")
    assert "ablate-retry" not in keys(app)


def test_a_typed_key_is_used_and_kept_nowhere(visit: Visit, data: Path, provider: Provider) -> None:
    kept(data, LIVE % provider.url)
    app = visit("ablate", experiment=ID)
    app.text_input(key=key_field(provider.url)).input("sk-secret-9")
    settled(press(app, "ablate-continue"))
    assert set(provider.keys) == {"sk-secret-9"}
    files = [path for path in data.rglob("*") if path.is_file()]
    assert [path for path in files if b"sk-secret-9" in path.read_bytes()] == []


def test_a_copy_begins_a_new_design_with_as_many_repeats_as_are_needed(visit: Visit, data: Path) -> None:
    chancy(finished(data, DESIGN.replace("drop_pairs", "no_step_limit")))
    app = press(visit("ablate", experiment=ID), "ablate-more")
    assert "experiment" not in app.query_params
    needed = app.number_input(key="ablate-repeats").value
    assert needed > 8


def test_more_repeats_are_not_offered_where_all_are_the_same(visit: Visit, data: Path) -> None:
    finished(data, DESIGN.replace("drop_pairs", "no_step_limit"))
    assert "ablate-more" not in keys(visit("ablate", experiment=ID))


# ---- runs ----


def test_the_table_of_runs_is_narrowed(visit: Visit, data: Path) -> None:
    finished(data)
    app = visit("ablate", experiment=ID)
    app.multiselect(key="ablate-conditions").select("blank_results").run()
    table = next(each.value for each in app.dataframe if "repeat" in each.value)
    assert table["condition"].unique().tolist() == ["Tool results: blanked"]
    assert "8 of 24 runs" in texts(app, "caption")


def test_runs_of_experiments_are_hidden_in_the_list_of_traces_until_they_are_wanted(visit: Visit, data: Path) -> None:
    session = finished(data)
    app = visit("traces")
    before = len(app.dataframe[0].value)
    assert "24 runs of experiments are hidden" in texts(app, "caption")
    app.toggle(key="library-experiments").set_value(True).run()
    assert len(app.dataframe[0].value) == before + 24
    opened = visit("traces", trace=session.rows[0].trace_id)
    del opened.query_params["trace"]
    opened.run()
    assert len(opened.dataframe[0].value) == before + 1
    assert "23 runs of experiments are hidden" in texts(opened, "caption")


# ---- the registry ----


def test_an_experiment_outlives_the_server(data: Path) -> None:
    id = experiments.start(parse_design(DESIGN, "design.yaml"), data, {})
    session = experiments.find(id)
    assert session is not None
    assert session.wait(60)
    st.cache_resource.clear()
    again = experiments.find(id)
    assert again is not session
    assert again is not None
    assert again.rows == session.rows


def test_the_report_is_written_when_an_experiment_is_over(data: Path) -> None:
    id = experiments.start(parse_design(DESIGN, "design.yaml"), data, {})
    folder = data / "experiments" / id
    deadline = time.monotonic() + 30
    while not (folder / "report.html").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert {"runs.csv", "summary.json", "test_finding.py", "report.html"} <= {path.name for path in folder.iterdir()}


def test_deleting_takes_all_of_it_and_can_be_undone(data: Path) -> None:
    session = finished(data)
    deleted = experiments.delete(ID)
    assert experiments.find(ID) is None
    assert experiments.listing() == []
    experiments.restore(deleted)
    again = experiments.find(ID)
    assert again is not None
    assert again.rows == session.rows
    assert len(list(again.folder.traces.glob("*.json"))) == 24


def test_what_still_runs_is_not_deleted(data: Path) -> None:
    id = experiments.start(parse_design(DESIGN.replace("repeats: 8", "repeats: 4000"), "design.yaml"), data, {})
    session = experiments.find(id)
    assert session is not None
    with pytest.raises(InputError, match="cancel it first"):
        experiments.delete(id)
    session.cancel()
    assert session.wait(30)
    experiments.delete(id)
    assert not (data / "experiments" / id).exists()


def test_a_server_that_others_can_reach_lists_only_what_was_opened(visit: Visit, data: Path) -> None:
    finished(data)
    config.set_option("server.address", "0.0.0.0")
    try:
        app = visit("ablate")
        assert [each for each in app.dataframe if "state" in each.value] == []
        app = visit("ablate", experiment=ID)
        press(app, "ablate-back")
        assert len(app.dataframe[0].value) == 1
        app.switch_page("pages/traces.py").run()
        app.toggle(key="library-experiments").set_value(True).run()
        assert sum(app.dataframe[0].value["title"].str.contains("baseline")) == 8
        stranger = visit("traces")
        assert "hidden" not in texts(stranger, "caption")
    finally:
        config.set_option("server.address", "127.0.0.1")


@pytest.mark.parametrize("id", ["..", "../..", "0123456789AB", "", "0123456789abc"])
def test_only_an_id_names_an_experiment(data: Path, id: str) -> None:
    assert experiments.find(id) is None


def test_everything_is_packed_into_one_folder(data: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(zipped(finished(data).folder, "en"))) as archive:
        names = archive.namelist()
    assert {f"experiment-{ID}/{name}" for name in ("design.yaml", "runs.jsonl", "runs.csv", "report.html")} <= set(
        names
    )
    assert sum(f"experiment-{ID}/traces/" in name for name in names) == 24


def test_what_another_process_ran_meanwhile_is_seen(data: Path) -> None:
    session = kept(data)
    before = experiments.find(ID)
    assert before is not None
    assert [line.state for line in experiments.listing()] == ["ready"]
    session.start()
    assert session.wait(60)
    after = experiments.find(ID)
    assert after is not None
    assert after.rows == session.rows
    assert [(line.state, line.done) for line in experiments.listing()] == [("done", 24)]


# ---- exercises ----


@pytest.mark.parametrize("exercise", exercises(), ids=lambda each: each.name)
def test_an_exercise_is_known_by_its_design(exercise: Exercise) -> None:
    assert exercise_of(read_design(exercise.design)) is exercise


def test_the_solution_comes_after_the_learners_own_answer(visit: Visit, data: Path) -> None:
    exercise = next(each for each in exercises() if each.name == "what_results_do")
    experiment = read_design(exercise.design)
    session = Session(create(data / "experiments" / ID, experiment, exercise.design.parent))
    session.start()
    assert session.wait(60)
    app = visit("ablate", experiment=ID)
    assert exercise.question in texts(app, "text")
    toggle = f"ablate-solution-{ID}"
    assert app.toggle(key=toggle).disabled
    app.text_area(key=f"ablate-answer-{ID}").input("It loops when the call is gone too.").run()
    assert exercise.solution not in texts(app, "text")
    app.toggle(key=toggle).set_value(True).run()
    assert exercise.solution in texts(app, "text")
