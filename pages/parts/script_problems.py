"""Everything that is wrong with the text of a script, each with its line; a press goes there."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.scripts.problems import Problem
from pages.parts import address_scripts
from pages.parts.mistakes import mistake_words
from pages.parts.script_reading import Reading
from pages.parts.words import t

MOST_SHOWN = 12


def problems_panel(reading: Reading) -> None:
    """Draw what is wrong, or that nothing is; and what is probably not meant."""
    with st.container(key="script-problems", gap="xsmall"):  # the style sheet knows it by this key
        _panel(reading)


def _panel(reading: Reading) -> None:
    if reading.problems:
        count = len(reading.problems)
        words = t("1 mistake") if count == 1 else t("{n} mistakes", n=count)
        st.markdown(f":red-badge[✖ {words}]")
        _lines(reading.problems, "mistake")
    else:
        st.markdown(f":green-badge[✔ {t('This script can be played.')}]")
    if reading.warnings:
        st.markdown(f":orange-badge[▲ {t('Probably not meant')}]")
        _lines(reading.warnings, "warning")


def _lines(problems: Sequence[Problem], kind: str) -> None:
    """A sentence each, beside the button that goes to its line. It may quote the text, so it is plain."""
    for number, problem in enumerate(problems[:MOST_SHOWN]):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if problem.line is not None:
                st.button(
                    t("Line {n}", n=problem.line),
                    key=f"script-{kind}-{number}",
                    type="tertiary",
                    icon=":material/arrow_back:",
                    on_click=address_scripts.tell_editor,
                    kwargs={"line": problem.line},
                )
            st.text(mistake_words(problem))
    if len(problems) > MOST_SHOWN:
        st.caption(t("and {n} more", n=len(problems) - MOST_SHOWN))
