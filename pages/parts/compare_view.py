"""Two traces side by side: where they part, and what differs in their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from agent.interventions import KINDS
from agent.trace import Trace
from pages.parts import address_compare
from pages.parts.compare_numbers import numbers_view, steps_table
from pages.parts.intervention_words import kind_name
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.paging import page_of
from pages.parts.roles import role_look
from pages.parts.words import t
from traces import compare as comparing
from traces.compare import Comparison, Row, whole_text
from traces.tables import calls_cell
from traces.text import cell, message_text
from traces.worddiff import diff_lines, word_diff

MOST_ROWS = 10
"""Rows seen without scrolling inside the table."""
PAGE_ROWS = 2000
MOST_TEXT = 60_000
"""Characters of differences that are shown."""
_TABLE = "compare-rows"


def compare_view(a: Trace, b: Trace, comparison: Comparison) -> None:
    """Draw the comparison of two traces.

    Args:
        a: the first trace.
        b: the second trace.
        comparison: what :func:`traces.compare.compare` gave for them.
    """
    _verdict(comparison)
    _changed_on_purpose(a, b)
    messages, steps, numbers = st.tabs([t("Messages"), t("Steps"), t("Numbers")], key="compare-tabs", on_change="rerun")
    if messages.open:
        with messages:
            _messages(a, b, comparison)
    if steps.open:
        with steps:
            steps_table(comparison.steps)
    if numbers.open:
        with numbers:
            numbers_view(comparison)


def _verdict(comparison: Comparison) -> None:
    """What is the same and where the traces part, in sentences; and how sure that is."""
    at = comparison.divergence
    if at is None:
        st.markdown(f":green-badge[{t('All messages are the same.')}]")
    else:
        row = comparison.rows[at]
        places = ["–" if n is None else str(n + 1) for n in (row.a, row.b)]
        place = places[0] if row.a == row.b else f"A {places[0]}, B {places[1]}"
        st.markdown(f":orange-badge[{_parting(at, place)}]")
    counts = {
        t("same"): comparison.count("same"),
        t("changed"): comparison.count("changed"),
        t("only in A"): comparison.count("only_a"),
        t("only in B"): comparison.count("only_b"),
    }
    parts = [f"{word}: {n:,}" for word, n in counts.items()]
    if comparison.same_answer is not None:
        parts.append(t("the final answers are equal") if comparison.same_answer else t("the final answers differ"))
    st.caption(" · ".join(parts))
    reasons = {
        comparing.GUESSED: t("Messages that differ are paired by their role, their tools and their order."),
        comparing.IN_ORDER: t("A stretch is so long and repeats so much that its messages are paired in order only."),
    }
    for reason in comparison.approximate:
        st.caption(f":material/info: {t('Approximate:')} {reasons[reason]}")


def _parting(same: int, place: str) -> str:
    if same == 0:
        return t("The traces differ from message {place} on.", place=place)
    if same == 1:
        return t("The first message is the same; they part at message {place}.", place=place)
    return t("The first {n} messages are the same; they part at message {place}.", n=f"{same:,}", place=place)


# -- messages ------------------------------------------------------------------------------------------------------


def _changed_on_purpose(a: Trace, b: Trace) -> None:
    """What was done to each run: the messages that it kept do not show it."""
    for letter, trace in (("A", a), ("B", b)):
        kinds = dict.fromkeys(str(item.get("kind")) for item in trace.interventions)
        names = "; ".join(kind_name(kind) for kind in kinds if kind in KINDS)
        if names:
            words = t(
                "In {letter} this was changed on purpose: {names}. The messages are those that the run kept; its trace "
                "shows under Request what the model was given.",
                letter=letter,
                names=names,
            )
            st.caption(f":material/info: {words}")


def _messages(a: Trace, b: Trace, comparison: Comparison) -> None:
    rows = _wanted(comparison)
    if not rows:
        st.caption(t("There is no message to show."))
        return
    selected = address_compare.row(len(comparison.rows))
    if selected is None:
        selected = comparison.divergence
    page = page_of(rows, PAGE_ROWS, key="compare-page")
    address_compare.select_row(_TABLE, page, selected)
    st.dataframe(
        _frame(a, b, comparison, page),
        key=_TABLE,
        hide_index=True,
        height=HEADER_PX + ROW_PX * min(MOST_ROWS, len(page)),
        row_height=ROW_PX,
        column_config=_columns(),
        on_select=lambda: address_compare.take_row(_TABLE, page),
        selection_mode=["single-row", "single-cell"],
        placeholder="",
        alt=t("Messages of both traces"),
    )
    if selected is not None:
        _pair(a, b, comparison.rows[selected])


def _wanted(comparison: Comparison) -> list[int]:
    """Positions of the rows to show: without the unchanged beginning, unless it is asked for."""
    folded = comparison.prefix if comparison.divergence is not None else 0
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        shown = folded < 2 or st.toggle(
            t("Show the {n} unchanged messages at the beginning", n=f"{folded:,}"), key="compare-prefix"
        )
        only = st.toggle(t("Only what differs"), key="compare-only")
    start = 0 if shown else folded - 1
    return [n for n in range(start, len(comparison.rows)) if not only or comparison.rows[n].kind != "same"]


def _kinds() -> dict[str, tuple[str, str]]:
    """The words of a row's kind, and their colours."""
    return {
        "same": (f"＝ {t('same')}", "gray"),
        "changed": (f"≠ {t('changed')}", "orange"),
        "only_a": (f"− {t('only in A')}", "red"),
        "only_b": (f"＋ {t('only in B')}", "green"),
    }


def _frame(a: Trace, b: Trace, comparison: Comparison, page: Sequence[int]) -> pd.DataFrame:
    kinds = {kind: [word] for kind, (word, _) in _kinds().items()}
    parts = {"role": t("role"), "text": t("text"), "calls": t("calls"), "reasoning": t("reasoning")}
    rows = [comparison.rows[n] for n in page]
    return pd.DataFrame(
        {
            "number_a": pd.array([None if row.a is None else row.a + 1 for row in rows], dtype="Int64"),
            "text_a": pd.array([_cell(a, row.a) for row in rows], dtype="string"),
            "kind": [kinds[row.kind] for row in rows],
            "number_b": pd.array([None if row.b is None else row.b + 1 for row in rows], dtype="Int64"),
            "text_b": pd.array([_cell(b, row.b) for row in rows], dtype="string"),
            "differs": [", ".join(parts[part] for part in row.differs) for row in rows],
        }
    )


def _cell(trace: Trace, position: int | None) -> str | None:
    """A message in one cell: its role as an icon, its words, its calls."""
    if position is None:
        return None
    message = trace.messages[position]
    words = [message_text(message), calls_cell(message)]
    return cell(f"{role_look(message.role).icon} {' '.join(part for part in words if part)}")


def _columns() -> dict[str, Any]:
    column = st.column_config
    looks = _kinds().values()
    return {
        "number_a": column.NumberColumn("A", width=48, format="%d"),
        "text_a": column.TextColumn(t("Message in A"), width=380),
        "kind": column.MultiselectColumn(
            t("Compared"), width=116, options=[word for word, _ in looks], color=[colour for _, colour in looks]
        ),
        "number_b": column.NumberColumn("B", width=48, format="%d"),
        "text_b": column.TextColumn(t("Message in B"), width=380),
        "differs": column.TextColumn(t("What differs"), width=110),
    }


def _pair(a: Trace, b: Trace, row: Row) -> None:
    """The selected messages word by word. Their words are shown as they are, never as Markdown or HTML."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        for letter, trace, position in (("A", a, row.a), ("B", b, row.b)):
            if position is not None and trace.trace_id:  # a replay that is kept nowhere has no page
                st.page_link(
                    "pages/traces.py",
                    label=t("{letter}: message {n}", letter=letter, n=position + 1),
                    icon=":material/arrow_forward:",
                    query_params=address_compare.message_link(trace.trace_id, position),
                )
    texts = ["" if n is None else whole_text(trace.messages[n]) for trace, n in ((a, row.a), (b, row.b))]
    if row.kind == "same":
        st.code(_cut(texts[0]), language=None, wrap_lines=True, height=300 if len(texts[0]) > 1000 else "content")
        return
    diff = word_diff(*texts)
    shown = diff_lines(diff, t("… {n} unchanged lines …", n="{n}"))
    st.code(_cut(shown), language="diff", wrap_lines=True, height=400 if len(shown) > 2000 else "content")
    st.caption(t("− only in A, + only in B. The words that differ stand in brackets."))
    if diff.approximate:
        st.caption(t("The texts are so long that whole lines were compared, not words."))


def _cut(text: str) -> str:
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]}\n… {t('{n} more characters', n=f'{len(text) - MOST_TEXT:,}')}"
