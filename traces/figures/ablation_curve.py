"""The curve of a parameter: what becomes of the primary outcome as a condition goes further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from traces.experiments.analysis.summary import Estimate, Summary
from traces.experiments.design.experiment import BASELINE, Condition, Experiment
from traces.experiments.report.telling import is_rate, number_words
from traces.figures.ablation_common import Mark, is_count, large, mark_of, outcome_label, shown, whole_ticks
from traces.figures.common import COLOURS, Translate, english, finish, point_data

_HEIGHT_PX = 360


def sweeps(experiment: Experiment) -> list[str]:
    """The names of the curves of a design, in its order."""
    return list(dict.fromkeys(each.sweep for each in experiment.conditions if each.sweep))


def curve(
    experiment: Experiment,
    summary: Summary,
    sweep: str | None = None,
    *,
    t: Translate = english,
    colours: Mapping[str, str] = COLOURS,
) -> go.Figure:
    """The primary outcome against the value of a parameter, with intervals; the baseline as a dashed line.

    Args:
        experiment: the design, which says where each condition stands on the curve.
        summary: what was found.
        sweep: which curve; None: the first one.
        t: translates the English labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
    """
    names = sweeps(experiment)
    sweep = sweep or (names[0] if names else "")
    points = sorted(
        (each for each in experiment.conditions if sweep and each.sweep == sweep and each.value is not None),
        key=lambda each: each.value or 0,
    )
    estimates = {(arm.model, arm.condition): arm.outcomes.get(summary.outcome) for arm in summary.arms}
    models = list(dict.fromkeys(arm.model for arm in summary.arms))
    figure = go.Figure()
    for position, model in enumerate(models):
        known = [
            (each, found) for each in points if (found := estimates.get((model, each.name))) and found.value is not None
        ]
        if not known:
            continue
        mark = mark_of(position, colours)
        label = shown(model)
        _line(figure, known, label, summary.outcome, mark, t)
        base = estimates.get((model, BASELINE))
        if base and base.value is not None:
            _baseline(figure, points, base, label if len(models) > 1 else "", summary.outcome, mark, t)
    finish(figure, shown(sweep), outcome_label(summary.outcome, t), t)
    if figure.data:
        figure.update_xaxes(tickvals=[each.value for each in points])
    if is_rate(summary.outcome):
        figure.update_yaxes(tickformat=".0%", range=[-0.03, 1.03])
    elif is_count(summary.outcome):
        ends = [end for found in estimates.values() if found for end in (found.low, found.value, found.high)]
        figure.update_yaxes(whole_ticks([0.0, *(end for end in ends if end is not None)]))
    return large(figure).update_layout(uirevision=f"curve {sweep}", height=_HEIGHT_PX, clickmode="event")


def _line(
    figure: go.Figure,
    known: Sequence[tuple[Condition, Estimate]],
    label: str,
    outcome: str,
    mark: Mark,
    t: Translate,
) -> None:
    values = [found.value or 0.0 for _, found in known]
    highs = [found.value if found.high is None else found.high for _, found in known]
    lows = [found.value if found.low is None else found.low for _, found in known]
    figure.add_scatter(
        x=[each.value for each, _ in known],
        y=values,
        mode="lines+markers",
        name=label,
        line={"color": mark.colour},
        marker={"symbol": mark.sign, "size": 9},
        error_y={
            "type": "data",
            "array": [(high or 0) - value for high, value in zip(highs, values, strict=True)],
            "arrayminus": [value - (low or 0) for low, value in zip(lows, values, strict=True)],
            "thickness": 1.5,
        },
        customdata=point_data([(None, _told(shown(each.name), found, outcome, t)) for each, found in known]),
        hovertemplate="%{customdata[1]}<extra>%{fullData.name}</extra>",
    )


def _baseline(
    figure: go.Figure,
    points: Sequence[Condition],
    base: Estimate,
    label: str,
    outcome: str,
    mark: Mark,
    t: Translate,
) -> None:
    ends = [points[0].value, points[-1].value]
    word = t("baseline")
    figure.add_scatter(
        x=ends,
        y=[base.value, base.value],
        mode="lines",
        name=f"{word} · {label}" if label else word,
        line={"color": mark.colour, "dash": "dash", "width": 1.5},
        customdata=point_data([(None, _told(word, base, outcome, t))] * 2),
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def _told(name: str, found: Estimate, outcome: str, t: Translate) -> str:
    lines = [name, number_words(found.value or 0.0, outcome), t("{n} runs").format(n=found.n)]
    if found.low is not None and found.high is not None:
        low, high = number_words(found.low, outcome), number_words(found.high, outcome)
        lines.insert(2, t("interval {low} to {high}").format(low=low, high=high))
    return "<br>".join(lines)
