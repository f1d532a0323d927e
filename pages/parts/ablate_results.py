"""The results of an experiment: verdicts when it is over, and before that its numbers so far, without any claim."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.parts import ablate_words as words
from pages.parts.ablate_condition_words import condition_name, what_differs
from pages.parts.ablate_copy import copy_design
from pages.parts.ablate_pictures import pictures
from pages.parts.ablate_rows import rows_table
from pages.parts.ablate_verdicts import verdicts_panel
from pages.parts.library_table import UNKNOWN
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.words import t
from traces.experiments.analysis.analyse import analyse
from traces.experiments.analysis.summary import Arm, Summary
from traces.experiments.design.experiment import Experiment
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.rows import Row

MOST_ARMS = 12
"""Arms seen without scrolling inside the table."""


def results(id: str, experiment: Experiment, rows: Sequence[Row], *, over: bool, complete: bool) -> None:
    """Draw everything that the runs so far say.

    Args:
        id: of the experiment.
        experiment: its design.
        rows: the runs that are over.
        over: whether no more runs come by themselves. Before that there is no verdict and no interval: the counts of
            the progress are enough.
        complete: whether every run of the design is over.
    """
    if not rows:
        st.caption(t("No run is over yet."))
        return
    with st.spinner(t("Working out what the runs say")):  # of thousands it takes seconds, once
        summary = summary_of(id, experiment, rows)
    st.subheader(t("What it found"), anchor=False)
    if over:
        if not complete:
            _cut_short()
        verdicts_panel(summary)
        _more_runs(id, summary)
        arms_table(experiment, summary, key=f"ablate-arms-{id}")
        _rules(summary)
    else:
        running_note()
    pictures(experiment, summary, rows, key=f"ablate-pictures-{id}", over=over)
    st.subheader(t("All runs"), anchor=False)
    rows_table(experiment, rows, key=f"ablate-rows-{id}")


def running_note() -> None:
    """Say why there is no verdict yet."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":blue-badge[◔ {t('Not finished')}]", width="content")
        st.caption(
            t(
                "Verdicts come when all runs are over: whoever looks again and again, and stops when a difference "
                "shows, finds effects that are not there."
            ),
            width="content",
        )


def _more_runs(id: str, summary: Summary) -> None:
    """The way to as many runs as would probably settle what is open."""
    needed = max((verdict.needed or 0 for verdict in summary.verdicts), default=0)
    if needed:
        st.button(
            t("New design with {n} repeats", n=f"{needed:,}"),
            icon=":material/add:",
            key="ablate-more",
            help=t("The same experiment anew: runs that were looked at already are not mixed with new ones."),
            on_click=copy_design,
            args=(id, needed),
        )


def summary_of(id: str, experiment: Experiment, rows: Sequence[Row]) -> Summary:
    """What the rows say, worked out once for as long as they are the same."""
    return _summary(id, hash(tuple(rows)), experiment, rows)


@st.cache_resource(max_entries=32, show_spinner=False)
def _summary(id: str, digest: int, _experiment: Experiment, _rows: Sequence[Row]) -> Summary:
    return analyse(_experiment, _rows)


def _cut_short() -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":orange-badge[▲ {t('Cut short')}]", width="content")
        st.text(t("Whoever stops because of what there is to see finds effects too often."))


def arms_table(experiment: Experiment, summary: Summary, *, key: str) -> None:
    """Draw a line an arm: its runs, how many failed, and every outcome with its interval; last what it changes."""
    outcomes = _outcomes(summary)
    column = st.column_config
    st.dataframe(
        _frame(experiment, summary, outcomes),
        key=key,
        hide_index=True,
        height=HEADER_PX + ROW_PX * min(MOST_ARMS, len(summary.arms)),
        row_height=ROW_PX,
        column_config={
            "condition": column.TextColumn(t("Condition"), width=210, pinned=True),
            "model": column.TextColumn(t("Model"), width=100) if len(summary.stability) > 1 else None,
            "change": column.TextColumn(t("What is different"), width=300),
            "started": column.NumberColumn(t("Runs"), width=60, help=t("Started runs; rates are over these.")),
            "errors": column.TextColumn(t("Error rate"), width=92, help=t("Runs that failed; they count as started.")),
            "stopped": column.NumberColumn(
                t("Stopped early"), width=96, help=t("By a person or by the budget; counted apart.")
            ),
            "run_to_run": column.TextColumn(
                t("Run to run"), width=90, help=t("Spread between repeats of the same task (standard deviation).")
            ),
            "task_to_task": column.TextColumn(
                t("Task to task"), width=98, help=t("Spread between the means of tasks (standard deviation).")
            ),
            **{
                outcome: column.TextColumn(words.outcome_label(outcome), width=176, help=words.outcome_rule(outcome))
                for outcome in outcomes
            },
        },
        placeholder="",
        alt=t("Outcomes of each condition"),
    )
    st.caption(t("Rates with Wilson intervals, numbers as medians with bootstrap intervals, both of 95%."))


def _outcomes(summary: Summary) -> list[str]:
    """The outcomes that some arm says something about, the primary one first."""
    known = {outcome for arm in summary.arms for outcome in arm.outcomes}
    return [summary.outcome, *(outcome for outcome in OUTCOMES if outcome in known and outcome != summary.outcome)]


def _frame(experiment: Experiment, summary: Summary, outcomes: Sequence[str]) -> pd.DataFrame:
    arms = summary.arms
    columns: dict[str, object] = {
        "condition": pd.array([condition_name(arm.condition) for arm in arms], dtype="string"),
        "model": pd.array([arm.model for arm in arms], dtype="string"),
        "started": [arm.started for arm in arms],
        "errors": pd.array([_error_rate(arm) for arm in arms], dtype="string"),
        "stopped": [arm.stopped for arm in arms],
    }
    for outcome in outcomes:
        texts = [words.estimate_words(outcome, arm.outcomes.get(outcome)) for arm in arms]
        columns[outcome] = pd.array(texts, dtype="string")
    columns["run_to_run"] = pd.array([_spread(summary.outcome, arm.run_to_run) for arm in arms], dtype="string")
    columns["task_to_task"] = pd.array([_spread(summary.outcome, arm.task_to_task) for arm in arms], dtype="string")
    changes = {condition.name: what_differs(condition) for condition in experiment.conditions}
    columns["change"] = pd.array([changes[arm.condition] for arm in arms], dtype="string")
    return pd.DataFrame(columns)


def _error_rate(arm: Arm) -> str:
    return f"{arm.errors / arm.started:.0%} ({arm.errors})" if arm.started else UNKNOWN


def _spread(outcome: str, spread: float | None) -> str:
    return UNKNOWN if spread is None else f"± {words.value_words(outcome, spread)}"


def _rules(summary: Summary) -> None:
    with st.expander(t("What is measured, and by which rule"), type="compact"):
        for outcome in _outcomes(summary):
            with st.container(horizontal=True, gap="small"):
                st.markdown(f":gray-badge[{words.outcome_label(outcome)}]", width="content")
                st.text(words.outcome_rule(outcome))
