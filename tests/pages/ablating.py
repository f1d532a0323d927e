"""What the tests of the Ablate page share: designs, and what a person does with a design."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from pages.parts import ablate_design_draft as drafts
from traces.experiments.design.experiment import Experiment

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
