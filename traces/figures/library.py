"""Many traces at once: one point a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from traces.figures.common import COLOURS, Translate, colour_of, english, escaped, finish

MOST_GROUPS = 8
"""Outcomes with a colour of their own; the rarer ones share one."""
_NAMES = ("user", "completion", "ok", "error", "reasoning", "system", "cached", "unknown")


def traces_figure(
    x: Sequence[float | None],
    y: Sequence[float | None],
    titles: Sequence[str],
    outcomes: Sequence[str],
    *,
    x_title: str,
    y_title: str,
    t: Translate = english,
    colours: Mapping[str, str] = COLOURS,
) -> go.Figure:
    """A scatter of traces, coloured by how they ended. A trace without one of the two values has no point.

    The first item of a point's ``customdata`` is the position of its trace.

    Args:
        x: one value a trace.
        y: one value a trace.
        titles: of the traces.
        outcomes: of the traces, in words.
        x_title: what ``x`` is.
        y_title: what ``y`` is.
        t: translates the English labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
    """
    groups: dict[str, list[int]] = {}
    for at, outcome in enumerate(outcomes):
        if x[at] is not None and y[at] is not None:
            groups.setdefault(outcome, []).append(at)
    ranked = sorted(groups.items(), key=lambda item: -len(item[1]))
    if len(ranked) > MOST_GROUPS:
        rest = sorted(at for _, members in ranked[MOST_GROUPS - 1 :] for at in members)
        ranked = [*ranked[: MOST_GROUPS - 1], (t("Others"), rest)]
    figure = go.Figure()
    for (outcome, members), name in zip(ranked, _NAMES, strict=False):
        figure.add_scatter(
            x=[x[at] for at in members],
            y=[y[at] for at in members],
            mode="markers",
            name=escaped(outcome),
            marker={"size": 9, "color": colour_of(colours, name), "opacity": 0.8},
            customdata=[[at, escaped(titles[at])] for at in members],
            hovertemplate=f"%{{customdata[1]}}<br>{x_title}: %{{x:,}}<br>{y_title}: %{{y:,}}<extra></extra>",
        )
    finish(figure, x_title, y_title, t)
    return figure.update_layout(uirevision="library")
