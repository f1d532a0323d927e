"""Two traces in numbers: their steps, tokens, time, cost and tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.outcome import reason_words
from pages.parts.words import t
from traces.compare import Comparison, StepPair

MOST_ROWS = 14
"""Rows seen without scrolling inside the table of steps."""


def steps_table(pairs: Sequence[StepPair]) -> None:
    """Draw the steps of both traces, those that belong together in one row."""
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
        height=HEADER_PX + ROW_PX * min(MOST_ROWS, len(pairs)),
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


def numbers_view(comparison: Comparison) -> None:
    """Draw the numbers of both traces, their tools, and how they ended."""
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
