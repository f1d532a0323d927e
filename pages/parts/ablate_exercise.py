"""The exercise that an experiment belongs to: its question, the learner's own answer, and only then the solution."""

from __future__ import annotations

from functools import cache

import streamlit as st

from pages.parts import address
from pages.parts.words import t
from traces.experiments.design.experiment import Experiment
from traces.experiments.design.file import read_design
from traces.experiments.exercise import Exercise, exercises

_HEIGHT_PX = 68
"""The least that a field of several lines may have: the verdicts, which the answer comes from, begin in sight."""


def exercise_panel(id: str, experiment: Experiment, *, over: bool) -> None:
    """Draw the exercise; nothing where the experiment is none.

    Args:
        id: of the experiment.
        experiment: its design.
        over: whether the results are there, which the answer is to come from.
    """
    exercise = exercise_of(experiment)
    if exercise is None:
        return
    chinese = address.language() == "zh"
    with st.container(border=True, gap="xsmall", key="ablate-exercise"):
        st.markdown(f":violet-badge[✎ {t('Exercise')}]")
        st.text(exercise.question_zh if chinese else exercise.question)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            answer = st.text_area(
                t("Your answer"),
                key=f"ablate-answer-{id}",
                height=_HEIGHT_PX,
                placeholder=t("Write down what you found before you look at the solution."),
                label_visibility="collapsed",
                persist_state="session",
            )
            ready = over and bool((answer or "").strip())
            shown = st.toggle(
                t("Show the solution"),
                key=f"ablate-solution-{id}",
                disabled=not ready,
                help=None if ready else t("When the experiment is over and your answer is written."),
                persist_state="session",
            )
        if shown and ready:
            st.text(exercise.solution_zh if chinese else exercise.solution)


def exercise_of(experiment: Experiment) -> Exercise | None:
    """The exercise whose tasks and conditions these are, whatever the number of repeats; None: it is none."""
    for exercise in exercises():
        design = _design(exercise)
        same = [each.name for each in design.subjects] == [each.name for each in experiment.subjects]
        if same and design.conditions == experiment.conditions:
            return exercise
    return None


@cache
def _design(exercise: Exercise) -> Experiment:
    return read_design(exercise.design)
