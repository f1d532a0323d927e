"""The stop rule: the program, and where it stopped each run."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import address, exercise_code
from pages.parts.exercise_remarks import Standing, remarks_box
from pages.parts.exercise_state import progress
from pages.parts.lesson_words import told
from pages.parts.words import t
from traces.lessons.exercises.remark import UNREADABLE
from traces.lessons.exercises.stop_rule import EXERCISE, SOLUTION, STARTER, Tried, Verdict, try_rule

NAME = EXERCISE.name
_COLUMNS = tuple(st.column_config.Column(width=width) for width in (205, 165, 65, 110))


def work(_beside: DeltaGenerator) -> Standing:
    """Draw the program and what came of it."""
    busy, known = exercise_code.busy(), _verdict()
    marks = known.remarks if known else ()
    exercise_code.program(NAME, STARTER, marks, _prepared, words=t("Your stop rule"), busy=busy)
    if known is None:
        return Standing(None)
    if known.tried:
        _table(known)
    exercise_code.printed_box(known.printed)
    return Standing(known.remarks, solved=bool(known.tried) and not known.remarks)


def remarks(standing: Standing) -> None:
    """Draw what the check says."""
    if standing.remarks is not None:
        remarks_box(standing.remarks, right=t("Atlantis ends, and every honest run goes on"))


def answer() -> None:
    """Draw a rule that will do."""
    st.code(SOLUTION, language="python", wrap_lines=True)


def reset() -> None:
    """Forget the program."""
    exercise_code.reset(NAME)


def _prepared(code: str) -> Callable[[], Verdict]:
    language = address.language()
    return lambda: try_rule(code, language)


def _verdict() -> Verdict | None:
    """What came of the last run; None before the first is over."""
    found: Verdict | None = exercise_code.last_result(NAME)
    job = progress(NAME).job
    return Verdict((), (UNREADABLE,)) if found is None and job is not None and job.done else found


def _table(verdict: Verdict) -> None:
    saved = sum(each.saved for each in verdict.tried)
    false = sum(each.by_rule and not each.case.ends for each in verdict.tried)
    with st.container(horizontal=True, gap="small", key="exercise-figures"):
        st.markdown(f":blue-badge[{t('Tokens saved: {n}', n=f'{saved:,}')}]", width="content")
        colour = "red" if false else "green"
        st.markdown(f":{colour}-badge[{t('False stops: {n}', n=false)}]", width="content")
    frame = pd.DataFrame(
        {
            t("Run"): [f"{'✔' if each.right else '✖'} {told(each.case.title)}" for each in verdict.tried],
            t("Ended by"): [_ended(each) for each in verdict.tried],
            t("Steps"): [f"{each.steps} / {each.steps_without}" for each in verdict.tried],
            t("Tokens"): [f"{each.tokens:,} / {each.tokens_without:,}" for each in verdict.tried],
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        alt=t("How each run went under your rule"),
        key="exercise-tried",
        column_config=dict(zip(frame.columns, _COLUMNS, strict=True)),
    )
    st.caption(t("■ Your rule ended it. Steps and tokens: with your rule / without it."))


def _ended(each: Tried) -> str:
    return f"■ {each.reason}" if each.by_rule else each.reason
