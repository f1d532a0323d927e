"""One experiment: what it is, how far it is, what can be done with it, and what it found."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.errors import AgentError
from pages.parts import address, address_ablate, experiments
from pages.parts.ablate_copy import copy_design
from pages.parts.ablate_design_model import key_fields, kind_words, typed_keys
from pages.parts.ablate_design_runs import workers
from pages.parts.ablate_design_subject import mode_words
from pages.parts.ablate_downloads import downloads
from pages.parts.ablate_exercise import exercise_panel
from pages.parts.ablate_progress import progress_panel
from pages.parts.ablate_results import results, running_note
from pages.parts.ablate_words import outcome_name
from pages.parts.tabs import tabs
from pages.parts.words import t
from traces.experiments.design.experiment import Experiment
from traces.experiments.running.progress import Progress
from traces.experiments.running.session import Session

MOST_NAMES = 6
"""Subjects that are named; of more, only how many there are."""
_STOPPED = ("ready", "cancelled", "failed")
"""The states in which it does not move by itself and was not finished."""


def experiment_view(id: str) -> None:
    """Draw the experiment of this id.

    Raises:
        InputError: its folder cannot be read.
    """
    st.button(
        t("All experiments"), icon=":material/arrow_back:", key="ablate-back", type="tertiary",
        on_click=address_ablate.show_list,
    )  # fmt: skip
    session = experiments.find(id)
    if session is None:
        st.error(t("There is no experiment with the id in the address. It may have been moved or deleted."))
        return
    tabs().show(id)
    drawn = session.progress
    over = drawn.state in ("done", "cancelled")
    with st.container(key="ablate-title"):  # the style sheet makes it large; it is anybody's text, so no Markdown
        st.text(session.experiment.title or id)
    _facts(session.experiment)
    _buttons(id, session, drawn, over=over)
    progress_panel(session, drawn)
    exercise_panel(id, session.experiment, over=over)
    if drawn.state == "running":
        running_note()
    else:
        results(id, session.experiment, session.rows, over=over, complete=drawn.done >= drawn.total)


def _facts(experiment: Experiment) -> None:
    """What is run, in a few lines."""
    subjects = t(", ").join(each.name for each in experiment.subjects[:MOST_NAMES])
    more = f" … ({len(experiment.subjects)})" if len(experiment.subjects) > MOST_NAMES else ""
    models = t(", ").join(each.name for each in experiment.models)
    parts = [
        t("{thing}: {what}", thing=t("Subject"), what=f"{subjects}{more}"),
        t("{thing}: {what}", thing=t("Model"), what=models),
        t("repeats: {n}", n=experiment.repeats),
        t("{thing}: {what}", thing=t("Seed"), what=experiment.seed),
        outcome_name(experiment.outcome),
    ]
    st.text(" · ".join(parts))
    for kind in dict.fromkeys(each.kind for each in experiment.models):
        st.caption(kind_words(kind))
    for mode in dict.fromkeys(each.mode for each in experiment.subjects if each.trace):
        st.caption(mode_words(mode))


def _buttons(id: str, session: Session, drawn: Progress, *, over: bool) -> None:
    """What can be done with it as it stands. Each press is carried out on the experiment as it is then."""
    goes_on = drawn.state in _STOPPED and drawn.done < drawn.total
    mends = drawn.state in (*_STOPPED, "done") and drawn.errors > 0
    if goes_on or mends:
        key_fields(session.experiment.models)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ablate-buttons"):
        if drawn.state == "running":
            _button("pause", t("Pause"), "pause", _act, id, Session.pause)
        if drawn.state == "paused":
            _button("continue", t("Continue"), "play_arrow", _act, id, Session.resume)
        if drawn.state in ("running", "paused"):
            _button("cancel", t("Cancel"), "stop", _act, id, Session.cancel)
        if goes_on:
            _button("continue", t("Continue"), "play_arrow", _go_on, id, False)
        if mends:
            _button("retry", t("Run the failed ones again: {n}", n=drawn.errors), "replay", _go_on, id, True)
        _button("copy", t("Copy to a new design"), "content_copy", copy_design, id)
        if over:
            downloads(session.folder)


def _button(key: str, label: str, icon: str, act: Callable[..., None], *args: object) -> None:
    st.button(label, icon=f":material/{icon}:", key=f"ablate-{key}", on_click=act, args=args)


def _act(id: str, act: Callable[[Session], None]) -> None:
    if (session := experiments.find(id)) is not None:
        act(session)
        tabs().wake_others(id)


def _go_on(id: str, retry_errors: bool) -> None:
    try:
        session = experiments.find(id)
        if session is not None:
            experiments.go_on(id, typed_keys(session.experiment.models), workers(), retry_errors=retry_errors)
            tabs().wake_others(id)
    except AgentError as error:
        address.tell(str(error))
