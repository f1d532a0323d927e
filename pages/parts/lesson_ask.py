"""Predict, then reveal: the question of the moment, what the run said to the last one, and what there is to notice."""

from __future__ import annotations

import streamlit as st

from pages.parts.classes import tally_panel
from pages.parts.lesson_moves import SKIP, answer
from pages.parts.lesson_progress import Progress, Verdict, question
from pages.parts.lesson_words import ask_words, choice_words, label, told
from pages.parts.words import t
from traces.lessons.lesson import Ask, Lesson, Variant
from traces.lessons.questions import choices


def lesson_panel(lesson: Lesson, variant: Variant, now: Progress, *, steps: bool = True) -> None:
    """Draw what the lesson says at the moment that is looked at.

    Args:
        lesson: the lesson.
        variant: of which the run is.
        now: how far the learner is.
        steps: nothing but a step is needed for the run to say more.
    """
    with st.container(key="lesson-panel", gap="xsmall"):
        for verdict in now.verdicts:
            if verdict.fresh:
                _reveal(lesson, variant, verdict)
        if now.open is not None:
            _question(lesson, variant, now.open)
        else:
            _waiting(now, steps=steps)
        for noticed in now.noticed:
            if noticed.fresh:
                with st.container(gap="xxsmall"):
                    st.markdown(f":blue-badge[:material/visibility: {t('Notice')}]")
                    st.text(told(noticed.notice.text))


def verdict_badge(verdict: Verdict) -> str:
    """Right, wrong or passed over as Markdown: colour, icon and word."""
    if verdict.right is None:
        return f":gray-badge[– {t('Skipped')}]"
    return f":green-badge[✓ {t('Right')}]" if verdict.right else f":red-badge[✗ {t('Not this time')}]"


def _waiting(now: Progress, *, steps: bool) -> None:
    """What was answered and is not revealed yet."""
    for ask, choice in now.waiting:
        st.markdown(f":gray-badge[:material/how_to_vote: {t('Your answer')}]")
        st.text(f"{ask_words(ask)} {choice_words(ask, choice)}")
    if now.waiting and steps:
        st.caption(t("Step shows what the run says."))


def _question(lesson: Lesson, variant: Variant, ask: Ask) -> None:
    place = question(lesson, variant, ask)
    with st.container(key="lesson-question", gap="xsmall"):
        st.markdown(f":violet-badge[:material/help: {t('What do you think?')}]")
        st.text(ask_words(ask))
        short = ask.kind != "choice"
        with st.container(horizontal=short, gap="xsmall", key="lesson-choices"):
            for number, choice in enumerate(choices(ask), start=1):
                st.button(
                    label(choice_words(ask, choice)),
                    key=f"answer-{place.key}-{choice}",
                    shortcut=str(number),
                    width="content" if short else "stretch",
                    on_click=answer,
                    args=(lesson, variant, ask, choice),
                )
            st.button(
                t("Skip"),
                key=f"skip-{place.key}",
                shortcut=SKIP,
                type="tertiary",
                on_click=answer,
                args=(lesson, variant, ask, ""),
            )
        tally_panel(place, ask, revealed=False)


def _reveal(lesson: Lesson, variant: Variant, verdict: Verdict) -> None:
    ask, wrong = verdict.ask, verdict.right is False
    own_words = ask.kind == "choice"
    lines = [t("You said: {answer}", answer=choice_words(ask, verdict.choice))] if wrong else []
    answer_words = choice_words(ask, verdict.truth)
    lines.append(
        t("It is: {answer}", answer=answer_words) if own_words else t("The run says: {answer}", answer=answer_words)
    )
    if wrong and own_words and verdict.choice.isdigit():
        lines.append(told(ask.options[int(verdict.choice)].why))
    lines.append(told(ask.why))
    with st.container(key=f"reveal-{ask.id}", gap="xxsmall"):
        st.markdown(verdict_badge(verdict))
        st.text("\n".join(line for line in lines if line))
        tally_panel(question(lesson, variant, ask), ask, revealed=True)
