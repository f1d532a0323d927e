"""The pictures of the single runs: what each cost beside its twin, and the form of each message list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import plotly.graph_objects as go

from traces.experiments.analysis.summary import Effect, Summary
from traces.experiments.design.experiment import BASELINE, Experiment
from traces.experiments.measuring.twin import twins
from traces.experiments.report.telling import number_words
from traces.experiments.rows import Row
from traces.figures.ablation_common import (
    ArmKey,
    Mark,
    count_models,
    effects_by_arm,
    large,
    mark_of,
    shown,
    tall,
    whole_ticks,
)
from traces.figures.common import COLOURS, Translate, english, finish, legend_height, point_data

MOST_RUNS = 40
"""Runs of one arm that have a line of their own, where there are few enough arms and messages."""
MOST_MESSAGES = 60
"""Messages of one run that have a cell of their own."""
MOST_CELLS = 3_000
"""Cells of all runs together: with more of them a browser takes seconds to draw them. Each arm then has fewer runs."""
MOST_PAIRS = 2_000
"""Pairs of runs that have a point of their own."""
_MOST_LETTERS = 2_000
"""Cells up to which each shows its letter; with more, the browser would take long to draw them."""
_LINE_PX = 18
_LETTER_PX = 13
_CELL = 0.92
"""Width of a cell, of the room that a message has."""
_FAINT = 0.3
_BESIDE = {"xanchor": "left", "showarrow": False}

LETTERS: dict[str, tuple[str, str]] = {
    "s": ("system", "system"),
    "u": ("user", "user"),
    "c": ("assistant asks for tools", "assistant"),
    "a": ("assistant answers", "reasoning"),
    "t": ("tool result", "ok"),
    "e": ("tool error", "error"),
    "x": ("result not sent as it is", "unseen"),
}
"""What a letter of :attr:`traces.experiments.rows.Row.strip` means: its word and its colour."""
STRIP_COLOURS: dict[str, str] = {**COLOURS, "reasoning": "#dcbcd6"}
"""As elsewhere, but with two shades for the two kinds of replies."""


def turns_and_tokens(
    rows: Sequence[Row],
    summary: Summary | None = None,
    *,
    t: Translate = english,
    called: Translate = english,
    colours: Mapping[str, str] = COLOURS,
) -> go.Figure:
    """What each arm costs beside its baseline twins, in steps and in tokens. Down and to the right is the trade of
    turns for tokens: shorter requests, paid for by more of them.

    A large sign is the mean of an arm, a faint one a pair of runs, though not all of very many. The first item of a
    point's ``customdata`` is the id of the trace of a run; None for a mean.

    Args:
        rows: the runs.
        summary: gives the intervals of the means; None: none are drawn.
        t: translates the English labels.
        called: from the name of a condition to what it is called in the language of the labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
    """
    arms = [] if summary is None else [ArmKey(arm.model, arm.condition) for arm in summary.arms]
    pairs = _paired(rows, arms)
    figure = go.Figure()
    models = count_models(pairs)
    every = -(-sum(map(len, pairs.values())) // MOST_PAIRS)
    for position, (key, members) in enumerate(pairs.items()):
        _pairs(figure, members[::every], key.label(models, called), mark_of(position, colours))
    for position, (key, members) in enumerate(pairs.items()):
        effects = [None if summary is None else effects_by_arm(summary, name).get(key) for name in ("steps", "tokens")]
        _mean(figure, members, key.label(models, called), mark_of(position, colours), effects)
    more = t("more than the baseline twin")
    finish(figure, f"{t('Steps')}, {more}", f"{t('Tokens')}, {more}", t)
    axis = {"rangemode": "normal", "zeroline": True, "tickformat": ",~r", "zerolinecolor": "rgba(128, 128, 128, 0.8)"}
    every_pair = [pair for members in pairs.values() for pair in members]
    figure.update_xaxes(axis | whole_ticks(steps for _, steps, _ in every_pair))
    figure.update_yaxes(axis | whole_ticks(tokens for _, _, tokens in every_pair))
    return large(figure).update_layout(uirevision="turns", height=400 + legend_height(figure))


def _paired(rows: Sequence[Row], arms: Sequence[ArmKey]) -> dict[ArmKey, list[tuple[Row, int, int]]]:
    """The runs of each arm that have a twin, with the steps and tokens that they took more; arms in the given order."""
    found = twins(rows)
    pairs: dict[ArmKey, list[tuple[Row, int, int]]] = {arm: [] for arm in arms}
    for row in rows:
        twin = found.get(row.key)
        if twin and row.counted and twin.counted and row.tokens is not None and twin.tokens is not None:
            more = (row, row.steps - twin.steps, row.tokens - twin.tokens)
            pairs.setdefault(ArmKey(row.model, row.condition), []).append(more)
    return {arm: members for arm, members in pairs.items() if members}


def _pairs(figure: go.Figure, members: Sequence[tuple[Row, int, int]], label: str, mark: Mark) -> None:
    figure.add_scatter(
        x=[steps for _, steps, _ in members],
        y=[tokens for _, _, tokens in members],
        mode="markers",
        legendgroup=label,
        showlegend=False,
        name=label,
        marker={"size": 7, "color": mark.colour, "symbol": mark.sign, "opacity": _FAINT},
        customdata=point_data(
            [
                (row.trace_id, f"{label}<br>{shown(row.subject)} · {row.seed}<br>{_more(steps, tokens)}")
                for row, steps, tokens in members
            ]
        ),
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def _mean(
    figure: go.Figure,
    members: Sequence[tuple[Row, int, int]],
    label: str,
    mark: Mark,
    effects: Sequence[Effect | None],
) -> None:
    steps, tokens = effects
    x = steps.value if steps and steps.value is not None and steps.pairs else fmean(pair[1] for pair in members)
    y = tokens.value if tokens and tokens.value is not None and tokens.pairs else fmean(pair[2] for pair in members)
    figure.add_scatter(
        x=[x],
        y=[y],
        mode="markers",
        legendgroup=label,
        name=label,
        marker={"size": 14, "color": mark.colour, "symbol": mark.sign, "line": {"width": 1, "color": "#ffffff"}},
        error_x=_bar(steps, x),
        error_y=_bar(tokens, y),
        customdata=point_data([(None, _more(x, y))]),
        hovertemplate="%{fullData.name}<br>%{customdata[1]}<extra></extra>",
    )


def _more(steps: float, tokens: float) -> str:
    """What a run or an arm takes more than its twin, as a hover says it."""
    return f"{number_words(steps, 'steps', signed=True)} · {number_words(tokens, 'tokens', signed=True)}"


def _bar(effect: Effect | None, mean: float) -> dict[str, object] | None:
    if effect is None or not effect.pairs or effect.low is None or effect.high is None:
        return None
    return {"type": "data", "array": [effect.high - mean], "arrayminus": [mean - effect.low], "thickness": 2}


def strips(
    experiment: Experiment,
    rows: Sequence[Row],
    *,
    t: Translate = english,
    called: Translate = english,
    colours: Mapping[str, str] = STRIP_COLOURS,
) -> go.Figure:
    """The message list of each run as a line of cells, one a message, so that the form of a loop is seen at once.

    The arms stand below each other, the baseline first, each with at most :data:`MOST_RUNS` runs, fewer where they are
    long; the name of the arm says of how many. The first item of a cell's ``customdata`` is the id of the trace.

    Args:
        experiment: the design, which says in which order the arms stand.
        rows: the runs.
        t: translates the English labels.
        called: from the name of a condition to what it is called in the language of the labels.
        colours: by name; see :data:`traces.figures.COLOURS`. Answers without calls take the one of reasoning.
    """
    figure = go.Figure()
    cells: dict[str, list[tuple[int, int, Row]]] = defaultdict(list)
    words: list[dict[str, Any]] = []  # set at once: plotly takes time for each of those that are there already
    line, longest = 0, 0
    arms = _arms(experiment, rows)
    most = _most_runs([row for members in arms.values() for row in members], len(arms))
    for key, members in arms.items():
        chosen = _chosen(members, most)
        title = _title(key, len(experiment.models), len(members), len(chosen), t, called)
        words.append({**_BESIDE, "text": title, "x": 0.5, "y": line + 1.5, "yanchor": "bottom", "xshift": 2})
        line += 2
        for row in chosen:
            for at, letter in enumerate(row.strip[:MOST_MESSAGES]):
                cells[letter if letter in LETTERS else "x"].append((at, line, row))
            longest = max(longest, len(row.strip))
            if (rest := len(row.strip) - MOST_MESSAGES) > 0:
                words.append({**_BESIDE, "text": f"+{rest:,}", "x": MOST_MESSAGES + 0.6, "y": line})
            line += 1
    lettered = sum(map(len, cells.values())) <= _MOST_LETTERS
    for letter in LETTERS:
        if letter in cells:
            _cells(figure, letter, cells[letter], lettered, t, called, colours)
    figure.update_layout(annotations=words)
    finish(figure, t("Messages"), "", t)
    end = MOST_MESSAGES + 4 if longest > MOST_MESSAGES else max(8, longest)
    figure.update_xaxes(range=[0.5, end + 0.5])
    figure.update_yaxes(range=[line - 0.2, -0.4], showticklabels=False, showgrid=False, zeroline=False)
    figure.update_xaxes(showgrid=False, zeroline=False, rangemode="normal")
    return tall(figure, 100 + _LINE_PX * max(6, line)).update_layout(barmode="overlay", uirevision="strips")


def _arms(experiment: Experiment, rows: Sequence[Row]) -> dict[ArmKey, list[Row]]:
    """The runs of each arm, in the order of the design."""
    found: dict[ArmKey, list[Row]] = {
        ArmKey(model.name, condition.name): [] for model in experiment.models for condition in experiment.conditions
    }
    for row in rows:
        found.setdefault(ArmKey(row.model, row.condition), []).append(row)
    return {key: members for key, members in found.items() if any(row.strip for row in members)}


def _most_runs(rows: Sequence[Row], arms: int) -> int:
    """How many runs of each arm have a line, so that all cells together are not too many."""
    if not rows:
        return MOST_RUNS
    cells = fmean(min(len(row.strip), MOST_MESSAGES) for row in rows)
    return max(1, min(MOST_RUNS, int(MOST_CELLS / (cells * arms))))


def _chosen(members: Sequence[Row], most: int) -> list[Row]:
    """The first runs of an arm: as many of each task, then task by task."""
    first = sorted((row for row in members if row.strip), key=lambda row: (row.repeat, row.subject))[:most]
    return sorted(first, key=lambda row: (row.subject, row.repeat))


def _title(key: ArmKey, models: int, all_runs: int, shown: int, t: Translate, called: Translate) -> str:
    name = t("baseline") if key.condition == BASELINE and models == 1 else key.label(models, called)
    many = t("{n} runs").format(n=all_runs)
    if shown < all_runs:
        many = t("{shown} of {n} runs").format(shown=shown, n=all_runs)
    return f"<b>{name}</b> · {many}"


def _cells(
    figure: go.Figure,
    letter: str,
    cells: Sequence[tuple[int, int, Row]],
    lettered: bool,
    t: Translate,
    called: Translate,
    colours: Mapping[str, str],
) -> None:
    word, colour = LETTERS[letter]
    told = {row.key: _told(row, t, called) for _, _, row in cells}
    figure.add_bar(
        orientation="h",
        y=[line for _, line, _ in cells],
        base=[at + 1 - _CELL / 2 for at, _, _ in cells],
        x=[_CELL] * len(cells),
        width=0.86,
        name=f"{letter} · {t(word)}",
        marker={"color": colours.get(colour) or STRIP_COLOURS[colour], "line": {"width": 0}},
        text=[letter] * len(cells) if lettered else None,
        textangle=0,
        textfont={"size": _LETTER_PX},
        insidetextanchor="middle",
        constraintext="none",
        customdata=point_data([(row.trace_id, told[row.key]) for _, _, row in cells]),
        hovertemplate="%{customdata[1]}<br>%{fullData.name}<extra></extra>",
    )


def _told(row: Row, t: Translate, called: Translate) -> str:
    """What a hover says of a run."""
    about = f"{shown(row.subject)} · {t('seed')} {row.seed} · {t('{n} messages').format(n=len(row.strip))}"
    lines = [shown(called(row.condition)), about, t((row.reason or row.status).replace("_", " "))]
    return "<br>".join([*lines, shown(row.answer, 40)] if row.answer else lines)
