"""The rounds of a run, each with the fields Thought, Action and Observation."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent import jsontext
from pages.parts import address, exercise_state
from pages.parts.exercise_remarks import Standing, check_button, line, remarks_box
from pages.parts.roles import role_badge
from pages.parts.words import t
from traces.lessons.exercises.react import EXERCISE, Round, check, rounds, task
from traces.lessons.exercises.remark import Remark
from traces.lessons.lesson import Text

NAME = EXERCISE.name


def work(beside: DeltaGenerator) -> Standing:
    """Draw the rounds."""
    language = address.language()
    line("task", role_badge("user"), task(language))
    said = [_round(number, each) for number, each in enumerate(rounds(language), 1)]
    with beside:
        check_button(NAME)
    if not exercise_state.progress(NAME).checked:
        return Standing(None)
    found = [
        _in_round(number, remark)
        for number, (each, parts) in enumerate(zip(rounds(language), said, strict=True), 1)
        for remark in check(each, *parts)
    ]
    return Standing(found, solved=not found)


def remarks(standing: Standing) -> None:
    """Draw what the check says."""
    if standing.remarks is not None:
        remarks_box(standing.remarks, right=t("Both rounds are well told"))


def answer() -> None:
    """Draw a way to write the rounds."""
    st.text(t("One way to write them:"))
    for each in rounds(address.language()):
        for word, part in zip(_words(), each.answer, strict=True):
            st.text(t("{thing}: {what}", thing=word, what=part))


def _words() -> tuple[str, str, str]:
    return t("Thought"), t("Action"), t("Observation")


def _in_round(number: int, remark: Remark) -> Remark:
    place = remark.place or Text("", "")
    return Remark(remark.text, Text(f"Round {number}, {place.en}", f"第 {number} 轮，{place.zh}"), remark.why)


def _round(number: int, each: Round) -> tuple[str, str, str]:
    """Draw what happened in a round and its fields; gives what stands in them."""
    with st.container(border=True, gap="xsmall", key=f"exercise-round-{number}"):
        st.markdown(f"**{t('Round {n}', n=number)}**")
        for what, badge, text in (
            ("reasoning", f":gray-badge[{t('private reasoning')}]", each.message.reasoning),
            (
                "model",
                role_badge("assistant"),
                f"{each.call.name}({jsontext.dumps(each.call.arguments)})  id {each.call.id}",
            ),
            ("tool", role_badge("tool"), each.result),
        ):
            line(f"{number}-{what}", badge, text)
        thought, action, observation = (
            st.text_input(
                word, key=exercise_state.key(NAME, f"{number}-{what}"), persist_state="session", max_chars=600
            )
            for word, what in zip(_words(), ("thought", "action", "observation"), strict=True)
        )
    return thought or "", action or "", observation or ""


def _said(each: Round) -> str:
    return f"{each.call.name}({jsontext.dumps(each.call.arguments)})"
