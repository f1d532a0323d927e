"""One exercise of the course: what there is to do, the work, what the check says of it, hints, and then the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import (
    address_learn,
    exercise_fields,
    exercise_order,
    exercise_react,
    exercise_repair,
    exercise_rule,
    exercise_state,
    exercise_tool,
)
from pages.parts.data import data_folder
from pages.parts.exercise_remarks import Standing
from pages.parts.learner import learner
from pages.parts.lesson_words import label, told
from pages.parts.words import t
from traces.lessons.answers import Answers
from traces.lessons.exercises.catalogue import catalogue, find
from traces.lessons.exercises.exercise import Exercise


@dataclass(frozen=True, slots=True)
class _Part:
    """How one exercise is drawn."""

    work: Callable[[DeltaGenerator], Standing]
    """Draws the work, some of it perhaps in the column beside it, and gives how it stands."""
    remarks: Callable[[Standing], None]
    """Draws what the check says."""
    answer: Callable[[], None]
    """Draws the answer."""
    reset: Callable[[], None] = lambda: None
    """Forgets what is kept elsewhere than in fields."""


_PARTS = {
    part.NAME: _Part(part.work, part.remarks, part.answer)
    for part in (exercise_order, exercise_repair, exercise_react, exercise_fields)
} | {part.NAME: _Part(part.work, part.remarks, part.answer, part.reset) for part in (exercise_rule, exercise_tool)}


def exercise_view(name: str) -> None:
    """Draw the exercise of this name; one sentence where there is none.

    Args:
        name: of the exercise, as :func:`traces.lessons.exercises.catalogue.catalogue` lists it.
    """
    exercise = find(name)
    if exercise is None:
        st.text(t("There is no exercise {name} here.", name=repr(name)))
        _back()
        return
    st.html(Path(__file__).with_name("exercises.css"))
    part, who, answers = _PARTS[name], learner(), Answers(data_folder())
    solved = _mark(name) in answers.finished(who.id)
    with st.container(key="exercise"):
        head = st.container(horizontal=True, vertical_alignment="center", key="exercise-head")
        st.text(told(exercise.task))
        with st.container(key="exercise-bench"):
            left, right = st.columns([8, 5], gap="medium")
            with left:
                standing = part.work(right)
            if standing.solved and not solved:
                answers.finish(who.id, _mark(name), klass=who.klass)
                solved = True
            with right:
                part.remarks(standing)
                if standing.solved:
                    st.success(t("Solved. Well done."), icon=":material/check_circle:")
                    _next(exercise, answers.finished(who.id))
                _hints(exercise)
                _answer(exercise, part)
        with head:
            _head(exercise, part, solved=solved)


def _mark(name: str) -> str:
    """Under which name the kept answers know that an exercise is solved."""
    return f"exercise:{name}"


def _head(exercise: Exercise, part: _Part, *, solved: bool) -> None:
    _back()
    st.subheader(label(told(exercise.title)), anchor=False, width="content")
    if solved:
        st.markdown(f":green-badge[✔ {t('solved')}]", width="content")
    if exercise_state.progress(exercise.name).answer:
        st.markdown(f":orange-badge[◉ {t('answer shown')}]", width="content")
    st.button(
        t("Begin again"),
        key="exercise-again",
        icon=":material/restart_alt:",
        type="tertiary",
        on_click=_begin_again,
        args=(exercise.name, part),
    )


def _back() -> None:
    st.button(
        t("The course"),
        key="exercise-back",
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=address_learn.close,
    )


def _next(exercise: Exercise, done: frozenset[str]) -> None:
    """The way to the next exercise that is not solved; where all are, the way to the course stands above."""
    names = [each.name for each in catalogue()]
    at = names.index(exercise.name)
    following = next((each for each in (*catalogue()[at:], *catalogue()[:at]) if _mark(each.name) not in done), None)
    if following is not None:
        st.button(
            t("Next exercise: {title}", title=label(told(following.title))),
            key="exercise-next",
            icon=":material/arrow_forward:",
            on_click=address_learn.open_exercise,
            args=(following.name,),
        )


def _begin_again(name: str, part: _Part) -> None:
    part.reset()
    exercise_state.begin_again(name)


def _hints(exercise: Exercise) -> None:
    """The hints that were asked for, and the button for one more."""
    shown, all_ = exercise_state.progress(exercise.name).hints, len(exercise.hints)
    if shown:
        with st.container(border=True, gap="xsmall", key="exercise-hints"):
            for number, hint in enumerate(exercise.hints[:shown], 1):
                st.text(t("Hint {n}: {what}", n=number, what=told(hint)))
    if shown < all_:
        st.button(
            t("A hint ({n} of {all})", n=shown + 1, all=all_),
            key="exercise-hint",
            icon=":material/lightbulb:",
            on_click=exercise_state.change,
            args=(exercise.name,),
            kwargs={"hints": shown + 1},
        )


def _answer(exercise: Exercise, part: _Part) -> None:
    """The answer, after the last hint and when it is asked for."""
    now = exercise_state.progress(exercise.name)
    if now.answer:
        with st.container(border=True, gap="xsmall", key="exercise-answer"):
            st.markdown(f":orange-badge[◉ {t('Answer')}]")
            part.answer()
    elif now.hints >= len(exercise.hints):
        st.button(
            t("Show the answer"),
            key="exercise-show",
            icon=":material/visibility:",
            on_click=exercise_state.change,
            args=(exercise.name,),
            kwargs={"answer": True},
        )
