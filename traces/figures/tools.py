"""How often each tool was asked for, and how often it failed."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from traces.figures.common import COLOURS, Translate, colour_of, english, escaped, finish, point_data, tool_label

MOST = 20
"""Tools drawn: those asked for most often."""


def tool_use(runs: pd.DataFrame, *, t: Translate = english, colours: Mapping[str, str] = COLOURS) -> go.Figure:
    """Bars of the calls of each tool: worked, failed, unknown; a hover says the rate of errors and the median time.

    Args:
        runs: as :func:`traces.tables.runs_frame` makes it.
        t: translates the English labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
    """
    by_tool = {str(tool): rows for tool, rows in runs.groupby("tool", sort=False)}
    tools = sorted(by_tool, key=lambda tool: len(by_tool[tool]))[-MOST:]
    figure = go.Figure()
    for label, colour, ok in (("Worked", "ok", True), ("Failed", "error", False), ("Unknown", "unknown", None)):
        counts, points = [], []
        for tool in tools:
            rows = by_tool[tool]
            mine = rows[rows["ok"].isna()] if ok is None else rows[rows["ok"].fillna(not ok) == ok]
            counts.append(len(mine) or None)
            first = mine["message"].dropna()
            points.append([int(first.iloc[0]) if len(first) else None, _words(tool, rows, t)])
        if any(counts):
            figure.add_bar(
                orientation="h",
                y=list(range(len(tools))),
                x=counts,
                name=t(label),
                marker={"color": colour_of(colours, colour), "line": {"width": 0}},
                customdata=point_data(points),
                hovertemplate="%{customdata[1]}<br>%{fullData.name}: %{x:,}<extra></extra>",
            )
    finish(figure, t("Calls"), "", t)
    figure.update_yaxes(tickvals=list(range(len(tools))), ticktext=[tool_label(tool) for tool in tools])
    return figure.update_yaxes(rangemode="normal", automargin=True)


def _words(tool: str, rows: pd.DataFrame, t: Translate) -> str:
    known = rows["ok"].dropna()
    rate = t("not reported") if known.empty else f"{1 - known.mean():.0%}"
    times = rows["latency_ms"].dropna()
    median = t("not reported") if times.empty else f"{times.median() / 1000:,.2f} s"
    return f"{escaped(tool)}<br>{t('Errors')}: {rate}<br>{t('Median time')}: {median}"
