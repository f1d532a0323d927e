"""The end of a lesson: what its run showed, the task after it, the one sentence to keep, and where to go from here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from agent.errors import AgentError
from pages.parts import address, address_ablate, address_learn, address_notebook
from pages.parts.ablate_design_begin import exercise_design
from pages.parts.chosen_script import lesson_of
from pages.parts.data import data_folder
from pages.parts.learner import learner
from pages.parts.learning_note import learning_note
from pages.parts.leaving import leave
from pages.parts.lesson_claims import Claim, by_hand, claims
from pages.parts.lesson_moves import NEXT
from pages.parts.lesson_words import label, told
from pages.parts.runs import OpenRun
from pages.parts.words import loop_words, t
from traces.annotations import MAX_TEXT
from traces.experiments.exercise import exercises as ablations
from traces.lessons.answers import Answers
from traces.lessons.course import Course
from traces.lessons.exercises.catalogue import catalogue
from traces.lessons.lesson import Lesson, Variant

_TASK_PX = 90


def lesson_end(lesson: Lesson, variant: Variant, run: OpenRun, lessons: Course) -> None:
    """Draw the end, and note that the learner has come to it.

    Args:
        lesson: the lesson.
        variant: of which the run is.
        run: it rests where the lesson ends.
        lessons: the course.
    """
    _note_end(lesson)
    with st.container(border=True, key="lesson-end", gap="small"):
        left, right = st.columns(2, gap="large")
        with left.container(gap="xsmall"):
            _shown(lesson, variant, run)
        with right.container(gap="xsmall"):
            _task(lesson)
        _ways_on(lesson, run, lessons)
        with st.expander(t("A note to keep"), icon=":material/edit_note:", type="compact", key="lesson-note"):
            learning_note(lesson, run.trace())


def ends_here() -> None:
    """Say in the status that the run rests on purpose."""
    st.markdown(f":blue-badge[:material/flag: {t('The lesson ends here, on purpose')}]")
    st.text(t("What comes next in this run is no part of it. What it showed stands below."))


def _shown(lesson: Lesson, variant: Variant, run: OpenRun) -> None:
    named = lesson_of(run.setup.scenario)
    told_in = address_learn.language() if named is None else named[2]
    found = claims(lesson, variant, run, told_in)
    if found:
        st.markdown(f"**{t('What your run showed')}**")
        for claim in found:
            with st.container(horizontal=True, wrap=False, gap="small"):
                st.markdown(_claim_badge(claim), width="content")
                st.text(told(claim.shown.text), width="stretch")
        if any(claim.holds is False for claim in found) and (how := by_hand(lesson, variant, told_in)):
            st.text(how)
    first = lesson.variants[0].name
    if any((shown.variant or first) != variant.name for shown in lesson.shows):
        st.caption(t("Other variants show more: choose one above."))
    if lesson.takeaway is not None:
        st.markdown(f"**{t('To keep')}**")
        st.text(told(lesson.takeaway))


def _claim_badge(claim: Claim) -> str:
    if claim.holds is None:
        return f":gray-badge[• {t('not checked')}]"
    return f":green-badge[✓ {t('shown')}]" if claim.holds else f":orange-badge[– {t('not in this run')}]"


def _task(lesson: Lesson) -> None:
    if lesson.task is None:
        return
    st.markdown(f"**{t('Your task')}**")
    st.text(told(lesson.task))
    answers, who = Answers(data_folder()), learner()
    words, looks = f"lesson-words-{who.id}-{lesson.name}", f"lesson-answer-{lesson.name}"
    if address.setting(words) is None:
        address.put(words, answers.task(who.id, lesson.name).words)

    def write() -> None:
        _keep(lambda: answers.write_task(who.id, lesson.name, str(address.setting(words, ""))))

    def look() -> None:
        if address.setting(looks):
            _keep(lambda: answers.look_at_task(who.id, lesson.name))

    st.text_area(
        t("Your answer"),
        key=words,
        height=_TASK_PX,
        max_chars=MAX_TEXT,
        placeholder=t("In your own words, before you look at the answer."),
        label_visibility="collapsed",
        persist_state="session",
        on_change=write,
    )
    if lesson.answer is not None and st.toggle(
        t("Show the answer"), key=looks, persist_state="session", on_change=look
    ):
        st.text(told(lesson.answer))


def _keep(write: Callable[[], None]) -> None:
    try:
        write()
    except AgentError as error:
        address.tell(loop_words(str(error)))


def _ways_on(lesson: Lesson, run: OpenRun, lessons: Course) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson-on"):
        if (following := _after(lesson, lessons)) is not None:
            st.button(
                t("Next: {title}", title=label(told(following.title))),
                key="lesson-next",
                icon=":material/arrow_forward:",
                type="primary",
                shortcut=NEXT,
                on_click=address_learn.open_lesson,
                args=(following.name,),
            )
        else:
            st.button(
                t("Back to the course"),
                key="lesson-next",
                icon=":material/school:",
                type="primary",
                shortcut=NEXT,
                on_click=address_learn.close,
            )
        exercise = next((each for each in catalogue() if each.name == lesson.exercise), None)
        if exercise is not None:
            st.button(
                t("Exercise: {title}", title=label(told(exercise.title))),
                key="lesson-exercise",
                icon=":material/fitness_center:",
                on_click=address_learn.open_exercise,
                args=(exercise.name,),
            )
        _ablation(lesson)
        # a link is lost where the same press leaves the field of the task, which draws the page anew; a button is not
        if st.button(t("Notebook"), key="lesson-notebook", icon=":material/book_2:", type="tertiary"):
            leave(address_learn.PAGE, address_notebook.PAGE, address_notebook.link(run.id, lesson.name))


def _after(lesson: Lesson, lessons: Course) -> Lesson | None:
    names = [each.name for each in lessons.lessons]
    at = names.index(lesson.name) + 1
    return lessons.lessons[at] if at < len(names) else None


def _ablation(lesson: Lesson) -> None:
    """The way to the experiment in the laboratory that belongs to the lesson."""
    ablation = next((each for each in ablations() if each.name == lesson.ablation), None)
    if ablation is None:
        return
    title = ablation.title_zh if address_learn.language() == "zh" else ablation.title
    if st.button(t("In the laboratory: {title}", title=label(title)), key="lesson-ablation", icon=":material/science:"):
        try:
            design = exercise_design(ablation.name)
        except AgentError as error:
            address.tell(loop_words(str(error)))
            st.rerun()
        leave(address_learn.PAGE, address_ablate.PAGE, address_ablate.link(design=design))


def _note_end(lesson: Lesson) -> None:
    who = learner()
    if address_learn.settle((who.id, lesson.name)):
        with suppress(AgentError):  # a file that cannot be written is told where an answer is given
            Answers(data_folder()).finish(who.id, lesson.name, klass=who.klass)
