"""What all charts share: colours, layout, and how many steps become few enough bars."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

Translate = Callable[[str], str]
Values = Sequence[float | None]

COLOURS: dict[str, str] = {
    "prompt_uncached": "#4c78a8",
    "cached": "#9ecae9",
    "completion": "#f58518",
    "reasoning": "#b279a2",
    "other": "#9d9da1",
    "first_token": "#f9b873",
    "model": "#f58518",
    "system": "#e0a458",
    "schemas": "#9d9da1",
    "user": "#4c78a8",
    "assistant": "#b279a2",
    "unseen": "#c9c9c9",
    "ok": "#54a24b",
    "error": "#e45756",
    "unknown": "#9d9da1",
    "line": "#4c78a8",
}
"""Colours by name; a caller may give others for its theme."""

TOOLS = ("#3f9a6b", "#7cc4a0", "#1f6f78", "#a8c66c", "#5a8f29", "#88c0c8", "#2f7d32", "#c0d8a0", "#4b9ca8", "#708c5a")
"""For tools, in the order in which they are drawn; after the last one the first comes again."""

MOST_BARS = 200
"""Up to so many steps have a bar each."""
FEWER_BARS = 120
"""With more steps, so many bars at most stand for several of them each: the one with the largest value. They are wide
enough to be hit, and cost the browser little time at every press."""

FADED = 0.5
"""Opacity of what does not belong to the selected step."""

_LEGEND_FONT_PX = 11
_LEGEND_LEADING_PX = 8
"""Of one line of a legend, beside its letters."""
_SHORT = 14
"""Characters of the longest entry that has room for another one beside it on a small screen."""


def english(text: str) -> str:
    """The label as it is."""
    return text


def escaped(name: str, length: int = 60) -> str:
    """A name out of a trace, safe in a label."""
    return html.escape(name if len(name) <= length else name[: length - 1] + "…")


def tool_label(name: str, length: int = 26) -> str:
    """The name of a tool, safe in a label. Names of one server begin alike, so a long one is cut in its middle."""
    if len(name) > length:
        end = length // 2
        name = f"{name[: length - end - 1]}…{name[-end:]}"
    return html.escape(name)


def point_data(points: Sequence[Sequence[Any]]) -> Any:
    """What the points of a chart know. Plotly looks at every item of a list, and takes an array as it is."""
    data = np.empty((len(points), 2), dtype=object)
    for row, point in enumerate(points):
        data[row] = point
    return data


@dataclass(frozen=True, slots=True)
class Bars:
    """Which steps are drawn. With few steps it is all of them; else the largest of each group of neighbours."""

    chosen: list[int]
    """Positions of the steps."""
    size: int
    """How many steps each bar stands for."""

    @classmethod
    def of(cls, totals: Values) -> Bars:
        """Choose by these values, one a step; None counts least."""
        size = 1 if len(totals) <= MOST_BARS else math.ceil(len(totals) / FEWER_BARS)
        known = [-1.0 if value is None else value for value in totals]
        groups = [range(start, min(start + size, len(known))) for start in range(0, len(known), size)]
        return cls([max(group, key=known.__getitem__) for group in groups], size)

    def at(self, step: int | None) -> int | None:
        """The position of the bar that stands for the step at this position."""
        return None if step is None else step // self.size

    def places(self, steps: Sequence[int]) -> list[float]:
        """Where the bars stand on the axis, given the numbers of all steps: each in the middle of its group.

        All stand equally far apart: plotly does not notice a click on some of those that overlap.
        """
        return [first + (self.size - 1) / 2 for first in steps[:: self.size]]

    def words(self, step: int, t: Translate) -> str:
        """What a bar stands for, given the number of its step."""
        several = f" ({t('the largest of {n} steps').format(n=self.size)})" if self.size > 1 else ""
        return f"{t('Step')} {step}{several}"


def numbers(values: Any) -> list[float | None]:
    """A column of a frame with None for what is missing."""
    return [
        None if value is None or value != value else float(value)
        for value in values.to_numpy("float64", na_value=math.nan)
    ]


def add_bars(
    figure: go.Figure,
    x: Sequence[Any],
    y: Values,
    name: str,
    colour: str,
    points: Sequence[tuple[int | None, str]],
    *,
    selected: int | None = None,
    width: float | None = None,
    unit: str = "%{y:,}",
) -> None:
    """One colour of a stack of bars.

    Args:
        figure: where to.
        x: one a bar.
        y: heights; None: no bar.
        name: in the legend.
        colour: of all of them.
        points: for each bar the position of its message and what a hover says.
        selected: position of the bar to highlight.
        width: of a bar in units of ``x``; None: left to plotly.
        unit: how a hover says the height.
    """
    figure.add_bar(
        x=list(x),
        y=list(y),
        name=name,
        width=width,
        marker={"color": colour, "line": {"width": 0}},
        customdata=point_data(points),
        hovertemplate=f"%{{customdata[1]}}<br>%{{fullData.name}}: {unit}<extra></extra>",
        selectedpoints=None if selected is None else [selected],
        unselected={"marker": {"opacity": FADED}},
    )


def finish(figure: go.Figure, x_title: str, y_title: str, t: Translate) -> go.Figure:
    """The layout that all charts share; a chart without data says so instead of showing axes nobody reported."""
    figure.update_layout(
        barmode="stack",
        uirevision="steps",
        clickmode="event+select",
        dragmode="zoom",
        xaxis={"title": x_title},
        yaxis={"title": y_title, "rangemode": "tozero"},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1.02,
            "x": 0,
            "traceorder": "normal",
            "font": {"size": _LEGEND_FONT_PX},
            "maxheight": 0.8,
        },
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
        showlegend=True,
    )
    if not figure.data:
        figure.update_xaxes(visible=False).update_yaxes(visible=False)
        figure.add_annotation(text=t("not reported"), showarrow=False, xref="paper", yref="paper", x=0.5, y=0.5)
    return figure


def legend_height(figure: go.Figure) -> int:
    """Pixels that the legend of a chart takes where the screen is small, beyond its first two rows."""
    names = [str(trace.name or "") for trace in figure.data if trace.showlegend is not False]
    beside = 2 if all(len(html.unescape(name)) <= _SHORT for name in names) else 1
    line = int(figure.layout.legend.font.size or _LEGEND_FONT_PX) + _LEGEND_LEADING_PX
    return line * max(0, -(-len(names) // beside) - 2)


def finish_steps(figure: go.Figure, bars: Bars, y_title: str, t: Translate) -> go.Figure:
    """The layout of a chart with the steps from left to right."""
    finish(figure, t("Step"), y_title, t)
    figure.update_layout(bargap=0 if len(bars.chosen) > 100 else 0.2)
    if len(bars.chosen) <= 30 and bars.size == 1:
        figure.update_xaxes(dtick=1)
    return figure


def colour_of(colours: Mapping[str, str], name: str) -> str:
    """The caller's colour, else the usual one."""
    return colours.get(name, COLOURS[name])
