"""What a class answers to a question: bars, and the hands of a room without devices, which a person counts."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import streamlit as st

from agent.errors import InputError
from pages.parts import address, address_class
from pages.parts.class_rooms import own_seat, rooms, taught_class
from pages.parts.data import data_folder, private
from pages.parts.learner import learner
from pages.parts.lesson_words import choice_words
from pages.parts.polling import of_this_drawing
from pages.parts.words import loop_words, t
from traces.lessons.answers import Answers, Question
from traces.lessons.lesson import Ask
from traces.lessons.questions import choices

_POLL_S = 3.0
"""Seconds between two looks at what has been answered."""
_MOST_HANDS = 999


def tally_panel(question: Question, ask: Ask, *, revealed: bool) -> None:
    """Draw how a class answers a question: for its teacher, and for a room whose hands are counted. Else nothing.

    What was answered stays hidden until the right answer may be seen, so that nobody follows the others; the teacher
    may show it before.

    Args:
        question: which one.
        ask: what was asked.
        revealed: the run has gone on, so the right answer may be seen.
    """
    taught = taught_class()
    hands = address_class.counts_hands() and own_seat() is None
    if taught is None and not hands:
        return
    klass = taught.id if taught is not None else "" if private() else learner().id
    polls = _POLL_S if taught is not None and not revealed else None

    @st.fragment(run_every=polls)
    @of_this_drawing
    def panel() -> None:
        tally = Answers(data_folder()).tally(klass, question)
        with st.container(key=f"tally-{question.key}-{revealed}", gap="xxsmall"):
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                st.caption(_count_words(klass, sum(tally.values())), width="content")
                shown = revealed or st.toggle(t("Show the answers"), key=f"{address_class.REVEAL}-{question.key}")
                if hands:
                    _hands(klass, question, ask)
            if shown:
                bars(ask, tally)

    panel()


def bars(ask: Ask, tally: Mapping[str, int]) -> None:
    """Draw how often each answer was given. The words of an answer may be a teacher's: they are text and no markup."""
    most = max(tally.values(), default=0) or 1
    rows = [_bar(choice_words(ask, choice), tally.get(choice, 0), most) for choice in choices(ask)]
    st.html(f'<ul style="list-style:none;margin:0;padding:0">{"".join(rows)}</ul>')


def _bar(words: str, count: int, most: int) -> str:
    filled = f"width:{100 * count / most:.0f}%;height:100%;background:currentColor;opacity:0.55;border-radius:0.25rem"
    track = "flex:1;height:0.9rem;border-radius:0.25rem;background:color-mix(in srgb,currentColor 12%,transparent)"
    return (
        '<li style="display:flex;gap:0.6rem;align-items:center;margin:0 0 0.25rem;padding:0">'
        f'<span style="flex:0 0 38%;overflow-wrap:anywhere">{escape(words)}</span>'
        f'<span aria-hidden="true" style="{track}"><span style="display:block;{filled}"></span></span>'
        f'<strong style="min-width:2ch;text-align:right">{count}</strong></li>'
    )


def _count_words(klass: str, answers: int) -> str:
    """How many have answered; in a class with seats, of how many."""
    seats = len(rooms().classes.seats(klass)) if klass else 0
    return t("Answers: {n} of {m}", n=answers, m=seats) if seats else t("Answers: {n}", n=answers)


def _hands(klass: str, question: Question, ask: Ask) -> None:
    with st.popover(t("Raised hands"), icon=":material/back_hand:", type="tertiary"):
        counted = Answers(data_folder()).hands(klass, question)
        for choice in choices(ask):
            key = f"hands-{klass}-{question.key}-{choice}"
            address.seed(key, counted.get(choice, 0))
            left, right = st.columns([3, 2], vertical_alignment="center")
            left.text(choice_words(ask, choice))
            right.number_input(
                t("Hands"),
                0,
                _MOST_HANDS,
                key=key,
                label_visibility="collapsed",
                on_change=_count,
                args=(klass, question, choice, key),
            )


def _count(klass: str, question: Question, choice: str, key: str) -> None:
    try:
        Answers(data_folder()).count_hands(klass, question, {choice: int(address.setting(key) or 0)})
    except InputError as error:
        address.tell(loop_words(str(error)))
