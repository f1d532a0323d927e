"""The shuffled messages of a run, each with a field for its number and one for its maker."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import address, exercise_state
from pages.parts.exercise_remarks import Standing, check_button, remarks_box
from pages.parts.lesson_words import told
from pages.parts.roles import maker_look, role_badge
from pages.parts.words import t
from traces.lessons.exercises.order_messages import EXERCISE, MAKERS, RUNS, Card, cards, check

NAME = EXERCISE.name


def work(beside: DeltaGenerator) -> Standing:
    """Draw the choice of a run and its messages."""
    titles = {run.name: told(run.title) for run in RUNS}
    run = st.selectbox(
        t("Run"),
        list(titles),
        format_func=titles.__getitem__,
        key=exercise_state.key(NAME, "run"),
        persist_state="session",
        on_change=_other_run,
    )
    shown = cards(run, address.language())
    with st.container(gap="xsmall", key="exercise-cards"):
        for card in shown:
            _card(run, card, len(shown))
    with beside:
        check_button(NAME)
    if not exercise_state.progress(NAME).checked:
        return Standing(None)
    numbers: dict[str, int] = _chosen(run, shown, "number")
    makers: dict[str, str] = _chosen(run, shown, "maker")
    found = check(shown, numbers, makers)
    return Standing(found, solved=not found)


def remarks(standing: Standing) -> None:
    """Draw what the check says."""
    if standing.remarks is not None:
        remarks_box(standing.remarks, right=t("Every message in its place"))


def answer() -> None:
    """Draw the messages in their order."""
    run = address.setting(exercise_state.key(NAME, "run"), RUNS[0].name)
    for card in sorted(cards(run, address.language()), key=lambda card: card.number):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(f"{card.number}. {card.letter}", width="content")
            st.markdown(role_badge(card.message.role), width="content")
            st.text(t("made by: {maker}", maker=maker_look(card.maker).label), width="content")


def _other_run() -> None:
    exercise_state.change(NAME, checked=False)


def _card(run: str, card: Card, count: int) -> None:
    makers = {maker: maker_look(maker).label for maker in MAKERS}
    with st.container(border=True, key=f"exercise-card-{card.letter}"):
        st.markdown(f"**{card.letter}**")
        st.text(card.text)
        st.selectbox(
            t("Number of {letter}", letter=card.letter),
            range(1, count + 1),
            index=None,
            placeholder=t("No."),
            key=_key(run, card, "number"),
            label_visibility="collapsed",
            persist_state="session",
        )
        st.selectbox(
            t("Maker of {letter}", letter=card.letter),
            list(makers),
            index=None,
            format_func=makers.__getitem__,
            placeholder=t("made by …"),
            key=_key(run, card, "maker"),
            label_visibility="collapsed",
            persist_state="session",
        )


def _key(run: str, card: Card, what: str) -> str:
    return exercise_state.key(NAME, f"{run}-{card.letter}-{what}")


def _chosen(run: str, shown: tuple[Card, ...], what: str) -> dict[str, Any]:
    found = {card.letter: address.setting(_key(run, card, what)) for card in shown}
    return {letter: value for letter, value in found.items() if value is not None}
