"""One design: what is to be tried, as a form and as a text, what it will take, and the button that starts it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.errors import AgentError
from agent.scripts.problems import Problem
from pages.parts import address, address_ablate, experiments
from pages.parts.ablate_conditions import conditions_part
from pages.parts.ablate_design_draft import Draft, base, find, mark_started, may_read, set_fields, take_typed, text_now
from pages.parts.ablate_design_model import key_fields, model_part, typed_keys
from pages.parts.ablate_design_parts import field
from pages.parts.ablate_design_runs import estimate_lines, estimate_of, runs_part, workers
from pages.parts.ablate_design_subject import subject_form
from pages.parts.ablate_design_text import mistakes_line, problems_of, text_part
from pages.parts.ablate_preview import preview_part
from pages.parts.words import t


def design_bench(design: str) -> None:
    """Draw the design of this id, which may not be here any more."""
    take_typed(design)
    draft = find(design)
    if draft is None:
        _back()
        st.warning(t("This design is not here any more. Designs that were not started are lost with the server."))
        return
    problems = problems_of(draft)
    with st.container(key="ablate-bench"):  # the style sheet knows it by this key
        _head(design, draft)
        try:
            may_read(draft.experiment)
        except AgentError as error:
            st.warning(t("This cannot be opened."))
            st.text(str(error))  # it quotes a design, which may be anybody's
            text_part(design, draft, problems)
            return
        _start_line(design, draft, problems)
        key_fields(draft.experiment.models)
        form, text = st.tabs([t("Form"), address_ablate.TEXT_TAB], key=address_ablate.TABS, on_change="rerun")
        if form.open:
            with form:
                _form(design, draft)
        if text.open:
            with text:
                text_part(design, draft, problems)


def _back() -> None:
    st.button(t("All experiments"), icon=":material/arrow_back:", key="ablate-all", on_click=address_ablate.show_list)


def _head(design: str, draft: Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ablate-head"):
        _back()
        st.text_input(
            t("Title of the experiment"),
            max_chars=200,
            label_visibility="collapsed",
            placeholder=t("Title of the experiment"),
            width=420,
            **field("ablate-title", draft.experiment.title, lambda title: set_fields(design, title=title.strip())),
        )
        st.download_button(
            t("Download"),
            data=lambda: text_now(design).encode("utf-8", "replace"),
            file_name="design.yaml",
            mime="text/plain",
            icon=":material/download:",
            on_click="ignore",
            key="ablate-download",
        )


def _start_line(design: str, draft: Draft, problems: Sequence[Problem]) -> None:
    """The button that starts it, and beside it what that will take, or what is wrong."""
    found = "" if problems else estimate_of(draft.text, draft.experiment)
    models = draft.experiment.models
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ablate-actions"):
        st.button(
            t("Start the experiment"),
            icon=":material/play_arrow:",
            type="primary",
            key="ablate-start",
            disabled=isinstance(found, str),
            on_click=_start,
            args=(design,),
        )
        if problems and draft.readable and any(each.kind == "live" and not each.model for each in models):
            st.text(t("Name the live model."), width="content")  # said of the field, and not of a line of the text
        elif problems:
            mistakes_line(problems)
        elif isinstance(found, str):
            st.text(found, width="content")
        else:
            estimate_lines(found)


def _form(design: str, draft: Draft) -> None:
    """The form, top to bottom, on one screen where there is room."""
    experiment = draft.experiment
    if not draft.readable:
        st.caption(t("The form shows the last design that could be read. A change in it replaces the text."))
    left, right = st.columns(2, gap="small")
    with left:
        with _part("ablate-subject"):
            subject_form(design, experiment)
        with _part("ablate-model"):
            model_part(design, experiment)
        with _part("ablate-taken"):
            at = conditions_part(design, experiment)
    with right:
        with _part("ablate-preview"):
            preview_part(design, experiment, at)
        with _part("ablate-runs"):
            runs_part(design, experiment)


def _part(key: str) -> DeltaGenerator:
    return st.container(border=True, gap="xsmall", key=key)


def _start(design: str) -> None:
    """Run the design as it stands, and show that from now on. A second press finds it running."""
    take_typed(design)
    draft = find(design)
    if draft is None or problems_of(draft):  # typed a moment ago, beside a button that was drawn before
        return
    if draft.started is not None and experiments.is_kept(draft.started):
        address_ablate.open_experiment(draft.started)
        return
    try:
        may_read(draft.experiment)
        id = experiments.start(draft.experiment, base(), typed_keys(draft.experiment.models), workers())
    except (AgentError, OSError) as error:
        address.tell(str(error))
        return
    mark_started(design, id)
    address_ablate.open_experiment(id)
