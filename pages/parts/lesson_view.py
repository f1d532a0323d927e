"""One lesson: its question, its run phase by phase with what to predict and to notice, and the task after it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.errors import AgentError
from pages.parts import address, address_learn
from pages.parts.chosen_script import lesson_scenario
from pages.parts.classes import note_where
from pages.parts.data import data_folder
from pages.parts.deciding import decide_panel
from pages.parts.follow_lead import note_look
from pages.parts.history import View, view_of
from pages.parts.keys import keys_panel
from pages.parts.learner import learner
from pages.parts.lesson_ask import lesson_panel
from pages.parts.lesson_end import ends_here, lesson_end
from pages.parts.lesson_guide import guide, narrow_guide
from pages.parts.lesson_moves import (
    in_address,
    lesson_controls,
    lesson_keys,
    lesson_setup,
    press,
    run_of_lesson,
    variant_of,
)
from pages.parts.lesson_progress import Progress, progress
from pages.parts.lesson_words import label, told
from pages.parts.message_table import message_table
from pages.parts.notices import notices
from pages.parts.opening import preview, problem
from pages.parts.run_tabs import run_tabs
from pages.parts.runs import OpenRun, registry
from pages.parts.setup import Setup, by_rules
from pages.parts.status import live, nothing_yet, status_box
from pages.parts.tabs import tabs
from pages.parts.transport import Drawn, buttons
from pages.parts.words import loop_words, t
from traces.lessons.answers import Answers
from traces.lessons.course import course
from traces.lessons.lesson import Lesson, Variant
from traces.lessons.questions import asks_of

_STATUS_PX = 330
"""Height of the status box: what was revealed, something to notice and a question with four answers fit."""


def lesson_view(name: str) -> None:
    """Draw the lesson of this name; one sentence where there is none.

    Args:
        name: of the lesson.
    """
    st.html(Path(__file__).with_name("learn.css"))
    lessons = course(data_folder())
    lesson = lessons.find(name)
    if lesson is None:
        notices()
        st.text(t("There is no lesson {name} here.", name=repr(name)))
        st.text("\n".join(loop_words(each) for each in lessons.problems))
        _back()
        return
    variant = lesson.variant(address_learn.variant())
    address_learn.show_place(lesson.name, in_address(lesson, variant))
    run = run_of_lesson(lesson)
    if run is not None and (played := variant_of(lesson, run)) is not variant:
        address_learn.name_variant(lesson.name, in_address(lesson, played))
        st.rerun()
    tabs().show(run.id if run is not None else None)
    note_where(lesson.name, run)
    drawn = Drawn.of(run) if run is not None else None
    view = view_of(run) if run is not None else None
    busy = drawn is not None and drawn.busy
    now = progress(lesson, variant, run, view.number if view is not None else 1, busy=busy)
    by_hand = by_rules(Setup(lesson_scenario(lesson.name, variant.name, address_learn.language())))
    guide(lesson, variant, now, by_hand=by_hand)
    _head(lessons.lessons.index(lesson) + 1, lesson, variant, run)
    narrow_guide(lesson, by_hand=by_hand, begun=run is not None)
    notices()
    if run is None or drawn is None or view is None:
        _before(lesson, variant, now)
        return
    _running(lesson, variant, run, drawn, view, now)
    if now.over and now.open is None:
        lesson_end(lesson, variant, run, lessons)
    goes_on = view.phase is not None
    selected = message_table(view.trace, key=f"messages-{run.id}", live=goes_on, added=view.added)
    note_look(run, view, selected)
    run_tabs(run, view, selected, live=goes_on, forks=False)


def _before(lesson: Lesson, variant: Variant, now: Progress) -> None:
    """The lesson before its first press."""
    try:
        setup = lesson_setup(lesson, variant)
        obstacle, messages = setup.problem(), preview(setup)
    except AgentError as error:
        st.error(t("This lesson cannot be played."))
        st.text(loop_words(str(error)))
        return
    if buttons(None, None, None, press, known=lesson_controls()):
        keys_panel(lesson_keys())
    box = status_box(_STATUS_PX)
    nothing_yet(box, obstacle, asking=now.open is not None)
    with box.panel:
        if any(registry().find(run) for run in address_learn.runs_elsewhere(lesson.name, in_address(lesson, variant))):
            st.caption(t("Your run of this lesson in the other language is kept: switch back to go on with it."))
        lesson_panel(lesson, variant, now)
    message_table(messages, key="preview", added=range(0))


def _running(lesson: Lesson, variant: Variant, run: OpenRun, drawn: Drawn, view: View, now: Progress) -> None:
    """The lesson with its run."""
    obstacle = problem(run, run.setup)
    if buttons(run, drawn, view, press, known=lesson_controls()):
        keys_panel(lesson_keys())
    box = status_box(_STATUS_PX, ends_left=True)
    live(run, drawn, view, box, obstacle, asking=now.open is not None)
    with box.panel:
        ended = now.over and not run.done and not view.past and now.open is None
        if ended:
            ends_here()
        lesson_panel(lesson, variant, now, steps=not drawn.waiting)
        if not ended and now.open is None:
            decide_panel(run, drawn, view, ready=obstacle is None and not run.asleep)


def _head(number: int, lesson: Lesson, variant: Variant, run: OpenRun | None) -> None:
    """The way back, the title, the score, the variants, and the way to the Run page, from the beginning on."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson-head"):
        _back()
        st.subheader(f"{number}. {label(told(lesson.title))}", anchor=False, width="content")
        if lesson.asks:
            st.markdown(_score(lesson, variant), width="content")
        if len(lesson.variants) > 1:
            _variants(lesson, variant)
        st.page_link(
            "pages/run.py",
            label=t("Open on the Run page"),
            icon=":material/play_circle:",
            query_params=None if run is None else address_learn.run_link(run.id),
            disabled=run is None,
        )


def _score(lesson: Lesson, variant: Variant) -> str:
    """A badge: how many questions this variant asks, or how the learner stands in those of the lesson."""
    score = Answers(data_folder()).scores(learner().id).get(lesson.name)
    if score is None or not score.answered:
        return f":gray-badge[:material/how_to_vote: {t('Questions: {n}', n=len(asks_of(lesson, variant)))}]"
    words = t("{right} of {answered} right", right=score.right, answered=score.answered)
    return f":violet-badge[:material/how_to_vote: {words}]"


def _back() -> None:
    st.button(
        t("The course"),
        key="lesson-back",
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=address_learn.close,
    )


def _variants(lesson: Lesson, variant: Variant) -> None:
    titles = {each.name: told(each.title) for each in lesson.variants}
    key = f"lesson-variant-{lesson.name}"

    def chosen() -> None:
        name = address.setting(key) or variant.name
        address_learn.open_lesson(lesson.name, in_address(lesson, lesson.variant(str(name))))

    address.put(key, variant.name)
    word, names = t("Variant"), list(titles)
    if len(titles) <= _MOST_BESIDE:
        st.segmented_control(
            word,
            names,
            format_func=lambda name: label(titles[name]),
            key=key,
            label_visibility="collapsed",
            required=True,
            on_change=chosen,
        )
    else:  # a list takes its words as they are
        st.selectbox(
            word,
            names,
            format_func=titles.__getitem__,
            key=key,
            label_visibility="collapsed",
            width=260,
            on_change=chosen,
        )


_MOST_BESIDE = 4
"""Variants up to which all are seen beside each other."""
