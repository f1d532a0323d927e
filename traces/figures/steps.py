"""Tokens and time of each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from traces.figures.common import (
    COLOURS,
    TOOLS,
    Bars,
    Translate,
    Values,
    add_bars,
    colour_of,
    english,
    escaped,
    finish_steps,
    numbers,
    tool_label,
)

_TOKENS = {
    "prompt_uncached": "Prompt",
    "cached": "Prompt, cached",
    "completion": "Answer",
    "reasoning": "Reasoning",
    "other": "Only in the total",
}
_MOST_TOOLS = 6
"""Tools with a colour of their own; those that took the least time are one colour together."""


def tokens_per_step(
    steps: pd.DataFrame, *, t: Translate = english, colours: Mapping[str, str] = COLOURS, selected: int | None = None
) -> go.Figure:
    """Stacked bars of the tokens of each model call.

    Args:
        steps: as :func:`traces.tables.steps_frame` makes it.
        t: translates the English labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
        selected: position of the step to highlight.
    """
    bars = Bars.of(numbers(steps["total"].fillna(steps["prompt_uncached"])))
    drawn = steps.iloc[bars.chosen]
    points = [
        (
            _position(message),
            f"{bars.words(step, t)}<br>{t('Total')}: {_count(total, t)}"
            + (f" ({t('estimated')})" if estimated else ""),
        )
        for step, total, estimated, message in zip(
            drawn["step"], drawn["total"], drawn["estimated"], drawn["message"], strict=True
        )
    ]
    figure = go.Figure()
    for name, label in _TOKENS.items():
        if drawn[name].notna().any():
            _stack(figure, steps, numbers(drawn[name]), t(label), colour_of(colours, name), points, bars, selected)
    return finish_steps(figure, bars, t("Tokens"), t)


def latency_per_step(
    steps: pd.DataFrame,
    runs: pd.DataFrame,
    *,
    t: Translate = english,
    colours: Mapping[str, str] = COLOURS,
    selected: int | None = None,
) -> go.Figure:
    """Stacked bars of the time of each step in seconds: up to the first token, the rest of the call, each tool.

    Tools that ran side by side are added up here; the timeline shows them beside each other.

    Args:
        steps: as :func:`traces.tables.steps_frame` makes it.
        runs: as :func:`traces.tables.runs_frame` makes it.
        t: translates the English labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
        selected: position of the step to highlight.
    """
    tools = _tools_by_step(steps, runs)
    spent = steps["model_ms"].fillna(0) + sum((column for _, column in tools), pd.Series(0.0, index=steps.index))
    bars = Bars.of(numbers(spent))
    drawn = steps.iloc[bars.chosen]
    points = [
        (_position(message), bars.words(step, t) + (f"<br>{escaped(tools, 200)}" if isinstance(tools, str) else ""))
        for step, tools, message in zip(drawn["step"], drawn["tools"], drawn["message"], strict=True)
    ]
    figure = go.Figure()
    first = drawn["first_token_ms"].where(drawn["first_token_ms"] <= drawn["model_ms"])
    model = drawn["model_ms"] - first.fillna(0)
    for name, label, column in (("first_token", "First token", first), ("model", "Model", model)):
        if column.notna().any():
            _stack(
                figure,
                steps,
                _seconds(column),
                t(label),
                colour_of(colours, name),
                points,
                bars,
                selected,
                "%{y:,.3~f} s",
            )
    for number, (tool, column) in enumerate(tools):
        values = _seconds(column.iloc[bars.chosen])
        label = t("Other tools") if tool is None else tool_label(tool)
        colour = TOOLS[number % len(TOOLS)]
        _stack(figure, steps, values, label, colour, points, bars, selected, "%{y:,.3~f} s")
    return finish_steps(figure, bars, t("Seconds"), t).update_yaxes(ticksuffix=" s")


def _tools_by_step(steps: pd.DataFrame, runs: pd.DataFrame) -> list[tuple[str | None, pd.Series[float]]]:
    """For each tool the milliseconds of its runs in each step, the tool with the most first; None: all the others."""
    timed = runs[runs["latency_ms"].notna()]
    if timed.empty:
        return []
    totals = timed.groupby("tool", sort=False)["latency_ms"].sum().sort_values(ascending=False, kind="stable")
    own = list(totals.index[:_MOST_TOOLS])
    names = timed["tool"].where(timed["tool"].isin(own), None)
    found: list[tuple[str | None, pd.Series[float]]] = []
    for tool in [*own, None]:
        rows = timed[names.isna() if tool is None else names == tool]
        if not rows.empty:
            found.append((tool, rows.groupby("step")["latency_ms"].sum().reindex(steps["step"]).set_axis(steps.index)))
    return [(tool, column.fillna(0) if len(found) else column) for tool, column in found]


def _stack(
    figure: go.Figure,
    steps: pd.DataFrame,
    values: Values,
    label: str,
    colour: str,
    points: list[tuple[int | None, str]],
    bars: Bars,
    selected: int | None,
    unit: str = "%{y:,}",
) -> None:
    width = bars.size if bars.size > 1 else None
    add_bars(
        figure,
        bars.places(steps["step"].tolist()),
        values,
        label,
        colour,
        points,
        selected=bars.at(selected),
        width=width,
        unit=unit,
    )


def _seconds(column: pd.Series[float]) -> Values:
    return [None if value is None or not value else value / 1000 for value in numbers(column)]


def _position(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _count(value: Any, t: Translate) -> str:
    return t("not reported") if pd.isna(value) else f"{value:,}"
