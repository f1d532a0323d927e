"""Two traces side by side: where they part, what differs, and what each cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from agent.trace import Trace
from pages.parts import address_compare
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.outcome import reason_words
from pages.parts.roles import role_look
from pages.parts.words import t
from traces import compare as comparing
from traces.compare import Comparison, Row, StepPair, whole_text
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
    messages, steps, numbers = st.tabs([t("Messages"), t("Steps"), t("Numbers")], key="compare-tabs", on_change="rerun")
    if messages.open:
        with messages:
            _messages(a, b, comparison)
    if steps.open:
        with steps:
            _steps(comparison.steps)
    if numbers.open:
        with numbers:
            _numbers(comparison)


def _verdict(comparison: Comparison) -> None:
    """What is the same and where the traces part, in sentences; and how sure that is."""
    at = comparison.divergence
    if at is None:
        st.markdown(f":green-badge[{t('All messages are the same.')}]")
    else:
        row = comparison.rows[at]
        place = " / ".join("–" if n is None else str(n + 1) for n in (row.a, row.b))
        sentence = t("The first {n} messages are the same; they part at message {place}.", n=at, place=place)
        st.markdown(f":orange-badge[{sentence}]")
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


# -- messages ------------------------------------------------------------------------------------------------------


def _messages(a: Trace, b: Trace, comparison: Comparison) -> None:
    rows = _wanted(comparison)
    if not rows:
        st.caption(t("There is no message to show."))
        return
    first = 0
    selected = address_compare.row(len(comparison.rows))
    if selected is None:
        selected = comparison.divergence
    if len(rows) > PAGE_ROWS:
        first = (st.pagination(-(-len(rows) // PAGE_ROWS), key="compare-page") - 1) * PAGE_ROWS
    page = rows[first : first + PAGE_ROWS]
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
            if position is not None:
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


# -- steps and numbers ---------------------------------------------------------------------------------------------


def _steps(pairs: Sequence[StepPair]) -> None:
    if not pairs:
        st.caption(t("Neither trace has a step."))
        return
    columns: dict[str, Any] = {"step_a": [], "step_b": [], "reply": []}
    for pair in pairs:
        columns["step_a"].append(pair.a and pair.a.index)
        columns["step_b"].append(pair.b and pair.b.index)
        columns["reply"].append(t("same") if pair.same else t("differs") if pair.a and pair.b else "")
    data = {name: pd.array(columns[name], dtype="Int64") for name in ("step_a", "step_b")}
    data["reply"] = pd.array(columns["reply"], dtype="string")
    for name in ("prompt_tokens", "completion_tokens"):
        for side in ("a", "b"):
            steps = [getattr(pair, side) for pair in pairs]
            values = [getattr(step.usage, name) if step and step.usage else None for step in steps]
            data[f"{name}_{side}"] = pd.array(values, dtype="Int64")
    for side in ("a", "b"):
        steps = [getattr(pair, side) for pair in pairs]
        seconds = [step.latency_ms / 1000 if step and step.latency_ms is not None else None for step in steps]
        data[f"seconds_{side}"] = pd.array(seconds, dtype="Float64")
        data[f"calls_{side}"] = pd.array([len(step.tools) if step else None for step in steps], dtype="Int64")
    number = st.column_config.NumberColumn
    words = {
        "step": t("Step #"),
        "prompt_tokens": t("Prompt tokens"),
        "completion_tokens": t("Answer tokens"),
        "seconds": t("Seconds"),
        "calls": t("Tool calls"),
    }
    st.dataframe(
        pd.DataFrame(data),
        hide_index=True,
        height=HEADER_PX + ROW_PX * min(MOST_ROWS + 4, len(pairs)),
        row_height=ROW_PX,
        column_config={
            **{
                f"{name}_{side}": number(f"{side.upper()}: {word}", format="localized")
                for name, word in words.items()
                for side in ("a", "b")
            },
            "reply": st.column_config.TextColumn(t("Reply")),
        },
        placeholder="",
        alt=t("Steps of both traces"),
    )


def _numbers(comparison: Comparison) -> None:
    words = {
        "steps": t("Steps"),
        "messages": t("Messages"),
        "tool_calls": t("Tool calls"),
        "errors": t("Errors"),
        "prompt_tokens": t("Prompt tokens"),
        "cached_tokens": t("Cached prompt"),
        "completion_tokens": t("Answer tokens"),
        "total_tokens": t("Tokens"),
        "cost": t("Cost"),
        "duration_s": t("Duration"),
        "model_s": t("Seconds of the model"),
        "tools_s": t("Seconds of the tools"),
    }
    left, right = st.columns(2, gap="medium")
    with left:
        rows = [
            (t("Cost, computed") if delta.computed else words[delta.name], delta.a, delta.b, delta.change)
            for delta in comparison.deltas
        ]
        _table(rows, t("Numbers of both traces"), t("Number"), placeholder=t("not reported"))
        for letter, reason in (("A", comparison.outcome_a), ("B", comparison.outcome_b)):
            tone, sentence = reason_words(reason)
            st.markdown(f"{letter} · {t('Stopped')}: :{tone}-badge[{sentence}]")
    with right:
        tools: list[tuple[str, float | None, float | None, float | None]] = []
        for use in comparison.tools:
            tools.append((use.name, use.calls_a, use.calls_b, use.calls_b - use.calls_a))
            if use.errors_a or use.errors_b:
                name = t("{tool}, failed", tool=use.name)
                tools.append((name, use.errors_a, use.errors_b, use.errors_b - use.errors_a))
        if tools:
            _table(tools, t("Tool calls of both traces"), t("Tool"), placeholder="")


def _table(
    rows: Sequence[tuple[str, float | None, float | None, float | None]], alt: str, first: str, *, placeholder: str
) -> None:
    names = ("name", "a", "b", "change")
    data: Mapping[str, Any] = {name: [row[n] for row in rows] for n, name in enumerate(names)}
    frame = pd.DataFrame(
        {name: data[name] if name == "name" else pd.array(data[name], dtype="Float64") for name in names}
    )
    number = st.column_config.NumberColumn
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        row_height=ROW_PX,
        column_config={
            "name": st.column_config.TextColumn(first),
            "a": number("A", format="localized"),
            "b": number("B", format="localized"),
            "change": number(t("B − A"), format="localized"),
        },
        placeholder=placeholder,
        alt=alt,
    )
