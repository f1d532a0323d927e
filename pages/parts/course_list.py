"""The course as a whole: its lessons, its exercises, and how far the learner is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from pages.parts import address_learn
from pages.parts.data import data_folder
from pages.parts.learner import learner
from pages.parts.lesson_moves import NEXT
from pages.parts.lesson_words import label, system_words, told
from pages.parts.words import loop_words, t
from traces.lessons.answers import Answers, Score
from traces.lessons.course import FOLDER, course
from traces.lessons.exercises.catalogue import catalogue
from traces.lessons.lesson import Lesson

_Numbered = tuple[int, Lesson]


def course_list() -> None:
    """Draw the course."""
    st.html(Path(__file__).with_name("learn.css"))
    found, answers, who = course(data_folder()), Answers(data_folder()), learner()
    done, scores = answers.finished(who.id), answers.scores(who.id)
    _head(found.lessons, done)
    numbered = list(enumerate(found.lessons, start=1))
    for words, lessons in _groups(numbered).items():
        st.markdown(f"#### {label(words)}")
        with st.container(gap="xxsmall"):
            for number, lesson in lessons:
                _lesson(number, lesson, lesson.name in done, scores.get(lesson.name))
    _problems(found.problems)
    _exercises(done)


def _head(lessons: tuple[Lesson, ...], done: frozenset[str]) -> None:
    st.subheader(t("Learn how an agent works"), anchor=False)
    st.text(
        t("Short lessons, each a run that you move phase by phase: guess what comes, press a key, see if it is so.")
    )
    at = next((number for number, lesson in enumerate(lessons) if lesson.name not in done), None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="course-begin"):
        if lessons:
            begin = lessons[at or 0]
            begun = any(lesson.name in done for lesson in lessons)
            words = t("Go on with lesson {n}", n=(at or 0) + 1) if begun else t("Begin")
            st.button(
                words if at is not None else t("Begin once more"),
                key="course-next",
                icon=":material/play_arrow:",
                type="primary",
                shortcut=NEXT,
                on_click=address_learn.open_lesson,
                args=(begin.name,),
            )
            st.text(told(begin.title), width="content")
        count = sum(lesson.name in done for lesson in lessons)
        if count:
            st.markdown(f":green-badge[✓ {t('{n} of {all} done', n=count, all=len(lessons))}]", width="content")
        st.button(
            t("The five systems side by side"),
            key="course-systems",
            icon=":material/view_column:",
            type="tertiary",
            on_click=address_learn.open_systems,
        )
        st.page_link(
            "pages/classroom.py",
            label=t("For a class"),
            icon=":material/groups:",
            query_params=address_learn.course_link(),
        )


def _groups(lessons: list[_Numbered]) -> Mapping[str, list[_Numbered]]:
    """The lessons by their chapter, in the order of the course; a teacher's own ones last."""
    groups: dict[str, list[_Numbered]] = {}
    for number, lesson in lessons:
        words = told(lesson.chapter) or (t("Your own lessons") if lesson.own else t("More lessons"))
        groups.setdefault(words, []).append((number, lesson))
    return groups


def _lesson(number: int, lesson: Lesson, done: bool, score: Score | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"course-line-{lesson.name}"):
        st.button(
            f"{number}\\. {label(told(lesson.title))}",
            key=f"course-lesson-{lesson.name}",
            type="tertiary",
            on_click=address_learn.open_lesson,
            args=(lesson.name,),
        )
        st.text(told(lesson.question), width="stretch")
        st.markdown(f":gray-badge[{system_words(lesson.system)}]", width="content")
        if score is not None and score.answered:
            words = t("{right} of {answered} right", right=score.right, answered=score.answered)
            st.markdown(f":violet-badge[{words}]", width="content")
        if done:
            st.markdown(f":green-badge[✓ {t('done')}]", width="content")


def _problems(problems: tuple[str, ...]) -> None:
    if not problems:
        return
    with st.container(border=True):
        told_so = t("Lessons that cannot be taught yet: {n}", n=len(problems))
        st.markdown(f":orange-badge[:material/warning: {told_so}]")
        st.caption(t("These files stand in the folder {folder} of the data folder.", folder=FOLDER))
        st.text("\n".join(loop_words(problem) for problem in problems))


def _exercises(done: frozenset[str]) -> None:
    if not catalogue():
        return
    st.markdown(f"#### {t('Exercises')}")
    with st.container(gap="xxsmall"):
        for exercise in catalogue():
            with st.container(
                horizontal=True, vertical_alignment="center", gap="small", key=f"course-line-{exercise.name}"
            ):
                st.button(
                    label(told(exercise.title)),
                    key=f"course-exercise-{exercise.name}",
                    icon=":material/fitness_center:",
                    type="tertiary",
                    on_click=address_learn.open_exercise,
                    args=(exercise.name,),
                )
                st.text(told(exercise.summary), width="stretch")
                if f"exercise:{exercise.name}" in done:
                    st.markdown(f":green-badge[✓ {t('solved')}]", width="content")
