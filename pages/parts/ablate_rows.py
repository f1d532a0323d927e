"""The table of all runs of an experiment: narrow it, open a trace, compare a run with its baseline twin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts import ablate_words as words
from pages.parts import address, address_compare, selection, shelf
from pages.parts.ablate_condition_words import condition_name
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.paging import page_of
from pages.parts.words import loop_words, t
from traces.experiments.design.experiment import Experiment
from traces.experiments.measuring.twin import twin_of
from traces.experiments.rows import Row

MOST_ROWS = 12
"""Rows seen without scrolling inside the table."""
PAGE_ROWS = 1000
CONDITIONS = "ablate-conditions"
STATUSES = "ablate-statuses"
"""Keys of the fields above the table."""
_ANSWER = 200
"""Characters of an answer in a cell."""


def rows_table(experiment: Experiment, rows: Sequence[Row], *, key: str) -> None:
    """Draw the table, and below it what can be done with the selected run.

    Args:
        experiment: the design.
        rows: its runs.
        key: names the table.
    """
    if not rows:
        st.caption(t("No run is over yet."))
        return
    shown = _narrowed(experiment, rows)
    st.caption(
        t("{n} of {all} runs. A press on a row shows what to do with it.", n=f"{len(shown):,}", all=f"{len(rows):,}")
    )
    if not shown:
        return
    page = page_of(shown, PAGE_ROWS, key=f"{key}-page")
    table = f"{key}-{hash(tuple(row.key for row in page)):x}"  # the browser knows rows by their place
    st.dataframe(
        _frame(experiment, page),
        key=table,
        hide_index=True,
        height=HEADER_PX + ROW_PX * min(MOST_ROWS, len(page)),
        row_height=ROW_PX,
        column_config=_columns(experiment),
        on_select="rerun",
        selection_mode="single-cell",
        placeholder="",
        alt=t("Runs of the experiment"),
    )
    at = selection.selected_row(table)
    run_actions(page[at] if at is not None and at < len(page) else None, rows, key=f"{key}-actions")


def run_actions(row: Row | None, rows: Sequence[Row], *, key: str) -> None:
    """Draw the links of a run; without one, what they will be.

    Args:
        row: the run.
        rows: all runs, its baseline twin among them.
        key: names the line.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        if row is None:
            st.caption(t("Select a run to open its trace, or to see where it parts from its twin in the baseline."))
            return
        st.text(_run_name(row), width="content")
        st.page_link(
            "pages/traces.py",
            label=t("Open the trace"),
            icon=":material/receipt_long:",
            query_params=address.trace_link(row.trace_id),
        )
        if (twin := twin_of(row, rows)) is not None:
            st.page_link(
                "pages/compare.py",
                label=t("Compare with its baseline twin"),
                icon=":material/compare_arrows:",
                query_params=address_compare.link(twin.trace_id, row.trace_id),
            )
    if row is not None and row.detail:
        st.text(loop_words(row.detail))


def _run_name(row: Row) -> str:
    return f"{row.subject} · {condition_name(row.condition)} · {t('repeat {n}', n=row.repeat + 1)}"


def _narrowed(experiment: Experiment, rows: Sequence[Row]) -> list[Row]:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        conditions = _several(t("Condition"), [each.name for each in experiment.conditions], CONDITIONS, condition_name)
        statuses = _several(
            t("Status"), ["ended", "error", "stopped"], STATUSES, lambda each: words.status_look(each).label
        )
    return [
        row
        for row in rows
        if (not conditions or row.condition in conditions) and (not statuses or row.status in statuses)
    ]


def _several(label: str, options: Iterable[str], key: str, word: Any) -> set[str]:
    options = list(options)
    kept = [each for each in shelf.value(key, ()) if each in options]  # another experiment has other ones
    address.put(key, kept)
    chosen = st.multiselect(
        label,
        options,
        key=key,
        format_func=word,
        placeholder=label,
        label_visibility="collapsed",
        width=260,
        persist_state="session",
    )
    return set(chosen)


def _frame(experiment: Experiment, rows: Sequence[Row]) -> pd.DataFrame:
    verified = {True: t("yes"), False: t("no"), None: ""}
    reasons = {reason: words.reason_word(reason) for reason in {row.reason for row in rows}}
    statuses = {status: [words.status_look(status).label] for status in ("ended", "error", "stopped")}
    names = {each.name: condition_name(each.name) for each in experiment.conditions}
    return pd.DataFrame(
        {
            "subject": pd.array([row.subject for row in rows], dtype="string"),
            "model": pd.array([row.model for row in rows], dtype="string"),
            "condition": pd.array([names.get(row.condition, row.condition) for row in rows], dtype="string"),
            "repeat": [row.repeat + 1 for row in rows],
            "status": [statuses[row.status] for row in rows],
            "reason": pd.array([reasons[row.reason] for row in rows], dtype="string"),
            "verified": [verified[row.verified] for row in rows],
            "answer": pd.array([" ".join(row.answer[:_ANSWER].split()) for row in rows], dtype="string"),
            "steps": [row.steps for row in rows],
            "calls": [row.calls for row in rows],
            "repeated": [row.repeated_calls for row in rows],
            "errors": [row.tool_errors for row in rows],
            "tokens": pd.array([row.tokens for row in rows], dtype="Int64"),
            "strip": pd.array([row.strip for row in rows], dtype="string"),
            "seed": [row.seed for row in rows],
        }
    )


def _columns(experiment: Experiment) -> dict[str, Any]:
    column = st.column_config
    looks = [words.status_look(status) for status in ("ended", "error", "stopped")]
    one_model = len(experiment.models) == 1
    return {
        "subject": column.TextColumn(t("Subject"), width=120),
        "model": None if one_model else column.TextColumn(t("Model"), width=90),
        "condition": column.TextColumn(t("Condition"), width=190),
        "repeat": column.NumberColumn(t("Repeat"), width=64),
        "status": column.MultiselectColumn(
            t("Status"), width=96, options=[look.label for look in looks], color=[look.colour for look in looks]
        ),
        "reason": column.TextColumn(t("Stop reason"), width=120),
        "verified": column.TextColumn(t("Verified"), width=72),
        "answer": column.TextColumn(t("Answer"), width=240),
        "steps": column.NumberColumn(t("Steps"), width=54),
        "calls": column.NumberColumn(t("Tool calls"), width=80),
        "repeated": column.NumberColumn(t("Repeated"), width=76, help=words.outcome_rule("repeated_calls")),
        "errors": column.NumberColumn(t("Tool errors"), width=84, help=words.outcome_rule("tool_errors")),
        "tokens": column.NumberColumn(t("Tokens"), width=76, format="localized"),
        "strip": column.TextColumn(
            t("Messages"),
            width=150,
            help=t(
                "One letter a message: s system, u user, a assistant, c assistant with calls, t tool result, e error, "
                "x a result that the last request did not hold as it stands."
            ),
        ),
        "seed": column.NumberColumn(t("Seed"), width=64, format="%d"),
    }
