"""What ran when: one lane for model calls, and as many for tools as ran at one time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import plotly.graph_objects as go

from traces.figures.common import COLOURS, FADED, Translate, colour_of, english, escaped, finish, point_data
from traces.timeline import Span, Timeline

_NEAR_PX = 12
"""So near the middle of a bar that is too thin to hit, the mouse is on it."""


def timeline_figure(
    found: Timeline, *, t: Translate = english, colours: Mapping[str, str] = COLOURS, selected: int | None = None
) -> go.Figure:
    """Bars from left to right in seconds since the beginning.

    Args:
        found: as :func:`traces.timeline.timeline` makes it.
        t: translates the English labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
        selected: number of the step to highlight, from 1.
    """
    kinds: tuple[tuple[str, str, Callable[[Span], bool]], ...] = (
        ("model", "Model", lambda span: span.model),
        ("ok", "Tools", lambda span: not span.model and span.ok is not False),
        ("error", "Failed tools", lambda span: not span.model and span.ok is False),
    )
    figure = go.Figure()
    for colour, label, belongs in kinds:
        spans = [span for span in found.spans if belongs(span)]
        if spans:
            _add(figure, spans, t(label), colour_of(colours, colour), t, selected)
    _add_targets(figure, found.spans, t)
    finish(figure, t("Seconds"), "", t)
    lanes = range(max((span.lane for span in found.spans), default=0) + 1)
    names = [t("Model"), *(t("Tools") if len(lanes) == 2 else f"{t('Tools')} {lane}" for lane in lanes[1:])]
    if len(lanes) <= 12:
        figure.update_yaxes(tickvals=list(lanes), ticktext=names)
    figure.update_xaxes(ticksuffix=" s").update_yaxes(autorange="reversed", rangemode="normal", zeroline=False)
    return figure.update_layout(barmode="overlay", bargap=0.25, hoverdistance=_NEAR_PX)


def _add(figure: go.Figure, spans: list[Span], label: str, colour: str, t: Translate, selected: int | None) -> None:
    chosen = [at for at, span in enumerate(spans) if span.step == selected]
    figure.add_bar(
        orientation="h",
        base=[span.start for span in spans],
        x=[span.end - span.start for span in spans],
        y=[span.lane for span in spans],
        name=label,
        marker={"color": colour, "line": {"width": 1, "color": colour}},  # of its own: also a moment can be seen
        customdata=point_data([(span.message, _words(span, t)) for span in spans]),
        hovertemplate="%{customdata[1]}<extra></extra>",
        selectedpoints=None if selected is None else chosen,
        unselected={"marker": {"opacity": FADED}},
    )


def _add_targets(figure: go.Figure, spans: Sequence[Span], t: Translate) -> None:
    """Points that nobody sees in the middle of the bars: a bar may be too thin to hit with the mouse."""
    if spans:
        figure.add_scatter(
            x=[(span.start + span.end) / 2 for span in spans],
            y=[span.lane for span in spans],
            mode="markers",
            marker={"opacity": 0, "size": 1},  # of all that are near the mouse, the nearest
            selected={"marker": {"opacity": 0}},
            unselected={"marker": {"opacity": 0}},
            customdata=point_data([(span.message, _words(span, t)) for span in spans]),
            hovertemplate="%{customdata[1]}<extra></extra>",
            showlegend=False,
        )


def _words(span: Span, t: Translate) -> str:
    name = escaped(span.name) or t("Model")
    several = f" × {span.count}" if span.count > 1 else ""
    return f"{t('Step')} {span.step}: {name}{several}<br>{span.start:,.2f} s + {span.end - span.start:,.3f} s"
