"""The guide of a lesson: its idea and its question, what was noticed and answered so far."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, address_learn
from pages.parts.lesson_ask import verdict_badge
from pages.parts.lesson_moves import forget
from pages.parts.lesson_progress import Progress
from pages.parts.lesson_words import ask_words, choice_words, told
from pages.parts.transport import hand_written
from pages.parts.words import t
from traces.lessons.lesson import Lesson, Variant
from traces.lessons.questions import asks_of


def guide(lesson: Lesson, variant: Variant, now: Progress, *, by_hand: bool) -> None:
    """Draw the guide in the side bar.

    Args:
        lesson: the lesson.
        variant: of which the run is.
        now: how far the learner is.
        by_hand: the model follows rules of the script.
    """
    with st.sidebar.container(key="lesson-guide", gap="xsmall"):
        _idea(lesson, by_hand=by_hand)
        if asks_of(lesson, variant):
            address.put(address_learn.ASKS, address_learn.asks())
            st.toggle(
                t("Ask me as I go"),
                key=address_learn.ASKS,
                help=t("Off: the run goes on without questions."),
                on_change=address_learn.choose_asks,
            )
        _answered(lesson, variant, now)
        _noticed(now)


def narrow_guide(lesson: Lesson, *, by_hand: bool, begun: bool) -> None:
    """Draw idea and question once more above the run. The style sheet shows this only where the side bar is folded.

    Args:
        lesson: the lesson.
        by_hand: the model follows rules of the script.
        begun: the run has begun, so the room is needed for what it does.
    """
    with st.container(key="lesson-guide-narrow", gap="xsmall"):
        if not begun:
            _idea(lesson, by_hand=by_hand)
            return
        with st.expander(t("The idea and the question"), type="compact", key="lesson-idea"):
            _idea(lesson, by_hand=by_hand)


def _idea(lesson: Lesson, *, by_hand: bool) -> None:
    st.markdown(f"**{t('The idea')}**")
    st.text(told(lesson.idea))
    st.markdown(f"**{t('The question')}**")
    st.text(told(lesson.question))
    if by_hand:
        hand_written()


def _answered(lesson: Lesson, variant: Variant, now: Progress) -> None:
    if not now.verdicts:
        return
    with st.expander(t("Your answers: {n}", n=len(now.verdicts)), type="compact", key="lesson-answers"):
        for verdict in now.verdicts:
            st.markdown(verdict_badge(verdict))
            st.text(f"{ask_words(verdict.ask)}\n{choice_words(verdict.ask, verdict.truth)}")
        st.button(
            t("Answer again from the beginning"),
            key="lesson-forget",
            type="tertiary",
            icon=":material/replay:",
            help=t("Takes your answers to this lesson back and begins a new run."),
            on_click=forget,
            args=(lesson, variant),
        )


def _noticed(now: Progress) -> None:
    """What was noticed before. What is new stands in the box beside the run, and comes here when that goes on."""
    before = [noticed for noticed in now.noticed if not noticed.fresh]
    if not before:
        return
    st.markdown(f"**{t('To notice')}**")
    for noticed in before:
        st.text(f"• {told(noticed.notice.text)}")
