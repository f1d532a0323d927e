"""Charts: pure functions from the frames of :mod:`traces.tables` to plotly figures.

A bar is missing where nothing was reported. All texts come from the caller's translation; names out of a trace are
escaped, because plotly reads some HTML in its labels.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

Translate = Callable[[str], str]

COLOURS: dict[str, str] = {
    "prompt_uncached": "#4c78a8",
    "cached": "#9ecae9",
    "completion": "#f58518",
    "reasoning": "#b279a2",
    "other": "#9d9da1",
    "model_ms": "#f58518",
    "tools_ms": "#54a24b",
}
"""Colours by column; a caller may give others for its theme."""

_TOKENS = {
    "prompt_uncached": "Prompt",
    "cached": "Prompt, cached",
    "completion": "Answer",
    "reasoning": "Reasoning",
    "other": "Only in the total",
}
_LATENCY = {"model_ms": "Model", "tools_ms": "Tools"}
_MANY = 500
"""From so many steps on bars touch each other."""


def _english(text: str) -> str:
    return text


def tokens_per_step(
    steps: pd.DataFrame,
    *,
    t: Translate = _english,
    colours: Mapping[str, str] = COLOURS,
    selected: int | None = None,
) -> go.Figure:
    """Stacked bars of the tokens of each model call.

    Args:
        steps: as :func:`traces.tables.steps_frame` makes it.
        t: translates the English labels.
        colours: by column; see :data:`COLOURS`.
        selected: position of the step to highlight.
    """
    columns = {name: label for name, label in _TOKENS.items() if name in steps and steps[name].notna().any()}
    hover = [
        f"{t('Step')} {step}<br>{t('Total')}: {_count(total, t)}" + (f" ({t('estimated')})" if estimated else "")
        for step, total, estimated in zip(steps["step"], steps["total"], steps["estimated"], strict=True)
    ]
    return _stacked(steps, columns, hover, t("Tokens"), t, colours, selected)


def latency_per_step(
    steps: pd.DataFrame,
    *,
    t: Translate = _english,
    colours: Mapping[str, str] = COLOURS,
    selected: int | None = None,
) -> go.Figure:
    """Stacked bars of the time of each step in seconds: the model call, and its tools.

    Args:
        steps: as :func:`traces.tables.steps_frame` makes it.
        t: translates the English labels.
        colours: by column; see :data:`COLOURS`.
        selected: position of the step to highlight.
    """
    columns = {name: label for name, label in _LATENCY.items() if steps[name].notna().any()}
    seconds = steps.assign(**{name: steps[name] / 1000 for name in columns})
    hover = [
        f"{t('Step')} {step}" + (f"<br>{html.escape(tools)}" if isinstance(tools, str) else "")
        for step, tools in zip(steps["step"], steps["tools"], strict=True)
    ]
    return _stacked(seconds, columns, hover, t("Seconds"), t, colours, selected)


def _stacked(
    frame: pd.DataFrame,
    columns: Mapping[str, str],
    hover: Sequence[str],
    axis: str,
    t: Translate,
    colours: Mapping[str, str],
    selected: int | None,
) -> go.Figure:
    figure = go.Figure()
    x = frame["step"].tolist()
    for name, label in columns.items():
        figure.add_bar(
            x=x,
            y=frame[name].to_numpy(dtype="float64", na_value=math.nan),
            name=t(label),
            marker_color=colours.get(name, COLOURS[name]),
            customdata=hover,
            hovertemplate="%{customdata}<br>%{fullData.name}: %{y:,}<extra></extra>",
            selectedpoints=None if selected is None else [selected],
        )
    figure.update_layout(
        barmode="stack",
        bargap=0 if len(x) >= _MANY else 0.2,
        uirevision="steps",
        clickmode="event+select",
        xaxis={"title": t("Step"), "dtick": 1 if len(x) <= 30 else None},
        yaxis={"title": axis, "rangemode": "tozero"},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02},
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
        showlegend=True,
    )
    if not columns:  # the axes would show numbers that nobody reported
        figure.update_xaxes(visible=False).update_yaxes(visible=False)
        figure.add_annotation(text=t("not reported"), showarrow=False, xref="paper", yref="paper", x=0.5, y=0.5)
    return figure


def _count(value: object, t: Translate) -> str:
    return t("not reported") if pd.isna(value) else f"{value:,}"  # type: ignore[call-overload]
