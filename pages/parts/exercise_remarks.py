"""What a check says: what is wrong, where and why, or that nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts import exercise_state
from pages.parts.lesson_words import told
from pages.parts.words import loop_words, t
from traces.lessons.exercises.remark import Remark

_MOST = 6


@dataclass(frozen=True, slots=True)
class Standing:
    """How the work stands."""

    remarks: Sequence[Remark] | None
    """What is wrong with what is shown; None: nobody asked for a check yet."""
    solved: bool = False
    """The whole exercise is done."""


def check_button(name: str) -> None:
    """Draw the button that asks for a check. From then on what is wrong is said as the work goes on."""
    st.button(
        t("Check it"),
        key="exercise-check",
        icon=":material/rule:",
        type="primary",
        on_click=exercise_state.change,
        args=(name,),
        kwargs={"checked": True},
    )


def line(key: str, badge: str, text: str) -> None:
    """Draw a text beside its badge, however long it is.

    Args:
        key: another one for each line of a page.
        badge: in Markdown; our own words.
        text: data.
    """
    with st.container(key=f"exercise-line-{key}"):
        st.markdown(badge)
        st.text(text)


def remarks_box(remarks: Sequence[Remark], *, right: str) -> None:
    """Draw the remarks. They may quote a learner or a tool, so they are plain text.

    Args:
        remarks: what is wrong.
        right: said where nothing is.
    """
    with st.container(border=True, gap="xsmall", key="exercise-remarks"):
        if not remarks:
            st.markdown(f":green-badge[✔ {t('Right')}]")
            st.text(right)
            return
        count = len(remarks)
        words = t("1 thing to put right") if count == 1 else t("{n} things to put right", n=count)
        st.markdown(f":orange-badge[▲ {words}]")
        for number, remark in enumerate(remarks[:_MOST]):
            st.text(_sentence(remark))
            if remark.why is not None:
                with st.container(key=f"exercise-why-{number}"):
                    st.text(told(remark.why))
        if count > _MOST:
            st.caption(t("and {n} more", n=count - _MOST))


def _sentence(remark: Remark) -> str:
    said = loop_words(told(remark.text))
    places = [told(remark.place)] if remark.place is not None else []
    places += [t("Line {n}", n=remark.line)] if remark.line is not None else []
    return t("{thing}: {what}", thing=", ".join(places), what=said) if places else said
