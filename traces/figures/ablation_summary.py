"""The pictures of what an experiment found: why runs ended, and how far the arms are from the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from traces.experiments.analysis.summary import Arm, Effect, Finding, Summary
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.report.telling import is_rate, number_words
from traces.figures.ablation_common import (
    ROW_PX,
    ArmKey,
    count_models,
    effects_by_arm,
    is_count,
    outcome_label,
    tall,
    whole_ticks,
)
from traces.figures.common import COLOURS, Translate, colour_of, english, finish, point_data

REASONS: dict[str, str] = {
    "final": "ok",
    "decided": "cached",
    "max_iterations": "system",
    "repeated_call": "assistant",
    "consecutive_errors": "first_token",
    "model_error": "error",
    "script_exhausted": "prompt_uncached",
    "stopped_by_user": "unseen",
}
"""The colours of the stop reasons that are met often. Others take what is left, each one its own."""
_OTHERS = ("#8c564b", "#17becf", "#bcbd22", "#e377c2", "#5a8f29", "#1f6f78", "#c0a060", "#7f7f7f", "#d62728", "#393b79")

FINDINGS: dict[Finding, tuple[str, str, str]] = {
    "effect": ("effect", "line", "circle"),
    "none": ("no effect", "ok", "square"),
    "inconclusive": ("inconclusive", "unknown", "circle-open"),
    "refused": ("no claim", "system", "x"),
}
"""Word, colour and sign of each finding."""
_BAND = "rgba(128, 128, 128, 0.18)"
_LINE = "rgba(128, 128, 128, 0.8)"
_BESIDE = 0.05
"""Room of an axis beyond its ends, of its length."""
_END_PX = 30
"""Room for half of the last label of an axis that ends with it."""


def stop_reasons(
    summary: Summary,
    *,
    t: Translate = english,
    called: Translate = english,
    colours: Mapping[str, str] = COLOURS,
) -> go.Figure:
    """Why the runs of each arm ended, as shares; a hover says how many of how many. One bar an arm.

    Args:
        summary: what was found.
        t: translates the English labels. A stop reason is asked for with blanks: ``max iterations``.
        called: from the name of a condition to what it is called in the language of the labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
    """
    arms = [arm for arm in summary.arms if arm.reasons]
    reasons = _reasons(arms)
    keys = [ArmKey(arm.model, arm.condition) for arm in arms]
    names = [key.label(count_models(keys), called) for key in keys]
    figure = go.Figure()
    for reason, colour in zip(reasons, _reason_colours(reasons, colours), strict=True):
        counts = [arm.reasons.get(reason, 0) for arm in arms]
        sizes = [sum(arm.reasons.values()) for arm in arms]
        shares = [count / size if count else None for count, size in zip(counts, sizes, strict=True)]
        told = [
            f"{name}<br>{t('{n} of {all} runs').format(n=count, all=size)}"
            for name, count, size in zip(names, counts, sizes, strict=True)
        ]
        figure.add_bar(
            orientation="h",
            y=list(range(len(arms))),
            x=shares,
            name=t(reason.replace("_", " ")),
            marker={"color": colour, "line": {"width": 0}},
            customdata=point_data([(None, each) for each in told]),
            text=[count or "" for count in counts],
            textangle=0,
            insidetextanchor="middle",
            hovertemplate="%{customdata[1]}<br>%{fullData.name}: %{x:.0%}<extra></extra>",
        )
    finish(figure, t("Share of runs"), "", t)
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=names)
    figure.update_yaxes(autorange="reversed", rangemode="normal", automargin=True)
    return tall(figure, 110 + ROW_PX * max(2, len(arms))).update_layout(
        uirevision="reasons", bargap=0.3, margin_r=_END_PX
    )


def _reasons(arms: Sequence[Arm]) -> list[str]:
    """The reasons that some run ended for: the usual ones first, in their order."""
    there = dict.fromkeys(reason for arm in arms for reason in sorted(arm.reasons) if arm.reasons[reason])
    return [*(each for each in REASONS if each in there), *(each for each in there if each not in REASONS)]


def _reason_colours(reasons: Sequence[str], colours: Mapping[str, str]) -> list[str]:
    rest = iter(_OTHERS * (1 + len(reasons) // len(_OTHERS)))
    return [colour_of(colours, REASONS[each]) if each in REASONS else next(rest) for each in reasons]


def forest(
    summary: Summary,
    outcomes: Iterable[str] | None = None,
    *,
    t: Translate = english,
    called: Translate = english,
    colours: Mapping[str, str] = COLOURS,
) -> go.Figure:
    """Effects with their intervals, one panel an outcome, the primary one first with its verdicts.

    The line is at no difference; the band of the primary outcome is the margin that would matter.

    Args:
        summary: what was found.
        outcomes: those to draw; None: all that have effects.
        t: translates the English labels.
        called: from the name of a condition to what it is called in the language of the labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
    """
    order = [summary.outcome, *(name for name in OUTCOMES if name != summary.outcome)]
    chosen = order if outcomes is None else [name for name in order if name in set(outcomes)]
    panels = {name: found for name in chosen if (found := _drawable(summary, name))}
    if not panels:
        return finish(go.Figure(), "", "", t)
    sizes = [len(found) + 0.5 for found in panels.values()]
    height = sum(sizes) * ROW_PX + 78 * len(panels)
    figure = make_subplots(
        rows=len(panels),
        cols=1,
        row_heights=sizes,
        vertical_spacing=0 if len(panels) == 1 else min(78 / height, 0.9 / (len(panels) - 1)),
    )
    for row, (outcome, found) in enumerate(panels.items(), 1):
        _panel(figure, row, summary, outcome, found, t, called, colours)
    finish(figure, _axis_title(next(iter(panels)), t), "", t)
    figure.update_yaxes(automargin=True, rangemode="normal", zeroline=False).update_xaxes(rangemode="normal")
    return tall(figure, round(height) + 60).update_layout(uirevision="forest", clickmode="event")


def _drawable(summary: Summary, outcome: str) -> dict[ArmKey, Effect]:
    return {key: each for key, each in effects_by_arm(summary, outcome).items() if each.value is not None}


def _panel(
    figure: go.Figure,
    row: int,
    summary: Summary,
    outcome: str,
    found: Mapping[ArmKey, Effect],
    t: Translate,
    called: Translate,
    colours: Mapping[str, str],
) -> None:
    keys = list(found)
    names = [key.label(count_models(ArmKey(arm.model, "") for arm in summary.arms), called) for key in keys]
    verdicts: dict[ArmKey, Finding] = {}
    if outcome == summary.outcome:
        verdicts = {ArmKey(each.model, each.condition): each.finding for each in summary.verdicts}
        _margins(figure, row, summary, keys)
    figure.add_shape(
        type="line", x0=0, x1=0, y0=-0.5, y1=len(keys) - 0.5, line={"color": _LINE, "width": 1}, row=row, col=1
    )
    groups: dict[Finding | None, list[int]] = {}
    for at, key in enumerate(keys):
        groups.setdefault(verdicts.get(key), []).append(at)
    for finding, members in groups.items():
        word, colour, sign = FINDINGS[finding] if finding else ("another outcome", "other", "diamond")
        figure.add_scatter(
            x=[found[keys[at]].value for at in members],
            y=members,
            mode="markers",
            name=t(word),
            legendgroup=word,
            showlegend=all(drawn.name != t(word) for drawn in figure.data),
            marker={"size": 10, "color": colour_of(colours, colour), "symbol": sign},
            error_x=_interval([found[keys[at]] for at in members]),
            customdata=point_data(
                [(None, _told(names[at], found[keys[at]], outcome, t) + f"<br>{t(word)}") for at in members]
            ),
            hovertemplate="%{customdata[1]}<extra></extra>",
            row=row,
            col=1,
        )
    shown = [
        f"{name}<br><i>{t(FINDINGS[verdicts[key]][0])}</i>" if key in verdicts else name
        for key, name in zip(keys, names, strict=True)
    ]
    figure.update_xaxes(_x_axis(summary, outcome, found.values()), title_text=_axis_title(outcome, t), row=row, col=1)
    figure.update_yaxes(
        tickvals=list(range(len(keys))), ticktext=shown, range=[len(keys) - 0.5, -0.5], row=row, col=1, title_text=""
    )


def _x_axis(summary: Summary, outcome: str, effects: Iterable[Effect]) -> dict[str, object]:
    """The axis of these differences. That of a count has whole numbers alone, one at least on either side of none."""
    tick_format = ".0%" if is_rate(outcome) else ",~r"  # no plus signs: plotly would write +0 as well
    axis: dict[str, object] = {"tickformat": tick_format, "zeroline": False}
    if not is_count(outcome):
        return axis
    ends = [end for each in effects for end in (each.low, each.value, each.high) if end is not None]
    if outcome == summary.outcome:
        ends += [end for each in summary.verdicts if each.margin for end in (-each.margin, each.margin)]
    low, high = min(-1.0, *ends), max(1.0, *ends)
    beside = _BESIDE * (high - low)
    return {**axis, "range": [low - beside, high + beside], **whole_ticks([low, high])}


def _axis_title(outcome: str, t: Translate) -> str:
    return t("{thing}: {what}").format(thing=outcome_label(outcome, t), what=t("difference to the baseline"))


def _interval(effects: Sequence[Effect]) -> dict[str, object]:
    """Error bars from the interval's ends; none where there is no interval."""
    above = [0.0 if each.high is None or each.value is None else each.high - each.value for each in effects]
    below = [0.0 if each.low is None or each.value is None else each.value - each.low for each in effects]
    return {"type": "data", "array": above, "arrayminus": below, "thickness": 2, "width": 5}


def _margins(figure: go.Figure, row: int, summary: Summary, keys: Sequence[ArmKey]) -> None:
    """The band within which a difference would not matter. Of a number each model has its own."""
    reaches = {ArmKey(each.model, each.condition): each.margin for each in summary.verdicts}
    begin = 0
    for reach, alike in groupby(reaches.get(key) for key in keys):  # one shape for many: plotly is slow with shapes
        end = begin + len(list(alike))
        if reach:
            figure.add_shape(
                type="rect", x0=-reach, x1=reach, y0=begin - 0.5, y1=end - 0.5,
                fillcolor=_BAND, line={"width": 0}, layer="below", row=row, col=1,
            )  # fmt: skip
        begin = end


def _told(name: str, effect: Effect, outcome: str, t: Translate) -> str:
    lines = [name]
    if effect.value is not None:
        value = number_words(effect.value, outcome, signed=True)
        lines.append(t("{thing}: {what}").format(thing=outcome_label(outcome, t), what=value))
    if effect.low is not None and effect.high is not None:
        low, high = (number_words(end, outcome, signed=True) for end in (effect.low, effect.high))
        lines.append(t("interval {low} to {high}").format(low=low, high=high))
    p = effect.p if effect.p_holm is None else effect.p_holm
    if p is not None:
        lines.append(f"p = {p:.3g}" + ("" if effect.p_holm is None else f" ({t('corrected by Holm')})"))
    return "<br>".join(lines)
