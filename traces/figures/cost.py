"""What the run had cost after each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import plotly.graph_objects as go

from traces.figures.common import COLOURS, FADED, Bars, Translate, colour_of, english, finish_steps, point_data


def cost_so_far(
    steps: Sequence[int],
    costs: Sequence[float | None],
    messages: Sequence[int | None],
    *,
    computed: bool,
    t: Translate = english,
    colours: Mapping[str, str] = COLOURS,
    selected: int | None = None,
) -> go.Figure:
    """A line of the cost of all steps so far in US dollars; dotted where it was computed from a table of prices.

    Args:
        steps: numbers of the steps, from 1.
        costs: of each step; None: unknown, and adds nothing.
        messages: positions of the messages to look at.
        computed: the costs are not those of the file.
        t: translates the English labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
        selected: position of the step to highlight.
    """
    so_far = list(accumulate(cost or 0.0 for cost in costs))
    bars = Bars.of(so_far)
    figure = go.Figure()
    if any(cost is not None for cost in costs):
        label = t("Cost, computed") if computed else t("Cost as reported")
        figure.add_scatter(
            x=[steps[at] for at in bars.chosen],
            y=[so_far[at] for at in bars.chosen],
            mode="lines+markers",
            line={"shape": "hv", "color": colour_of(colours, "line"), "dash": "dot" if computed else "solid"},
            marker={"size": 6},
            name=label,
            customdata=point_data([(messages[at], _words(at, steps, costs, bars, t)) for at in bars.chosen]),
            hovertemplate="%{customdata[1]}<br>%{fullData.name}: $ %{y:,.4f}<extra></extra>",
            selectedpoints=None if selected is None else [bars.at(selected)],
            unselected={"marker": {"opacity": FADED}},
        )
    finish_steps(figure, bars, t("US dollars"), t)
    figure.update_yaxes(tickprefix="$ ")
    return figure.update_layout(uirevision="cost")


def _words(at: int, steps: Sequence[int], costs: Sequence[float | None], bars: Bars, t: Translate) -> str:
    cost = costs[at]
    own = t("not reported") if cost is None else f"$ {cost:,.4f}"
    return f"{bars.words(steps[at], t)}<br>{t('This step')}: {own}"
