"""How far an experiment is: state, bar, counts of each condition, time, tokens, money, and what is waited for.

One top-level fragment draws it and polls while something moves. A full rerun draws the rest when the state changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

import pandas as pd
import streamlit as st

from pages.parts import ablate_words as words
from pages.parts.ablate_condition_words import condition_name
from pages.parts.library_table import UNKNOWN
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.polling import of_this_drawing
from pages.parts.price_words import dollars
from pages.parts.words import t
from traces.experiments.analysis.values import values_of
from traces.experiments.design.experiment import Experiment
from traces.experiments.report.telling import is_rate
from traces.experiments.rows import Row
from traces.experiments.running.progress import Progress
from traces.experiments.running.session import Session

POLL_S = 0.7
"""Seconds between two looks at an experiment that runs."""
MOST_ERRORS = 3
"""Different errors that are told."""
LONGEST = 300
"""Characters of each."""
MOST_ARMS = 8
"""Conditions seen without scrolling inside the table."""


def progress_panel(session: Session, drawn: Progress) -> None:
    """Draw the progress, and poll while the experiment runs.

    Args:
        session: the experiment.
        drawn: the snapshot that the rest of the page is drawn from.
    """
    first = True  # the first time is part of the full rerun, which has just drawn everything

    @st.fragment(run_every=POLL_S if moves(drawn) else None)
    @of_this_drawing
    def watch() -> None:
        nonlocal first
        now = drawn if first else session.progress
        first = False
        if (now.state, moves(now)) != (drawn.state, moves(drawn)):
            st.rerun()
        _panel(session, now)

    watch()


def moves(now: Progress) -> bool:
    """Whether something changes by itself: also after a pause, until the runs under way rest."""
    return now.state == "running" or (now.state == "paused" and now.running > now.resting)


def _panel(session: Session, now: Progress) -> None:
    with st.container(border=True, key="ablate-progress", gap="xsmall"):
        look = words.state_look(now.state, cut=now.done < now.total)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(look.badge, width="content")
            over = now.state == "done"  # then one line is enough: what was found is to be in sight
            st.text(" · ".join([counts_line(now), *([figures_line(now)] if over else [])]), width="content")
        if not over:  # then the results say the same with their uncertainty
            st.progress(min(1.0, now.done / now.total if now.total else 0.0))
            st.text(figures_line(now))
            _conditions(session.experiment, session.rows, now)
        for line in (*told_lines(now), *error_lines(session.rows)):  # last, so that nothing moves when one comes
            st.text(line)


def counts_line(now: Progress) -> str:
    """How many runs are over, under way, failed and stopped."""
    parts = [t("{n} of {all} runs", n=f"{now.done:,}", all=f"{now.total:,}")]
    if now.running:
        parts.append(t("{n} under way", n=now.running))
    parts.append(t("errors: {n}", n=f"{now.errors:,}"))
    if now.stopped:
        parts.append(t("stopped: {n}", n=f"{now.stopped:,}"))
    return " · ".join(parts)


def figures_line(now: Progress) -> str:
    """Time so far and still to come, tokens and money."""
    parts = []
    if now.state == "running":  # the clock is this server's since it was started or continued, not the experiment's
        parts.append(t("for {time}", time=words.seconds_words(now.elapsed_s)))
    if now.state == "running" and now.left_s is not None:
        parts.append(t("about {time} left", time=words.seconds_words(now.left_s)))
    parts.append(t("{thing}: {what}", thing=t("Tokens"), what=f"{now.tokens:,}"))
    parts.append(t("{thing}: {what}", thing=t("Cost"), what=dollars(now.cost) if now.cost else UNKNOWN))
    return " · ".join(parts)


def told_lines(now: Progress) -> list[str]:
    """What is waited for, what went wrong and why it is over early, in sentences that may quote a provider."""
    return [words.said(each) for each in (now.waiting, now.error, now.remark) if each]


def error_lines(rows: Sequence[Row]) -> list[str]:
    """What went wrong in runs, the most frequent first, in sentences that may quote a provider."""
    told = Counter(row.detail or row.reason or "" for row in rows if row.status == "error")
    lines = []
    for detail, count in told.most_common(MOST_ERRORS):
        said = words.said(detail).partition("\n")[0]
        lines.append(f"✖ {count:,} × {said[:LONGEST]}{'…' if len(said) > LONGEST else ''}")
    return lines


def _conditions(experiment: Experiment, rows: Sequence[Row], now: Progress) -> None:
    """How far each condition is, as a small table that keeps its place; with the bare numbers so far, no claim."""
    so_far = outcome_so_far(experiment, rows)
    counts = [now.by_condition[condition.name] for condition in experiment.conditions]
    column = st.column_config
    st.dataframe(
        pd.DataFrame(
            {
                "condition": pd.array(
                    [condition_name(condition.name) for condition in experiment.conditions], dtype="string"
                ),
                "done": [f"{each.done:,} / {each.total:,}" for each in counts],
                "so_far": pd.array([so_far[condition.name] for condition in experiment.conditions], dtype="string"),
                "part": [each.done / each.total for each in counts],
                "errors": [each.errors for each in counts],
                "stopped": [each.stopped for each in counts],
            }
        ),
        key="ablate-by-condition",
        hide_index=True,
        height=HEADER_PX + ROW_PX * min(MOST_ARMS, len(counts)),
        row_height=ROW_PX,
        column_config={
            "condition": column.TextColumn(t("Condition"), width=210),
            "part": column.ProgressColumn(t("Done"), width=160, min_value=0, max_value=1, format="percent"),
            "done": column.TextColumn(t("Runs"), width=100),
            "so_far": column.TextColumn(
                t("{outcome} so far", outcome=words.outcome_label(experiment.outcome)), width=190
            ),
            "errors": column.NumberColumn(t("Failed"), width=70),
            "stopped": column.NumberColumn(t("Stopped early"), width=100),
        },
        alt=t("Runs of each condition"),
    )


def outcome_so_far(experiment: Experiment, rows: Sequence[Row]) -> dict[str, str]:
    """The primary outcome of each condition in bare numbers: of a rate how many of how many, of a number the median."""
    found: dict[str, list[float]] = {condition.name: [] for condition in experiment.conditions}
    for model in experiment.models:
        values = values_of(experiment.outcome, [row for row in rows if row.counted and row.model == model.name])
        for condition, known in found.items():
            known += values.of(condition)
    if is_rate(experiment.outcome):
        return {name: t("{n} of {all}", n=int(sum(known)), all=len(known)) for name, known in found.items()}
    return {
        name: words.value_words(experiment.outcome, median(known) if known else None) for name, known in found.items()
    }
