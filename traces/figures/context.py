"""What fills the context in each step, against the window."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from traces.composition import Composition, Part, StepContext
from traces.figures.common import (
    COLOURS,
    TOOLS,
    Bars,
    Translate,
    add_bars,
    colour_of,
    english,
    finish_steps,
    tool_label,
)

_FAR = 4
"""A window that many times as large as the fullest prompt is not drawn: nothing else could be seen below it."""
_PARTS = {
    "system": ("System", "system"),
    "tools": ("Tool schemas", "schemas"),
    "user": ("User", "user"),
    "assistant": ("Assistant", "assistant"),
    "other_results": ("Other results", "unknown"),
    "unseen": ("Not in the file", "unseen"),
}
"""Label and colour of each kind of part; results of one tool have the tool's name."""


def context_per_step(
    found: Composition,
    messages: Mapping[int, int | None],
    *,
    t: Translate = english,
    colours: Mapping[str, str] = COLOURS,
    selected: int | None = None,
) -> go.Figure:
    """Stacked bars of the prompt of each step by who wrote it.

    Args:
        found: as :func:`traces.composition.composition` makes it.
        messages: number of a step -> position of the message to look at.
        t: translates the English labels.
        colours: by name; see :data:`traces.figures.COLOURS`.
        selected: number of the step to highlight, from 1.
    """
    bars = Bars.of([step.total for step in found.steps])
    drawn = [found.steps[at] for at in bars.chosen]
    place = next((at for at, step in enumerate(found.steps) if step.step == selected), None)
    points = [(messages.get(step.step), _words(step, bars, t)) for step in drawn]
    figure, tools = go.Figure(), 0
    for at, part in enumerate(found.parts):
        values = [step.tokens[at] or None for step in drawn]
        if not any(values):
            continue
        label, colour = _look(part, tools, t, colours)
        tools += part.kind == "result"
        x = bars.places([step.step for step in found.steps])
        width = bars.size if bars.size > 1 else None
        add_bars(figure, x, values, label, colour, points, selected=bars.at(place), width=width)
    if found.window is not None and found.window <= _FAR * max((step.total for step in drawn), default=0):
        figure.add_hline(
            y=found.window, line_dash="dot", annotation_text=t("Window: {n}").format(n=f"{found.window:,}")
        )
    return finish_steps(figure, bars, t("Tokens"), t)


def _words(step: StepContext, bars: Bars, t: Translate) -> str:
    how = t("measured") if step.measured else t("estimated")
    return f"{bars.words(step.step, t)}<br>{t('Prompt')}: {step.total:,} ({how})"


def _look(part: Part, tools: int, t: Translate, colours: Mapping[str, str]) -> tuple[str, str]:
    if part.kind == "result":
        return tool_label(part.name) or t("Results"), TOOLS[tools % len(TOOLS)]
    label, colour = _PARTS[part.kind]
    return t(label), colour_of(colours, colour)
